import { PassThrough, type Readable, type Writable } from 'node:stream'
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type McpRequestContext,
  type McpServer,
  type RequestId,
  type Transport,
} from '@modelcontextprotocol/server'
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'

export interface StdioOptions {
  /** Makes the server for the one client; and one more when it asks first what is spoken here. */
  readonly build: (context: McpRequestContext) => McpServer | Promise<McpServer>
  /** Default: standard input. */
  readonly input?: Readable | undefined
  /** Where frames go, and nothing else may. Default: standard output. */
  readonly output?: Writable | undefined
  /** The longest frame taken, in bytes; a longer one ends the connection. Default 1 MiB. */
  readonly maxFrameBytes?: number | undefined
  /** Told what went wrong here, of which the client hears nothing. Default: nobody. */
  readonly report?: ((error: unknown) => void) | undefined
}

export interface StdioConnection {
  /** Resolves when the client is gone: its input ended, and what it asked before was answered or has taken a second since. */
  readonly ended: Promise<void>
  /** Lets what is being answered finish, for a second at most, and ends the connection. */
  close(): Promise<void>
}

const GRACE_MS = 1_000

/** Serves the client at the other end of standard input and output, of MCP 2026-07-28 or of 2024-11-05 to 2025-11-25. */
export function serveMcpOverStdio({
  build,
  input = process.stdin,
  output = process.stdout,
  maxFrameBytes = 1024 * 1024,
  report = () => {},
}: StdioOptions): StdioConnection {
  // The official transport drops what is not answered yet when its input ends, so the end is handed on later.
  const frames = new PassThrough()
  const wire = new StdioServerTransport(frames, output, { maxBufferSize: maxFrameBytes })
  const asked = new Set<RequestId>()
  let isEnding = false
  const endWhenAnswered = (): void => {
    if (isEnding && asked.size === 0) frames.end()
  }

  const transport: Transport = {
    async start() {
      const heard: Pick<Transport, 'onmessage' | 'onerror' | 'onclose'> = {
        onmessage(message) {
          note(message)
          transport.onmessage?.(message)
        },
        onerror: error => transport.onerror?.(error),
        onclose: () => transport.onclose?.(),
      }
      await Object.assign(wire, heard).start()
    },
    async send(message) {
      await wire.send(message)
      if ('id' in message && !('method' in message) && message.id !== undefined) answered(message.id)
    },
    close: () => wire.close(),
  }
  const note = (message: JSONRPCMessage): void => {
    if (isJSONRPCRequest(message)) asked.add(message.id)
    else if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled') {
      const { requestId } = (message.params ?? {}) as { requestId?: RequestId }
      if (requestId !== undefined) answered(requestId)
    }
  }
  const answered = (id: RequestId): void => {
    asked.delete(id)
    endWhenAnswered()
  }

  let grace: NodeJS.Timeout | undefined
  const end = (): void => {
    isEnding = true
    input.unpipe(frames)
    grace ??= setTimeout(() => frames.end(), GRACE_MS)
    endWhenAnswered()
  }
  input.once('end', end).once('close', end).once('error', end)
  input.pipe(frames, { end: false })

  const ended = new Promise<void>(resolve => {
    const close = wire.close.bind(wire)
    wire.close = async () => {
      clearTimeout(grace)
      input.unpipe(frames)
      await close()
      resolve()
    }
  })
  serveStdio(build, { transport, onerror: report })
  return {
    ended,
    async close() {
      end()
      await ended
    },
  }
}
