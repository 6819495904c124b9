import { APPROVAL, APPROVAL_QUESTION, checkApprovalAnswer, readPayload } from '@handraise/user-approvals'
import { askUserQuestionAnswerSchema, type Answer } from '@handraise/user-questions/types'
import type { PublicRequest } from '@handraise/provider-web'

/** What was answered, in the labels a person saw: of an approval the choice, with the words that went with it. */
export function settledAnswers({ kind, payload, settlement }: PublicRequest): readonly Answer[] {
  const given = settlement?.answer
  if (kind !== APPROVAL) {
    const parsed = askUserQuestionAnswerSchema.safeParse(given)
    return parsed.success ? parsed.data.answers : []
  }
  const approval = readPayload(payload)
  const check = approval === undefined ? undefined : checkApprovalAnswer(approval, given)
  if (check?.ok !== true) return []
  const { feedback } = check.answer
  const words = feedback === undefined ? {} : { note: feedback }
  return [{ id: APPROVAL_QUESTION, selected: [check.choice.label], ...words }]
}
