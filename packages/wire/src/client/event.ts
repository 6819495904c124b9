import {
  NOTIFICATIONS,
  SERVER_REQUESTS,
  type NotificationMethod,
  type NotificationParams,
  type ServerRequestMethod,
  type ServerRequestParams,
} from '../protocol/index.ts'
import { WireProtocolError } from './protocol-error.ts'
import type { Members } from './server-frame.ts'

/** A notification that this version knows: its params are of the shape that belongs to its method. */
export type KnownEvent = {
  [M in NotificationMethod]: {
    readonly known: true
    readonly method: M
    readonly params: NotificationParams<M>
    /** When the host wrote it, in milliseconds since 1970; undefined of what comes from a page. */
    readonly emittedAtMs: number | undefined
  }
}[NotificationMethod]

/** A notification that this version does not know. */
export interface OtherEvent {
  readonly known: false
  readonly method: string
  readonly params: Members
  readonly emittedAtMs: number | undefined
}

/** What a host told. Look at `known` first, then at `method`. */
export type WireEvent = KnownEvent | OtherEvent

/** What a host asks its clients to show. */
export type ServerRequest = {
  [M in ServerRequestMethod]: { readonly method: M; readonly params: ServerRequestParams<M> }
}[ServerRequestMethod]

/** Throws a WireProtocolError where the params are not those of the method. */
export function readEvent(method: string, params: Members, emittedAtMs?: number): WireEvent {
  if (!isKnown(NOTIFICATIONS, method)) return { known: false, method, params, emittedAtMs }
  const read = NOTIFICATIONS[method].safeParse(withDefaults(method, params))
  if (!read.success) throw notThoseOf(method, read.error)
  return { known: true, method, params: read.data, emittedAtMs } as KnownEvent
}

/** Undefined where the method is not known. Throws a WireProtocolError where the params are not those of the method. */
export function readServerRequest(method: string, params: Members): ServerRequest | undefined {
  if (!isKnown(SERVER_REQUESTS, method)) return undefined
  const read = SERVER_REQUESTS[method].params.safeParse(params)
  if (!read.success) throw notThoseOf(method, read.error)
  return { method, params: read.data } as ServerRequest
}

// Hosts before 1.4 do not say when a prompt was settled.
function withDefaults(method: NotificationMethod, params: Members): Members {
  return method === 'userInput/settled' ? { decidedAt: null, ...params } : params
}

function isKnown<T extends object>(table: T, method: string): method is keyof T & string {
  return Object.hasOwn(table, method)
}

function notThoseOf(method: string, cause: Error): WireProtocolError {
  return new WireProtocolError(`the params of ${method} are not those of the protocol`, { cause })
}
