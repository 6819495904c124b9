import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { endpointGuard, mcpEndpoint } from '@handraise/mcp'
import { toNodeHandler, type NodeIncomingMessageLike } from '@modelcontextprotocol/node'
import type { McpHandlerRequestOptions, McpServer } from '@modelcontextprotocol/server'

export interface BothEras {
  fetch(request: Request, options?: McpHandlerRequestOptions): Promise<Response>
  close(): Promise<void>
}

const TOKEN = 'the-token-of-a-test-server'

/** The endpoint for clients of both eras behind its guard. The token is put in for clients that have none to send. */
export function bothEras(build: () => McpServer): BothEras {
  const endpoint = mcpEndpoint({ build })
  const guard = endpointGuard({ token: TOKEN })
  return {
    async fetch(request, options) {
      const headers = new Headers(request.headers)
      headers.set('authorization', `Bearer ${TOKEN}`)
      return guard(new Request(request.url, { headers })) ?? (await endpoint.fetch(request, options))
    },
    close: () => endpoint.close(),
  }
}

/** The endpoint on a port of this machine. */
export async function listen(endpoint: BothEras): Promise<{ readonly url: URL; close(): Promise<void> }> {
  const handle = toNodeHandler(endpoint)
  const server = createServer(
    (request, response) => void handle(request as NodeIncomingMessageLike, response),
  )
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: new URL(`http://127.0.0.1:${port}/mcp`),
    async close() {
      await endpoint.close()
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
