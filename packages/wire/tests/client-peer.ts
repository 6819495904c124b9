import { onTestFinished } from 'vitest'
import type { FrameChannel } from '../src/channel.ts'
import { connect, type ConnectOptions } from '../src/client/connect.ts'
import type { WireClient } from '../src/client/wire-client.ts'
import { ndjsonChannel } from '../src/ndjson.ts'
import { HandClock } from './client-clock.ts'
import { pipe } from './pipe.ts'

export interface Frame {
  readonly id?: string | number | null
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

export const FINGERPRINT = `sha256:${'a'.repeat(64)}`

export const INITIALIZE_RESULT = {
  serverInfo: { name: 'scripted', version: '1.0.0' },
  userAgent: 'scripted/1.0.0 (linux; x86_64)',
  museHome: '/srv/home',
  platformFamily: 'unix',
  platformOs: 'linux',
  schema: { version: 1, fingerprint: FINGERPRINT },
  grantedCapabilities: [],
  experimentalApi: false,
} as const

/** The host's end of a connection, which says what the test tells it to. */
export class ScriptedHost {
  private readonly channel: FrameChannel
  private readonly frames: AsyncIterator<Frame>

  constructor(channel: FrameChannel) {
    this.channel = channel
    this.frames = this.read()
    onTestFinished(() => channel.close())
  }

  /** The next frame of the client. */
  async next(): Promise<Frame> {
    const { value, done } = await this.frames.next()
    if (done === true) throw new Error('the client is gone')
    return value
  }

  /** The next frame, which is to be a request or notification of this method. */
  async expect(method: string): Promise<Frame> {
    const frame = await this.next()
    if (frame.method !== method) throw new Error(`${method} was expected, not ${JSON.stringify(frame)}`)
    return frame
  }

  /** Resolves when the client has ended the channel; a frame that comes instead fails. */
  async ended(): Promise<void> {
    const { value, done } = await this.frames.next()
    if (done !== true) throw new Error(`the end was expected, not ${JSON.stringify(value)}`)
  }

  sendText(text: string): void {
    this.channel.send(text).catch(() => {})
  }

  send(frame: object): void {
    this.sendText(JSON.stringify({ jsonrpc: '2.0', ...frame }))
  }

  tell(method: string, params?: object): void {
    this.send({ method, ...(params === undefined ? {} : { params }), emittedAtMs: 1_754_591_000_100 })
  }

  /** Answers with a result. */
  answer({ id }: Frame, result: object = {}): void {
    this.send({ id, result })
  }

  /** Answers with an error. */
  refuse({ id }: Frame, code: number, kind: string, data: object = {}): void {
    this.send({ id, error: { code, message: `it is ${kind}`, data: { kind, ...data } } })
  }

  async shakeHands(result: object = INITIALIZE_RESULT): Promise<void> {
    this.answer(await this.expect('initialize'), result)
    await this.expect('initialized')
  }

  close(): void {
    this.channel.close()
  }

  private async *read(): AsyncGenerator<Frame> {
    for await (const frame of this.channel.incoming) {
      if ('tooLong' in frame) throw new Error('the client sent a frame that is too long')
      yield JSON.parse(frame.text) as Frame
    }
  }
}

export interface Connected {
  readonly client: WireClient
  readonly host: ScriptedHost
  readonly clock: HandClock
  /** What was told to `onProtocolError`. */
  readonly errors: unknown[]
}

/** Both ends of an in-memory connection. The limit is that of the client alone. */
export function wired(limitBytes?: number): { near: FrameChannel; host: ScriptedHost } {
  const [mine, theirs] = pipe()
  return { near: ndjsonChannel(mine, { limitBytes }), host: new ScriptedHost(ndjsonChannel(theirs)) }
}

/** A client that has shaken hands with a scripted host. */
export async function connected(
  options: Partial<ConnectOptions> = {},
  limitBytes?: number,
): Promise<Connected> {
  const { near, host } = wired(limitBytes)
  const clock = new HandClock()
  const errors: unknown[] = []
  const [client] = await Promise.all([
    connect(near, {
      clientInfo: { name: 'test_client', version: '1.0.0' },
      clock,
      onProtocolError: error => errors.push(error),
      ...options,
    }),
    host.shakeHands(),
  ])
  onTestFinished(() => client.close())
  return { client, host, clock, errors }
}

/** Lets everything that waits for nothing but its turn run. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise(resolve => setImmediate(resolve))
}
