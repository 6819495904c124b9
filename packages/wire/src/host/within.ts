import type { Clock } from '@handraise/user-questions'

/** Resolves when `wait` has settled, or after `ms` milliseconds, whichever is first. */
export async function within(clock: Clock, ms: number, wait: Promise<unknown>): Promise<void> {
  let stop = (): void => {}
  const enough = new Promise<void>(resolve => {
    stop = clock.after(ms, resolve)
  })
  await Promise.race([wait, enough])
  stop()
}
