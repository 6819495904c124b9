import { FRAME_LIMIT_BYTES, type FrameChannel, type IncomingFrame } from './channel.ts'
import { isLongerThan, readOversized, Utf8Counter } from './oversized-frame.ts'

/** Any duplex of text. A chunk may end anywhere, in the middle of a line too. */
export interface DuplexTransport {
  /** Ends when the other side is gone. Read once. */
  readonly incoming: AsyncIterable<string>
  /** May wait until more can be taken, and fails when the other side is gone. Is not called again before that. */
  write(chunk: string): void | Promise<void>
  close?(): void | Promise<void>
}

export interface NdjsonOptions {
  /** The longest frame either way, in bytes of UTF-8 without the line end. Default 10 MiB. */
  readonly limitBytes?: number | undefined
}

/**
 * One frame on each line. Empty lines are ignored, a carriage return before the line end is no part of the frame, and the last
 * line needs no end. Of a frame over the limit no more is kept than the limit, and the channel lives on.
 *
 * `send` rejects with a RangeError, and sends nothing, where the frame is over the limit; with a TypeError where it has a
 * line end.
 */
export function ndjsonChannel(
  transport: DuplexTransport,
  { limitBytes = FRAME_LIMIT_BYTES }: NdjsonOptions = {},
): FrameChannel {
  return new NdjsonChannel(transport, limitBytes)
}

interface Writing {
  readonly line: string
  readonly done: () => void
  readonly fail: (error: unknown) => void
}

class NdjsonChannel implements FrameChannel {
  readonly incoming: AsyncIterable<IncomingFrame>
  private readonly transport: DuplexTransport
  private readonly limitBytes: number
  private readonly waiting: Writing[] = []
  private writing: Writing | undefined
  private closed = false
  private stopReading = (): void => {}

  constructor(transport: DuplexTransport, limitBytes: number) {
    this.transport = transport
    this.limitBytes = limitBytes
    this.incoming = this.read()
  }

  send(frame: string): Promise<void> {
    return new Promise((done, fail) => {
      if (this.closed) return fail(new Error('the channel is closed'))
      if (frame.includes('\n')) return fail(new TypeError('a frame is one line'))
      if (isLongerThan(frame, this.limitBytes)) {
        return fail(new RangeError(`the frame is longer than ${this.limitBytes} bytes`))
      }
      this.waiting.push({ line: `${frame}\n`, done, fail })
      if (this.writing === undefined) void this.write()
    })
  }

  close(): void {
    if (this.closed) return
    this.closed = true
    this.stopReading()
    const error = new Error('the channel is closed')
    this.writing?.fail(error)
    for (const { fail } of this.waiting.splice(0)) fail(error)
    void closeQuietly(this.transport)
  }

  private async write(): Promise<void> {
    for (let next = this.waiting.shift(); next !== undefined; next = this.waiting.shift()) {
      this.writing = next
      try {
        await this.transport.write(next.line)
        next.done()
      } catch (error) {
        next.fail(error)
      }
    }
    this.writing = undefined
  }

  private async *read(): AsyncGenerator<IncomingFrame, void> {
    if (this.closed) return
    const lines = new LineSplitter(this.limitBytes)
    const chunks = this.transport.incoming[Symbol.asyncIterator]()
    try {
      for (;;) {
        const chunk = await this.untilClosed(chunks.next())
        for (const frame of chunk.done === true ? lines.end() : lines.push(chunk.value)) {
          if (this.closed) return
          yield frame
        }
        if (this.closed || chunk.done === true) return
      }
    } catch {
      // What cannot be read any more has ended; what was left of a line is not whole.
    } finally {
      // It may wait for a chunk that never comes.
      void chunks.return?.().catch(() => {})
    }
  }

  private untilClosed(next: Promise<IteratorResult<string>>): Promise<IteratorResult<string>> {
    return new Promise((resolve, reject) => {
      this.stopReading = () => resolve({ done: true, value: undefined })
      next.then(resolve, reject)
    })
  }
}

async function closeQuietly(transport: DuplexTransport): Promise<void> {
  try {
    await transport.close?.()
  } catch {
    // It is gone either way.
  }
}

/** How many pieces of a line are kept apart before they are joined to one. */
const PIECES = 1024

/** Cuts text into lines, in time that grows with the text and not with the number of chunks. */
class LineSplitter {
  private readonly limitBytes: number
  private joined: string[] = []
  private pieces: string[] = []
  private counter = new Utf8Counter()
  private endsWithReturn = false
  private dropping = false

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes
  }

  *push(chunk: string): Generator<IncomingFrame, void> {
    let from = 0
    for (let to = chunk.indexOf('\n'); to !== -1; to = chunk.indexOf('\n', from)) {
      yield* this.add(chunk.slice(from, to))
      yield* this.end()
      from = to + 1
    }
    yield* this.add(chunk.slice(from))
  }

  /** The line ends here. */
  *end(): Generator<IncomingFrame, void> {
    const line = this.text()
    this.forget()
    this.counter = new Utf8Counter()
    this.endsWithReturn = false
    this.dropping = false
    const text = line.endsWith('\r') ? line.slice(0, -1) : line
    if (text.trim() !== '') yield { text }
  }

  private *add(piece: string): Generator<IncomingFrame, void> {
    if (this.dropping || piece === '') return
    this.counter.add(piece, this.limitBytes + 1)
    this.endsWithReturn = piece.endsWith('\r')
    this.pieces.push(piece)
    // A return may be part of the line end.
    if (this.counter.bytes - (this.endsWithReturn ? 1 : 0) > this.limitBytes) {
      this.dropping = true
      const frame = readOversized(this.text(), this.limitBytes)
      this.forget()
      yield frame
    } else if (this.pieces.length === PIECES) {
      this.joined.push(this.pieces.join(''))
      this.pieces = []
    }
  }

  private text(): string {
    return [...this.joined, ...this.pieces].join('')
  }

  private forget(): void {
    this.joined = []
    this.pieces = []
  }
}
