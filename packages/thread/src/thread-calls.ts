import { issuesOfZod, type Clock, type Issue } from '@handraise/user-questions/types'
import { ThreadError } from './error.ts'
import { threadItemSchema, type ThreadDraft, type ThreadItem } from './items.ts'
import { threadPageSchema, type ThreadPage, type ThreadStore } from './thread-store.ts'

/** How long a call of a store may take, in milliseconds. */
export const CALL_WITHIN_MS = 30_000
/** As many items that are none are known, so that each is reported once. */
const MOST_REPORTED = 1_000

/** Calls a store, and takes nothing from it that is not what it ought to be. */
export class ThreadCalls {
  readonly self: string
  private readonly store: ThreadStore
  private readonly threadId: string
  private readonly clock: Clock
  private readonly report: (error: unknown) => void
  private readonly reported = new Set<string>()
  private readonly limits = new Set<{ readonly call: 'post' | 'since'; readonly callOff: () => void }>()
  private posting: Promise<unknown> = Promise.resolve()

  constructor(store: ThreadStore, threadId: string, clock: Clock, report: (error: unknown) => void) {
    this.self = store.self
    this.store = store
    this.threadId = threadId
    this.clock = clock
    this.report = report
  }

  /** Rejects with `STORE_FAILED`; then it may be in the thread all the same. */
  async post(draft: ThreadDraft): Promise<ThreadItem> {
    const calling = this.inTime('post', async () => this.store.post(draft))
    this.posting = calling.catch(() => {})
    const posted = await calling
    const parsed = threadItemSchema.safeParse(posted)
    if (!parsed.success) throw this.failed('post', 'it gave back no item')
    if (parsed.data.author !== this.self) {
      const [self, author] = [this.self, parsed.data.author].map(name => JSON.stringify(name))
      this.report(this.failed('post', `it posted as ${author}, and not as itself, ${self}`))
    }
    return parsed.data
  }

  /**
   * The pages from a cursor on, the items of each in the order of their positions. Rejects with `STORE_FAILED`, and with
   * `BAD_CURSOR` where the store does; what is no item is reported and left out.
   */
  async *pages(cursor: string | undefined): AsyncGenerator<ThreadPage, void, void> {
    const before = new Set([cursor])
    for (let at = cursor, more = true; more;) {
      const page = await this.since(at)
      // It would be read for ever.
      if (page.more && before.has(page.cursor))
        throw this.failed('since', 'there is more at a cursor from before')
      before.add(page.cursor)
      ;({ cursor: at, more } = page)
      yield page
    }
  }

  /** Reports what is in the thread and is not what it ought to be, once. */
  reportItem(item: unknown, issues: readonly Issue[]): void {
    const known = JSON.stringify(item)?.slice(0, 1_000) ?? 'undefined'
    if (this.reported.has(known)) return
    this.reported.add(known)
    const [oldest] = this.reported
    if (this.reported.size > MOST_REPORTED && oldest !== undefined) this.reported.delete(oldest)
    this.report(new ThreadError('BAD_ITEM', { threadId: this.threadId, issues }))
  }

  /** Resolves when the post that is on its way has ended, at the latest when it has taken too long. */
  posted(): Promise<unknown> {
    return this.posting
  }

  /** Nobody waits for these calls any more: no limit keeps the process. */
  callOff(...calls: readonly ('post' | 'since')[]): void {
    for (const { call, callOff } of this.limits) if (calls.includes(call)) callOff()
  }

  private async since(cursor: string | undefined): Promise<ThreadPage> {
    const given = await this.inTime('since', async () => this.store.since(cursor), cursor !== undefined)
    const page = threadPageSchema.safeParse(given)
    if (!page.success) throw this.failed('since', 'it gave back no page')
    const items = page.data.items.flatMap(item => {
      const parsed = threadItemSchema.safeParse(item)
      if (parsed.success) return [parsed.data]
      this.reportItem(item, issuesOfZod(parsed.error))
      return []
    })
    return { ...page.data, items: items.toSorted((a, b) => a.position - b.position) }
  }

  follow(wake: () => void): () => void {
    let given: unknown
    try {
      given = this.store.follow(wake)
    } catch (error) {
      throw this.failed('follow', error)
    }
    if (typeof given === 'function') return given as () => void
    if (given instanceof Promise) {
      this.report(this.failed('follow', 'it gave a promise, and not what ends it'))
      return this.endLater(given)
    }
    this.report(this.failed('follow', 'it gave nothing that ends it'))
    return () => {}
  }

  private endLater(given: Promise<unknown>): () => void {
    let isOver = false
    let end = (): void => {}
    const begin = async (): Promise<void> => {
      const stop = await given
      if (typeof stop !== 'function') return
      end = () => void stop()
      if (isOver) end()
    }
    begin().catch((error: unknown) => this.report(this.failed('follow', error)))
    return () => {
      isOver = true
      end()
    }
  }

  private async inTime<T>(
    call: 'post' | 'since',
    run: () => Promise<T>,
    mayRefuseCursor = false,
  ): Promise<T> {
    let disarm = (): void => {}
    const limit = { call, callOff: () => disarm() }
    this.limits.add(limit)
    const late = new Promise<never>((_, reject) => {
      const fault = this.failed(call, `it did not end within ${CALL_WITHIN_MS} ms`)
      disarm = this.clock.after(CALL_WITHIN_MS, () => reject(fault))
    })
    try {
      return await Promise.race([run(), late])
    } catch (error) {
      const code = ThreadError.isInstance(error) ? error.code : undefined
      const isKnown = code === 'STORE_FAILED' || (code === 'BAD_CURSOR' && mayRefuseCursor)
      throw isKnown ? error : this.failed(call, error)
    } finally {
      this.limits.delete(limit)
      disarm()
    }
  }

  private failed(call: 'post' | 'since' | 'follow', fault: unknown): ThreadError<'STORE_FAILED'> {
    const text = fault instanceof Error ? fault.message : String(fault)
    const options = fault instanceof Error ? { cause: fault } : {}
    return new ThreadError('STORE_FAILED', { threadId: this.threadId, call, fault: text }, options)
  }
}
