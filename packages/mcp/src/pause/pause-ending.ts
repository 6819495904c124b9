import type { JsonValue } from '@handraise/inbox'

/** How a paused call may end without its handler coming to a result. */
export const PAUSE_ENDINGS = ['declined', 'cancelled', 'answered', 'unusable', 'started'] as const

/**
 * - `declined`: a no, by the person or by a client that shows no dialog.
 * - `cancelled`: dismissed without a decision.
 * - `answered`: they answered, and the handler asked the very same again.
 * - `unusable`: three answers in a row could not be used.
 * - `started`: it was answered before, and what came of that is not known.
 */
export type PauseEnding = (typeof PAUSE_ENDINGS)[number]

/** A pause that ended, or was given up for another one, without a result of its handler. */
export interface EndedPause {
  /** `expired` when an answer came too late, and the handler was run anew instead. */
  readonly how: PauseEnding | 'expired'
  /** Why, in words. */
  readonly message: string
  /** What the handler gave with what it asked for. */
  readonly requestState: JsonValue | undefined
  /**
   * What the handler gave when it then ran once more: with what is asked instead of what `expired`, or with what it wanted to
   * ask again and was not asked.
   */
  readonly next: JsonValue | undefined
}
