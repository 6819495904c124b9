export { FRAME_LIMIT_BYTES, type FrameChannel, type IncomingFrame } from './channel.ts'
export { mintCommandId } from './client/command-id.ts'
export { connect, type ConnectOptions } from './client/connect.ts'
export {
  connectWebSocket,
  type ConnectWebSocketOptions,
  type WebSocketConstructor,
} from './client/connect-web-socket.ts'
export { WireConnectionError, type WireConnectionErrorOptions } from './client/connection-error.ts'
export type {
  DispatchOptions,
  EventHandler,
  ProtocolErrorHandler,
  RequestHandler,
} from './client/dispatch.ts'
export type { KnownEvent, OtherEvent, ServerRequest, WireEvent } from './client/event.ts'
export {
  foldListed,
  foldPending,
  NOTHING_PENDING,
  type PendingState,
  type Settlement,
} from './client/pending-fold.ts'
export { PendingView, pendingView, type PendingListener } from './client/pending-view.ts'
export { WireProtocolError } from './client/protocol-error.ts'
export {
  WireClient,
  type ClientTiming,
  type CommandOptions,
  type CommandParams,
  type FingerprintWarning,
  type RequestArgs,
  type RequestOptions,
  type RequestResult,
} from './client/wire-client.ts'
export { ndjsonChannel, type DuplexTransport, type NdjsonOptions } from './ndjson.ts'
export {
  WireError,
  type WireErrorDetails,
  type WireErrorKind,
  type WireErrorOptions,
} from './protocol/index.ts'
export {
  TOKEN_SUBPROTOCOL_PREFIX,
  webSocketChannel,
  WIRE_SUBPROTOCOL,
  type WebSocketChannelOptions,
  type WebSocketEvent,
  type WebSocketLike,
} from './web-socket-channel.ts'
