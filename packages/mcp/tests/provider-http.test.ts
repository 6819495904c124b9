import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node'
import { StreamableHTTPClientTransport as StreamableHTTPClientTransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { McpServer, type RequestId } from '@modelcontextprotocol/server'
import { UserQuestionService } from '@handraise/user-questions'
import { Context } from 'cordis'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { mcpElicitationProvider } from '../src/provider.ts'
import { clientV1, clientV2 } from './provider-clients.ts'

/** An agent over HTTP that gives its clients no stream but those of their own requests. */
async function serve(): Promise<URL> {
  const ctx = new Context()
  await ctx.plugin(UserQuestionService)
  const server = new McpServer({ name: 'agent', version: '1.0.0' })
  const calls = new Map<string, RequestId>()
  const provider = mcpElicitationProvider(server, {
    autoDeclineMs: 0,
    relatedRequestId: ({ key = '' }) => calls.get(key),
  })
  ctx.userQuestions.registerProvider(provider)
  server.registerTool(
    'deploy',
    { inputSchema: z.object({ key: z.string() }) },
    async ({ key }, { mcpReq }) => {
      calls.set(key, mcpReq.id)
      const questions = [{ id: 'where', question: 'Where to?', options: [{ label: 'Staging' }] }]
      const answer = await ctx.userQuestions.ask({ questions, key, signal: mcpReq.signal })
      return { content: [{ type: 'text', text: JSON.stringify(answer) }] }
    },
  )
  const transport = new NodeStreamableHTTPServerTransport({ sessionIdGenerator: () => randomUUID() })
  await server.connect(transport)
  const http = createServer((request, response) => {
    if (request.method === 'GET') return void response.writeHead(405).end()
    void transport.handleRequest(request, response)
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  onTestFinished(async () => {
    await server.close()
    http.closeAllConnections()
    http.close()
  })
  return new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`)
}

test.each([
  ['the official client', clientV2],
  ['the official client of the first generation', clientV1],
])('over HTTP %s gets the form on the stream of its own call', async (_, clientOf) => {
  const url = await serve()
  const client = clientOf(() => ({ action: 'accept', content: { where: 'Staging' } }))
  const transport =
    client instanceof Client
      ? new StreamableHTTPClientTransport(url)
      : new StreamableHTTPClientTransportV1(url)
  await client.connect(transport)
  onTestFinished(() => client.close())
  const result = await client.callTool({ name: 'deploy', arguments: { key: 'call-1' } })
  expect(result.content).toEqual([
    { type: 'text', text: JSON.stringify({ answers: [{ id: 'where', selected: ['Staging'] }] }) },
  ])
})
