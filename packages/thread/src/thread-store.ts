import { z } from 'zod'
import type { ThreadDraft, ThreadItem } from './items.ts'

/** What followed a cursor. */
export interface ThreadPage {
  readonly items: readonly ThreadItem[]
  /** Where to read on. */
  readonly cursor: string
  /** There is more to read now. */
  readonly more: boolean
}

/**
 * A thread of items, as some chat system keeps it. What an adapter promises, each with a case in `threadStoreSuite` of
 * `@handraise/thread/testing` where a suite can tell:
 *
 * - What `self` posts is told from what everybody else posts by `author`, and nobody else can post as `self`.
 * - Positions follow the order of the thread, and an item keeps its id and its position.
 * - A cursor stays valid, and what is posted after it was given follows it. Items of others may come twice, late or in
 *   another order. An item of `self` is there for every `since` that is called after its `post` ended.
 * - A post that rejected has landed by then, or never will. A call ends within 30 seconds.
 * - An item that is delivered after it was changed says so in `edited`.
 */
export interface ThreadStore {
  /** The author of what this worker posts. */
  readonly self: string
  /** Resolves once it is in the thread. When it rejects it may have landed all the same. */
  post(draft: ThreadDraft): Promise<ThreadItem>
  /** What followed `cursor`, or the thread from its beginning. At most `limit` items, default as the store likes. */
  since(cursor: string | undefined, limit?: number): Promise<ThreadPage>
  /** Calls `wake` when there may be more. Returns what ends that. */
  follow(wake: () => void): () => void
}

/** A page as it comes from a store; each item is judged by itself. */
export const threadPageSchema = z.looseObject({
  items: z.array(z.unknown()),
  cursor: z.string(),
  more: z.boolean(),
})
