import { systemClock, type Clock } from '@handraise/user-questions/types'
import { FRAME_LIMIT_BYTES, type FrameChannel, type IncomingFrame } from './channel.ts'
import { isLongerThan, readOversized } from './oversized-frame.ts'

/** The subprotocol that both sides speak. */
export const WIRE_SUBPROTOCOL = 'handraise.wire'

/**
 * What the second subprotocol offered begins with; the token of the user follows. A browser cannot send an `Authorization`
 * header with a WebSocket. It is never selected.
 */
export const TOKEN_SUBPROTOCOL_PREFIX = 'handraise.token.'

/** What happens on a socket; each event has those members that belong to it. */
export interface WebSocketEvent {
  readonly type: string
  readonly data?: unknown
  readonly code?: number | undefined
  readonly reason?: string | undefined
}

/** The WebSocket of a browser, or that of `ws`, as far as it is used. */
export interface WebSocketLike {
  readonly readyState: number
  readonly bufferedAmount: number
  send(data: string): void
  close(code?: number, reason?: string): void
  addEventListener(
    type: 'open' | 'message' | 'close' | 'error',
    listener: (event: WebSocketEvent) => void,
  ): void
  removeEventListener(
    type: 'open' | 'message' | 'close' | 'error',
    listener: (event: WebSocketEvent) => void,
  ): void
}

/** What `ws` has beyond the standard. */
interface NodeWebSocket extends WebSocketLike {
  send(data: string, written?: (error?: Error | null) => void): void
  pause(): void
  resume(): void
  terminate(): void
}

export interface WebSocketChannelOptions {
  /** The longest frame either way, in bytes of UTF-8. Default 10 MiB. */
  readonly limitBytes?: number | undefined
  /**
   * How many frames may wait to be read. With more a socket of `ws` is paused, as it is with more text than one frame may
   * have; one of a browser cannot be, and is closed with 4013. Default 1,000.
   */
  readonly maxWaiting?: number | undefined
  readonly clock?: Clock | undefined
}

const CONNECTING = 0
const OPEN = 1
/** How many bytes may wait to be sent before `send` waits. */
const HIGH_WATER_BYTES = 1024 * 1024
/** How often it is looked whether they were sent, where nothing tells. */
const LOOK_EVERY_MS = 20
/** How long the other side has to agree to a close before the socket is torn down. */
const CLOSE_TIMEOUT_MS = 2_000
const NORMAL = 1000
// 1013 is what a server would say, and what a browser refuses to send: it may say 1000, and 3000 to 4999.
const TOO_MANY_UNREAD = 4013

/**
 * One text message for each frame. A binary message is given as an empty frame, which nobody can take for JSON. `send` waits
 * until the socket is open, and while more than 1 MiB waits to be sent; it rejects with a RangeError, and sends nothing,
 * where the frame is over the limit.
 */
export function webSocketChannel(socket: WebSocketLike, options?: WebSocketChannelOptions): FrameChannel {
  return new WebSocketChannel(socket, options ?? {})
}

class WebSocketChannel implements FrameChannel {
  readonly incoming: AsyncIterable<IncomingFrame>
  private readonly socket: WebSocketLike
  private readonly limitBytes: number
  private readonly maxWaiting: number
  private readonly clock: Clock
  private readonly waiting: IncomingFrame[] = []
  /** How much text waits, in UTF-16 units. */
  private waitingLength = 0
  private wakeReader = (): void => {}
  /** What waits to be let go on, or to be told that the socket is gone. */
  private readonly senders = new Set<() => void>()
  private callOffLook: (() => void) | undefined
  private callOffTerminate = (): void => {}
  private paused = false
  private gone: Error | undefined

  constructor(socket: WebSocketLike, options: WebSocketChannelOptions) {
    this.socket = socket
    this.limitBytes = options.limitBytes ?? FRAME_LIMIT_BYTES
    this.maxWaiting = options.maxWaiting ?? 1_000
    this.clock = options.clock ?? systemClock
    this.incoming = this.read()
    socket.addEventListener('open', this.letGoOn)
    socket.addEventListener('message', this.onMessage)
    socket.addEventListener('error', this.onError)
    socket.addEventListener('close', this.onClose)
    if (socket.readyState > OPEN) this.onClose({ type: 'close' })
  }

