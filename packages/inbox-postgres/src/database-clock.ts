/**
 * How far this host's clock may be from the database's before its deadlines are translated, in milliseconds. Below it
 * the measurement itself is no better, and an instant comes back as it was given.
 */
const TOLERANCE_MS = 500

/**
 * In SQL: the instant up to which the database lets a deadline be met, whatever a host takes the time for, whose clock may
 * have been moved a moment ago. A host that is within the tolerance is never kept from what it takes for due.
 */
export const SOON = `(extract(epoch FROM clock_timestamp()) * 1000)::float8 + ${2 * TOLERANCE_MS}`

/**
 * In SQL: the instant that a host has translated and that is `from_now` milliseconds from when the statement came. Where the two
 * are further apart than the measurement can be, the host's clock was moved after it was measured, and only the second holds.
 */
export const INSTANT_FUNCTION = `
CREATE FUNCTION instant_of(p_translated float8, p_from_now float8) RETURNS float8 LANGUAGE sql STABLE
  RETURN CASE WHEN abs(extract(epoch FROM statement_timestamp())::float8 * 1000 + p_from_now - p_translated) <= ${2 * TOLERANCE_MS} THEN p_translated
    ELSE round(extract(epoch FROM statement_timestamp())::float8 * 1000 + p_from_now) END;`

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

  /** How far it is from now to an instant of this host, in milliseconds: the same on every clock. */
  fromNow(instant: number): number {
    return instant - this.now()
  }

  toDatabase(instant: number): number {
    return instant + this.aheadMs
  }

  toHost(instant: number): number {
    return instant - this.aheadMs
  }
}
