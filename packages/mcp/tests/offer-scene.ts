import { InboxService, type Inbox, type InboxConfig } from '@handraise/inbox'
import { UserQuestionService, type Clock } from '@handraise/user-questions'
import { Client, StreamableHTTPClientTransport, type Progress } from '@modelcontextprotocol/client'
import { InMemoryTransport, type AuthInfo, type CallToolResult } from '@modelcontextprotocol/server'
import { Context } from 'cordis'
import { onTestFinished } from 'vitest'
import { mcpEndpoint, McpService, type McpConfig } from '../src/index.ts'
import type { Screen } from './provider-clients.ts'

export const QUESTIONS = [
  { id: 'db', question: 'Which store?', options: [{ label: 'Postgres' }, { label: 'SQLite' }] },
]
export const TOOL = 'ask_user_question'
export const ANSWERED = '{"answers":[{"id":"db","selected":["SQLite"]}]}'

/** Fills the form in. */
export const chooses =
  (db: string): Screen =>
  () => ({ action: 'accept', content: { db } })

/** Shows the form to somebody who does nothing. Resolves once it is up, and tells when it is taken down. */
export function nobody(): { screen: Screen; up: Promise<void>; down: Promise<void>; count(): number } {
  let count = 0
  let [show, takeDown] = [(): void => {}, (): void => {}]
  const up = new Promise<void>(resolve => (show = resolve))
  const down = new Promise<void>(resolve => (takeDown = resolve))
  const screen: Screen = (_, signal) => {
    count += 1
    show()
    return new Promise((_resolve, reject) =>
      signal.addEventListener('abort', () => {
        takeDown()
        reject(signal.reason as Error)
      }),
    )
  }
  return { screen, up, down, count: () => count }
}

export type Era = '2025' | '2026'
export const ERAS: readonly Era[] = ['2025', '2026']

export interface Offer {
  readonly ctx: Context
  readonly inbox: Inbox
  dispose(): Promise<void>
}

/** A host with an inbox that offers the tool. */
export async function offer(config: McpConfig = {}, inbox: InboxConfig = {}): Promise<Offer> {
  const ctx = new Context()
  await ctx.plugin(UserQuestionService)
  const store = await ctx.plugin(InboxService, inbox)
  const service = await ctx.plugin(McpService, { autoDeclineMs: 0, ...config })
  let disposing: Promise<void> | undefined
  const dispose = (): Promise<void> => (disposing ??= service.dispose().then(() => store.dispose()))
  onTestFinished(dispose)
  return { ctx, inbox: ctx.inbox.core, dispose }
}

export interface ClientChoice {
  /** Shows forms; without it the client declares none. */
  readonly screen?: Screen | undefined
  readonly name?: string | undefined
  /** Who asks; of 2026 alone. */
  readonly authInfo?: AuthInfo | undefined
}

/** A client of an era, within this process: 2026 over the bytes of HTTP, 2025 over a pair of transports. */
export async function join(
  { ctx }: Offer,
  era: Era,
  { screen, name = 'client', authInfo }: ClientChoice = {},
): Promise<Client> {
  const client = new Client(
    { name, version: '1' },
    {
      capabilities: screen === undefined ? {} : { elicitation: { form: {} } },
      versionNegotiation: { mode: era === '2026' ? { pin: '2026-07-28' } : 'legacy' },
    },
  )
  if (screen !== undefined)
    client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) => {
      return (await screen(params as never, mcpReq.signal)) as never
    })
  onTestFinished(() => client.close())
  if (era === '2025') {
    const [near, far] = InMemoryTransport.createLinkedPair()
    await ctx.mcp.askServer().connect(far)
    await client.connect(near)
    return client
  }
  const endpoint = mcpEndpoint({ build: () => ctx.mcp.askServer() })
  onTestFinished(() => endpoint.close())
  const fetch = (url: string | URL, init?: RequestInit): Promise<Response> =>
    endpoint.fetch(new Request(url, init), authInfo === undefined ? {} : { authInfo })
  await client.connect(new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), { fetch }))
  return client
}

export type Asked = CallToolResult & {
  readonly structuredContent?: {
    readonly status: string
    readonly request_id: string
    readonly answers?: unknown
    readonly page?: string
  }
}

export interface AskOptions {
  readonly signal?: AbortSignal
  readonly onprogress?: (progress: Progress) => void
  readonly callId?: string
}

/** Calls the tool. */
export async function ask(
  client: Client,
  args: object = { questions: QUESTIONS },
  { callId, ...options }: AskOptions = {},
): Promise<Asked> {
  const meta = callId === undefined ? {} : { _meta: { 'handraise/callId': callId } }
  return (await client.callTool({ name: TOOL, arguments: args as never, ...meta }, options)) as Asked
}

export function textOf({ content }: CallToolResult): string {
  return content.map(block => (block.type === 'text' ? block.text : '')).join('')
}

export function codeOf(result: CallToolResult): unknown {
  return result.isError === true ? result._meta?.['handraise/code'] : undefined
}

export async function pendingIn(inbox: Inbox): Promise<string[]> {
  return (await inbox.list({ state: 'pending' })).requests.map(({ id }) => id)
}

/** The one request that waits, once there is one. */
export async function onePending(inbox: Inbox): Promise<string> {
  for (;;) {
    const [id] = await pendingIn(inbox)
    if (id !== undefined) return id
    await new Promise(setImmediate)
  }
}

/** A person's answer on another surface. */
export function decide(inbox: Inbox, id: string, label = 'SQLite'): Promise<unknown> {
  const answer = { answers: [{ id: 'db', selected: [label] }] }
  return inbox.decide(
    id,
    { outcome: 'answered', answer },
    { commandId: crypto.randomUUID(), surface: 'page' },
  )
}

/** Lets whatever is under way within this process come to rest. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate)
}

/** Time that moves when it is told to. */
export class HeldClock implements Clock {
  private time = 1_800_000_000_000
  private readonly timers = new Set<{ readonly at: number; readonly run: () => void }>()

  now(): number {
    return this.time
  }

  after(delayMs: number, run: () => void): () => void {
    const timer = { at: this.time + delayMs, run }
    this.timers.add(timer)
    return () => void this.timers.delete(timer)
  }

  /** Lets time pass, second by second. */
  async pass(ms: number): Promise<void> {
    await settle()
    const until = this.time + ms
    while (this.time < until) {
      this.time = Math.min(this.time + 1_000, until)
      for (const timer of this.timers) {
        if (timer.at > this.time) continue
        this.timers.delete(timer)
        timer.run()
      }
      await settle()
    }
  }

  /** Lets time pass in which nothing runs: as for a host that was not there. */
  skip(ms: number): void {
    this.time += ms
  }

  get armed(): number {
    return this.timers.size
  }
}
