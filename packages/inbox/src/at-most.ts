import type { Clock } from '@handraise/user-questions'

/** Resolves when that is done, or after `limitMs`, and leaves it to itself then. */
export async function atMost(limitMs: number, done: Promise<void>, clock: Clock): Promise<void> {
  let callOff = (): void => {}
  const enough = new Promise<void>(resolve => {
    callOff = clock.after(limitMs, resolve)
  })
  await Promise.race([done, enough])
  callOff()
}
