import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node'
import { StreamableHTTPClientTransport as StreamableHTTPClientTransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { McpServer, type RequestId } from '@modelcontextprotocol/server'
import { UserQuestionService } from '@handraise/user-questions'
import { Context } from 'cordis'
import { expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { mcpElicitationProvider } from '../src/provider.ts'
import { held } from './provider-asking.ts'
import { clientV1, clientV2 } from './provider-clients.ts'

interface Agent {
  readonly url: URL
  /** Aborts what is asked, as if it had been answered elsewhere. */
  readonly elsewhere: AbortController
  /** How many general streams are open. */
  readonly streams: () => number
  /** What the server could not tell its client. */
  readonly faults: Error[]
}

/**
 * An agent over HTTP that gives its clients no stream but those of their own requests, or a general one as well. Its tool
 * `deploy` waits for the answer, `prepare` does not.
 */
async function serve({ general = false } = {}): Promise<Agent> {
  const ctx = new Context()
  await ctx.plugin(UserQuestionService)
  const server = new McpServer({ name: 'agent', version: '1.0.0' })
  const calls = new Map<string, RequestId>()
  const provider = mcpElicitationProvider(server, {
    autoDeclineMs: 0,
    relatedRequestId: ({ key = '' }) => calls.get(key),
  })
  ctx.userQuestions.registerProvider(provider)
  const elsewhere = new AbortController()
  const faults: Error[] = []
  Object.assign(server.server, { onerror: (error: Error) => void faults.push(error) })
  const inputSchema = z.object({ key: z.string() })
  const questions = [{ id: 'where', question: 'Where to?', options: [{ label: 'Staging' }] }]
  server.registerTool('deploy', { inputSchema }, async ({ key }, { mcpReq }) => {
    calls.set(key, mcpReq.id)
    const answer = await ctx.userQuestions.ask({ questions, key, signal: mcpReq.signal })
    return { content: [{ type: 'text', text: JSON.stringify(answer) }] }
  })
  server.registerTool('prepare', { inputSchema }, ({ key }, { mcpReq }) => {
    calls.set(key, mcpReq.id)
    ctx.userQuestions.ask({ questions, key, signal: elsewhere.signal }).catch(() => {})
    return { content: [{ type: 'text', text: 'asked' }] }
  })
  const transport = new NodeStreamableHTTPServerTransport({ sessionIdGenerator: () => randomUUID() })
  await server.connect(transport)
  const streams: ServerResponse[] = []
  const http = createServer((request, response) => {
    if (request.method === 'GET') streams.push(response)
    if (request.method === 'GET' && !general) return void response.writeHead(405).end()
    void transport.handleRequest(request, response)
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  onTestFinished(async () => {
    await server.close()
    http.closeAllConnections()
    http.close()
  })
  const url = new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`)
  return {
    url,
    elsewhere,
    faults,
    streams: () => streams.filter(({ headersSent, closed }) => headersSent && !closed).length,
  }
}

async function joined(client: Client | ReturnType<typeof clientV1>, url: URL): Promise<void> {
  onTestFinished(() => client.close())
  if (client instanceof Client) await client.connect(new StreamableHTTPClientTransport(url))
  else await client.connect(new StreamableHTTPClientTransportV1(url))
}

test.each([
  ['the official client', clientV2],
  ['the official client of the first generation', clientV1],
])('over HTTP %s gets the form on the stream of its own call', async (_, clientOf) => {
  const { url } = await serve()
  const client = clientOf(() => ({ action: 'accept', content: { where: 'Staging' } }))
  await joined(client, url)
  const result = await client.callTool({ name: 'deploy', arguments: { key: 'call-1' } })
  expect(result.content).toEqual([
    { type: 'text', text: JSON.stringify({ answers: [{ id: 'where', selected: ['Staging'] }] }) },
  ])
})

test.each([
  ['the official client', clientV2],
  ['the official client of the first generation', clientV1],
])('a form that outlasts its call is taken down at %s by its general stream', async (_, clientOf) => {
  const { url, elsewhere, faults, streams } = await serve({ general: true })
  const [up, down] = [held<void>(), held<void>()]
  const client = clientOf((_form, signal) => {
    up.resolve()
    signal.addEventListener('abort', () => down.resolve())
    return new Promise(() => {})
  })
  await joined(client, url)
  await client.callTool({ name: 'prepare', arguments: { key: 'call-1' } })
  await up.promise
  await vi.waitFor(() => expect(streams()).toBe(1))
  elsewhere.abort()
  await down.promise
  expect(faults).toEqual([])
})

test('a client without a general stream keeps such a form, and nothing fails', async () => {
  const { url, elsewhere, faults } = await serve()
  const [up, later] = [held<void>(), held<void>()]
  let takenDown = false
  const client = clientV2((_form, signal) => {
    up.resolve()
    signal.addEventListener('abort', () => (takenDown = true))
    return later.promise.then(() => ({ action: 'cancel' }))
  })
  await joined(client, url)
  await client.callTool({ name: 'prepare', arguments: { key: 'call-1' } })
  await up.promise
  elsewhere.abort()
  await client.listTools()
  expect([takenDown, faults]).toEqual([false, []])
  later.resolve()
})
