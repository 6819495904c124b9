import type { ThreadItem } from './items.ts'

/** As many as are remembered: an item that comes again later than that is told by its position. */
const MOST = 10_000

/** Which items were handled, so that a second delivery does nothing. */
export class SeenItems {
  private readonly seen = new Map<string, boolean>()

  /** False for a second delivery; a first one as changed is new once more. */
  isNew({ id, edited }: ThreadItem): boolean {
    const before = this.seen.get(id)
    return before === undefined || (edited === true && !before)
  }

  add({ id, edited }: ThreadItem): void {
    this.seen.delete(id)
    this.seen.set(id, edited === true)
    const [oldest] = this.seen.keys()
    if (this.seen.size > MOST && oldest !== undefined) this.seen.delete(oldest)
  }
}
