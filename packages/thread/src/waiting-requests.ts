import type { InboxRequest } from '@handraise/inbox'
import { UserQuestionError } from '@handraise/user-questions/types'

/** How often a prompt may fail to be posted before its ask ends. */
export const MOST_TRIES = 3

interface Ask {
  readonly requestId: string
  readonly end: (error: unknown) => void
  /** How often its own prompt could not be posted. */
  own: number
  /** How often in a row nothing could be posted. */
  all: number
}

/** What is pending in the inbox, in its order, and who in this process waits for a prompt of it to be posted. */
export class WaitingRequests {
  private readonly requests = new Map<string, { readonly request: InboxRequest; readonly isTaken: boolean }>()
  /** How often the prompt of a request could not be posted, and when it is tried again. */
  private readonly failing = new Map<string, { readonly count: number; readonly retryAt: number }>()
  private readonly asks = new Set<Ask>()
  private ended: { readonly error: unknown } | undefined

  opened(request: InboxRequest, isTaken: boolean): void {
    this.requests.set(request.id, { request, isTaken })
  }

  settled(id: string): void {
    this.requests.delete(id)
    this.failing.delete(id)
  }

  /** The next to be posted now, of those that `canPost`: the first, but one that failed too often lets the others pass. */
  next(now: number, canPost: (request: InboxRequest) => boolean): InboxRequest | undefined {
    const first = this.taken()
      .filter(canPost)
      .toSorted((a, b) => this.lateness(a, now) - this.lateness(b, now))[0]
    return first !== undefined && (this.failing.get(first.id)?.retryAt ?? 0) <= now ? first : undefined
  }

  /** When a prompt that could not be posted is tried again; `Infinity` without one. */
  nextRetryAfter(now: number): number {
    return Math.min(
      ...Array.from(this.failing.values(), ({ retryAt }) => (retryAt > now ? retryAt : Infinity)),
    )
  }

  /** True while the request is pending. */
  has(id: string): boolean {
    return this.requests.has(id)
  }

  /** Those that the newest one supersedes: of the open ones and of those that `canPost` all that came before it. */
  supersededOf(openIds: readonly string[], canPost: (request: InboxRequest) => boolean): string[] {
    const waiting = this.taken()
      .filter(canPost)
      .map(({ id }) => id)
    const newest = waiting.at(-1)
    if (newest === undefined) return []
    const ids = [...this.requests.keys()]
    const before = new Set(ids.slice(0, ids.indexOf(newest)))
    return [...openIds, ...waiting].filter(id => before.has(id))
  }

  /**
   * Ends with `undeliverable` when the request cannot be posted, and with the signal's reason when that aborts. `all`: how
   * often in a row nothing could be posted until now.
   */
  ask(requestId: string, signal: AbortSignal, all: number): Promise<never> {
    if (this.ended !== undefined) return Promise.reject(undeliverable(this.ended.error))
    const before = this.failing.get(requestId)?.count ?? 0
    // Whoever asks anew has not been told that it fails.
    if (before >= MOST_TRIES) this.failing.delete(requestId)
    return new Promise((_, reject) => {
      const abort = (): void => ask.end(signal.reason)
      const ask: Ask = {
        requestId,
        own: before < MOST_TRIES ? before : 0,
        all,
        end: error => {
          signal.removeEventListener('abort', abort)
          this.asks.delete(ask)
          reject(error)
        },
      }
      this.asks.add(ask)
      if (signal.aborted) abort()
      else signal.addEventListener('abort', abort)
    })
  }

  /** The prompt of one request could not be posted. Returns how often. */
  postFailed(requestId: string, error: unknown): number {
    const count = (this.failing.get(requestId)?.count ?? 0) + 1
    this.failing.set(requestId, { count, retryAt: 0 })
    for (const ask of this.asks) {
      if (ask.requestId !== requestId) continue
      ask.own += 1
      this.endIfTooMany(ask, error)
    }
    return count
  }

  retryAt(requestId: string, retryAt: number): void {
    const count = this.failing.get(requestId)?.count ?? 0
    this.failing.set(requestId, { count, retryAt })
  }

  /** Nothing could be posted: none of those that are not in the thread yet. */
  allFailed(error: unknown, isPosted: (id: string) => boolean): void {
    for (const ask of this.asks) {
      if (isPosted(ask.requestId)) continue
      ask.all += 1
      this.endIfTooMany(ask, error)
    }
  }

  /** Something could be posted, or all was read: what failed before has nothing to do with what fails next. */
  succeeded(): void {
    for (const ask of this.asks) ask.all = 0
  }

  /** Nothing will be posted any more. */
  end(error: unknown): void {
    this.ended = { error }
    for (const ask of this.asks) ask.end(undeliverable(error))
  }

  private endIfTooMany({ own, all, end }: Ask, error: unknown): void {
    if (own + all >= MOST_TRIES) end(undeliverable(error))
  }

  private lateness({ id }: InboxRequest, now: number): number {
    const { count, retryAt } = this.failing.get(id) ?? { count: 0, retryAt: 0 }
    if (count < MOST_TRIES) return 0
    return retryAt > now ? Infinity : count
  }

  private taken(): InboxRequest[] {
    return [...this.requests.values()].flatMap(({ request, isTaken }) => (isTaken ? [request] : []))
  }
}

function undeliverable(error: unknown): UserQuestionError<'ASK_UNAVAILABLE'> {
  const fault = error instanceof Error ? error.message : String(error)
  const advice = `the question could not be posted: ${fault}`
  return new UserQuestionError('ASK_UNAVAILABLE', { reason: 'undeliverable', advice }, { cause: error })
}
