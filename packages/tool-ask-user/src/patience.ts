/** The longest time a timer takes. */
export const LONGEST_MS = 2 ** 31 - 1

/**
 * Runs `start`, and gives what it comes to within `patienceMs` milliseconds, or else `undefined`. Its signal aborts as `signal`
 * does, but not once patience has ended: what waits still is then left to whoever comes back to it, whatever becomes of
 * this run. Patience that has run out ends nothing while `mayLeave`, which must not throw, says no as of that moment: then it is
 * waited for to the end.
 */
export async function withPatience<Value>(
  patienceMs: number,
  signal: AbortSignal | undefined,
  start: (signal: AbortSignal) => Promise<Value>,
  mayLeave: () => boolean | Promise<boolean> = () => true,
): Promise<Value | undefined> {
  signal?.throwIfAborted()
  const withdrawal = new AbortController()
  const withdraw = (): void => withdrawal.abort(signal?.reason)
  signal?.addEventListener('abort', withdraw, { once: true })
  let timer: ReturnType<typeof setTimeout> | undefined
  const patience = new Promise<undefined>(resolve => {
    const end = async (): Promise<void> => {
      if (await mayLeave()) resolve(undefined)
    }
    timer = setTimeout(() => void end(), Math.min(patienceMs, LONGEST_MS))
  })
  const running = start(withdrawal.signal)
  try {
    return await Promise.race([running, patience])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', withdraw)
    // Nobody here is told of what it comes to later.
    running.catch(() => {})
  }
}
