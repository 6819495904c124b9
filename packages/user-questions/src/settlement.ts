import type { UserQuestionErrorCode } from './error.ts'

/**
 * How a pending request ended, once: `answered`; `declined`, the person said no to answering; `cancelled`, dismissed or
 * withdrawn without a decision; `clarified`, the person wrote back instead of choosing; `interrupted`, the person
 * stopped the turn; `timedOut`; `aborted`, the asker went away.
 */
export type Outcome =
  'answered' | 'declined' | 'cancelled' | 'clarified' | 'interrupted' | 'timedOut' | 'aborted'

/** What an ask can end with. `unavailable` and `failed` are no settlements: nobody decided anything. */
export type AskOutcome = Outcome | 'unavailable' | 'failed'

/** The outcome that each code of a rejected ask reports. */
export const OUTCOME_OF_CODE = {
  ASK_ABORTED: 'aborted',
  ASK_CANCELLED: 'cancelled',
  ASK_DECLINED: 'declined',
  ASK_CLARIFIED: 'clarified',
  ASK_INTERRUPTED: 'interrupted',
  ASK_TIMED_OUT: 'timedOut',
  ASK_UNAVAILABLE: 'unavailable',
  NO_PROVIDER: 'unavailable',
  PROVIDER_GONE: 'failed',
  PROVIDER_FAILED: 'failed',
  BAD_ANSWER: 'failed',
  EMPTY_QUESTIONS: 'failed',
  CALLER_NOT_LIVE: 'failed',
  DELEGATED_CALLER: 'failed',
  BAD_INTENT: 'failed',
  BAD_QUESTIONS: 'failed',
  DUPLICATE_PROVIDER: 'failed',
  KEY_CONFLICT: 'failed',
} as const satisfies Record<UserQuestionErrorCode, AskOutcome>
