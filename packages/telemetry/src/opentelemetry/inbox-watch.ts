import { InboxError, isSettled, type Inbox, type InboxRequest, type SettledRequest } from '@handraise/inbox'

/** How long to wait with the next try when what is pending could not be listed anew, in milliseconds. */
const RETRY_MS = 250

/** What is pending: its kind, and when it was opened, in milliseconds since the Unix epoch. */
export interface Waiting {
  readonly kind: string
  readonly openedAt: number
}

export interface InboxListener {
  /** It is pending now. `isNew` is false of what was pending before anybody listened. */
  opened(request: InboxRequest, isNew: boolean): void
  settled(request: SettledRequest): void
}

/**
 * All that is pending in an inbox, and all that changes, whichever process it is that asks or answers. Other than what is
 * shown on a surface, it hears also of what is settled at once.
 */
export class InboxWatch {
  /** By its id. */
  readonly pending = new Map<string, Waiting>()
  readonly inbox: Inbox
  private readonly listener: InboxListener
  private readonly report: (error: unknown) => void
  private ended = false
  private unfollow = (): void => {}
  private callOffRetry = (): void => {}

  constructor(inbox: Inbox, listener: InboxListener, report: (error: unknown) => void) {
    this.inbox = inbox
    this.listener = listener
    this.report = report
  }

  /**
   * Resolves when all that is pending is known. Rejects when that cannot be read; what cannot be read later, after the log was
   * lost, is reported and read again until it could be.
   */
  async start(): Promise<void> {
    const cursor = await this.inbox.store.end()
    const before = new Set(this.pending.keys())
    for (let after: string | undefined, more = true; more; more = after !== undefined) {
      const page = await this.inbox.list({ state: 'pending', limit: 1_000, after })
      if (this.ended) return
      for (const request of page.requests) {
        before.delete(request.id)
        this.open(request, false)
      }
      after = page.next
    }
    // What was settled while the log was lost.
    for (const id of before) this.pending.delete(id)
    await this.follow(cursor)
  }

  stop(): void {
    this.ended = true
    this.callOffRetry()
    this.unfollow()
    this.pending.clear()
  }

  private async follow(cursor: string): Promise<void> {
    let current = true
    const stop = await this.inbox.follow(
      {
        entry: ({ change, request }) => {
          if (!current || this.ended) return
          if (change === 'opened') this.open(request, true)
          else if (change === 'settled' && isSettled(request)) this.settle(request)
        },
        lost: () => {
          if (!current) return
          current = false
          // What happens while the list is read is told again from the cursor before it.
          this.unfollow()
          this.startAgain()
        },
      },
      cursor,
    )
    if (current && !this.ended) this.unfollow = stop
    else stop()
  }

  private startAgain(): void {
    if (this.ended) return
    this.start().catch((error: unknown) => {
      if (this.ended) return
      this.report(error)
      if (!isClosed(error)) this.callOffRetry = this.inbox.clock.after(RETRY_MS, () => this.startAgain())
    })
  }

  private open(request: InboxRequest, isNew: boolean): void {
    const { id, openedAt } = request
    if (!isSettled(request)) this.pending.set(id, { kind: knownKind(this.inbox, request), openedAt })
    this.listener.opened(request, isNew)
  }

  private settle(request: SettledRequest): void {
    this.pending.delete(request.id)
    this.listener.settled(request)
  }
}

/** The kind of a request, or `other` for one that is not known in this host: whoever opens one may call it anything. */
export function knownKind(inbox: Inbox, request: InboxRequest): string {
  return inbox.kindOf(request) === undefined ? 'other' : request.kind
}

function isClosed(error: unknown): boolean {
  return InboxError.isInstance(error) && error.code === 'STORE_CLOSED'
}
