import type { Clock } from '@handraise/user-questions/types'

/** Resolves after so many milliseconds; rejects with the reason of the first signal that is aborted before. */
export function wait(clock: Clock, delayMs: number, ...signals: (AbortSignal | undefined)[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = signals.find(signal => signal?.aborted === true)
    if (aborted !== undefined) return reject(aborted.reason as Error)
    const stop = (): void => {
      callOff()
      for (const signal of signals) signal?.removeEventListener('abort', onAbort)
    }
    const onAbort = (event: Event): void => {
      stop()
      reject((event.target as AbortSignal).reason as Error)
    }
    for (const signal of signals) signal?.addEventListener('abort', onAbort)
    const callOff = clock.after(delayMs, () => {
      stop()
      resolve()
    })
  })
}
