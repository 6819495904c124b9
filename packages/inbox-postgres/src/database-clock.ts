/**
 * How far this host's clock may be from the database's before its deadlines are translated, in milliseconds. Below it
 * the measurement itself is no better, and an instant comes back as it was given.
 */
const TOLERANCE_MS = 500

/** Translates instants between the clock of this host and that of the database, which is the same for all hosts. */
export class DatabaseClock {
  /** How far the database is ahead, in milliseconds. */
  private aheadMs = 0
  private readonly now: () => number

  constructor(now: () => number) {
    this.now = now
  }

  /** Takes the host's time before and after the database was asked for its own. */
  async measure(ask: () => Promise<number>): Promise<void> {
    const [sentAt, startedAt] = [this.now(), performance.now()]
    const database = await ask()
    const tookMs = performance.now() - startedAt
    // Somewhere in between it was read: the slower the answer, the less is known.
    const aheadMs = database - (sentAt + tookMs / 2)
    if (Math.abs(aheadMs - this.aheadMs) <= TOLERANCE_MS + tookMs / 2) return
    this.aheadMs = Math.abs(aheadMs) < TOLERANCE_MS ? 0 : Math.round(aheadMs)
  }

  /** The database's time, in milliseconds since the Unix epoch. */
  read(): number {
    return this.toDatabase(this.now())
  }

  toDatabase(instant: number): number {
    return instant + this.aheadMs
  }

  toHost(instant: number): number {
    return instant - this.aheadMs
  }
}
