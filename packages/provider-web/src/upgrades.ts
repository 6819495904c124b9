import { STATUS_CODES, type IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { StoreError } from '@handraise/inbox'
import { tooMany } from './events.ts'
import {
  bearerToken,
  hostAndOriginCheck,
  SECURITY_HEADERS,
  subprotocolToken,
  tokenCheck,
  type Approach,
  type GuardOptions,
} from './guard.ts'
import { HttpError, toHttpError } from './http-error.ts'
import { isPath } from './router.ts'

/**
 * Takes an upgrade that has passed the guard. The socket is the handler's from then on, the reply included, and counts as
 * open until it is closed; `head` is what came after the request. An entry with the token may be among the subprotocols
 * offered: accept another one. A handler that throws or rejects is reported, and its socket destroyed.
 */
export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void | Promise<void>

export interface UpgradesOptions extends GuardOptions {
  /** By path. */
  readonly handlers: Readonly<Record<string, UpgradeHandler>>
  readonly token: string
  /** Most upgraded sockets open. */
  readonly maxStreams: number
  readonly report: (error: unknown) => void
}

/** How long a client may take to read why it was refused, in milliseconds. */
const REFUSAL_MS = 1_000

/** Sockets that leave HTTP: guarded as requests are, handed over by path, and kept account of until they are closed. */
export class Upgrades {
  private readonly handlers: ReadonlyMap<string, UpgradeHandler>
  private readonly checkHostAndOrigin: (approach: Approach) => void
  private readonly checkToken: (given: string | undefined) => void
  private readonly maxStreams: number
  private readonly report: (error: unknown) => void
  private readonly taken = new Set<Duplex>()
  private readonly refused = new Set<Duplex>()
  private closing = false
  private whenEmpty = (): void => {}

  constructor(options: UpgradesOptions) {
    const { handlers, token, maxStreams, report } = options
    for (const path of Object.keys(handlers))
      if (!isPath(path)) throw new TypeError(`no upgrade can ask for the path ${JSON.stringify(path)}`)
    this.handlers = new Map(Object.entries(handlers))
    this.checkHostAndOrigin = hostAndOriginCheck(options)
    this.checkToken = tokenCheck(token)
    this.maxStreams = maxStreams
    this.report = report
  }

  /** Hands the socket to the handler of its path, or refuses it with a response and ends it. */
  take(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // Node has let go of the socket, and an error that nobody hears would end the process. It closes by itself then.
    socket.on('error', () => {})
    let handler: UpgradeHandler
    try {
      handler = this.admit(request)
    } catch (error) {
      const told = toHttpError(error)
      if (told.code === 'INTERNAL' || StoreError.isInstance(error)) this.report(error)
      this.refuse(socket, told)
      return
    }
    this.keep(this.taken, socket)
    // How long it may be silent is up to what it speaks now.
    if (socket instanceof Socket) socket.setTimeout(0)
    this.hand(handler, request, socket, head).catch((error: unknown) => {
      socket.destroy()
      this.report(error)
    })
  }

  /** Takes none any more. Resolves when those that were taken are closed. */
  async close(): Promise<void> {
    this.closing = true
    if (this.taken.size > 0) await new Promise<void>(resolve => (this.whenEmpty = resolve))
  }

  /** Ends at once what is still open. */
  destroy(): void {
    for (const socket of [...this.taken, ...this.refused]) socket.destroy()
  }

  private admit(request: IncomingMessage): UpgradeHandler {
    // Values of a header that came twice are joined, as those of a request are, so that none is overlooked.
    const header = (name: string): string | undefined => request.headersDistinct[name]?.join(', ')
    this.checkHostAndOrigin({
      host: header('host') ?? '',
      origin: header('origin'),
      protocol: 'http:',
    })
    const handler = this.handlers.get(request.url?.replace(/\?.*$/su, '') ?? '')
    if (handler === undefined) throw new HttpError('NOT_FOUND', 'no protocol is served here')
    this.checkToken(
      bearerToken(header('authorization')) ?? subprotocolToken(header('sec-websocket-protocol')),
    )
    if (this.closing)
      throw new HttpError('STORE_CLOSED', 'this server is shutting down', {}, { 'Retry-After': '5' })
    if (this.taken.size >= this.maxStreams) throw tooMany(this.maxStreams)
    return handler
  }

  // So that a handler that throws fails as one that rejects.
  private async hand(handler: UpgradeHandler, ...given: Parameters<UpgradeHandler>): Promise<void> {
    await handler(...given)
  }

  private refuse(socket: Duplex, error: HttpError): void {
    this.keep(this.refused, socket)
    const enough = setTimeout(() => socket.destroy(), REFUSAL_MS)
    socket.once('close', () => clearTimeout(enough))
    // What the client still sends is read to its end: closing with some of it unread could take the response from it.
    socket.resume()
    socket.end(responseOf(error))
  }

  private keep(sockets: Set<Duplex>, socket: Duplex): void {
    sockets.add(socket)
    socket.once('close', () => {
      sockets.delete(socket)
      if (this.taken.size === 0) this.whenEmpty()
    })
  }
}

function responseOf(error: HttpError): string {
  const body = JSON.stringify(error)
  const headers = {
    ...SECURITY_HEADERS,
    ...error.headers,
    Date: new Date().toUTCString(),
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('')}\r\n${body}`
}
