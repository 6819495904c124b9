import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNodeHandler, type NodeIncomingMessageLike } from '@modelcontextprotocol/node'
import { endpointGuard, type EndpointGuardOptions } from './endpoint-guard.ts'
import { refuse } from './endpoint-stream.ts'
import type { McpEndpoint } from './endpoint.ts'

export interface ServeEndpointOptions extends EndpointGuardOptions {
  readonly endpoint: McpEndpoint
  /** Default: any that is free; and any where this one is taken. */
  readonly port?: number | undefined
  /** The longest body taken, in bytes, as the endpoint has it. Default 1 MiB. */
  readonly maxBodyBytes?: number | undefined
  /** Told what went wrong here, of which the client hears nothing. Default: nobody. */
  readonly report?: ((error: unknown) => void) | undefined
}

export interface ServedEndpoint {
  /** Such as `http://127.0.0.1:4200/mcp`. */
  readonly url: string
  readonly port: number
  /** Lets what is being answered finish, for a second at most, and ends all else. */
  close(): Promise<void>
}

const PATH = '/mcp'
/** How long a client may take to send its headers, and its whole request, in milliseconds. */
const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 30_000
const GRACE_MS = 1_000

/** Serves an endpoint at `/mcp` of a port of its own, for this machine alone, to whoever has the token. */
export async function serveMcpEndpoint(options: ServeEndpointOptions): Promise<ServedEndpoint> {
  const { endpoint, port = 0, maxBodyBytes = 1024 * 1024, report = () => {} } = options
  const guard = endpointGuard(options)
  const handle = toNodeHandler(endpoint, { maxRequestBodySize: maxBodyBytes, onerror: report })
  let answering = 0
  let whenIdle = (): void => {}
  let closing: Promise<void> | undefined

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { host, origin, authorization } = request.headers
    const refused = guard({ host, origin, authorization }) ?? misplaced(request.url)
    if (refused !== undefined) return await send(response, refused)
    response.setHeader('X-Content-Type-Options', 'nosniff')
    await handle(request as NodeIncomingMessageLike, response)
  }

  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: 5_000,
    },
    (request, response) => {
      answering += 1
      response.once('close', () => {
        answering -= 1
        if (answering === 0) whenIdle()
      })
      answer(request, response).catch((error: unknown) => {
        report(error)
        response.destroy()
      })
    },
  )
  if (port === 0 || !(await listen(server, port))) await listen(server, 0)
  const { port: listening } = server.address() as AddressInfo

  const close = async (): Promise<void> => {
    const closed = new Promise<void>(resolve => server.close(() => resolve()))
    await endpoint.close()
    await atMost(GRACE_MS, new Promise<void>(resolve => (answering === 0 ? resolve() : (whenIdle = resolve))))
    server.closeAllConnections()
    await closed
  }
  return {
    url: `http://127.0.0.1:${listening}${PATH}`,
    port: listening,
    close: () => (closing ??= close()),
  }
}

function misplaced(url: string | undefined): Response | undefined {
  const [path] = (url ?? '').split('?')
  return path === PATH ? undefined : refuse(404, `there is nothing here but ${PATH}`)
}

async function send(response: ServerResponse, refusal: Response): Promise<void> {
  response.writeHead(refusal.status, { ...Object.fromEntries(refusal.headers), Connection: 'close' })
  response.end(await refusal.text())
}

/** False when the port is taken. */
function listen(server: Server, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => {
      server.off('listening', listening)
      if (port !== 0 && (error.code === 'EADDRINUSE' || error.code === 'EACCES')) resolve(false)
      else reject(error)
    }
    const listening = (): void => {
      server.off('error', failed)
      resolve(true)
    }
    server.once('error', failed)
    server.once('listening', listening)
    server.listen(port, '127.0.0.1')
  })
}

async function atMost(limitMs: number, done: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const enough = new Promise<void>(resolve => (timer = setTimeout(resolve, limitMs)))
  await Promise.race([done, enough])
  clearTimeout(timer)
}
