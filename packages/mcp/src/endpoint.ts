import { systemClock, type Clock } from '@handraise/user-questions/types'
import {
  createMcpHandler,
  isLegacyRequest,
  type McpHandlerRequestOptions,
  type McpRequestContext,
  type McpServer,
} from '@modelcontextprotocol/server'
import { EndpointSessions } from './endpoint-sessions.ts'
import { refuse, whenSent } from './endpoint-stream.ts'

export interface McpEndpointOptions {
  /** Makes a server: one for each request of 2026-07-28, one for each session of a client of 2025. */
  readonly build: (context: McpRequestContext) => McpServer | Promise<McpServer>
  /** Most sessions of clients of 2025; a new one ends the one that is idle for longest, or is refused. Default 100. */
  readonly maxSessions?: number | undefined
  /** How long nobody may use a session before it is ended, in milliseconds. An open stream is use. Default 30 minutes. */
  readonly idleMs?: number | undefined
  /** The longest body taken, in bytes. Default 1 MiB. */
  readonly maxBodyBytes?: number | undefined
  /** Most requests that are answered at once, streams included. Default 1,000. */
  readonly maxOpen?: number | undefined
  /** Default: the system's. */
  readonly clock?: Clock | undefined
  /** Told what went wrong here, of which the client hears nothing. Default: nobody. */
  readonly report?: ((error: unknown) => void) | undefined
}

/** MCP over Streamable HTTP, for any server that speaks `fetch`. Put `endpointGuard` before it. */
export interface McpEndpoint {
  /** `authInfo` is who asks, verified by whoever calls this: sessions, pauses and questions of another are not found. */
  fetch(request: Request, options?: McpHandlerRequestOptions): Promise<Response>
  /** How many sessions of clients of 2025 there are. */
  sessions(): number
  /** Lets what is being answered finish, for a second at most, and ends every session. */
  close(): Promise<void>
}

const GRACE_MS = 1_000

/**
 * One endpoint for clients of both kinds: those of MCP 2026-07-28, where each request stands alone, and those of 2025-03-26 to
 * 2025-11-25, which open a session, so that the server can ask them while a call waits.
 */
export function mcpEndpoint({
  build,
  maxSessions = 100,
  idleMs = 30 * 60 * 1_000,
  maxBodyBytes = 1024 * 1024,
  maxOpen = 1_000,
  clock = systemClock,
  report = () => {},
}: McpEndpointOptions): McpEndpoint {
  const modern = createMcpHandler(build, { legacy: 'reject', maxRequestBodySize: maxBodyBytes })
  const sessions = new EndpointSessions({
    build: (authInfo, requestInfo) =>
      build({ era: 'legacy', requestInfo, ...(authInfo === undefined ? {} : { authInfo }) }),
    maxSessions,
    idleMs,
    maxBodyBytes,
    clock,
    report,
  })
  let open = 0
  // Without the streams, which end with their session.
  let answering = 0
  let whenAnswered = (): void => {}
  let closing: Promise<void> | undefined

  const answer = async (request: Request, options: McpHandlerRequestOptions): Promise<Response> => {
    const { parsedBody } = options
    const isTooLong = Number(request.headers.get('content-length') ?? 0) > maxBodyBytes
    if (parsedBody === undefined && isTooLong) return refuse(413, `a body has ${maxBodyBytes} bytes at most`)
    const isLegacy = await isLegacyRequest(request, parsedBody, { maxRequestBodySize: maxBodyBytes })
    return isLegacy ? await sessions.fetch(request, options) : await modern.fetch(request, options)
  }

  const close = async (): Promise<void> => {
    await new Promise<void>(resolve => {
      if (answering === 0) return resolve()
      const callOff = clock.after(GRACE_MS, resolve)
      whenAnswered = () => {
        callOff()
        resolve()
      }
    })
    await Promise.all([modern.close(), sessions.close()])
  }

  return {
    async fetch(request, options = {}) {
      if (closing !== undefined) return busy('this server is shutting down')
      if (open >= maxOpen) return busy(`${maxOpen} requests are being answered already`)
      const counts = request.method === 'GET' ? 0 : 1
      open += 1
      answering += counts
      const sent = (): void => {
        open -= 1
        answering -= counts
        if (answering === 0) whenAnswered()
      }
      try {
        return whenSent(endingConnection(await answer(request, options)), sent)
      } catch (error) {
        sent()
        report(error)
        return refuse(500, 'Internal server error', { code: -32_603 })
      }
    },
    sessions: () => sessions.count,
    close: () => (closing ??= close()),
  }
}

/** What is left of a body that was too long is not read, so that no other request can follow it on its connection. */
function endingConnection(response: Response): Response {
  if (response.status !== 413) return response
  const { status, body } = response
  const headers = new Headers(response.headers)
  headers.set('Connection', 'close')
  return new Response(body, { status, headers })
}

function busy(why: string): Response {
  return refuse(503, why, { headers: { 'Retry-After': '5' } })
}
