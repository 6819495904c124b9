import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { serve } from '@hono/node-server'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { McpServer, type AuthInfo } from '@modelcontextprotocol/server'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import {
  endpointGuard,
  mcpEndpoint,
  serveMcpOverStdio,
  type McpEndpoint,
  type McpEndpointOptions,
} from '../src/index.ts'
import { listen } from './conformance/both-eras.ts'
import { HeldClock, settle } from './offer-scene.ts'

const TOKEN = 'a-token-of-24-characters'
const IDLE_MS = 60_000

const ends = new Set<() => void>()
afterEach(() => {
  for (const end of ends) end()
  ends.clear()
})

/** A server with a tool that ends when it is told to, or with its call. */
function build(): McpServer {
  const server = new McpServer({ name: 'server', version: '1' })
  server.registerTool('wait', { inputSchema: z.object({}) }, async (_, { mcpReq }) => {
    await new Promise<void>(resolve => {
      ends.add(resolve)
      mcpReq.signal.addEventListener('abort', () => resolve())
    })
    return { content: [{ type: 'text', text: 'done' }] }
  })
  return server
}

function endpointOf(options: Partial<McpEndpointOptions> = {}): McpEndpoint {
  const endpoint = mcpEndpoint({ build, ...options })
  onTestFinished(() => {
    for (const end of ends) end()
    return endpoint.close()
  })
  return endpoint
}

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const INITIALIZE = {
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'client', version: '1' } },
}

interface Sent {
  readonly session?: string | null
  readonly authInfo?: AuthInfo
  readonly headers?: Record<string, string>
  readonly signal?: AbortSignal
}

function post(
  endpoint: McpEndpoint,
  message: object,
  { session, authInfo, headers, signal }: Sent = {},
): Promise<Response> {
  const request = new Request('http://localhost/mcp', {
    method: 'POST',
    headers: { ...HEADERS, ...headers, ...(session ? { 'mcp-session-id': session } : {}) },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    ...(signal === undefined ? {} : { signal }),
  })
  return endpoint.fetch(request, authInfo === undefined ? {} : { authInfo })
}

async function open(endpoint: McpEndpoint, sent: Sent = {}): Promise<string | null> {
  const response = await post(endpoint, INITIALIZE, sent)
  await response.text()
  return response.headers.get('mcp-session-id')
}

const PING = { id: 2, method: 'ping' }
const WAIT = { id: 3, method: 'tools/call', params: { name: 'wait', arguments: {} } }

/** The status of what is refused or done with at once. */
async function statusOf(answering: Promise<Response>): Promise<number> {
  const response = await answering
  await response.text()
  return response.status
}

async function ping(endpoint: McpEndpoint, session: string | null, sent: Sent = {}): Promise<number> {
  return await statusOf(post(endpoint, PING, { ...sent, session }))
}

describe('one endpoint', () => {
  test('serves clients of both kinds', async () => {
    const endpoint = endpointOf()
    const fetch = (url: string | URL, init?: RequestInit): Promise<Response> =>
      endpoint.fetch(new Request(url, init))
    for (const mode of ['legacy', 'auto', { pin: '2026-07-28' }] as const) {
      const client = new Client({ name: 'client', version: '1' }, { versionNegotiation: { mode } })
      await client.connect(new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), { fetch }))
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['wait'])
      await client.close()
    }
  })

  test('takes no body that is too long, of either kind', async () => {
    const endpoint = endpointOf({ maxBodyBytes: 1_000 })
    const filler = 'x'.repeat(1_000)
    expect(await statusOf(post(endpoint, { ...INITIALIZE, filler }))).toBe(413)
    expect(
      await statusOf(post(endpoint, { ...INITIALIZE, filler }, { headers: { 'content-length': '2000' } })),
    ).toBe(413)
    const headers = { 'content-type': 'text/plain' }
    expect(await statusOf(post(endpoint, PING, { headers }))).toBe(415)
    expect(endpoint.sessions()).toBe(0)
  })

  test('ends the connection on which a body that is too long comes, since no request can follow it', async () => {
    const endpoint = endpointOf({ maxBodyBytes: 1_000 })
    for (const bytes of [1_000, 4_000_000]) {
      const body = { ...INITIALIZE, filler: 'x'.repeat(bytes) }
      const { headers } = await post(endpoint, body)
      expect(headers.get('connection')).toBe('close')
    }
    const server = serve({ fetch: request => endpoint.fetch(request), hostname: '127.0.0.1', port: 0 })
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
    for (let count = 0; count < 3; count += 1) {
      const init = { method: 'POST', headers: HEADERS, body: 'x'.repeat(50_000) }
      expect(await statusOf(fetch(url, init))).toBe(413)
      const next = { ...init, body: JSON.stringify({ jsonrpc: '2.0', ...INITIALIZE }) }
      expect(await statusOf(fetch(url, next))).toBe(200)
    }
  })

  test('answers so many requests at once, and no more', async () => {
    const endpoint = endpointOf({ maxOpen: 2 })
    const session = await open(endpoint)
    const [first, second] = await Promise.all([
      post(endpoint, WAIT, { session }),
      post(endpoint, { ...WAIT, id: 4 }, { session }),
    ])
    expect(await ping(endpoint, session)).toBe(503)
    await first.body?.cancel()
    expect(await ping(endpoint, session)).toBe(200)
    await second.body?.cancel()
  })

  test('counts a stream that its reader gives up while it waits off once', async () => {
    const endpoint = endpointOf({ maxOpen: 2 })
    const session = await open(endpoint)
    for (const id of [10, 11, 12]) {
      const reader = (await post(endpoint, { ...WAIT, id }, { session })).body?.getReader()
      const reading = reader?.read()
      await settle()
      await reader?.cancel()
      await reading
      await settle()
    }
    const waiting = [
      await post(endpoint, WAIT, { session }),
      await post(endpoint, { ...WAIT, id: 4 }, { session }),
    ]
    expect(await ping(endpoint, session)).toBe(503)
    const closing = endpoint.close()
    await settle()
    for (const end of ends) end()
    for (const response of waiting) expect(await response.text()).toContain('"text":"done"')
    await closing
  })

  test('lets what is being answered finish when it is closed, and takes nothing more', async () => {
    const endpoint = endpointOf()
    const session = await open(endpoint)
    const waiting = await post(endpoint, WAIT, { session })
    await settle()
    const closing = endpoint.close()
    expect(await ping(endpoint, session)).toBe(503)
    for (const end of ends) end()
    expect(await waiting.text()).toContain('"text":"done"')
    await closing
    expect(endpoint.sessions()).toBe(0)
  })

  test('ends what does not finish in time when it is closed', async () => {
    const clock = new HeldClock()
    const endpoint = endpointOf({ clock })
    const waiting = await post(endpoint, WAIT, { session: await open(endpoint) })
    await settle()
    const closing = endpoint.close()
    await clock.pass(1_000)
    await closing
    expect(await waiting.text()).not.toContain('done')
    expect(clock.armed).toBe(0)
  })
})

