import type { DuplexTransport } from '../src/ndjson.ts'

export interface PipeOptions {
  /** How many UTF-16 units may wait unread one way before a write has to wait. Default 65,536. */
  readonly highWaterMark?: number
}

/**
 * Two ends of a duplex of text. A write resolves when less than the high-water mark waits to be read. Closing an end
 * rejects its writes and those of the other end; the other end still reads what was written before, and then ends.
 */
export function pipe({ highWaterMark = 65_536 }: PipeOptions = {}): [DuplexTransport, DuplexTransport] {
  const there = new OneWay(highWaterMark)
  const back = new OneWay(highWaterMark)
  const end = (reads: OneWay, writes: OneWay): DuplexTransport => ({
    incoming: reads,
    write: chunk => writes.write(chunk),
    close() {
      writes.endWriting()
      reads.endReading()
    },
  })
  return [end(back, there), end(there, back)]
}

class OneWay implements AsyncIterable<string> {
  private readonly highWaterMark: number
  private chunks: string[] = []
  private size = 0
  private state: 'open' | 'ended' | 'broken' = 'open'
  private readonly writers: Deferred[] = []
  private readonly readers: Deferred[] = []

  constructor(highWaterMark: number) {
    this.highWaterMark = highWaterMark
  }

  write(chunk: string): Promise<void> {
    if (this.state !== 'open') return Promise.reject(new Error('the pipe is closed'))
    this.chunks.push(chunk)
    this.size += chunk.length
    for (const reader of this.readers.splice(0)) reader.resolve()
    if (this.size < this.highWaterMark) return Promise.resolve()
    const room = withResolvers()
    this.writers.push(room)
    return room.promise
  }

  endWriting(): void {
    if (this.state === 'open') this.state = 'ended'
    this.release()
  }

  endReading(): void {
    this.state = 'broken'
    this.chunks = []
    this.size = 0
    this.release()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    for (;;) {
      const chunk = this.chunks.shift()
      if (chunk !== undefined) {
        this.size -= chunk.length
        if (this.size < this.highWaterMark) for (const writer of this.writers.splice(0)) writer.resolve()
        yield chunk
        continue
      }
      if (this.state !== 'open') return
      const more = withResolvers()
      this.readers.push(more)
      await more.promise
    }
  }

  private release(): void {
    for (const writer of this.writers.splice(0)) writer.reject(new Error('the pipe is closed'))
    for (const reader of this.readers.splice(0)) reader.resolve()
  }
}

interface Deferred {
  readonly promise: Promise<void>
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

// Promise.withResolvers is newer than the oldest Node this runs on.
function withResolvers(): Deferred {
  let resolve!: () => void
  let reject!: (error: unknown) => void
  const promise = new Promise<void>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}
