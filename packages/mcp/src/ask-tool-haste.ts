import type { Clock } from '@handraise/user-questions/types'

/** A form as it goes out to a client that carries it. */
export interface Sending {
  /** Names it, and what sent it. */
  readonly sending?: string | undefined
  /** Milliseconds since the Unix epoch. */
  readonly sentAt: number
}

/**
 * Tells which forms come back faster than a person can reply. Here that is timed by a timer, since the time of day may be set
 * meanwhile. A form that another process has sent has its time of day alone; one that seems to come from the future is taken for a
 * person's, who cannot be asked to answer in vain.
 */
export class Haste {
  private readonly sender = crypto.randomUUID()
  private readonly clock: Clock
  private readonly autoDeclineMs: number
  private readonly recent = new Map<string, () => void>()
  private count = 0

  constructor(clock: Clock, autoDeclineMs: number) {
    this.clock = clock
    this.autoDeclineMs = autoDeclineMs
  }

  /** A form goes out now. */
  send(): Required<Sending> {
    const sending = `${this.sender}/${(this.count += 1)}`
    if (this.autoDeclineMs > 0)
      this.recent.set(
        sending,
        this.clock.after(this.autoDeclineMs, () => void this.recent.delete(sending)),
      )
    return { sending, sentAt: this.clock.now() }
  }

  /** True of a form that is back already. */
  isTooFast({ sending, sentAt }: Sending): boolean {
    if (sending?.startsWith(`${this.sender}/`) === true) return this.recent.has(sending)
    const tookMs = this.clock.now() - sentAt
    return tookMs >= 0 && tookMs < this.autoDeclineMs
  }

  /** Leaves no timer. */
  close(): void {
    for (const callOff of this.recent.values()) callOff()
    this.recent.clear()
  }
}
