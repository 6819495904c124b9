/**
 * Bytes on their way to one reader, who may be slow. What waits for the reader is bounded: one who falls further behind
 * is cut off, keeps nothing waiting here, and may come back to resume.
 */
export class Outlet {
  readonly readable: ReadableStream<Uint8Array>
  private readonly maxBytes: number
  private readonly onEnd: () => void
  private chunks: Uint8Array[] = []
  private size = 0
  private isEnded = false
  private wakeReader = (): void => {}
  private taken: Array<() => void> = []

  constructor(maxBytes: number, onEnd: () => void) {
    this.maxBytes = maxBytes
    this.onEnd = onEnd
    this.readable = new ReadableStream<Uint8Array>(
      { pull: controller => this.pull(controller), cancel: () => this.end({ drop: true }) },
      // Nothing is taken ahead of the reader, so that what waits is counted here.
      { highWaterMark: 0 },
    )
  }

  get ended(): boolean {
    return this.isEnded
  }

  get waiting(): number {
    return this.size
  }

  push(chunk: Uint8Array): void {
    if (this.isEnded) return
    // A chunk that is larger by itself must be possible to send.
    if (this.size > 0 && this.size + chunk.byteLength > this.maxBytes) {
      this.end({ drop: true })
      return
    }
    this.chunks.push(chunk)
    this.size += chunk.byteLength
    this.wakeReader()
  }

  /** Resolves when the reader has taken all that was pushed, or is gone. */
  async drained(): Promise<void> {
    if (this.size === 0 || this.isEnded) return
    await new Promise<void>(resolve => void this.taken.push(resolve))
  }

  /** Ends the stream, after what was pushed unless that is dropped. */
  end({ drop = false } = {}): void {
    if (drop) this.take()
    if (this.isEnded) return
    this.isEnded = true
    this.wakeReader()
    this.tellTaken()
    this.onEnd()
  }

  private async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    if (this.size === 0 && !this.isEnded) await new Promise<void>(resolve => (this.wakeReader = resolve))
    if (this.size > 0) controller.enqueue(this.take())
    // After a cancellation the controller is closed already, and nothing is left to take.
    else if (this.isEnded) closeQuietly(controller)
    this.tellTaken()
  }

  private take(): Uint8Array {
    const { chunks } = this
    this.chunks = []
    this.size = 0
    return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)
  }

  private tellTaken(): void {
    for (const resolve of this.taken.splice(0)) resolve()
  }
}

function closeQuietly(controller: ReadableStreamDefaultController<Uint8Array>): void {
  try {
    controller.close()
  } catch {
    // Cancelled by the reader.
  }
}