  async send(frame: string): Promise<void> {
    if (isLongerThan(frame, this.limitBytes)) {
      throw new RangeError(`the frame is longer than ${this.limitBytes} bytes`)
    }
    while (this.gone === undefined && this.socket.readyState === CONNECTING) await this.toBeLetGoOn()
    if (this.gone !== undefined) throw this.gone
    if (this.socket.readyState !== OPEN) throw new Error('the socket is closing')
    if (isOfNode(this.socket)) {
      this.socket.send(frame, this.letGoOn)
      while (this.isFull()) await this.toBeLetGoOn()
    } else {
      this.socket.send(frame)
      while (this.isFull()) {
        this.callOffLook ??= this.clock.after(LOOK_EVERY_MS, this.letGoOn)
        await this.toBeLetGoOn()
      }
    }
    if (this.gone !== undefined) throw this.gone
  }

  close(): void {
    this.waiting.length = 0
    this.end(new Error('the channel is closed'), NORMAL)
  }

  private end(why: Error, code: number): void {
    if (this.gone !== undefined) return
    this.goneFor(why)
    const { socket } = this
    // Paused, it would not read that the other side agrees.
    this.resume()
    socket.close(code)
    if (isOfNode(socket)) {
      this.callOffTerminate = this.clock.after(CLOSE_TIMEOUT_MS, () => socket.terminate())
    }
  }

  private goneFor(why: Error): void {
    this.gone ??= why
    this.letGoOn()
    this.wakeReader()
  }

  private isFull(): boolean {
    return this.gone === undefined && this.socket.bufferedAmount > HIGH_WATER_BYTES
  }

  private toBeLetGoOn(): Promise<void> {
    return new Promise(resolve => this.senders.add(resolve))
  }

  private readonly letGoOn = (): void => {
    this.callOffLook?.()
    this.callOffLook = undefined
    const senders = [...this.senders]
    this.senders.clear()
    for (const resolve of senders) resolve()
  }

  private readonly onMessage = ({ data }: WebSocketEvent): void => {
    if (this.gone !== undefined) return
    const text = typeof data === 'string' ? data : ''
    const frame = isLongerThan(text, this.limitBytes) ? readOversized(text, this.limitBytes) : { text }
    this.waiting.push(frame)
    this.waitingLength += lengthOf(frame)
    this.wakeReader()
    if (isOfNode(this.socket)) {
      if (this.paused || !this.hasMoreThan(1)) return
      this.paused = true
      this.socket.pause()
    } else if (this.waiting.length > this.maxWaiting) {
      this.end(new Error('more frames came than were read'), TOO_MANY_UNREAD)
    }
  }

  private hasMoreThan(share: number): boolean {
    return this.waiting.length > this.maxWaiting * share || this.waitingLength > this.limitBytes * share
  }

  private resume(): void {
    if (!this.paused || !isOfNode(this.socket)) return
    this.paused = false
    this.socket.resume()
  }

  // A close follows; with nobody listening, that of `ws` would end the process.
  private readonly onError = (): void => {}

  private readonly onClose = ({ code, reason }: WebSocketEvent): void => {
    this.callOffTerminate()
    this.socket.removeEventListener('open', this.letGoOn)
    this.socket.removeEventListener('message', this.onMessage)
    this.socket.removeEventListener('error', this.onError)
    this.socket.removeEventListener('close', this.onClose)
    const why = [code, reason].filter(part => part !== undefined && part !== '').join(', ')
    this.goneFor(new Error(why === '' ? 'the socket is closed' : `the socket is closed: ${why}`))
  }

  private async *read(): AsyncGenerator<IncomingFrame, void> {
    for (;;) {
      const frame = this.waiting.shift()
      if (frame !== undefined) {
        this.waitingLength -= lengthOf(frame)
        if (!this.hasMoreThan(0.5)) this.resume()
        yield frame
        continue
      }
      if (this.gone !== undefined) return
      await new Promise<void>(resolve => {
        this.wakeReader = resolve
      })
    }
  }
}

function lengthOf(frame: IncomingFrame): number {
  return 'text' in frame ? frame.text.length : 0
}

function isOfNode(socket: WebSocketLike): socket is NodeWebSocket {
  return 'terminate' in socket && 'pause' in socket && 'resume' in socket
}
