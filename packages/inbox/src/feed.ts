import type { Clock } from '@handraise/user-questions'
import { QuietTime } from './quiet-time.ts'
import type { InboxStore, LogEntry } from './store.ts'

/** How long to wait with the next try when the log could not be read, in milliseconds. */
const RETRY_MS = 250

/** Hears the log from some cursor on, until it is ended. What it throws is reported, and does not stop the feed. */
export interface Follower {
  /** Called for each entry, in order, once. */
  entry(entry: LogEntry): void
  /**
   * What came after the last entry cannot be told any more: list anew. It may be the cursor that was given to `follow` (then this
   * is called before that resolves) or one that was reached later, and may happen again. Either way nothing needs to be followed
   * anew: all is told that comes after the end of the log as it was just before this call, also while the list is read. Whoever
   * wants no entry before it has listed ends this following, and follows from a cursor that it read before its list.
   */
  lost(): void
}

/**
 * Reads the log once for all who follow it in this process. A follower that comes late reads what it missed from the
 * store, and is joined to the others when it has caught up.
 */
export class Feed {
  private readonly store: InboxStore
  private readonly clock: Clock
  private readonly report: (error: unknown) => void
  private readonly quiet: QuietTime
  private readonly followers = new Set<Follower>()
  private cursor = ''
  private reading: Promise<void> | undefined
  private readAgain = false
  private unwatch: (() => void) | undefined
  private callOffRetry = (): void => {}
  private stopped = false

  constructor(
    store: InboxStore,
    clock: Clock,
    report: (error: unknown) => void,
    quiet: QuietTime = new QuietTime(),
  ) {
    this.quiet = quiet
    this.store = store
    this.clock = clock
    this.report = report
  }

  async start(): Promise<void> {
    this.cursor = await this.store.end()
    this.unwatch = this.store.watch(() => void this.read())
    await this.read()
  }

  async stop(): Promise<void> {
    this.stopped = true
    this.unwatch?.()
    this.callOffRetry()
    this.followers.clear()
    await this.reading
  }

  /**
   * Follows from `cursor`, or from now. Resolves, once caught up, with what ends it. Rejects when the store cannot be read; nothing
   * follows then.
   */
  async follow(follower: Follower, cursor?: string): Promise<() => void> {
    let at = cursor ?? this.cursor
    for (;;) {
      if (at === this.cursor) {
        this.followers.add(follower)
        return () => void this.followers.delete(follower)
      }
      const page = await this.quiet.read(() => this.store.since(at))
      if ('lost' in page) {
        at = await this.store.end()
        this.contained(() => follower.lost())
        continue
      }
      for (const entry of page.entries) this.contained(() => follower.entry(entry))
      at = page.cursor
      // It may have read past what the others have heard.
      if (!page.more && at !== this.cursor) await this.read()
    }
  }

  /** Reads what is new and tells everybody. Resolves when all that was committed before the call has been told. */
  read(): Promise<void> {
    this.readAgain = true
    this.reading ??= this.readAll()
      .catch((error: unknown) => {
        this.report(error)
        // What could not be read now has been committed all the same, and somebody waits for it.
        if (!this.stopped) this.callOffRetry = this.clock.after(RETRY_MS, () => void this.read())
      })
      .finally(() => {
        this.reading = undefined
      })
    return this.reading
  }

  private async readAll(): Promise<void> {
    while (this.readAgain) {
      this.readAgain = false
      const page = await this.quiet.read(() => this.store.since(this.cursor))
      if ('lost' in page) {
        this.cursor = await this.store.end()
        this.tell([...this.followers], follower => follower.lost())
        continue
      }
      this.cursor = page.cursor
      const followers = [...this.followers]
      for (const entry of page.entries) this.tell(followers, follower => follower.entry(entry))
      if (page.more) this.readAgain = true
    }
  }

  // Whoever begins meanwhile does so from the cursor that is reached; whoever ends is told nothing more.
  private tell(followers: readonly Follower[], run: (follower: Follower) => void): void {
    for (const follower of followers)
      this.contained(() => {
        if (this.followers.has(follower)) run(follower)
      })
  }

  private contained(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.report(error)
    }
  }
}
