import type { SettledRequest } from '@handraise/inbox'
import type { Clock } from '@handraise/user-questions/types'

export interface LongWaitOptions {
  /** Waits for the settlement, until the signal aborts. */
  readonly wait: (signal: AbortSignal) => Promise<SettledRequest>
  /** Resolves with the error when nobody can see the request. */
  readonly failed: Promise<unknown>
  /** Aborts when nobody waits for the call's result any more. */
  readonly left: AbortSignal
  /** Aborts when calls are to return at once. */
  readonly hurry: AbortSignal
  /** How long the call may take, in milliseconds. */
  readonly limitMs: number
  /** How often it is told that the call waits still, in milliseconds. */
  readonly everyMs: number
  readonly clock: Clock
  /** Called at once, then every `everyMs`. */
  readonly tell: () => void
}

/** How the wait of one call ended. */
export type Waited =
  | { readonly kind: 'settled'; readonly request: SettledRequest }
  | { readonly kind: 'failed'; readonly error: unknown }
  /** The limit came first: the question stays. */
  | { readonly kind: 'waiting' }
  /** Whoever called is gone. */
  | { readonly kind: 'left' }

/**
 * Waits for a person within the time that one call has. On MCP 2025-03-26 to 2025-11-25 their thinking counts against the
 * client's limit for the call, 60 s with the official clients. Never rejects, and leaves no timer behind.
 */
export async function waitWithin(options: LongWaitOptions): Promise<Waited> {
  const { wait, failed, left, hurry, limitMs, everyMs, clock, tell } = options
  const done = new AbortController()
  let callOffTell = (): void => {}
  const tellAgain = (): void => {
    tell()
    callOffTell = clock.after(everyMs, tellAgain)
  }
  let callOffLimit = (): void => {}
  const ending = new Promise<Waited>(resolve => {
    const ends = (signal: AbortSignal, kind: 'waiting' | 'left'): void => {
      if (signal.aborted) resolve({ kind })
      else signal.addEventListener('abort', () => resolve({ kind }), { once: true, signal: done.signal })
    }
    ends(left, 'left')
    ends(hurry, 'waiting')
    callOffLimit = clock.after(limitMs, () => resolve({ kind: 'waiting' }))
  })
  tellAgain()
  try {
    return await Promise.race([
      wait(done.signal).then(
        (request): Waited => ({ kind: 'settled', request }),
        (error: unknown): Waited => ({ kind: 'failed', error }),
      ),
      failed.then((error): Waited => ({ kind: 'failed', error })),
      ending,
    ])
  } finally {
    callOffTell()
    callOffLimit()
    done.abort()
  }
}
