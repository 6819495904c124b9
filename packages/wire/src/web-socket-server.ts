import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { systemClock, type Clock } from '@handraise/user-questions/types'
import { WebSocketServer, type WebSocket } from 'ws'
import { FRAME_LIMIT_BYTES, type FrameChannel } from './channel.ts'
import { WIRE_SUBPROTOCOL, webSocketChannel } from './web-socket-channel.ts'

export interface AcceptWebSocketOptions {
  /**
   * The longest frame either way, in bytes of UTF-8. One up to four times as long is answered, a longer one closes the socket
   * with 1009. Default 10 MiB.
   */
  readonly limitBytes?: number | undefined
  /** How often the other side is pinged, in milliseconds; one that is silent for as long again is cut off. Default 30,000. */
  readonly heartbeatMs?: number | undefined
  readonly clock?: Clock | undefined
}

/**
 * Completes the upgrade of a request that may come in: who sent it, and from which page, was looked at before. Of the
 * subprotocols it selects `handraise.wire` alone, never one that carries a token.
 *
 * Rejects where the upgrade could not be completed. The request was then answered with a 4xx, if it still could be, and the
 * socket is closed.
 */
export async function acceptWebSocket(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  { limitBytes = FRAME_LIMIT_BYTES, heartbeatMs = 30_000, clock = systemClock }: AcceptWebSocketOptions = {},
): Promise<FrameChannel> {
  // Whoever sends the token in a header need not name any; a browser names two.
  if (request.headers['sec-websocket-protocol'] !== undefined && !offers(request, WIRE_SUBPROTOCOL)) {
    refuse(socket, `the subprotocol ${WIRE_SUBPROTOCOL} is not offered`)
    throw new Error(`the request does not offer the subprotocol ${WIRE_SUBPROTOCOL}`)
  }
  return upgrade(request, socket, head, 4 * limitBytes, webSocket => {
    keepAlive(webSocket, heartbeatMs, clock)
    return webSocketChannel(webSocket, { limitBytes, clock })
  })
}

function offers({ headers }: IncomingMessage, subprotocol: string): boolean {
  const offered = headers['sec-websocket-protocol'] ?? ''
  return offered.split(',').some(name => name.trim() === subprotocol)
}

function refuse(socket: Duplex, why: string): void {
  socket.on('error', () => {})
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: ${why.length}\r\n\r\n${why}`,
    () => socket.destroy(),
  )
}

function upgrade(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  maxPayload: number,
  // Called at once: what came with the request is read before a promise is.
  use: (webSocket: WebSocket) => FrameChannel,
): Promise<FrameChannel> {
  return new Promise((resolve, reject) => {
    const onClose = (): void => reject(new Error('the request could not be upgraded'))
    // It has been closed already, and will not say so again.
    if (socket.destroyed) return onClose()
    socket.once('close', onClose)
    new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload,
      handleProtocols: () => WIRE_SUBPROTOCOL,
    }).handleUpgrade(request, socket, head, webSocket => {
      socket.off('close', onClose)
      resolve(use(webSocket))
    })
  })
}

function keepAlive(webSocket: WebSocket, heartbeatMs: number, clock: Clock): void {
  let heard = true
  const onHeard = (): void => {
    heard = true
  }
  const judge = (): void => {
    if (!heard) return webSocket.terminate()
    // While it is paused nothing is heard, alive or not.
    heard = webSocket.isPaused
    webSocket.ping()
    callOff = clock.after(heartbeatMs, beat)
  }
  // Where the machine slept or this process was busy, what came meanwhile is read first.
  const beat = (): void => {
    const turn = setImmediate(judge)
    callOff = () => clearImmediate(turn)
  }
  let callOff = clock.after(heartbeatMs, beat)
  webSocket.on('pong', onHeard)
  webSocket.on('message', onHeard)
  webSocket.once('close', () => {
    callOff()
    webSocket.off('pong', onHeard)
    webSocket.off('message', onHeard)
  })
}
