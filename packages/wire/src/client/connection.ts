import type { FrameChannel, IncomingFrame } from '../channel.ts'
import { WireError, type RequestId } from '../protocol/index.ts'
import { WireConnectionError } from './connection-error.ts'
import { WireProtocolError } from './protocol-error.ts'
import { readServerFrame, type Members } from './server-frame.ts'

/** Hears what the host says by itself. None of them throws. */
export interface ConnectionHandlers {
  notified(method: string, params: Members, emittedAtMs: number | undefined): void
  /** Resolves with the receipt, or rejects with what the host is told. */
  asked(method: string, params: Members): Promise<unknown>
  fault(error: unknown): void
}

export interface CallOptions {
  /** Ends the wait; what was sent stays sent. */
  readonly signal?: AbortSignal | undefined
  /** Where it is a command. */
  readonly commandId?: string | undefined
}

interface Call {
  readonly method: string
  readonly commandId: string | undefined
  readonly resolve: (result: Members) => void
  readonly reject: (error: unknown) => void
}

/** Requests and their answers over one channel, both ways. Reads it from the start. */
export class Connection {
  /** Resolves when nothing comes any more. */
  readonly closed: Promise<void>
  private readonly channel: FrameChannel
  private readonly handlers: ConnectionHandlers
  private readonly calls = new Map<RequestId, Call>()
  // Nobody waits for their answers any more, which may come all the same.
  private readonly abandoned = new Set<RequestId>()
  private readonly ending = new AbortController()
  private nextId = 1

  constructor(channel: FrameChannel, handlers: ConnectionHandlers) {
    this.channel = channel
    this.handlers = handlers
    this.closed = this.read()
  }

  /** Aborted when the connection is over. */
  get ended(): AbortSignal {
    return this.ending.signal
  }

  call(method: string, params: Members, { signal, commandId }: CallOptions = {}): Promise<Members> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason as Error)
      if (this.ended.aborted) return reject(connectionError(this.ended.reason, method, commandId))
      const id = this.nextId++
      const frame = JSON.stringify({ jsonrpc: '2.0', id, method, ...inFrame(params) })
      const onAbort = (): void => {
        this.abandoned.add(id)
        this.take(id)?.reject(signal?.reason)
      }
      signal?.addEventListener('abort', onAbort)
      const settled =
        <T>(settle: (value: T) => void) =>
        (value: T): void => {
          signal?.removeEventListener('abort', onAbort)
          settle(value)
        }
      this.calls.set(id, { method, commandId, resolve: settled(resolve), reject: settled(reject) })
      this.channel.send(frame).catch((error: unknown) => {
        this.take(id)?.reject(isMisuse(error) ? error : connectionError(error, method, commandId))
      })
    })
  }

  async notify(method: string, params: Members = {}): Promise<void> {
    try {
      await this.channel.send(JSON.stringify({ jsonrpc: '2.0', method, ...inFrame(params) }))
    } catch (error) {
      if (isMisuse(error)) throw error
      throw new WireConnectionError(`the channel ended before ${method} was sent (${textOf(error)})`, {
        cause: error,
      })
    }
  }

  /** Ends the connection; what is not answered is rejected. */
  close(why: Error = new Error('this client closed it')): void {
    if (this.ended.aborted) return
    this.ending.abort(why)
    for (const { method, commandId, reject } of this.calls.values())
      reject(connectionError(why, method, commandId))
    this.calls.clear()
    this.abandoned.clear()
    this.channel.close()
  }

  private async read(): Promise<void> {
    let why = new Error('the host ended it')
    try {
      for await (const frame of this.channel.incoming) {
        if (this.ended.aborted) break
        this.receive(frame)
      }
    } catch (cause) {
      why = new Error('the channel could not be read', { cause })
    }
    this.close(why)
  }

  private receive(incoming: IncomingFrame): void {
    if ('tooLong' in incoming) return this.receiveTooLong(incoming)
    const frame = readServerFrame(incoming.text)
    switch (frame.is) {
      case 'notification':
        return this.handlers.notified(frame.method, frame.params, frame.emittedAtMs)
      case 'request':
        return void this.answer(frame.id, this.handlers.asked(frame.method, frame.params))
      case 'result':
        return this.settle(frame.id, call => call.resolve(frame.result))
      case 'error':
        return this.settle(frame.id, call => call.reject(frame.error), frame.error)
      case 'badAnswer':
        return this.settle(frame.id, call => call.reject(new WireProtocolError(frame.fault)))
      case 'bad':
        return this.handlers.fault(new WireProtocolError(frame.fault))
      case 'empty':
    }
  }

  private receiveTooLong({ id, answerTo }: { id?: RequestId | undefined; answerTo?: RequestId | undefined }) {
    const error = new WireProtocolError('a frame was longer than the protocol allows, and was not read')
    if (answerTo !== undefined) return this.settle(answerTo, call => call.reject(error))
    this.handlers.fault(error)
    if (typeof id !== 'number' || id <= 0) return
    void this.answer(id, Promise.reject(new WireError('inputTooLarge', 'the request is too long')))
  }

  private settle(id: RequestId | null, settle: (call: Call) => void, cause?: WireError): void {
    const call = id === null ? undefined : this.take(id)
    if (call !== undefined) return settle(call)
    if (id !== null && this.abandoned.delete(id)) return
    const fault = id === null ? 'the host could not read a frame' : `nothing was asked under the id ${id}`
    this.handlers.fault(new WireProtocolError(fault, cause && { cause }))
  }

  private take(id: RequestId): Call | undefined {
    const call = this.calls.get(id)
    this.calls.delete(id)
    return call
  }

  private async answer(id: number, receipt: Promise<unknown>): Promise<void> {
    try {
      await this.channel.send(await receiptFrame(id, receipt))
    } catch (error) {
      if (!this.ended.aborted) this.handlers.fault(error)
    }
  }
}

async function receiptFrame(id: number, receipt: Promise<unknown>): Promise<string> {
  try {
    const result = (await receipt) ?? {}
    if (typeof result !== 'object' || Array.isArray(result)) throw new TypeError('a receipt is an object')
    return JSON.stringify({ jsonrpc: '2.0', id, result })
  } catch (error) {
    const told = WireError.isInstance(error)
      ? error
      : new WireError('internal', 'the client could not show it')
    return JSON.stringify({ jsonrpc: '2.0', id, error: told.toErrorObject() })
  }
}

// What a channel says of a frame that it never sends.
function isMisuse(error: unknown): boolean {
  return error instanceof RangeError || error instanceof TypeError
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function inFrame(params: Members): { params?: Members } {
  return Object.keys(params).length === 0 ? {} : { params }
}

function connectionError(cause: unknown, method: string, commandId: string | undefined): WireConnectionError {
  const advice =
    commandId === undefined
      ? 'connect again and ask again'
      : `whether it was done is not known: connect again and send the same command under the same id, ${commandId}`
  return new WireConnectionError(
    `the channel ended before ${method} was answered (${textOf(cause)}); ${advice}`,
    {
      cause,
      commandId,
    },
  )
}
