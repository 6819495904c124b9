import { answersOf, type SettledRequest } from '@handraise/inbox'
import { APPROVAL, APPROVAL_QUESTION, checkApprovalAnswer, readPayload } from '@handraise/user-approvals'
import type { Answer } from '@handraise/user-questions/types'

/** The answers of a request, in the labels that were shown; of an approval the choice. None for a kind that is not known here. */
export function answersIn({ kind, payload, settlement: { answer } }: SettledRequest): readonly Answer[] {
  if (kind !== APPROVAL) return answersOf(answer)
  const approval = readPayload(payload)
  const check = approval === undefined ? undefined : checkApprovalAnswer(approval, answer)
  if (check?.ok !== true) return []
  const { feedback } = check.answer
  const words = feedback === undefined ? {} : { note: feedback }
  return [{ id: APPROVAL_QUESTION, selected: [check.choice.label], ...words }]
}
