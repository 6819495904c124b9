import type { ThreadItem } from './items.ts'
import type { ThreadPage, ThreadStore } from './thread-store.ts'

interface Medium {
  readonly items: ThreadItem[]
  readonly followers: Set<() => void>
}

/** What anybody may post. */
export interface MemoryDraft {
  readonly content: ThreadItem['content']
  readonly metadata?: unknown
}

/** A thread in this process, for tests and trials. `as` is the same thread for another author. */
export class MemoryThread implements ThreadStore {
  readonly self: string
  private readonly medium: Medium

  constructor(self = 'agent', medium: Medium = { items: [], followers: new Set() }) {
    this.self = self
    this.medium = medium
  }

  as(author: string): MemoryThread {
    return new MemoryThread(author, this.medium)
  }

  /** All that was posted, in its order. */
  get items(): readonly ThreadItem[] {
    return this.medium.items
  }

  async post({ content, metadata }: MemoryDraft): Promise<ThreadItem> {
    const { items, followers } = this.medium
    const said = structuredClone({ content, ...(metadata === undefined ? {} : { metadata }) })
    const position = items.length + 1
    const item = { id: String(position), position, author: this.self, ...said, postedAt: Date.now() }
    items.push(item)
    for (const wake of followers) queueMicrotask(() => followers.has(wake) && wake())
    return structuredClone(item)
  }

  /** Posts a text. */
  say(text: string, metadata?: unknown): Promise<ThreadItem> {
    return this.post({ content: [{ type: 'text', text }], metadata })
  }

  async since(cursor: string | undefined, limit = 100): Promise<ThreadPage> {
    const from = Number(cursor ?? 0)
    const items = structuredClone(this.medium.items.slice(from, from + limit))
    const end = from + items.length
    return { items, cursor: String(end), more: end < this.medium.items.length }
  }

  follow(wake: () => void): () => void {
    const { followers } = this.medium
    const follower = (): void => wake()
    followers.add(follower)
    return () => void followers.delete(follower)
  }
}
