import { systemClock, type Clock } from '@handraise/user-questions/types'
import {
  METHODS,
  WireError,
  type ClientNotificationMethod,
  type ClientNotificationParams,
  type CommandMethod,
  type InitializeResult,
  type Method,
  type ParamsOf,
  type ResultOf,
} from '../protocol/index.ts'
import { mintCommandId } from './command-id.ts'
import type { Connection } from './connection.ts'
import type { Dispatch, EventHandler, RequestHandler } from './dispatch.ts'
import type { ServerRequest } from './event.ts'
import { WireProtocolError } from './protocol-error.ts'
import { SentCommands } from './sent-commands.ts'
import type { Members } from './server-frame.ts'
import { wait } from './wait.ts'

export interface RequestOptions {
  /** Ends the wait, with its reason. What was sent stays sent, and may be done all the same. */
  readonly signal?: AbortSignal | undefined
}

export interface CommandOptions extends RequestOptions {
  /** Chosen once for each decision, a UUIDv7. Default: a new one. */
  readonly commandId?: string | undefined
  /** How often it is sent at most, while the host says that it has no room. Default 3. */
  readonly maxAttempts?: number | undefined
}

/** The params of a method; of one that is not known, anything. */
export type RequestArgs<M extends string> = M extends Method
  ? [params: ParamsOf<M>, options?: RequestOptions]
  : [params?: Members, options?: RequestOptions]

export type RequestResult<M extends string> = M extends Method ? ResultOf<M> : Members

/** The params of a command without its id. */
export type CommandParams<M extends string> = M extends CommandMethod
  ? { [K in keyof ParamsOf<M> as K extends 'commandId' ? never : K]: ParamsOf<M>[K] }
  : M extends Method
    ? never
    : Members

/** The host has another schema than was expected. What it says may still be read. */
export interface FingerprintWarning {
  readonly expected: string
  readonly actual: string
}

export interface ClientTiming {
  /** Default: the system's. */
  readonly clock?: Clock | undefined
  /** From 0 up to 1. Default `Math.random`. */
  readonly random?: (() => number) | undefined
}

/** No delay before a command is sent again is longer, in milliseconds. */
const LONGEST_DELAY_MS = 2_000
const FIRST_DELAY_MS = 50

/**
 * A session of a client with a host, after the handshake.
 *
 * A request or command rejects with a WireError where the host refused it, with a WireConnectionError where the channel ended
 * before the answer, and with a WireProtocolError where the answer is against the protocol.
 */
export class WireClient {
  readonly initializeResult: InitializeResult
  readonly fingerprintWarning: FingerprintWarning | undefined
  /** Resolves when the channel has ended, whoever ended it. */
  readonly closed: Promise<void>
  readonly clock: Clock
  private readonly connection: Connection
  private readonly dispatch: Dispatch
  private readonly random: () => number
  private readonly sent = new SentCommands()

  /** For `connect`, which has done the handshake. */
  constructor(
    connection: Connection,
    dispatch: Dispatch,
    initializeResult: InitializeResult,
    fingerprintWarning: FingerprintWarning | undefined,
    { clock = systemClock, random = Math.random }: ClientTiming = {},
  ) {
    this.connection = connection
    this.dispatch = dispatch
    this.initializeResult = initializeResult
    this.fingerprintWarning = fingerprintWarning
    this.closed = connection.closed
    this.clock = clock
    this.random = random
  }

  /** Aborted when the channel has ended. */
  get ended(): AbortSignal {
    return this.connection.ended
  }

  /** Asks for something. What changes something is a command, and better sent as one. */
  async request<M extends Method | (string & {})>(
    method: M,
    ...[params, options]: RequestArgs<M>
  ): Promise<RequestResult<M>> {
    const result = await this.connection.call(method, params ?? {}, { signal: options?.signal })
    return readResult(method, result)
  }

  /**
   * Changes something, once for each command id however often it is sent. While the host answers that it is `overloaded` or
   * `backpressured` it is sent again, up to `maxAttempts` times in all, after a random delay of at most 50 ms, then 100, 200 and
   * so on to 2 s; after any other error never.
   *
   * A command id under which something else was sent by this client is a TypeError, and nothing is sent. An answer that is
   * not the one that came under this id before is a WireProtocolError. Both are known of the last 1,000 ids.
   *
   * The WireConnectionError of a command has its `commandId`: connect again to the same host, and send the same under that id.
   */
  async command<M extends CommandMethod | (string & {})>(
    method: M,
    params: CommandParams<M>,
    { commandId = mintCommandId(), maxAttempts = 3, signal }: CommandOptions = {},
  ): Promise<RequestResult<M>> {
    const whole = { ...(params as Members), commandId }
    this.sent.admit(commandId, method, whole)
    for (let attempt = 1; ; attempt += 1) {
      try {
        const ack = await this.connection.call(method, whole, { signal, commandId })
        this.sent.acknowledge(commandId, ack)
        return readResult(method, ack)
      } catch (error) {
        if (!hasNoRoom(error) || attempt >= maxAttempts) throw error
      }
      const most = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1))
      // A connection that ends meanwhile is told by the next call.
      await wait(this.clock, this.random() * most, signal, this.ended).catch(() => {})
    }
  }

  /** Tells the host something that it does not answer. Resolves when it is sent. */
  notify<M extends Exclude<ClientNotificationMethod, 'initialized'>>(
    method: M,
    params: ClientNotificationParams<M>,
  ): Promise<void> {
    return this.connection.notify(method, params)
  }

  /**
   * Handles what the host asks to be shown, in place of the handler before. Without one the host is told `methodNotFound`.
   * Returns what takes it away again.
   */
  onRequest(handler: RequestHandler): () => void {
    return this.dispatch.onRequest(handler)
  }

  /** Hears every notification, in order. Returns what ends that. */
  onEvent(handler: EventHandler): () => void {
    return this.dispatch.onEvent(handler)
  }

  /** Hears what the host asks to be shown, in order with the events, and answers nothing. Returns what ends that. */
  watchRequests(watcher: (request: ServerRequest) => void): () => void {
    return this.dispatch.watchRequests(watcher)
  }

  /** Tells `onProtocolError`. */
  report(error: unknown): void {
    this.dispatch.fault(error)
  }

  /** Ends the channel. What is not answered yet rejects with a WireConnectionError. */
  close(): void {
    this.connection.close()
  }
}

function readResult<M extends string>(method: M, result: Members): RequestResult<M> {
  if (!isKnown(method)) return result as RequestResult<M>
  const read = METHODS[method].result.safeParse(result)
  if (read.success) return read.data as RequestResult<M>
  throw new WireProtocolError(`the result of ${method} is not that of the protocol`, { cause: read.error })
}

function isKnown(method: string): method is Method {
  return Object.hasOwn(METHODS, method)
}

function hasNoRoom(error: unknown): boolean {
  if (!WireError.isInstance(error) || !error.retryable) return false
  const { code, kind } = error
  return (code === -32_001 && kind === 'overloaded') || (code === -32_031 && kind === 'backpressured')
}
