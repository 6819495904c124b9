import type { ServerRequest, WireEvent } from './event.ts'

type Heard = WireEvent | ServerRequest

interface Entry {
  readonly cursor: string
  readonly update: Heard | undefined
}

/** How many are remembered. A gap is told soon after it opened. */
const REMEMBERED = 256

/** The last events of a session in the order in which they were heard, with what is needed to apply updates again. */
export class RecentEvents {
  private readonly entries: Entry[] = []

  add(event: Heard): void {
    const { viewCursor } = event.params as { readonly viewCursor?: unknown }
    // A request has the cursor of the event that opened what it presents.
    if (typeof viewCursor !== 'string' || !('known' in event)) return
    this.entries.push({ cursor: viewCursor, update: event.method === 'approval/updated' ? event : undefined })
    if (this.entries.length > REMEMBERED) this.entries.shift()
  }

  /** The updates of approvals that were heard with this cursor and after it; none where it was not heard. */
  from(cursor: string): Heard[] {
    const at = this.entries.findLastIndex(entry => entry.cursor === cursor)
    if (at === -1) return []
    return this.entries.slice(at).flatMap(({ update }) => (update === undefined ? [] : [update]))
  }
}
