import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import type { Progress } from '@modelcontextprotocol/client'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioClientTransportV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as StreamableHTTPClientTransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema, type ElicitResult } from '@modelcontextprotocol/sdk/types.js'
import { InboxClient, readState } from '@handraise/provider-web'
import { onTestFinished } from 'vitest'
import { NO_DISPLAY } from './fake-browser.ts'
import { command } from './run-command.ts'

/** The official clients: of the first generation, and of the second in each way it finds out what is spoken. */
export const CLIENTS = ['v1', 'legacy', 'auto', 'pinned'] as const
export type ClientKind = (typeof CLIENTS)[number]

export const QUESTIONS = [
  { id: 'db', question: 'Which store?', options: [{ label: 'Postgres' }, { label: 'SQLite' }] },
]
export const ANSWERED = '{"answers":[{"id":"db","selected":["SQLite"]}]}'

export type Screen = (signal: AbortSignal) => object | Promise<object>

/** A person needs some time to read; what comes at once is a client's own. */
const READING_MS = 350

export const chooses =
  (db: string): Screen =>
  async () => {
    await setTimeout(READING_MS)
    return { action: 'accept', content: { db } }
  }

export interface Result {
  readonly text: string
  readonly isError: boolean
  readonly structured: { readonly status?: string; readonly request_id?: string; readonly page?: string }
}

export interface Asker {
  /** Calls the tool. */
  ask(args?: object, options?: AskOptions): Promise<Result>
  close(): Promise<void>
  /** What the client found wrong with what it was sent. */
  readonly faults: readonly string[]
}

export interface AskOptions {
  readonly callId?: string
  readonly signal?: AbortSignal
  readonly onprogress?: (progress: Progress) => void
}

type Transport = StdioClientTransport | StreamableHTTPClientTransport
type TransportV1 = StdioClientTransportV1 | StreamableHTTPClientTransportV1

async function connect(
  kind: ClientKind,
  transports: { v1: () => TransportV1; v2: () => Transport },
  screen: Screen | undefined,
): Promise<Asker> {
  const info = { name: 'client', version: '1.0.0' }
  const capabilities = screen === undefined ? {} : { elicitation: { form: {} } }
  const faults: string[] = []
  const onerror = (error: Error): void => void faults.push(error.message)
  if (kind === 'v1') {
    const client = Object.assign(new ClientV1(info, { capabilities }), { onerror })
    if (screen !== undefined)
      client.setRequestHandler(ElicitRequestSchema, async (_, { signal }) => {
        return await screen(signal)
      })
    await client.connect(transports.v1())
    onTestFinished(() => client.close())
    return asker(faults, client, (params, options) => client.callTool(params, undefined, options))
  }
  const mode = ({ legacy: 'legacy', auto: 'auto', pinned: { pin: '2026-07-28' } } as const)[kind]
  const client = Object.assign(new Client(info, { capabilities, versionNegotiation: { mode } }), { onerror })
  if (screen !== undefined)
    client.setRequestHandler('elicitation/create', async (_, { mcpReq }) => {
      return (await screen(mcpReq.signal)) as ElicitResult
    })
  await client.connect(transports.v2())
  onTestFinished(() => client.close())
  return asker(faults, client, (params, options) => client.callTool(params, options))
}

type Call = (
  params: { name: string; arguments: Record<string, unknown> },
  options: Omit<AskOptions, 'callId'>,
) => Promise<unknown>

function asker(faults: readonly string[], client: { close(): Promise<void> }, call: Call): Asker {
  return {
    faults,
    close: () => client.close(),
    async ask(args = { questions: QUESTIONS }, { callId, ...options } = {}) {
      const meta = callId === undefined ? {} : { _meta: { 'handraise/callId': callId } }
      const params = { name: 'ask_user_question', arguments: args as Record<string, unknown>, ...meta }
      const result = (await call(params, options)) as {
        content: { text: string }[]
        isError?: boolean
        structuredContent?: Result['structured']
      }
      return {
        text: result.content[0]?.text ?? '',
        isError: result.isError === true,
        structured: result.structuredContent ?? {},
      }
    },
  }
}

export interface StdioAsker extends Asker {
  readonly pid: number
  /** What the process has written to standard error. */
  stderr(): string
}

/** A client that starts `handraise mcp` with these arguments. */
export async function overStdio(
  kind: ClientKind,
  args: readonly string[],
  screen?: Screen,
  env: Record<string, string | undefined> = {},
): Promise<StdioAsker> {
  const server = {
    command: process.execPath,
    args: [command, 'mcp', ...args],
    env: { ...process.env, ...NO_DISPLAY, ...env } as Record<string, string>,
    stderr: 'pipe' as const,
  }
  let transport: StdioClientTransport | StdioClientTransportV1 | undefined
  let stderr = ''
  const heard = <T extends StdioClientTransport | StdioClientTransportV1>(made: T): T => {
    transport = made
    made.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
    return made
  }
  const transports = {
    v1: () => heard(new StdioClientTransportV1(server)),
    v2: () => heard(new StdioClientTransport(server)),
  }
  const client = await connect(kind, transports, screen)
  const pid = transport?.pid ?? 0
  return { ...client, pid, stderr: () => stderr }
}

/** A client of what `handraise serve` serves. */
export function overHttp(
  kind: ClientKind,
  { mcp, token }: { readonly mcp: string; readonly token: string },
  screen?: Screen,
): Promise<Asker> {
  const requestInit = { headers: { Authorization: `Bearer ${token}` } }
  const transports = {
    v1: () => new StreamableHTTPClientTransportV1(new URL(mcp), { requestInit }),
    v2: () => new StreamableHTTPClientTransport(new URL(mcp), { requestInit }),
  }
  return connect(kind, transports, screen)
}

/** The inbox over HTTP that is served beside a database. */
export async function inboxOf(db: string): Promise<InboxClient> {
  for (;;) {
    const state = await readState(`${db}.server.json`)
    if (state !== undefined) return new InboxClient(state)
    await setTimeout(10)
  }
}

/** The one request that waits, once there is one. */
export async function onePending(inbox: InboxClient): Promise<string> {
  for (;;) {
    const { requests } = await inbox.list({ state: 'pending' })
    if (requests[0] !== undefined) return requests[0].id
    await setTimeout(10)
  }
}

/** Ends a process at once, and resolves when it has ended. */
export async function kill(child: { kill(signal: NodeJS.Signals): boolean }): Promise<void> {
  const ended = once(child as never, 'exit')
  child.kill('SIGKILL')
  await ended
}
