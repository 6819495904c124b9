import { createServer, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { InboxService, MemoryStore, type InboxConfig } from '@handraise/inbox'
import { InboxClient, startInboxServer, type InboxServerOptions } from '@handraise/provider-web'
import { UserQuestionService, type Question } from '@handraise/user-questions'
import { Context } from 'cordis'
import { onTestFinished } from 'vitest'

export const DB: Question = {
  id: 'db',
  question: 'Which store?',
  options: [{ label: 'Postgres' }, { label: 'SQLite' }],
}
export const answered = (label: string) => ({ answers: [{ id: 'db', selected: [label] }] })

export const TOKEN = 'a-token-of-the-tests'

export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // oxlint-disable-next-line typescript/no-explicit-any -- what is expected of it is what the tests say
  readonly json: any
}

export interface SentEvent {
  readonly event?: string
  readonly id?: string
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  readonly data?: any
  readonly comment?: string
}

/** A host with an inbox, served on a port of its own until the test is over. */
export async function serve({
  inbox: config = {},
  ...options
}: Omit<InboxServerOptions, 'inbox'> & { inbox?: InboxConfig } = {}) {
  const ctx = new Context()
  const reported: unknown[] = []
  ctx.logger.exporter({ export: message => void reported.push(...message.args) })
  await ctx.plugin(UserQuestionService, config.clock === undefined ? {} : { clock: config.clock })
  const fiber = await ctx.plugin(InboxService, { store: new MemoryStore(), ...config })
  const inbox = ctx.inbox.core
  const server = await startInboxServer({
    inbox,
    token: TOKEN,
    report: error => reported.push(error),
    ...options,
  })
  onTestFinished(async () => {
    await server.close()
    await fiber.dispose()
  })
  const { url, token } = server
  const client = new InboxClient({ url, token })
  const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    send(url, method, path, {
      body: body === undefined ? undefined : JSON.stringify(body),
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
    })
  const ask = async (questions: readonly Question[] = [DB], more: object = {}): Promise<string> =>
    (await client.open({ questions: [...questions] as never, ...more })).request.id
  return { ctx, fiber, inbox, server, client, call, ask, reported, url }
}

/** One request on a connection of its own, with whatever headers: `fetch` sets some by itself. */
export function send(
  url: string,
  method: string,
  path: string,
  { body, headers = {} }: { body?: string | Buffer | undefined; headers?: Record<string, string> } = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(new URL(path, url), { method, headers, agent: false }, response => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        let json: unknown
        try {
          json = JSON.parse(text)
        } catch {
          json = undefined
        }
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json })
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/** An event stream as it comes over the wire, read by hand. */
export async function stream(
  url: string,
  {
    headers = {},
    query = '',
    token = TOKEN,
  }: { headers?: Record<string, string>; query?: string; token?: string } = {},
) {
  const abort = new AbortController()
  const response = await fetch(new URL(`/api/events${query}`, url), {
    headers: { authorization: `Bearer ${token}`, ...headers },
    signal: abort.signal,
  })
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  /** The next event, or comment; nothing when the stream has ended. */
  const next = async (): Promise<SentEvent | undefined> => {
    while (!text.includes('\n\n')) {
      const { done, value } = await reader.read()
      if (done) return undefined
      text += value
    }
    const at = text.indexOf('\n\n')
    const block = text.slice(0, at)
    text = text.slice(at + 2)
    if (block.startsWith(':')) return { comment: block.slice(1).trim() }
    const fields = Object.fromEntries(
      block
        .split('\n')
        .map(line => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
    )
    return { ...fields, data: JSON.parse(fields.data ?? 'null') as unknown }
  }
  onTestFinished(() => abort.abort())
  return { response, next, close: () => abort.abort() }
}

export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 1_000; turn += 1) {
    if (await holds()) return
    await new Promise(resolve => setTimeout(resolve, 5))
  }
  throw new Error('it never came to hold')
}

/** A free port that no connection gets by chance: what a test closes it can open again. */
export async function quietPort(): Promise<number> {
  for (;;) {
    const port = 15_000 + Math.floor(Math.random() * 15_000)
    const server = createServer()
    const free = await new Promise<boolean>(resolve => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => resolve(true))
    })
    if (!free) continue
    await new Promise(resolve => server.close(resolve))
    return port
  }
}
