import type { Context } from 'cordis'
import { onTestFinished } from 'vitest'
import type { FrameChannel } from '../../src/channel.ts'
import type {} from '../../src/index.ts'
import { ndjsonChannel } from '../../src/ndjson.ts'
import { pipe } from '../pipe.ts'

const PATIENCE_MS = 5_000

export interface LineOptions {
  /** Called with each frame of the host while it is on its way: time that passes here is time that the reader takes. */
  readonly onWay?: ((frame: string) => void) | undefined
  /** The longest frame the host reads, in bytes. Default: the protocol's. */
  readonly limitBytes?: number | undefined
  /** How long the host may take for its next frame until it counts as silent, in milliseconds. Default 5,000. */
  readonly patienceMs?: number | undefined
}

/** Resolves when a host has done all it can do by itself: on a store in memory nothing in it waits for the event loop. */
export function quiet(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}

/** One client's line to a host: frames as texts, each way in the order in which they were sent. */
export class Line {
  private readonly channel: FrameChannel
  private readonly frames: AsyncIterator<unknown>
  private readonly patienceMs: number

  constructor(ctx: Context, { onWay = () => {}, limitBytes, patienceMs = PATIENCE_MS }: LineOptions = {}) {
    this.patienceMs = patienceMs
    const [mine, theirs] = pipe()
    this.channel = ndjsonChannel(mine)
    this.frames = this.channel.incoming[Symbol.asyncIterator]()
    const ofHost = ndjsonChannel(theirs, limitBytes === undefined ? {} : { limitBytes })
    const served = ctx.wire.serve({
      incoming: ofHost.incoming,
      send: frame => {
        onWay(frame)
        return ofHost.send(frame)
      },
      close: () => ofHost.close(),
    })
    onTestFinished(async () => {
      this.channel.close()
      await served
    })
  }

  send(frame: string): void {
    // A host that is gone is found out by what does not come from it.
    this.channel.send(frame).catch(() => {})
  }

  /** Sends a frame once the host has done all it can do by itself: its answer comes behind all of that. */
  async sendLast(frame: string): Promise<void> {
    await quiet()
    this.send(frame)
  }

  /** The host's next frame; undefined when it has ended the line. Rejects when nothing comes for too long. */
  async next(): Promise<string | undefined> {
    let timer: NodeJS.Timeout | undefined
    const silence = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('the host is silent')), this.patienceMs)
    })
    try {
      const { done, value } = await Promise.race([this.frames.next(), silence])
      if (done === true) return undefined
      return (value as { readonly text: string }).text
    } finally {
      clearTimeout(timer)
    }
  }
}
