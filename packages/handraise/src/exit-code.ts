import type { AskOutcome, UserQuestionErrorCode } from '@handraise/user-questions/types'

/** What the exit code of `handraise ask` says. */
export const EXIT = {
  answered: 0,
  internal: 1,
  badInput: 2,
  cancelled: 3,
  /** Of `wire` and `serve`, which cancel nothing; 3 is what the protocol of `wire` has for it. */
  badConfig: 3,
  timedOut: 4,
  unavailable: 5,
  alreadySettled: 6,
  declined: 7,
  clarified: 8,
  interrupted: 9,
  signalled: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

const OF_OUTCOME: Readonly<Record<AskOutcome, ExitCode>> = {
  answered: EXIT.answered,
  cancelled: EXIT.cancelled,
  timedOut: EXIT.timedOut,
  unavailable: EXIT.unavailable,
  declined: EXIT.declined,
  clarified: EXIT.clarified,
  interrupted: EXIT.interrupted,
  aborted: EXIT.interrupted,
  failed: EXIT.internal,
}

const BAD_INPUT: ReadonlySet<UserQuestionErrorCode | undefined> = new Set([
  'EMPTY_QUESTIONS',
  'BAD_INTENT',
  'BAD_QUESTIONS',
] as const)

export function exitCodeOf(outcome: AskOutcome, code: UserQuestionErrorCode | undefined): ExitCode {
  return BAD_INPUT.has(code) ? EXIT.badInput : OF_OUTCOME[outcome]
}
