import { setImmediate } from 'node:timers/promises'
import { isSettled, type Inbox, type LogEntry } from '@handraise/inbox'
import { AskLogError } from './error.ts'
import type { LineSink } from './line-sink.ts'
import type { LineWriter } from './line-writer.ts'
import { LogLease } from './log-lease.ts'
import { isoOf, openedLine, settledLine, type LogLine } from './log-line.ts'
import { withinMs } from './within-ms.ts'

/** How long until a host that does not write, or could not, looks again, in milliseconds. */
const LOOK_AGAIN_MS = 5_000
/** How many entries are written at once. */
const AT_ONCE = 200
/** How long the last may take to be written until another host may write on, in milliseconds. */
const LAST_WRITES_MS = 1_500
/** How many times that is read at once when a log ends. */
const LAST_READS = 50

export interface InboxLogOptions {
  readonly inbox: Inbox
  readonly sink: LineSink
  readonly writer: LineWriter
  readonly text: boolean
  readonly report: (error: unknown) => void
}

/** What was read from the log of the inbox, as lines, and where it ends. */
interface Read {
  readonly lines: readonly LogLine[]
  readonly cursor: string
  readonly more: boolean
}

/**
 * Writes what happens in an inbox, each opening and each settlement once. The place is kept in the lines themselves, so
 * that what a host has written and where it is cannot differ: whoever comes back goes on after the last line. Where that
 * was moved away, it goes on where the lease says.
 */
export class InboxLog {
  private readonly options: InboxLogOptions
  private readonly lease: LogLease
  /** Up to where it is written, or waits to be; not known before the first look, and after a failure. */
  private cursor: string | undefined
  /** Up to where it was written at least, when that was last known. */
  private writtenCursor: string | undefined
  private running: Promise<void> | undefined
  private again = false
  private closed: Promise<void> | undefined
  private begun = (): void => {}
  private callOffLook = (): void => {}

  constructor(options: InboxLogOptions) {
    this.options = options
    this.lease = new LogLease(options.inbox, options.sink)
  }

  /** Resolves when it is known from where on this host writes, or that another one does, or that this cannot be known now. */
  begin(): Promise<void> {
    return new Promise(resolve => {
      this.begun = resolve
      void this.catchUp()
    })
  }

  /** Writes what is not written yet. Resolves when that is tried; never rejects. */
  catchUp(): Promise<void> {
    if (this.closed !== undefined) return this.closed
    this.again = true
    this.running ??= this.run().finally(() => {
      this.running = undefined
    })
    return this.running
  }

  /** Writes the last, and lets another host write on. The inbox may be closed meanwhile. */
  close(): Promise<void> {
    return (this.closed ??= this.writeLast())
  }

  private async writeLast(): Promise<void> {
    this.callOffLook()
    await withinMs(this.writeRest(), LAST_WRITES_MS)
    await this.lease.leave().catch(() => {})
  }

  private async writeRest(): Promise<void> {
    const { cursor, lease } = this
    // Read at once: the inbox may be closed before what is being written is.
    const rest = cursor === undefined ? undefined : Promise.all([this.readRest(cursor), lease.isHeld()])
    rest?.catch(() => {})
    await this.running
    if (rest !== undefined && this.cursor === cursor) {
      const [reads, isHeld] = await rest
      if (isHeld) for (const read of reads) await this.write(read)
    }
    // What could not be written before, and what happens at once: an ask that is left is withdrawn a moment later. What is not
    // written then is told when the host is back.
    await setImmediate()
    await this.writeNew()
  }

  private async run(): Promise<void> {
    while (this.again && this.closed === undefined) {
      this.again = false
      let done = false
      try {
        done = await this.writeNew(() => this.closed !== undefined)
      } catch (error) {
        // A write that failed has been told.
        if (this.closed === undefined && !AskLogError.isInstance(error)) this.options.report(error)
      }
      this.begun()
      if (!done) this.lookAgain()
    }
  }

  private lookAgain(): void {
    this.callOffLook()
    if (this.closed === undefined)
      this.callOffLook = this.options.inbox.clock.after(LOOK_AGAIN_MS, () => void this.catchUp())
  }

  /** False when another host writes. */
  private async writeNew(stopped: () => boolean = () => false): Promise<boolean> {
    const held = await this.lease.hold()
    // Somebody else may have written since this one did.
    if (held !== 'held') this.cursor = this.writtenCursor = undefined
    if (held === 'theirs') return false
    const start = this.cursor === undefined ? await this.start() : undefined
    if (stopped()) return true
    this.cursor ??= start?.cursor
    this.begun()
    if (start !== undefined) await this.write(start)
    for (let more = true; more && this.cursor !== undefined;) {
      const read = await this.read(this.cursor)
      if (stopped()) return true
      await this.write(read)
      ;({ more } = read)
    }
    return true
  }

  private async start(): Promise<Read> {
    const { lease } = this
    const places = await this.options.writer.places()
    const last = places.find(({ source }) => source === lease.source)?.cursor ?? this.writtenCursor
    // A log that was moved away meanwhile says nothing.
    const cursor = last ?? lease.cursor
    return {
      cursor,
      lines: last === undefined && lease.isNew ? [this.mark('started', cursor)] : [],
      more: true,
    }
  }

  private async readRest(from: string): Promise<readonly Read[]> {
    const reads: Read[] = []
    for (let cursor = from, more = true; more && reads.length < LAST_READS;) {
      const read = await this.read(cursor)
      reads.push(read)
      ;({ cursor, more } = read)
    }
    return reads
  }

  private async read(from: string): Promise<Read> {
    const { store } = this.options.inbox
    const page = await store.since(from, AT_ONCE)
    if (!('lost' in page))
      return {
        lines: page.entries.flatMap(entry => this.linesOf(entry)),
        cursor: page.cursor,
        more: page.more,
      }
    const cursor = await store.end()
    return { lines: [this.mark('gap', cursor)], cursor, more: true }
  }

  private async write({ lines, cursor }: Read): Promise<void> {
    this.cursor = cursor
    try {
      await this.options.writer.write(lines)
    } catch (error) {
      // How much of it was written is read from the log.
      this.cursor = undefined
      throw error
    }
    if (cursor === this.writtenCursor) return
    this.writtenCursor = cursor
    this.lease.reached(cursor)
  }

  private mark(event: 'started' | 'gap', cursor: string): LogLine {
    return { event, time: isoOf(this.options.inbox.clock.now()), ...this.at(cursor) }
  }

  private linesOf({ change, request, cursor }: LogEntry): LogLine[] {
    const { inbox, text } = this.options
    if (change === 'opened') return [{ ...openedLine(request, inbox, text), ...this.at(cursor) }]
    return change === 'settled' && isSettled(request)
      ? [{ ...settledLine(request, text), ...this.at(cursor) }]
      : []
  }

  private at(cursor: string): { source?: string; cursor?: string } {
    return this.options.sink.shared === undefined ? {} : { source: this.lease.source, cursor }
  }
}
