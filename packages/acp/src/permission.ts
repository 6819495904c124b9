import { questionFields, toFormOptions } from '@handraise/elicitation'
import type { PermissionOption, PermissionOptionKind } from '@agentclientprotocol/sdk'
import { allows, type ApprovalPayload } from '@handraise/user-approvals'
import type { Answer, Question } from '@handraise/user-questions/types'
import { z } from 'zod'
import { MARKDOWN } from './markdown.ts'

/** What choosing an option means: an answer, or that the person will not answer. */
export type PermissionMeaning = { readonly answer: Answer } | 'declined'

/** The options of one permission request, and what each of them means. */
export interface PermissionOffer {
  readonly options: PermissionOption[]
  readonly meaningOf: ReadonlyMap<string, PermissionMeaning>
  /** The options on which the editor's own settings may not decide in place of the person. */
  readonly personal: ReadonlySet<string>
}

/** What a client answers to `session/request_permission`. */
export const permissionReplySchema = z.object({
  outcome: z.discriminatedUnion('outcome', [
    z.object({ outcome: z.literal('cancelled') }),
    z.object({ outcome: z.literal('selected'), optionId: z.string() }),
  ]),
})

/**
 * The choices of an approval, under their own ids. The denial that takes words is left out where there is another: there is
 * no place for words. The editor's settings may decide in place of the person, but not for longer than once, and not at all what
 * is protected.
 */
export function offerApproval(payload: ApprovalPayload, question: Question): PermissionOffer {
  const offered = (question.options ?? []).filter(option =>
    payload.choices.some(({ label }) => label === option.label),
  )
  const entries = toFormOptions(offered, 'folded', MARKDOWN).flatMap(({ const: label, title }) => {
    const choice = payload.choices.find(each => each.label === label)
    if (choice === undefined) return []
    const reach = choice.scope === 'once' ? 'once' : 'always'
    const kind: PermissionOptionKind = `${allows(choice) ? 'allow' : 'reject'}_${reach}`
    const meaning = { answer: { id: question.id, selected: [label] } }
    return [{ option: { optionId: choice.choiceId, name: title, kind }, meaning }]
  })
  return offerOf(entries, kind => payload.protected === true || kind.endsWith('_always'))
}

/** True of a question that permission options can hold: one of several labels is its answer. */
export function isChoice(question: Question): boolean {
  const [fields] = questionFields([question])
  return question.multiSelect !== true && (fields?.offered.length ?? 0) > 0
}

/** One question's options, and a last one to leave it unanswered. An editor's settings are no answer to a question. */
export function offerChoice(question: Question): PermissionOffer {
  const { intent, minSelections = 0 } = question
  const [{ offered } = { offered: [] }] = questionFields([question])
  const entries: Entry[] = toFormOptions(offered, 'folded', MARKDOWN).map(
    ({ const: label, title }, index) => {
      const kind = intent === undefined || label === intent.approve ? 'allow_once' : 'reject_once'
      const meaning = { answer: { id: question.id, selected: [label] } }
      return { option: { optionId: `choice_${index + 1}`, name: title, kind }, meaning }
    },
  )
  const leave: Entry =
    minSelections > 0
      ? {
          option: { optionId: 'decline', name: 'Decline to answer', kind: 'reject_once' },
          meaning: 'declined',
        }
      : {
          option: { optionId: 'skip', name: 'Skip this question', kind: 'reject_once' },
          meaning: { answer: { id: question.id, selected: [] } },
        }
  return offerOf([...entries, leave], () => true)
}

interface Entry {
  readonly option: PermissionOption
  readonly meaning: PermissionMeaning
}

function offerOf(
  entries: readonly Entry[],
  isPersonal: (kind: PermissionOptionKind) => boolean,
): PermissionOffer {
  return {
    options: entries.map(({ option }) => option),
    meaningOf: new Map(entries.map(({ option, meaning }) => [option.optionId, meaning])),
    personal: new Set(entries.flatMap(({ option }) => (isPersonal(option.kind) ? [option.optionId] : []))),
  }
}
