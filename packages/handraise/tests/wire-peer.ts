import { stdioChannel, type FrameChannel } from '@handraise/wire'
import { checkServerFrame } from '@handraise/wire/protocol'
import { spawn, type ChildProcess } from 'node:child_process'
import { onTestFinished } from 'vitest'
import { command } from './run-command.ts'

export type Frame = Readonly<Record<string, unknown>>

/** A client that speaks bare frames, holds every frame of the host against the protocol, and keeps them all. */
export class WirePeer {
  readonly frames: Frame[] = []
  /** What came that is no frame of a host. */
  readonly faults: string[] = []
  /** Called with how many frames have come by now. */
  onFrame = (_count: number): void => {}
  private readonly channel: FrameChannel
  private readonly methods = new Map<unknown, string>()
  private readonly waiting = new Set<() => void>()
  private ids = 0
  private ended = false

  constructor(channel: FrameChannel) {
    this.channel = channel
    void this.read()
  }

  private async read(): Promise<void> {
    for await (const incoming of this.channel.incoming) {
      const text = 'text' in incoming ? incoming.text : 'a frame that is too long'
      const frame = parse(text)
      this.faults.push(
        ...checkServerFrame(frame, id => this.methods.get(id)).map(fault => `${fault}: ${text}`),
      )
      this.frames.push(frame ?? {})
      this.onFrame(this.frames.length)
      this.wake()
    }
    this.ended = true
    this.wake()
  }

  private wake(): void {
    for (const each of this.waiting) each()
    this.waiting.clear()
  }

  send(frame: Frame): void {
    this.channel.send(JSON.stringify({ jsonrpc: '2.0', ...frame })).catch(() => {})
  }

  sendRaw(text: string): void {
    this.channel.send(text).catch(() => {})
  }

  /** The answer to a request: a frame with a result or an error. */
  async request(method: string, params: object = {}): Promise<Frame> {
    const id = `r${++this.ids}`
    this.methods.set(id, method)
    this.send({ id, method, params })
    return this.until(frame => frame['id'] === id && !('method' in frame))
  }

  /** The result of a request that is to succeed. */
  async call(method: string, params: object = {}): Promise<Frame> {
    const answer = await this.request(method, params)
    if (!('result' in answer)) throw new Error(`${method}: ${JSON.stringify(answer)}`)
    return answer['result'] as Frame
  }

  async start(): Promise<this> {
    await this.call('initialize', { clientInfo: { name: 'test_client', version: '1' } })
    this.send({ method: 'initialized' })
    return this
  }

  /** The first frame that holds, also one that has come already. */
  async until(holds: (frame: Frame) => boolean): Promise<Frame> {
    for (;;) {
      const found = this.frames.find(holds)
      if (found !== undefined) return found
      if (this.ended) throw new Error(`the host has gone, after ${JSON.stringify(this.frames)}`)
      await new Promise<void>(resolve => this.waiting.add(resolve))
    }
  }

  /** The parameters of the first notification or request of this method. */
  async told(method: string): Promise<Frame> {
    return (await this.until(frame => frame['method'] === method))['params'] as Frame
  }

  /** The parameters of all notifications of this method so far. */
  allTold(method: string): Frame[] {
    return this.frames.flatMap(frame => (frame['method'] === method ? [frame['params'] as Frame] : []))
  }

  close(): void {
    this.channel.close()
  }
}

function parse(text: string): Frame | undefined {
  try {
    return JSON.parse(text) as Frame
  } catch {
    return undefined
  }
}

export interface WireProcess {
  readonly child: ChildProcess
  readonly peer: WirePeer
  /** Its exit code; null when a signal killed it. */
  readonly ended: Promise<number | null>
  /** What it has written to standard error so far. */
  stderr(): string
}

/** Starts `handraise wire`. It is killed when the test is over. */
export function wire(...args: string[]): WireProcess {
  const child = spawn(process.execPath, [command, 'wire', ...args], { stdio: 'pipe' })
  onTestFinished(() => void child.kill('SIGKILL'))
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const ended = new Promise<number | null>(resolve => child.once('close', resolve))
  const peer = new WirePeer(stdioChannel(child.stdout, child.stdin))
  return { child, peer, ended, stderr: () => stderr }
}

let commands = 0

/** A command id that nobody has used. */
export function commandId(): string {
  commands += 1
  return `018f6a2b-3333-7abc-8def-${String(commands).padStart(12, '0')}`
}
