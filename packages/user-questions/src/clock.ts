/** Where time comes from, so that tests can hold it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
  /** Calls `run` once, `delayMs` from now. Returns what calls it off. */
  after(delayMs: number, run: () => void): () => void
}

// The longest delay a timer takes; a longer one fires at once.
const LONGEST_TIMER_MS = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  after(delayMs, run) {
    let timer: ReturnType<typeof setTimeout>
    const arm = (leftMs: number): void => {
      timer = setTimeout(
        () => (leftMs > LONGEST_TIMER_MS ? arm(leftMs - LONGEST_TIMER_MS) : run()),
        Math.min(leftMs, LONGEST_TIMER_MS),
      )
    }
    arm(delayMs)
    return () => clearTimeout(timer)
  },
}
