import { issuesOfZod, type Clock } from '@handraise/user-questions/types'
import { ThreadError } from './error.ts'
import { threadItemSchema, type ThreadDraft, type ThreadItem } from './items.ts'
import { threadPageSchema, type ThreadPage, type ThreadStore } from './thread-store.ts'

/** How long a call of a store may take, in milliseconds. */
const WITHIN_MS = 30_000

/** Calls a store, and takes nothing from it that is not what it ought to be. */
export class ThreadCalls {
  readonly self: string
  private readonly store: ThreadStore
  private readonly threadId: string
  private readonly clock: Clock
  private readonly report: (error: unknown) => void

  constructor(store: ThreadStore, threadId: string, clock: Clock, report: (error: unknown) => void) {
    this.self = store.self
    this.store = store
    this.threadId = threadId
    this.clock = clock
    this.report = report
  }

  /** Rejects with `STORE_FAILED`; then it may be in the thread all the same. */
  async post(draft: ThreadDraft): Promise<ThreadItem> {
    const posted = await this.inTime('post', async () => this.store.post(draft))
    const parsed = threadItemSchema.safeParse(posted)
    if (!parsed.success) throw this.failed('post', 'it gave back no item')
    if (parsed.data.author !== this.self) {
      const [self, author] = [this.self, parsed.data.author].map(name => JSON.stringify(name))
      this.report(this.failed('post', `it posted as ${author}, and not as itself, ${self}`))
    }
    return parsed.data
  }

  /** A page, its items in the order of their positions. Rejects with `STORE_FAILED`; what is no item is reported and left out. */
  async since(cursor: string | undefined): Promise<ThreadPage> {
    const given = await this.inTime('since', async () => this.store.since(cursor))
    const page = threadPageSchema.safeParse(given)
    if (!page.success) throw this.failed('since', 'it gave back no page')
    const items = page.data.items.flatMap(item => {
      const parsed = threadItemSchema.safeParse(item)
      if (parsed.success) return [parsed.data]
      const issues = issuesOfZod(parsed.error)
      this.report(new ThreadError('BAD_ITEM', { threadId: this.threadId, issues }))
      return []
    })
    // It would be read for ever.
    if (page.data.more && page.data.cursor === cursor)
      throw this.failed('since', 'there is more at the same cursor')
    return { ...page.data, items: items.toSorted((a, b) => a.position - b.position) }
  }

  follow(wake: () => void): () => void {
    try {
      return this.store.follow(wake)
    } catch (error) {
      throw this.failed('follow', error)
    }
  }

  private async inTime<T>(call: 'post' | 'since', run: () => Promise<T>): Promise<T> {
    let disarm = (): void => {}
    const late = new Promise<never>((_, reject) => {
      const fault = this.failed(call, `it did not end within ${WITHIN_MS} ms`)
      disarm = this.clock.after(WITHIN_MS, () => reject(fault))
    })
    try {
      return await Promise.race([run(), late])
    } catch (error) {
      throw ThreadError.isInstance(error) && error.code === 'STORE_FAILED' ? error : this.failed(call, error)
    } finally {
      disarm()
    }
  }

  private failed(call: 'post' | 'since' | 'follow', fault: unknown): ThreadError<'STORE_FAILED'> {
    const text = fault instanceof Error ? fault.message : String(fault)
    const options = fault instanceof Error ? { cause: fault } : {}
    return new ThreadError('STORE_FAILED', { threadId: this.threadId, call, fault: text }, options)
  }
}
