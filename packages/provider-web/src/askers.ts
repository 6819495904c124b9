import type { Inbox, InboxRequest } from '@handraise/inbox'

/**
 * Watches over requests that were opened without a key. Nobody can come back for such a one, so it belongs to the
 * connection that waits for it: with none for `graceMs` it is withdrawn, and no card is left that answers nobody.
 */
export class Askers {
  private readonly inbox: Inbox
  private readonly graceMs: number
  private readonly report: (error: unknown) => void
  private readonly watched = new Map<string, { waiting: number; callOff: () => void }>()

  constructor(inbox: Inbox, graceMs: number, report: (error: unknown) => void) {
    this.inbox = inbox
    this.graceMs = graceMs
    this.report = report
  }

  opened({ id, key }: InboxRequest): void {
    if (key !== undefined) return
    this.watched.set(id, { waiting: 0, callOff: this.expectSomebody(id) })
  }

  /** Somebody waits for the request, until the returned function is called. */
  waits(id: string): () => void {
    const asker = this.watched.get(id)
    if (asker === undefined) return () => {}
    asker.waiting += 1
    asker.callOff()
    return () => {
      asker.waiting -= 1
      if (asker.waiting === 0 && this.watched.has(id)) asker.callOff = this.expectSomebody(id)
    }
  }

  close(): void {
    for (const { callOff } of this.watched.values()) callOff()
    this.watched.clear()
  }

  private expectSomebody(id: string): () => void {
    return this.inbox.clock.after(this.graceMs, () => {
      this.watched.delete(id)
      this.inbox.withdraw(id, 'the asker went away').catch(this.report)
    })
  }
}
