import { z } from 'zod'
import { delayBefore, pause } from './attempts.ts'
import { Connection, type ConnectOptions, type Statement } from './connection.ts'
import type { DatabaseClock } from './database-clock.ts'

const beatRow = z.object({ now: z.number(), position: z.number().nullable() })

const BEAT: Statement = {
  name: 'beat',
  text: 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now, (SELECT max(position) FROM log)::float8 AS position',
}

/** How long the connection may leave the regular question unanswered, in milliseconds. */
const BEAT_WITHIN_MS = 2_000
/** How long a host that writes without a break leaves between two notifications, in milliseconds. */
const TELL_EVERY_MS = 5

const NOTIFY: Statement = { name: 'notify', text: "SELECT pg_notify($1, '')" }

/**
 * Tells other hosts, and hears from them on the same connection, that the log has grown. The writer does not tell it with
 * its commit: PostgreSQL lets only one transaction at a time commit that notifies, in all its databases. Its regular question finds out when the connection is dead
 * without having been closed, what was written without its being told, and what time it is on the database's clock.
 */
export class Listener {
  private readonly pollMs: number
  private readonly clock: DatabaseClock
  private readonly onLogged: () => void
  private readonly ended: AbortSignal
  private readonly connection: Connection
  private beating: Promise<void> = Promise.resolve()
  private channel = ''
  private position: number | null = null
  private telling = false
  private untold = false
  /** Ends the wait between two questions. */
  private lost = new AbortController()

  constructor(
    options: ConnectOptions,
    pollMs: number,
    clock: DatabaseClock,
    { onLogged, ended }: { onLogged: () => void; ended: AbortSignal },
  ) {
    this.pollMs = pollMs
    this.clock = clock
    this.onLogged = onLogged
    this.ended = ended
    this.connection = new Connection(options, {
      onNotification: ({ processId }) => {
        // What this host told, its own watchers knew before.
        if (processId !== this.connection.pid) onLogged()
      },
      onLost: () => this.lost.abort(),
    })
  }

  /** Resolves once it hears what is written from then on. Rejects when the database cannot be reached, by `end` at the latest. */
  async start(channel: string, end: number): Promise<void> {
    this.channel = channel
    await this.listen(end)
    this.beating = this.beat()
  }

  /** Tells the others. What is told in the meantime is told together; what cannot be told they find out by asking. */
  readonly tell = (): void => {
    this.untold = true
    if (!this.telling) void this.tellAll()
  }

  /** Ends at once whatever it waits for. */
  abandon(): void {
    this.connection.abandon()
  }

  async stop(): Promise<void> {
    await this.beating
    await this.connection.close()
  }

  private async listen(end = Infinity): Promise<void> {
    this.lost = new AbortController()
    // What it commits is nothing that a disk would have to keep.
    await this.connection.run(`SET synchronous_commit = off; LISTEN ${this.channel}`, [], { end })
    await this.ask(end)
  }

  private async tellAll(): Promise<void> {
    this.telling = true
    try {
      while (this.untold && !this.lost.signal.aborted && !this.ended.aborted) {
        this.untold = false
        await this.connection.run(NOTIFY, [this.channel])
        await pause(TELL_EVERY_MS, [this.ended], { idle: true })
      }
    } catch {
      this.untold = true
    } finally {
      this.telling = false
    }
  }

  private async ask(end = Infinity): Promise<void> {
    await this.clock.measure(async () => {
      const rows = await this.connection.run(BEAT, [], { timeoutMs: BEAT_WITHIN_MS, end })
      const { now, position } = beatRow.parse(rows[0])
      if (position !== this.position) this.onLogged()
      this.position = position
      return now
    })
  }

  private async beat(): Promise<void> {
    let failures = 0
    while (!this.ended.aborted) {
      const { signal } = this.lost
      const signals = signal.aborted ? [this.ended] : [this.ended, signal]
      const ms = failures === 0 && !signal.aborted ? this.pollMs : delayBefore(failures)
      await pause(ms, signals, { idle: true })
      if (this.ended.aborted) return
      try {
        if (this.lost.signal.aborted) {
          await this.listen()
          // What was written in between was told to nobody here.
          this.onLogged()
          if (this.untold) this.tell()
        } else await this.ask()
        failures = 0
      } catch {
        // Whoever reads or writes meanwhile is told what is wrong.
        this.lost.abort()
        failures += 1
      }
    }
  }
}
