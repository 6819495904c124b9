import { WireError, type RequestReceipt } from '../protocol/index.ts'
import type { ConnectionHandlers } from './connection.ts'
import { readEvent, readServerRequest, type ServerRequest, type WireEvent } from './event.ts'
import { Listeners } from './listeners.ts'
import type { Members } from './server-frame.ts'

/**
 * Shows a prompt, or begins to. What it returns is the receipt, `{}` when nothing: it decides nothing, and the decision is a
 * command of its own. A WireError that it throws is what the host is told; for anything else that is `internal`.
 */
export type RequestHandler = (
  request: ServerRequest,
) => RequestReceipt | void | Promise<RequestReceipt | void>

export type EventHandler = (event: WireEvent) => void

/** Hears what the host sent against the protocol, and what a handler threw. */
export type ProtocolErrorHandler = (error: unknown) => void

export interface DispatchOptions {
  readonly onRequest?: RequestHandler | undefined
  readonly onEvent?: EventHandler | undefined
  readonly onProtocolError?: ProtocolErrorHandler | undefined
}

/** Hands what the host says by itself to whoever wants to hear it. */
export class Dispatch implements ConnectionHandlers {
  private requestHandler: RequestHandler | undefined
  private readonly protocolErrorHandler: ProtocolErrorHandler
  private readonly events = new Listeners<WireEvent>(error => this.fault(error))
  private readonly requests = new Listeners<ServerRequest>(error => this.fault(error))

  constructor({ onRequest, onEvent, onProtocolError = () => {} }: DispatchOptions) {
    this.requestHandler = onRequest
    this.protocolErrorHandler = onProtocolError
    if (onEvent !== undefined) this.events.add(onEvent)
  }

  onRequest(handler: RequestHandler): () => void {
    this.requestHandler = handler
    return () => {
      if (this.requestHandler === handler) this.requestHandler = undefined
    }
  }

  onEvent(handler: EventHandler): () => void {
    return this.events.add(handler)
  }

  watchRequests(watcher: (request: ServerRequest) => void): () => void {
    return this.requests.add(watcher)
  }

  notified(method: string, params: Members, emittedAtMs: number | undefined): void {
    let event: WireEvent
    try {
      event = readEvent(method, params, emittedAtMs)
    } catch (error) {
      return this.fault(error)
    }
    this.events.tell(event)
  }

  async asked(method: string, params: Members): Promise<unknown> {
    const request = this.readRequest(method, params)
    this.requests.tell(request)
    const handler = this.requestHandler
    if (handler === undefined) throw notFound(`nothing here handles ${method}`)
    try {
      return await handler(request)
    } catch (error) {
      if (!WireError.isInstance(error)) this.fault(error)
      throw error
    }
  }

  fault(error: unknown): void {
    try {
      this.protocolErrorHandler(error)
    } catch {
      // There is nobody left to tell.
    }
  }

  private readRequest(method: string, params: Members): ServerRequest {
    let request: ServerRequest | undefined
    try {
      request = readServerRequest(method, params)
    } catch (error) {
      this.fault(error)
      throw new WireError('invalidParams', `the params of ${method} are not those of the protocol`)
    }
    if (request === undefined) throw notFound(`this client does not know ${method}`)
    return request
  }
}

function notFound(message: string): WireError {
  return new WireError('methodNotFound', message, { retryable: false })
}
