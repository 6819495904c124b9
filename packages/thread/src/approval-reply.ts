import { allows, type ApprovalAnswer, type ApprovalChoice } from '@handraise/user-approvals'

/** What an item says to an approval. */
export interface ApprovalReply {
  readonly allowed: boolean
  /** What a denial says beyond denying. */
  readonly words?: string | undefined
}

// Seed 004, "Text answers": nothing else approves.
const APPROVING = new Set(['approve', 'approved', 'yes', 'y', 'ok', 'allow', '1'])
const BARELY_DENYING = new Set(['deny', 'denied', 'no', 'n', '2'])
/** As many characters as a denial takes along. */
const MOST_WORDS = 10_000

export function readApprovalText(text: string): ApprovalReply {
  const word = text.trim().toLowerCase()
  if (APPROVING.has(word)) return { allowed: true }
  return BARELY_DENYING.has(word) ? { allowed: false } : { allowed: false, words: text.trim() }
}

/** True where the choices hold one that allows this once; without one nothing can be approved by a word. */
export function isOnceApprovable(choices: readonly ApprovalChoice[]): boolean {
  return onceChoice(choices) !== undefined
}

/** The choice that a reply makes. */
export function toApprovalAnswer(
  choices: readonly ApprovalChoice[],
  { allowed, words }: ApprovalReply,
): ApprovalAnswer | undefined {
  if (allowed) return named(onceChoice(choices))
  const denials = choices
    .filter(choice => !allows(choice))
    .toSorted((a, b) => Number(a.decision === 'abort') - Number(b.decision === 'abort'))
  const wordy = words === undefined ? undefined : denials.find(({ acceptsFeedback }) => acceptsFeedback)
  if (wordy !== undefined) return { choiceId: wordy.choiceId, feedback: words?.slice(0, MOST_WORDS) }
  return named(denials.find(({ acceptsFeedback }) => acceptsFeedback !== true) ?? denials[0])
}

function onceChoice(choices: readonly ApprovalChoice[]): ApprovalChoice | undefined {
  return choices.find(choice => choice.decision === 'approved' && choice.scope === 'once')
}

function named(choice: ApprovalChoice | undefined): ApprovalAnswer | undefined {
  return choice === undefined ? undefined : { choiceId: choice.choiceId }
}
