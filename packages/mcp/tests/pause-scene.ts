import type { JsonValue } from '@handraise/inbox'
import type { Clock } from '@handraise/user-questions'
import { Client, InMemoryTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { McpServer, type AuthInfo, type CallToolResult } from '@modelcontextprotocol/server'
import { onTestFinished } from 'vitest'
import type { z } from 'zod'
import type { Pauses, PausableTool, ToolConfig } from '@handraise/mcp'
import { bothEras } from './conformance/both-eras.ts'

export type Era = '2025' | '2026'
export const ERAS: readonly Era[] = ['2026', '2025']

/** What a client was shown. */
export interface Shown {
  readonly mode: string
  readonly message: string
  readonly url?: string | undefined
  readonly requestedSchema?: JsonValue | undefined
}

export type Reply =
  | { readonly action: 'accept'; readonly content?: Record<string, string | number | boolean | string[]> }
  | { readonly action: 'decline' | 'cancel' }

/** A client whose person answers with the next of the replies, and what it showed them. */
export interface Person {
  readonly client: Client
  readonly shown: Shown[]
}

export const accept = (answer: unknown): Reply => ({ action: 'accept', content: { answer } as never })
export const DECLINE: Reply = { action: 'decline' }
export const CANCEL: Reply = { action: 'cancel' }

const CAPABILITIES = { elicitation: { form: {}, url: {} }, roots: {}, sampling: {} }

export function makeServer(register: (server: McpServer) => unknown): McpServer {
  const server = new McpServer({ name: 'paused', version: '1' })
  register(server)
  return server
}

/** A server with one tool; how it is called says which. */
export function toolServer<Input extends z.ZodType | undefined = undefined>(
  pauses: Pauses,
  config: ToolConfig<Input> & { name?: string },
  handler: PausableTool<Input>,
): () => McpServer {
  const { name = 'tool', ...rest } = config
  return () => makeServer(server => pauses.registerTool(server, name, rest, handler))
}

export interface ConnectOptions {
  readonly authInfo?: AuthInfo | undefined
  readonly replies?: readonly Reply[] | undefined
  readonly capabilities?: object | undefined
}

/** A client of an era, connected within this process: 2026 over the bytes of HTTP, 2025 over a pair of transports. */
export async function connect(
  era: Era,
  build: () => McpServer,
  { replies = [], authInfo, capabilities = CAPABILITIES }: ConnectOptions = {},
): Promise<Person> {
  const client = new Client(
    { name: 'client', version: '1' },
    { capabilities, versionNegotiation: { mode: era === '2026' ? { pin: '2026-07-28' } : 'legacy' } },
  )
  const shown: Shown[] = []
  const left = [...replies]
  if ('elicitation' in capabilities) {
    client.setRequestHandler('elicitation/create', request => {
      shown.push({ mode: 'form', ...request.params } as unknown as Shown)
      const reply = left.shift()
      if (reply === undefined) throw new Error('nobody is there to answer')
      return reply
    })
  }
  onTestFinished(() => client.close())
  if (era === '2025') {
    const [near, far] = InMemoryTransport.createLinkedPair()
    await build().connect(far)
    await client.connect(near)
  } else {
    const endpoint = bothEras(build)
    onTestFinished(() => endpoint.close())
    const fetch = (url: string | URL, init?: RequestInit): Promise<Response> => {
      const headers = new Headers(init?.headers)
      headers.set('host', 'localhost')
      return endpoint.fetch(
        new Request(url, { ...init, headers }),
        authInfo === undefined ? {} : { authInfo },
      )
    }
    await client.connect(new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), { fetch }))
  }
  return { client, shown }
}

/** One round by hand: what a client of 2026-07-28 sends, and what comes back to it as it is. */
export interface Round {
  readonly name?: string
  readonly arguments?: Record<string, unknown>
  readonly inputResponses?: unknown
  readonly requestState?: unknown
}

export type RoundResult = CallToolResult & {
  readonly resultType?: string
  readonly requestState?: string
  readonly inputRequests?: Record<string, { method: string; params: Shown }>
}

export async function round(
  { client }: Person,
  { name = 'tool', arguments: args = {}, ...rest }: Round = {},
): Promise<RoundResult> {
  const params = { name, arguments: args, ...rest }
  return await client.callTool(params, { allowInputRequired: true })
}

export function textOf(result: unknown): string {
  const { content } = result as CallToolResult
  return content.map(block => (block.type === 'text' ? block.text : '')).join('')
}

/** Time that moves when it is told to. */
export class TestClock implements Clock {
  private time = 1_700_000_000_000
  private readonly timers = new Set<{ readonly at: number; readonly run: () => void }>()

  now(): number {
    return this.time
  }

  after(delayMs: number, run: () => void): () => void {
    const timer = { at: this.time + delayMs, run }
    this.timers.add(timer)
    return () => void this.timers.delete(timer)
  }

  pass(ms: number): void {
    this.time += ms
    for (const timer of Array.from(this.timers)) {
      if (timer.at > this.time) continue
      this.timers.delete(timer)
      timer.run()
    }
  }

  get waiting(): number {
    return this.timers.size
  }
}
