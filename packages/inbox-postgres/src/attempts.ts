import { failureOf, PostgresStoreError } from './error.ts'

const FIRST_DELAY_MS = 25
const LONGEST_DELAY_MS = 1_000

/** How long to leave the database before attempt `count`, in milliseconds. Uneven, so that hosts do not keep in step. */
export function delayBefore(count: number): number {
  return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** count) * (0.5 + Math.random() / 2)
}

export interface Persistence {
  /** The instant of `performance.now()` by which it has come to something. */
  readonly end: number
  /** When it aborts, nothing is attempted again. */
  readonly ended: AbortSignal
}

/**
 * Calls `attempt` until it does, is refused, or the time is over; at least once. It is given `end`, by which it must itself
 * have come to something, and changes nothing that it would not bear to change again.
 */
export async function persist<T>(
  attempt: (end: number) => Promise<T>,
  { end, ended }: Persistence,
): Promise<T> {
  for (let count = 0; ; count += 1) {
    try {
      return await attempt(end)
    } catch (error) {
      const failure = failureOf(error)
      if (failure === undefined) throw error
      const waitMs = delayBefore(count)
      if (failure === 'refused' || ended.aborted || performance.now() + waitMs > end)
        throw new PostgresStoreError(
          failure === 'refused' ? 'DATABASE_REFUSED' : 'DATABASE_UNREACHABLE',
          error,
        )
      await pause(waitMs, [ended])
    }
  }
}

/** Resolves after `ms`, or when one of the signals aborts. By itself it keeps no process running if it is `idle`. */
export function pause(ms: number, signals: readonly AbortSignal[], { idle = false } = {}): Promise<void> {
  return new Promise(resolve => {
    const done = (): void => {
      clearTimeout(timer)
      for (const signal of signals) signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    if (idle) timer.unref()
    for (const signal of signals) signal.addEventListener('abort', done)
    if (signals.some(({ aborted }) => aborted)) done()
  })
}
