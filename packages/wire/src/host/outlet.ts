import type { Clock } from '@handraise/user-questions'
import type { FrameChannel } from '../channel.ts'

/** What may wait for one client until nothing more is done for it, in UTF-16 units. */
const MOST_UNITS = 16 * 1024 * 1024

export interface OutletOptions {
  readonly channel: FrameChannel
  readonly clock: Clock
  /** The next frame of what is not kept here, once all that waits here was written. */
  readonly pull: () => string | undefined
  /** How long a frame may take to be read until its reader counts as slow, in milliseconds. */
  readonly stallMs: number
  readonly onStall: () => void
}

/** Writes frames to one client, one after the other, as fast as it reads. */
export class Outlet {
  private readonly options: OutletOptions
  private readonly waiting: string[] = []
  private units = 0
  private readonly waiters = new Set<() => void>()
  private wake = (): void => {}
  private ended = false
  private writing = false

  constructor(options: OutletOptions) {
    this.options = options
  }

  /** How many frames wait to be read. */
  get length(): number {
    return this.waiting.length
  }

  push(frame: string): void {
    if (this.ended) return
    this.waiting.push(frame)
    this.units += frame.length
    this.wake()
  }

  /** True while more waits to be read than any client has reason to leave. */
  get isFull(): boolean {
    return this.units > MOST_UNITS
  }

  /** Takes the next frame that waits, for whoever writes it at once. */
  shift(): string | undefined {
    const frame = this.waiting.shift()
    this.units -= frame?.length ?? 0
    return frame
  }

  /** There may be more to pull. */
  more(): void {
    this.wake()
  }

  /** Takes no more: what waits is written still, and nothing is pulled. */
  end(): void {
    this.ended = true
    this.wake()
    this.tell()
  }

  /** Resolves when fewer than `limit` frames wait, or none is taken any more. */
  async room(limit: number): Promise<void> {
    while ((this.waiting.length >= limit || this.isFull) && !this.ended)
      await new Promise<void>(resolve => this.waiters.add(resolve))
  }

  /** Resolves when nothing waits any more. */
  async drained(): Promise<void> {
    while (this.waiting.length > 0 || this.writing)
      await new Promise<void>(resolve => this.waiters.add(resolve))
  }

  /** Writes until it is ended and nothing waits any more. Rejects when the client is gone. */
  async run(): Promise<void> {
    const { channel, clock, pull, stallMs, onStall } = this.options
    for (;;) {
      const frame = this.shift() ?? (this.ended ? undefined : pull())
      if (frame === undefined) {
        if (this.ended) return
        await new Promise<void>(resolve => {
          this.wake = resolve
        })
        continue
      }
      const from = clock.now()
      this.writing = true
      try {
        await channel.send(frame)
      } catch (error) {
        // Nobody will read the rest.
        this.waiting.length = 0
        this.units = 0
        throw error
      } finally {
        this.writing = false
        this.tell()
      }
      if (clock.now() - from >= stallMs) onStall()
    }
  }

  private tell(): void {
    for (const resolve of this.waiters) resolve()
    this.waiters.clear()
  }
}
