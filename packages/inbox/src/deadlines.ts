import type { Clock } from '@handraise/user-questions'
import type { InboxStore } from './store.ts'

const BATCH = 100
/**
 * How long to wait at least after a sweep, in milliseconds. A store that goes by a clock of its own may not take for due yet
 * what has come by this one.
 */
const PAUSE_MS = 25
/** How long to wait with the next try when the store failed, in milliseconds. */
const RETRY_MS = 1_000

/** Settles requests when their deadline passes, with one timer for the earliest. */
export class Deadlines {
  private readonly store: InboxStore
  private readonly clock: Clock
  private readonly report: (error: unknown) => void
  private readonly settle: (id: string) => Promise<void>
  private armedFor = Infinity
  private disarm: (() => void) | undefined
  private stopped = false

  constructor(
    store: InboxStore,
    clock: Clock,
    report: (error: unknown) => void,
    settle: (id: string) => Promise<void>,
  ) {
    this.store = store
    this.clock = clock
    this.report = report
    this.settle = settle
  }

  /** Makes sure that a deadline is not slept through. */
  expect(deadlineAt: number | undefined): void {
    if (deadlineAt !== undefined && deadlineAt < this.armedFor) this.arm(deadlineAt)
  }

  /**
   * Settles all that is due, and waits for the next. To be called now and then, as the clock may be put right, or stand still
   * with its machine, while a timer runs.
   */
  async sweep(): Promise<void> {
    for (;;) {
      const due = await this.store.due(this.clock.now(), BATCH)
      if (due.length === 0) break
      await Promise.all(due.map(id => this.settle(id)))
    }
    this.armedFor = Infinity
    const next = await this.store.nextDeadline()
    if (next !== undefined) this.expect(Math.max(next, this.clock.now() + PAUSE_MS))
  }

  stop(): void {
    this.stopped = true
    this.disarm?.()
  }

  private arm(deadlineAt: number): void {
    if (this.stopped) return
    this.disarm?.()
    this.armedFor = deadlineAt
    this.disarm = this.clock.after(Math.max(0, deadlineAt - this.clock.now()), () => {
      this.armedFor = Infinity
      this.sweep().catch((error: unknown) => {
        this.report(error)
        this.expect(this.clock.now() + RETRY_MS)
      })
    })
  }
}
