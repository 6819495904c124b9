import type { Clock } from '@handraise/user-questions/types'

/** How long a person needs at the least, in milliseconds, to see a dialog and to decide. */
export const AUTO_REPLY_MS = 300

export interface ReplyTiming {
  /** What comes faster than this, in milliseconds, no person replied. 0 takes every reply as a person's. */
  readonly autoReplyMs: number
  readonly clock: Clock
}

/** What came back, and whether it came faster than a person can reply. */
export interface TimedReply<T> {
  readonly reply: T
  readonly isTooFast: boolean
}

/**
 * Shows something and waits for the reply to it. The time is that of a timer of the clock, since the time of day may be set
 * meanwhile. Rejects with what `show` rejects with; the timer is called off in any case.
 */
export async function timeReply<T>(
  show: () => Promise<T>,
  { autoReplyMs, clock }: ReplyTiming,
): Promise<TimedReply<T>> {
  if (autoReplyMs <= 0) return { reply: await show(), isTooFast: false }
  let isTooFast = true
  const stop = clock.after(autoReplyMs, () => void (isTooFast = false))
  try {
    const reply = await show()
    return { reply, isTooFast }
  } finally {
    stop()
  }
}

/**
 * True of what only a person may do with a form: to accept or to decline it. Either one, when it comes too fast, was done by
 * a client that showed nobody the form. To cancel decides nothing, whoever does it.
 */
export function takesPerson(action: string): boolean {
  return action === 'accept' || action === 'decline'
}
