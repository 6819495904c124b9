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
