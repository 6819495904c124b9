import type { ApprovalDecision, ApprovalScope } from './choice.ts'

/** A change of policy that came with a decision: the rule that was added, in the words the person was shown. */
export interface ApprovalAmendment {
  readonly durability: 'session' | 'localPersistent'
  readonly rulePreview: string
}

/** How one requirement was decided. */
export interface RequirementDecision {
  readonly index: number
  /** The requirement in words. */
  readonly subject: string
  readonly decision: ApprovalDecision
  readonly policyResult: 'allow' | 'deny'
  readonly scope: ApprovalScope
  readonly resolvedBy: 'user' | 'policy'
  /** The rule or the mode, when it was no person: in words. */
  readonly why?: string | undefined
  readonly feedback?: string | undefined
  readonly amendment?: ApprovalAmendment | undefined
}

/** It was decided: by a person, by a rule a person made, or by a mode a person set. */
export interface DecidedApproval extends Omit<RequirementDecision, 'index' | 'subject'> {
  readonly outcome: 'decided'
  readonly approvalId: string
  readonly requirements: readonly RequirementDecision[]
}

/** Nobody decided. It is no denial, and it allows nothing. */
export interface UndecidedApproval {
  readonly outcome:
    | 'declined'
    | 'cancelled'
    | 'clarified'
    | 'interrupted'
    | 'timedOut'
    | 'aborted'
    | 'unavailable'
    /** The wait went on longer than the caller had patience for; the approval is open still. */
    | 'pending'
  readonly approvalId: string
  readonly reason?: string | undefined
  /** What the person wrote back, when clarified. */
  readonly text?: string | undefined
  readonly cause?: unknown
}

export type ApprovalOutcome = DecidedApproval | UndecidedApproval

/** True of the one outcome on which the action may be taken. */
export function isAllowed(
  outcome: ApprovalOutcome,
): outcome is DecidedApproval & { readonly policyResult: 'allow' } {
  return outcome.outcome === 'decided' && outcome.policyResult === 'allow'
}

/** The approval as a whole: what the last requirement came to, since one that is not allowed ends it. */
export function combine(approvalId: string, requirements: readonly RequirementDecision[]): DecidedApproval {
  const last = requirements.at(-1)
  if (last === undefined) throw new RangeError('an approval has at least one requirement')
  const { index: _, subject: __, ...decision } = last
  // A denial is whose it is; an allowance is a person's as soon as one of its parts is.
  const byUser = last.policyResult === 'allow' && requirements.some(({ resolvedBy }) => resolvedBy === 'user')
  // Of several rules that were made the one that lasts longest is told.
  const made = requirements.flatMap(({ amendment }) => amendment ?? [])
  const amendment = made.findLast(({ durability }) => durability === 'localPersistent') ?? made.at(-1)
  return {
    outcome: 'decided',
    approvalId,
    ...decision,
    ...(byUser ? { resolvedBy: 'user' as const } : {}),
    ...(amendment === undefined ? {} : { amendment }),
    requirements,
  }
}

/** The outcome in a sentence, for a model and for an audit. Only a person's or a policy's denial is called one. */
export function describeOutcome(what: string, outcome: ApprovalOutcome): string {
  if (outcome.outcome === 'decided') {
    const { policyResult, resolvedBy, feedback, why, requirements } = outcome
    const made = requirements.flatMap(({ amendment }) =>
      amendment === undefined ? [] : [amendment.rulePreview],
    )
    const remembered = made.length === 0 ? '' : ` Remembered: ${made.join('; ')}.`
    const by = resolvedBy === 'user' ? 'the user' : (why ?? 'a policy')
    if (policyResult === 'allow') return `allowed by ${by}: ${what}.${remembered}`
    const words = feedback === undefined ? '' : ` They said: ${JSON.stringify(feedback)}.`
    return `denied by ${by}: ${what}. It was not done.${words}${remembered} Do not try to do the same in another way.`
  }
  const { reason, text } = outcome
  const because = reason === undefined ? '' : ` (${JSON.stringify(reason)})`
  const not = `It was not done, and nobody has denied it.`
  switch (outcome.outcome) {
    case 'unavailable':
      return `Approval unavailable${because}: nobody could be asked about ${what}. ${not}`
    case 'timedOut':
      return `nobody decided in time about ${what}. ${not}`
    case 'cancelled':
      return `the user dismissed the approval of ${what} without deciding${because}. ${not}`
    case 'declined':
      return `the user declined to decide about ${what}${because}. ${not}`
    case 'clarified':
      return `the user wrote back instead of deciding about ${what}: ${JSON.stringify(text ?? '')}. ${not}`
    case 'interrupted':
      return `the user stopped the turn instead of deciding about ${what}${because}. ${not}`
    case 'aborted':
      return `the approval of ${what} was withdrawn before anybody decided${because}. ${not}`
    case 'pending':
      return `the approval of ${what} waits for the user still. ${not}`
  }
}
