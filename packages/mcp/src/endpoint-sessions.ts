import type { Clock } from '@handraise/user-questions/types'
import {
  WebStandardStreamableHTTPServerTransport,
  type AuthInfo,
  type McpHandlerRequestOptions,
  type McpServer,
} from '@modelcontextprotocol/server'
import { refuse, whenSent } from './endpoint-stream.ts'

export interface EndpointSessionsOptions {
  readonly build: (authInfo: AuthInfo | undefined, request: Request) => McpServer | Promise<McpServer>
  readonly maxSessions: number
  readonly idleMs: number
  readonly maxBodyBytes: number
  readonly clock: Clock
  readonly report: (error: unknown) => void
}

interface Session {
  readonly id: string
  readonly transport: WebStandardStreamableHTTPServerTransport
  /** Who opened it, by their credentials; nobody else may use it. */
  readonly owner: string
  /** Requests that are being answered, and streams that are open. */
  open: number
  callOffEnd: () => void
}

/** The sessions of clients of MCP 2025-03-26 to 2025-11-25: a server for each, until it is ended or idle for long. */
export class EndpointSessions {
  private readonly options: EndpointSessionsOptions
  /** The one that was used last comes last. */
  private readonly sessions = new Map<string, Session>()
  private readonly opening = new Set<WebStandardStreamableHTTPServerTransport>()

  constructor(options: EndpointSessionsOptions) {
    this.options = options
  }

  get count(): number {
    return this.sessions.size
  }

  async fetch(request: Request, options: McpHandlerRequestOptions): Promise<Response> {
    const id = request.headers.get('mcp-session-id')
    if (id === null) return await this.open(request, options)
    const session = this.sessions.get(id)
    // As the official transport says it, for whoever owns the session and whoever does not.
    if (session === undefined || session.owner !== ownerOf(options.authInfo))
      return refuse(404, 'Session not found', { code: -32_001 })
    return await this.serve(session, () => session.transport.handleRequest(request, options))
  }

  async close(): Promise<void> {
    const transports = [...this.opening, ...Array.from(this.sessions.values(), ({ transport }) => transport)]
    await Promise.all(transports.map(transport => transport.close()))
  }

  private async open(request: Request, options: McpHandlerRequestOptions): Promise<Response> {
    if (request.method !== 'POST') return refuse(400, 'Bad Request: Mcp-Session-Id header is required')
    if (!this.makeRoom())
      return refuse(503, `${this.options.maxSessions} sessions are open already; end one first`, {
        headers: { 'Retry-After': '30' },
      })
    const { maxBodyBytes, build } = this.options
    let session: Session | undefined
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      maxRequestBodySize: maxBodyBytes,
      onsessioninitialized: id => {
        session = this.add(id, transport, ownerOf(options.authInfo))
      },
    })
    this.opening.add(transport)
    try {
      const server = await build(options.authInfo, request)
      await server.connect(transport)
      const response = await transport.handleRequest(request, options)
      if (session !== undefined) return await this.serve(session, () => Promise.resolve(response))
      // It did not open one, and is told why.
      await transport.close()
      return response
    } finally {
      this.opening.delete(transport)
    }
  }

  private add(id: string, transport: WebStandardStreamableHTTPServerTransport, owner: string): Session {
    const session: Session = { id, transport, owner, open: 0, callOffEnd: () => {} }
    this.sessions.set(id, session)
    const closed = transport.onclose
    const onclose = (): void => {
      session.callOffEnd()
      this.sessions.delete(id)
      closed?.()
    }
    Object.assign(transport, { onclose })
    return session
  }

  private async serve(session: Session, answer: () => Promise<Response>): Promise<Response> {
    session.open += 1
    session.callOffEnd()
    this.sessions.delete(session.id)
    this.sessions.set(session.id, session)
    const sent = (): void => {
      session.open -= 1
      if (session.open > 0 || !this.sessions.has(session.id)) return
      session.callOffEnd = this.options.clock.after(this.options.idleMs, () => this.end(session))
    }
    try {
      return whenSent(await answer(), sent)
    } catch (error) {
      sent()
      throw error
    }
  }

  /** False when there is none, and no session that nobody uses could be ended for it. */
  private makeRoom(): boolean {
    if (this.sessions.size + this.opening.size < this.options.maxSessions) return true
    const idle = Array.from(this.sessions.values()).find(({ open }) => open === 0)
    if (idle === undefined) return false
    this.end(idle)
    return true
  }

  private end({ id, transport }: Session): void {
    this.sessions.delete(id)
    transport.close().catch(this.options.report)
  }
}

function ownerOf(authInfo: AuthInfo | undefined): string {
  const user = authInfo?.extra?.sub
  return JSON.stringify([authInfo?.clientId ?? null, typeof user === 'string' ? user : null])
}
