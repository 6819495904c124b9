import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { createInboxApp, DEFAULTS, type InboxAppOptions } from './app.ts'
import { badRequest } from './http-error.ts'
import { isLoopback } from './loopback.ts'
import { InboxServerError } from './server-error.ts'
import { isServing, readState, writeState, type ServerState } from './state-file.ts'
import { Upgrades, type UpgradeHandler } from './upgrades.ts'

export interface InboxServerOptions extends Omit<InboxAppOptions, 'token' | 'basePath'> {
  /** Default `127.0.0.1`. */
  readonly host?: string | undefined
  /** Default: the one remembered in the state file when it is free, else any. */
  readonly port?: number | undefined
  /** Default: that of `tokenFile`, else the one remembered in the state file, else a new one. */
  readonly token?: string | undefined
  /** A file that holds the token and nothing else. */
  readonly tokenFile?: string | undefined
  /** Where port and token are kept over a restart, readable by its owner alone: beside the database. Default: nowhere. */
  readonly stateFile?: string | undefined
  /**
   * How long a connection may be silent before it is ended, in milliseconds; while a handler of `routes` answers it may be so for
   * longer. Never less than four heartbeats. Default 120,000.
   */
  readonly silenceMs?: number | undefined
  /** Listens on a host that other machines reach, too. Default false. */
  readonly allowRemote?: boolean | undefined
  /**
   * What takes the upgrades of a path, such as `/wire`, once they have passed the guard that requests pass; those of any
   * other path are refused. At most `maxStreams` of their sockets are open. Default: `Upgrade` headers are ignored.
   */
  readonly upgrades?: Readonly<Record<string, UpgradeHandler>> | undefined
}

export interface InboxServer {
  /** Such as `http://127.0.0.1:4100/`. */
  readonly url: string
  readonly token: string
  readonly port: number
  /** How many event streams are open. */
  viewers(): number
  /**
   * Lets what is being answered finish and what was upgraded close by itself, for a second at most, and ends all else at
   * once. What is not answered by then is answered with 503: `WRITE_UNKNOWN` where it may write.
   */
  close(): Promise<void>
}

/** How long a client may take to send its headers, and its whole request, in milliseconds. */
const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 30_000
/** How long a connection may be silent: longer than a long poll, and than several heartbeats. */
const SILENCE_MS = 120_000
/** How long `close` waits for what is being answered, and for upgraded sockets, in milliseconds. */
const GRACE_MS = 1_000
/** How long it waits for the last answers to be sent, in milliseconds. */
const LAST_ANSWERS_MS = 500

/** Serves the inbox on a port of its own, for this machine alone unless told otherwise. */
export async function startInboxServer(options: InboxServerOptions): Promise<InboxServer> {
  const {
    host = '127.0.0.1',
    port: named = 0,
    stateFile,
    allowRemote = false,
    silenceMs = SILENCE_MS,
  } = options
  if (!allowRemote && !isLoopback(host)) throw new InboxServerError('REMOTE_NOT_ALLOWED', { host })
  const known = stateFile === undefined ? undefined : await readState(stateFile)
  const token = await chooseToken(options, known)
  const { heartbeatMs = DEFAULTS.heartbeatMs, maxStreams = DEFAULTS.maxStreams, report = () => {} } = options
  const guarded = { ...options, token, allowedHosts: [...(options.allowedHosts ?? []), hostInUrl(host)] }
  const app = createInboxApp({ ...guarded, basePath: '' })
  const { upgrades: handlers } = options
  const upgrades =
    handlers === undefined ? undefined : new Upgrades({ ...guarded, handlers, maxStreams, report })

  let answering = 0
  let whenIdle = (): void => {}
  const answer = getRequestListener(app.fetch, {
    // A host's own `Request` and `Response` are left alone.
    overrideGlobalObjects: false,
    // What cannot be made a request of, such as a malformed Host.
    errorHandler: () => badRequest([{ path: '', message: 'malformed HTTP' }]).toResponse(),
  })
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: 5_000,
    },
    (incoming, outgoing) => {
      answering += 1
      outgoing.once('close', () => {
        answering -= 1
        if (answering === 0) whenIdle()
      })
      answer(incoming, outgoing).catch(report)
    },
  )
  server.setTimeout(Math.max(silenceMs, 4 * heartbeatMs))
  // Without a listener Node answers as if nothing but HTTP had been offered.
  if (upgrades !== undefined)
    server.on('upgrade', (request, socket, head) => upgrades.take(request, socket, head))

  await listenWhere(server, host, named, known)
  const { port } = server.address() as AddressInfo
  const url = `http://${hostInUrl(host)}:${port}/`
  const state: ServerState = { url, host, port, token, pid: process.pid }
  // Another server that holds the file keeps it: whoever reads it finds one that serves.
  const keeps = stateFile !== undefined && !(known !== undefined && (await isOther(known, port)))
  if (keeps) await writeState(stateFile, state)

  let closing: Promise<void> | undefined
  const close = async (): Promise<void> => {
    const closed = new Promise<void>(resolve => server.close(() => resolve()))
    app.close()
    const idle = new Promise<void>(resolve => {
      if (answering === 0) resolve()
      else whenIdle = resolve
    })
    await atMost(GRACE_MS, Promise.all([idle, upgrades?.close()]))
    upgrades?.destroy()
    app.abandon()
    await atMost(LAST_ANSWERS_MS, idle)
    server.closeAllConnections()
    await closed
    if (keeps) await forgetProcess(stateFile, state)
  }
  return { url, token, port, viewers: () => app.viewers(), close: () => (closing ??= close()) }
}

async function chooseToken(
  { token, tokenFile }: InboxServerOptions,
  known: ServerState | undefined,
): Promise<string> {
  if (token !== undefined) return token
  if (tokenFile === undefined) return known?.token ?? randomBytes(32).toString('base64url')
  let text: string
  try {
    text = await readFile(tokenFile, 'utf8')
  } catch (error) {
    const why = (error as Error).message
    throw new InboxServerError('TOKEN_UNREADABLE', { file: tokenFile, why }, { cause: error })
  }
  if (text.trim() === '')
    throw new InboxServerError('TOKEN_UNREADABLE', { file: tokenFile, why: 'it is empty' })
  return text.trim()
}

async function listenWhere(
  server: Server,
  host: string,
  named: number,
  known: ServerState | undefined,
): Promise<void> {
  if (named === 0) {
    if (known !== undefined && (await listen(server, host, known.port))) return
    await listen(server, host, 0)
    return
  }
  if (await listen(server, host, named)) return
  const holder = known?.port === named && (await isServing(known)) ? known : undefined
  throw new InboxServerError('PORT_IN_USE', { port: named, host, pid: holder?.pid, url: holder?.url })
}

/** False when the port is taken. */
function listen(server: Server, host: string, port: number): Promise<boolean> {
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
    server.listen(port, host)
  })
}

async function atMost(limitMs: number, done: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const enough = new Promise<void>(resolve => (timer = setTimeout(resolve, limitMs)))
  await Promise.race([done, enough])
  clearTimeout(timer)
}

async function isOther(known: ServerState, port: number): Promise<boolean> {
  return known.port !== port && (await isServing(known))
}

// So that the number of a process that ended is not taken for its successor's.
async function forgetProcess(file: string, { pid, ...state }: ServerState): Promise<void> {
  const now = await readState(file).catch(() => undefined)
  if (now?.pid === pid && now?.port === state.port) await writeState(file, state)
}

function hostInUrl(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
