import {
  TOKEN_SUBPROTOCOL_PREFIX,
  WIRE_SUBPROTOCOL,
  webSocketChannel,
  type WebSocketLike,
} from '../web-socket-channel.ts'
import { connect, type ConnectOptions } from './connect.ts'
import type { WireClient } from './wire-client.ts'

export type WebSocketConstructor = new (url: string, protocols: string[]) => WebSocketLike

export interface ConnectWebSocketOptions extends ConnectOptions {
  /** Letters, digits and ``!#$%&'*+-.^_`|~`` only, as in base64url: it travels as the name of a subprotocol. */
  readonly token: string
  /** Default: that of the runtime. Node before 22 has none; pass that of `ws`. */
  readonly WebSocket?: WebSocketConstructor | undefined
  /** The longest frame either way, in bytes of UTF-8. Default 10 MiB. */
  readonly limitBytes?: number | undefined
}

const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/

/**
 * Opens a WebSocket to a host and shakes hands. A token that cannot be sent, or no WebSocket, is a TypeError; otherwise it
 * rejects as `connect` does. What a browser is not told, this is not either: a refused token looks like a host that is down.
 */
export async function connectWebSocket(
  url: string | URL,
  { token, WebSocket = globalThis.WebSocket, limitBytes, ...options }: ConnectWebSocketOptions,
): Promise<WireClient> {
  if (!TOKEN.test(token)) throw new TypeError('the token cannot be sent as the name of a subprotocol')
  if ((WebSocket as unknown) === undefined)
    throw new TypeError('there is no WebSocket here; pass that of `ws`')
  const socket = new WebSocket(String(url), [WIRE_SUBPROTOCOL, TOKEN_SUBPROTOCOL_PREFIX + token])
  return connect(webSocketChannel(socket, { limitBytes, clock: options.clock }), options)
}
