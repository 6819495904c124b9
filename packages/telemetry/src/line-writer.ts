import { AskLogError } from './error.ts'
import { jsonLine } from './json-line.ts'
import type { Place } from './last-places.ts'
import type { LineSink } from './line-sink.ts'
import { isoOf, type MarkLine } from './log-line.ts'
import { withinMs } from './within-ms.ts'

/** How long until what could not be written is tried again, in milliseconds. */
const RETRY_MS = 5_000
/** How much is held until it can be written, in UTF-16 code units. */
const MOST_HELD = 16 * 1024 * 1024

/** Lines that are written together. */
interface Queued {
  readonly text: string
  /** How many lines are lost with it. */
  lines: number
  /** Told when it is written, or was not; absent of what is held here until it is. */
  readonly told?: { resolve(): void; reject(error: unknown): void } | undefined
}

/** Writes lines in the order in which they are said, all that wait at once. */
export class LineWriter {
  private readonly sink: LineSink
  private readonly warn: (error: AskLogError) => void
  private readonly queue: Queued[] = []
  private writing: readonly Queued[] = []
  private draining: Promise<void> | undefined
  private held = 0
  /** What stands where lines were left out. */
  private gap: Queued | undefined
  private failing = false
  private failedOnce = false
  private ended = false
  private retry: NodeJS.Timeout | undefined

  constructor(sink: LineSink, warn: (error: AskLogError) => void) {
    this.sink = sink
    this.warn = warn
  }

  /** Resolves when all of them are written. Rejects with `LOG_FAILED` when they could not be, having told so once. */
  write(lines: readonly object[]): Promise<void> {
    if (lines.length === 0) return Promise.resolve()
    if (this.ended) return Promise.reject(this.failure(new Error('it has ended')))
    return new Promise((resolve, reject) => {
      const text = lines.map(jsonLine).join('')
      this.queue.push({ text, lines: lines.length, told: { resolve, reject } })
      this.drain()
    })
  }

  /** Writes a line that nobody could say again: it is held until it is written, or until there are too many. */
  hold(line: object): void {
    if (this.ended) return
    const text = jsonLine(line)
    if (this.held + text.length > MOST_HELD) {
      this.leaveOut()
      return
    }
    this.gap = undefined
    this.held += text.length
    this.queue.push({ text, lines: 1 })
    this.drain()
  }

  /** The places of the lines at the end. Rejects as `write` does. */
  async places(): Promise<readonly Place[]> {
    try {
      return await this.sink.places()
    } catch (cause) {
      throw this.fail(cause)
    }
  }

  /** Writes what is left, for so long at most, and nothing after that. What is lost by it is told. */
  async end(ms: number): Promise<void> {
    this.drain()
    await withinMs(this.draining ?? Promise.resolve(), ms)
    this.ended = true
    clearTimeout(this.retry)
    // What an inbox holds is told when the host is back.
    const isLost = ({ told }: Queued): boolean => told === undefined || this.sink.shared === undefined
    const lost = [...this.writing, ...this.queue].filter(isLost).reduce((sum, { lines }) => sum + lines, 0)
    if (lost > 0) this.warn(new AskLogError('LOG_LOST', { file: this.sink.name, lines: lost }))
  }

  private leaveOut(): void {
    if (this.gap === undefined) {
      const line: MarkLine = { event: 'gap', time: isoOf(Date.now()) }
      this.gap = { text: jsonLine(line), lines: 0 }
      this.held += this.gap.text.length
      this.queue.push(this.gap)
    }
    this.gap.lines += 1
  }

  private drain(): void {
    clearTimeout(this.retry)
    if (this.queue.length > 0 && !this.ended) this.draining ??= this.writeQueued()
  }

  private async writeQueued(): Promise<void> {
    try {
      while (this.queue.length > 0 && !this.ended) {
        await this.writeAll((this.writing = this.queue.splice(0)))
        // Whoever was told that it failed says it again by himself.
        if (this.failing && this.queue.every(({ told }) => told === undefined)) break
      }
    } finally {
      this.draining = undefined
    }
    if (this.queue.length > 0 && !this.ended) this.retry = setTimeout(() => this.drain(), RETRY_MS).unref()
  }

  private async writeAll(batch: readonly Queued[]): Promise<void> {
    try {
      await this.sink.append(batch.map(({ text }) => text).join(''))
      this.failing = false
      for (const { text, told } of batch) {
        if (told === undefined) this.held -= text.length
        else told.resolve()
      }
    } catch (cause) {
      const error = this.fail(cause)
      this.failing = true
      this.queue.unshift(...batch.filter(({ told }) => told === undefined))
      for (const { told } of batch) told?.reject(error)
    }
    this.writing = []
  }

  private fail(cause: unknown): AskLogError<'LOG_FAILED'> {
    const error = this.failure(cause)
    if (!this.failedOnce) this.warn(error)
    this.failedOnce = true
    return error
  }

  private failure(cause: unknown): AskLogError<'LOG_FAILED'> {
    const why = cause instanceof Error ? cause.message : String(cause)
    return new AskLogError('LOG_FAILED', { file: this.sink.name, why }, { cause })
  }
}
