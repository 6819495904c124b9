import { InboxService, MemoryMedium, MemoryStore, type InboxStore } from '@handraise/inbox'
import * as toolAskUser from '@handraise/tool-ask-user'
import { defineTool, ToolService } from '@handraise/tools'
import { guardTools, UserApprovalService } from '@handraise/user-approvals'
import { UserQuestionService, type Clock } from '@handraise/user-questions'
import { Context } from 'cordis'
import { onTestFinished } from 'vitest'
import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { ndjsonChannel } from '../src/ndjson.ts'
import { checkServerFrame } from '../src/protocol/index.ts'
import { WireService, type SessionAgent, type WireConfig } from '../src/index.ts'
import { pipe } from './pipe.ts'

export interface Hosted {
  readonly ctx: Context
  /** A client of its own, as bare frames. Every frame of the host is checked against the shapes. */
  peer(): Peer
  close(): Promise<void>
}

export interface HostOptions extends Omit<WireConfig, 'agent'> {
  readonly store?: InboxStore | undefined
  readonly agent?: SessionAgent | undefined
  readonly clock?: Clock | undefined
  /** What goes wrong unheard; by default it fails the test. */
  readonly report?: ((error: unknown) => void) | undefined
}

/** A whole stack with a host of the wire, over a store of its own or the one given. */
export async function host({
  store = new MemoryStore(new MemoryMedium()),
  clock,
  report,
  ...config
}: HostOptions = {}): Promise<Hosted> {
  const ctx = new Context()
  const unheard: unknown[] = []
  const told = report ?? ((error: unknown) => void unheard.push(error))
  ctx.logger.exporter({ export: ({ args }) => args.forEach(told) })
  await ctx.plugin(ToolService)
  await ctx.plugin(UserQuestionService, clock === undefined ? {} : { clock })
  const inbox = await ctx.plugin(InboxService, { store, ...(clock === undefined ? {} : { clock }) })
  await ctx.plugin(UserApprovalService)
  await ctx.plugin(guardTools)
  await ctx.plugin(toolAskUser)
  ctx.tools.register(writeFile)
  await ctx.plugin(WireService, config)
  let closed = false
  const close = async (): Promise<void> => {
    if (closed) return
    closed = true
    await ctx.fiber.dispose()
    await inbox.dispose()
  }
  onTestFinished(async () => {
    await close()
    if (unheard.length > 0) throw new AggregateError(unheard, 'something went wrong unheard')
  })
  return { ctx, close, peer: () => new Peer(ctx) }
}

/** Writes nothing, but needs permission as if it did. */
export const writeFile = defineTool({
  name: 'write_file',
  description: 'Writes a file.',
  parameters: z.object({ path: z.string() }),
  permission: ({ path }) => ({
    subject: { kind: 'fileAccess' as const, access: 'write' as const, path: `/srv/proj/${path}` },
  }),
  execute: ({ path }) => `${path} updated\n`,
  render: text => text,
})

type Frame = Readonly<Record<string, unknown>>

/** A client that speaks bare frames, and keeps all it was sent. */
export class Peer {
  readonly frames: Frame[] = []
  private readonly channel
  private readonly methods = new Map<unknown, string>()
  private waiters: Array<() => void> = []
  private ids = 0
  readonly served: Promise<void>
  ended = false

  constructor(ctx: Context) {
    const [mine, theirs] = pipe()
    this.channel = ndjsonChannel(mine)
    this.served = ctx.wire.serve(ndjsonChannel(theirs))
    void this.read()
    onTestFinished(() => this.channel.close())
  }

  private async read(): Promise<void> {
    for await (const frame of this.channel.incoming) {
      if (!('text' in frame)) throw new Error('too long')
      const parsed = JSON.parse(frame.text) as Frame
      const faults = checkServerFrame(parsed, id => this.methods.get(id))
      if (faults.length > 0) throw new Error(`${faults.join('; ')}: ${frame.text}`)
      this.frames.push(parsed)
      for (const wake of this.waiters.splice(0)) wake()
    }
    this.ended = true
    for (const wake of this.waiters.splice(0)) wake()
  }

  send(frame: Frame): void {
    void this.channel.send(JSON.stringify({ jsonrpc: '2.0', ...frame })).catch(() => {})
  }

  sendRaw(text: string): void {
    void this.channel.send(text).catch(() => {})
  }

  /** Sends a request and gives its answer: a result or an error. */
  async request(method: string, params?: object, id: string | number = `r${++this.ids}`): Promise<Frame> {
    this.methods.set(id, method)
    const from = this.frames.length
    this.send({ id, method, ...(params === undefined ? {} : { params }) })
    return this.until(frame => frame['id'] === id && !('method' in frame), from)
  }

  /** A request that is to succeed. */
  async call(method: string, params?: object): Promise<Frame> {
    const answer = await this.request(method, params)
    if (!('result' in answer)) throw new Error(`${method}: ${JSON.stringify(answer['error'])}`)
    return answer['result'] as Frame
  }

  /** A request that is to fail. */
  async fails(method: string, params?: object): Promise<{ code: number; message: string; data: Frame }> {
    const answer = await this.request(method, params)
    if (!('error' in answer)) throw new Error(`${method} succeeded: ${JSON.stringify(answer)}`)
    return answer['error'] as never
  }

  /** A command id of its own. */
  commandId(): string {
    return uuidv7()
  }

  async start(capabilities?: object): Promise<this> {
    await this.call('initialize', {
      clientInfo: { name: 'test_client', version: '1' },
      ...(capabilities === undefined ? {} : { capabilities }),
    })
    this.send({ method: 'initialized' })
    return this
  }

  /** The first frame from `from` on that holds. */
  async until(holds: (frame: Frame) => boolean, from = 0): Promise<Frame> {
    for (;;) {
      const found = this.frames.slice(from).find(holds)
      if (found !== undefined) return found
      if (this.ended) throw new Error('the host has gone')
      await new Promise<void>(resolve => this.waiters.push(resolve))
    }
  }

  /** The parameters of the first notification or request of this method from `from` on. */
  async told(method: string, from = 0): Promise<Frame> {
    return (await this.until(frame => frame['method'] === method, from))['params'] as Frame
  }

  methodsTold(): unknown[] {
    return this.frames.filter(frame => 'method' in frame).map(frame => frame['method'])
  }

  close(): void {
    this.channel.close()
  }
}