describe('a session', () => {
  test('is ended when nobody has used it for long, and not before', async () => {
    const clock = new HeldClock()
    const endpoint = endpointOf({ clock, idleMs: IDLE_MS })
    const session = await open(endpoint)
    await clock.pass(IDLE_MS - 1_000)
    expect(await ping(endpoint, session)).toBe(200)
    await clock.pass(IDLE_MS - 1_000)
    expect(endpoint.sessions()).toBe(1)
    await clock.pass(1_000)
    expect(endpoint.sessions()).toBe(0)
    expect(await ping(endpoint, session)).toBe(404)
    expect(clock.armed).toBe(0)
  })

  test('is used as long as a stream of it is open', async () => {
    const clock = new HeldClock()
    const endpoint = endpointOf({ clock, idleMs: IDLE_MS })
    const session = (await open(endpoint)) ?? ''
    const stream = await endpoint.fetch(
      new Request('http://localhost/mcp', {
        headers: { accept: 'text/event-stream', 'mcp-session-id': session },
      }),
    )
    await clock.pass(2 * IDLE_MS)
    expect(endpoint.sessions()).toBe(1)
    await stream.body?.cancel()
    await clock.pass(IDLE_MS)
    expect(endpoint.sessions()).toBe(0)
  })

  test('is ended for a new one when there are too many, the one that is idle for longest', async () => {
    const endpoint = endpointOf({ maxSessions: 2 })
    const [first, second] = [await open(endpoint), await open(endpoint)]
    await ping(endpoint, first)
    const third = await open(endpoint)
    expect(endpoint.sessions()).toBe(2)
    expect(await Promise.all([first, second, third].map(id => ping(endpoint, id)))).toEqual([200, 404, 200])
  })

  test('is not ended while it is used: a new one is refused', async () => {
    const endpoint = endpointOf({ maxSessions: 1 })
    const session = await open(endpoint)
    const waiting = await post(endpoint, WAIT, { session })
    expect(await statusOf(post(endpoint, INITIALIZE))).toBe(503)
    await waiting.body?.cancel()
    expect(await open(endpoint)).not.toBeNull()
  })

  test('is ended by its client', async () => {
    const endpoint = endpointOf()
    const session = (await open(endpoint)) ?? ''
    const headers = { 'mcp-session-id': session }
    await endpoint.fetch(new Request('http://localhost/mcp', { method: 'DELETE', headers }))
    expect(endpoint.sessions()).toBe(0)
  })

  test('is found by nobody but who opened it', async () => {
    const endpoint = endpointOf()
    const ann: AuthInfo = { token: 'a', clientId: 'app', scopes: [], extra: { sub: 'ann' } }
    const bob: AuthInfo = { ...ann, extra: { sub: 'bob' } }
    const session = await open(endpoint, { authInfo: ann })
    expect(await ping(endpoint, session, { authInfo: bob })).toBe(404)
    expect(await ping(endpoint, session)).toBe(404)
    expect(await ping(endpoint, session, { authInfo: { ...ann, token: 'renewed' } })).toBe(200)
  })

  test('is not opened by what is no first request', async () => {
    const endpoint = endpointOf()
    expect(await statusOf(post(endpoint, PING))).toBe(400)
    expect(await statusOf(endpoint.fetch(new Request('http://localhost/mcp')))).toBe(400)
    expect(await statusOf(post(endpoint, PING, { session: 'unknown' }))).toBe(404)
    expect(endpoint.sessions()).toBe(0)
  })
})

