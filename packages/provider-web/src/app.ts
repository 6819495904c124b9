import { IncomingMessage } from 'node:http'
import { StoreError, type Inbox } from '@handraise/inbox'
import { Hono } from 'hono'
import { z } from 'zod'
import { Askers } from './askers.ts'
import { EventStreams } from './events.ts'
import { checkHostAndOrigin, requireToken, securityHeaders, type GuardOptions } from './guard.ts'
import { HttpError, toHttpError } from './http-error.ts'
import { openApiDocument } from './openapi.ts'
import { pageRoutes } from './page-files.ts'
import { isPath, route } from './router.ts'
import { UnderWay } from './under-way.ts'
import { decisionRoutes } from './routes-decisions.ts'
import { eventRoutes } from './routes-events.ts'
import { requestRoutes } from './routes-requests.ts'
import { waitRoutes } from './routes-wait.ts'

/** How long nothing is heard on a connection before it is asked whether it is there, in milliseconds. */
const KEEP_ALIVE_MS = 60_000

export interface InboxAppOptions extends GuardOptions {
  readonly inbox: Inbox
  /** What clients must send as `Authorization: Bearer`: 16 characters or more. */
  readonly token: string
  /** Where the host mounts it. Default: at the root. */
  readonly basePath?: string | undefined
  /** Whether the page is served beside the API, at the root of where this is mounted. Default true. */
  readonly page?: boolean | undefined
  /**
   * What answers every request of a path, such as `/mcp`, once it has passed the guard that requests of the API pass, its
   * token included; those of the API and of the page stay theirs. The sizes and counts of these requests are the handler's own to bound. Default: none.
   */
  readonly routes?: Readonly<Record<string, RouteHandler>> | undefined
  /** How often a quiet event stream shows that it lives, in milliseconds. Default 15,000. */
  readonly heartbeatMs?: number | undefined
  /** The longest body taken, in bytes. Default 1 MiB. */
  readonly maxBodyBytes?: number | undefined
  /** Most open event streams, and most long polls. Default 2,000 of each. */
  readonly maxStreams?: number | undefined
  /** How far a reader of events may be behind, in bytes, before it is cut off to resume. Default 1 MiB. */
  readonly maxBufferBytes?: number | undefined
  /** How long nobody may wait for a request without a key before it is withdrawn, in milliseconds. Default 30,000. */
  readonly askerGraceMs?: number | undefined
  /** Told what went wrong here, of which the client hears nothing. Default: nobody. */
  readonly report?: ((error: unknown) => void) | undefined
}

/** Answers a request. What it throws is reported, and told to the client as `INTERNAL`. */
export type RouteHandler = (request: Request) => Response | Promise<Response>

/** The inbox over HTTP, and the page on which people answer, for any server that speaks `fetch`. */
export interface InboxApp {
  readonly fetch: (request: Request, env?: unknown) => Response | Promise<Response>
  /** How many event streams are open. */
  viewers(): number
  /** Ends every event stream and long poll. */
  close(): void
  /**
   * Answers at once what is under way at the API, after `close`: with `WRITE_UNKNOWN` what may write, since it may still be carried out,
   * with `STORE_CLOSED` the rest.
   */
  abandon(): void
}

const onSocketSchema = z.object({ incoming: z.instanceof(IncomingMessage) })

/** A handler may think for longer than a connection may be silent. The server limits the next request on it again. */
function mayBeSilent(env: unknown): void {
  const { data } = onSocketSchema.safeParse(env)
  // Whoever is cut off without a word is noticed nevertheless.
  data?.incoming.socket.setTimeout(0).setKeepAlive(true, KEEP_ALIVE_MS)
}

export const DEFAULTS = {
  heartbeatMs: 15_000,
  maxBodyBytes: 1024 * 1024,
  maxStreams: 2_000,
  maxBufferBytes: 1024 * 1024,
  askerGraceMs: 30_000,
} as const

export function createInboxApp(options: InboxAppOptions): InboxApp {
  const { inbox, token, page = true, routes = {}, report = () => {} } = options
  const basePath = `/${options.basePath ?? ''}`.replace(/\/+$/u, '').replace(/^\/+/u, '/')
  const {
    heartbeatMs = DEFAULTS.heartbeatMs,
    maxBodyBytes = DEFAULTS.maxBodyBytes,
    maxStreams = DEFAULTS.maxStreams,
    maxBufferBytes = DEFAULTS.maxBufferBytes,
    askerGraceMs = DEFAULTS.askerGraceMs,
  } = options
  const streams = new EventStreams({ inbox, heartbeatMs, maxStreams, maxBufferBytes, report })
  const askers = new Askers(inbox, askerGraceMs, report)
  const deps = { inbox, askers, maxBodyBytes, maxStreams, report }

  const api = new Hono()
  api.use(requireToken(token))
  const underWay = new UnderWay()
  api.use((c, next) => underWay.run(c.req.method, next))
  requestRoutes(api, deps)
  const stopWaiting = waitRoutes(api, deps)
  decisionRoutes(api, deps)
  eventRoutes(api, streams)
  const document = openApiDocument(basePath)
  route(api, '/openapi.json', { GET: c => c.json(document) })

  const root = new Hono()
  root.use(securityHeaders())
  root.use(checkHostAndOrigin(options))
  root.route(`${basePath}/api`, api)
  if (page) pageRoutes(root, basePath)
  for (const [path, answer] of Object.entries(routes)) {
    if (!isPath(path)) throw new TypeError(`no request can ask for the path ${JSON.stringify(path)}`)
    root.all(`${basePath}${path}`, requireToken(token), c => {
      mayBeSilent(c.env)
      return answer(c.req.raw)
    })
  }
  root.notFound(() => new HttpError('NOT_FOUND', 'there is nothing here; see /api/openapi.json').toResponse())
  root.onError(error => {
    const told = toHttpError(error)
    if (told.code === 'INTERNAL' || told.code === 'STORE_UNREADABLE' || StoreError.isInstance(error))
      report(error)
    return told.toResponse()
  })

  return {
    fetch: (request, env) => root.fetch(request, env),
    viewers: () => streams.count,
    close: () => {
      streams.close()
      stopWaiting()
      askers.close()
    },
    abandon: () => underWay.abandon(),
  }
}
