import { setTimeout as delay } from 'node:timers/promises'

/** Such as `EACCES`, or `SQLITE_FULL`. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** The code of an error of `better-sqlite3`, such as `SQLITE_FULL`. */
export function sqliteCodeOf(error: unknown): string | undefined {
  const code = codeOf(error)
  return code?.startsWith('SQLITE_') === true ? code : undefined
}

/** True when another connection is in the way for a moment. */
export function isBusy(error: unknown): boolean {
  return /^SQLITE_(?:BUSY|PROTOCOL)/u.test(sqliteCodeOf(error) ?? '')
}

/** How long to leave the others before the next try. Uneven, so that two who wait do not keep in step. */
export function retryDelayMs(): number {
  return 1 + Math.random() * 4
}

/** Calls `attempt` until nobody is in the way, for at most `waitMs`. The event loop runs in between. */
export async function untilFree<T>(attempt: () => T, waitMs: number): Promise<T> {
  const end = performance.now() + waitMs
  for (;;) {
    try {
      return attempt()
    } catch (error) {
      if (!isBusy(error)) throw error
      if (performance.now() >= end) throw lockedError(waitMs, error)
    }
    await delay(retryDelayMs())
  }
}

export function lockedError(waitMs: number, cause: unknown): Error {
  return new Error(
    `the store was locked by another process for ${waitMs} ms; nothing was done, so it may be tried again`,
    { cause },
  )
}

/** An error that names the store and keeps what SQLite said. */
export function failedError(what: string, cause: unknown): Error {
  return new Error(`${what}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
}