describe('the guard', () => {
  const authorization = `Bearer ${TOKEN}`
  const guard = endpointGuard({
    token: TOKEN,
    allowedHosts: ['desk.example'],
    allowedOrigins: ['https://desk.example'],
  })

  test.each([
    [undefined, { host: '127.0.0.1:4200', authorization }],
    [undefined, { host: 'localhost:4200', origin: 'http://localhost:4200', authorization }],
    [undefined, { host: '[::1]:4200', authorization: `bearer ${TOKEN}` }],
    [undefined, { host: 'desk.example', origin: 'https://desk.example', authorization }],
    [403, { host: 'elsewhere.example', authorization }],
    [403, { host: 'localhost:4200', origin: 'http://localhost:4201', authorization }],
    [403, { host: 'localhost:4200', origin: 'null', authorization }],
    [403, { host: 'localhost:4200', origin: 'https://elsewhere.example', authorization }],
    [401, { host: 'localhost:4200' }],
    [401, { host: 'localhost:4200', authorization: 'Bearer another-token-altogether' }],
    [401, { host: 'localhost:4200', authorization: `Basic ${TOKEN}` }],
  ])('answers %s to %o', (status, headers) => {
    expect(guard(new Request('http://localhost:4200/mcp', { headers }))?.status).toBe(status)
  })

  test('goes by the address of a request that has no Host', () => {
    const headers = { authorization }
    expect(guard(new Request('http://localhost:4200/mcp', { headers }))).toBeUndefined()
    expect(guard(new Request('http://elsewhere.example/mcp', { headers }))?.status).toBe(403)
  })

  test('takes no token that could be guessed', () => {
    expect(() => endpointGuard({ token: 'secret' })).toThrow(TypeError)
  })
})

test('a served endpoint tells the server when a client is gone', async () => {
  let [begin, leave] = [(): void => {}, (): void => {}]
  const begun = new Promise<void>(resolve => (begin = resolve))
  const gone = new Promise<void>(resolve => (leave = resolve))
  const endpoint = endpointOf({
    build() {
      const server = new McpServer({ name: 'server', version: '1' })
      server.registerTool('wait', { inputSchema: z.object({}) }, (_, { http }) => {
        begin()
        http?.req?.signal.addEventListener('abort', leave)
        return new Promise(() => {})
      })
      return server
    },
  })
  const { url, close } = await listen(endpoint)
  onTestFinished(close)
  const body = (message: object): string => JSON.stringify({ jsonrpc: '2.0', ...message })
  const opened = await fetch(url, { method: 'POST', headers: HEADERS, body: body(INITIALIZE) })
  await opened.text()
  const session = opened.headers.get('mcp-session-id') ?? ''
  const sent = httpRequest(url, {
    method: 'POST',
    headers: { ...HEADERS, 'mcp-session-id': session },
  })
  sent.on('error', () => {})
  sent.end(body(WAIT))
  await begun
  sent.destroy()
  await gone
})

describe('over standard streams', () => {
  function connect() {
    const [input, output] = [new PassThrough(), new PassThrough()]
    let text = ''
    output.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    const { ended, close } = serveMcpOverStdio({ build, input, output, maxFrameBytes: 10_000 })
    onTestFinished(close)
    return { input, ended, close, read: () => text }
  }
  const line = (message: object): string => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`

  test('what was asked before the end of the input is answered', async () => {
    const { input, ended, read } = connect()
    input.end(line(INITIALIZE) + line({ method: 'notifications/initialized' }) + line(PING))
    await ended
    const answered = read().trimEnd().split('\n')
    expect(answered.map(text => (JSON.parse(text) as { id: number }).id)).toEqual([1, 2])
  })

  test('what is not answered within a second of it ends all the same', async () => {
    const { input, ended, read } = connect()
    input.end(line(INITIALIZE) + line({ method: 'notifications/initialized' }) + line(WAIT))
    await ended
    expect(read()).not.toContain('"id":3')
  })

  test('what is being answered is answered when it is closed', async () => {
    const { input, close, read } = connect()
    input.write(line(INITIALIZE) + line({ method: 'notifications/initialized' }) + line(WAIT))
    await expect.poll(() => ends.size).toBe(1)
    const closing = close()
    for (const end of ends) end()
    await closing
    expect(read()).toContain('"id":3')
  })

  test('what was cancelled is not waited for', async () => {
    const { input, ended } = connect()
    const started = performance.now()
    const cancelled = { method: 'notifications/cancelled', params: { requestId: 3 } }
    input.end(line(INITIALIZE) + line(WAIT) + line(cancelled))
    await ended
    expect(performance.now() - started).toBeLessThan(900)
  })

  test('a frame that is too long ends the connection', async () => {
    const { input, ended } = connect()
    input.write(line(INITIALIZE))
    input.write(line({ ...PING, filler: 'x'.repeat(10_000) }))
    await ended
  })
})
