/**
 * Which approvals of a session a person is asked for; decided before any surface is.
 *
 * - `allowAll`: none, all is allowed.
 * - `promptUnmatched`: those that no remembered rule covers. The default.
 * - `onRequest`: those for which the agent itself asks; what a rule covers, and all else, is allowed.
 * - `denyUnmatched`: none; what no rule covers is denied.
 */
export const APPROVAL_MODES = ['allowAll', 'promptUnmatched', 'onRequest', 'denyUnmatched'] as const

export type ApprovalMode = (typeof APPROVAL_MODES)[number]

export interface PolicyFacts {
  /** A remembered rule covers it. */
  readonly matched: boolean
  /** Neither a rule nor a mode may allow it. */
  readonly protected: boolean
  /** The agent itself asks for permission. */
  readonly requested: boolean
}

/** What mode and rules make of an approval, without anybody being asked. */
export function decideByPolicy(mode: ApprovalMode, facts: PolicyFacts): 'allow' | 'deny' | 'ask' {
  const { matched, requested } = facts
  if (facts.protected) return mode === 'denyUnmatched' ? 'deny' : 'ask'
  if (matched || mode === 'allowAll') return 'allow'
  if (mode === 'denyUnmatched') return 'deny'
  return mode === 'onRequest' && !requested ? 'allow' : 'ask'
}
