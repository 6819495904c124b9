import { failureOf, PostgresStoreError, type Failure } from './error.ts'

const FIRST_DELAY_MS = 25
const LONGEST_DELAY_MS = 1_000

/** How long to leave the database before attempt `count`, in milliseconds. Uneven, so that hosts do not keep in step. */
export function delayBefore(count: number): number {
  return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** count) * (0.5 + Math.random() / 2)
}

/**
 * Calls `attempt` until it does, is refused, or the instant `end` of `performance.now()` has come; at least once. It is
 * given `end`, by which it must itself have come to something. A write must bear being attempted again after it was carried out.
 */
export async function persist<T>(
  attempt: (end: number) => Promise<T>,
  end: number,
  ended: AbortSignal,
  kind: 'reads' | 'writes' = 'writes',
): Promise<T> {
  let lost = false
  for (let count = 0; ; count += 1) {
    try {
      return await attempt(end)
    } catch (error) {
      const failure = failureOf(error)
      if (failure === undefined) throw error
      // A read that was lost changed nothing.
      lost ||= failure === 'unknown' && kind === 'writes'
      const waitMs = delayBefore(count)
      if (failure === 'refused' || ended.aborted || performance.now() + waitMs > end)
        throw new PostgresStoreError(codeOf(failure, lost), error)
      await pause(waitMs, [ended])
    }
  }
}

function codeOf(failure: Failure, lost: boolean): PostgresStoreError['code'] {
  // An attempt that was refused says nothing of one before it whose answer was lost.
  if (lost) return 'WRITE_UNKNOWN'
  return failure === 'refused' ? 'DATABASE_REFUSED' : 'DATABASE_UNREACHABLE'
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
