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
    // Somewhere in between it was read; from an answer that took too long nothing can be said.
    const aheadMs = database - (sentAt + tookMs / 2)
    if (tookMs > TOLERANCE_MS) return
    if (Math.abs(aheadMs) < TOLERANCE_MS) this.aheadMs = 0
    else if (Math.abs(aheadMs - this.aheadMs) > TOLERANCE_MS) this.aheadMs = Math.round(aheadMs)
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
