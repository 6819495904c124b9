import { z } from 'zod'
import { errorObjectSchema, requestIdSchema, WireError, type RequestId } from '../protocol/index.ts'

/** A JSON object of which nothing is known yet. */
export type Members = Readonly<Record<string, unknown>>

/** What a frame of a host is. */
export type ServerFrame =
  | { readonly is: 'request'; readonly id: number; readonly method: string; readonly params: Members }
  | {
      readonly is: 'notification'
      readonly method: string
      readonly params: Members
      readonly emittedAtMs: number | undefined
    }
  | { readonly is: 'result'; readonly id: RequestId; readonly result: Members }
  | { readonly is: 'error'; readonly id: RequestId | null; readonly error: WireError }
  /** An answer that breaks the rules; whoever waits for it is told so. */
  | { readonly is: 'badAnswer'; readonly id: RequestId; readonly fault: string }
  | { readonly is: 'bad'; readonly fault: string }
  /** A notification without params, which a later version of the protocol may have. */
  | { readonly is: 'empty' }

const membersSchema = z.looseObject({})
const frameSchema = z.looseObject({ jsonrpc: z.literal('2.0') })
const askingSchema = z.looseObject({
  method: z.string(),
  params: membersSchema.default({}),
  // Only told on.
  emittedAtMs: z.number().optional().catch(undefined),
})
const serverRequestIdSchema = z.int().positive()
const errorSchema = z.looseObject({
  code: z.int(),
  message: z.string(),
  data: z.looseObject({ kind: z.string() }),
})

/** Reads what a host sent. Never throws. */
export function readServerFrame(text: string): ServerFrame {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return { is: 'bad', fault: 'a frame is not JSON' }
  }
  const frame = frameSchema.safeParse(json)
  if (!frame.success) return { is: 'bad', fault: 'a frame is not an object of JSON-RPC 2.0' }
  return 'method' in frame.data ? readAsking(frame.data) : readAnswer(frame.data)
}

function readAsking(frame: Members): ServerFrame {
  if ('result' in frame || 'error' in frame) return { is: 'bad', fault: 'a frame asks and answers at once' }
  const isRequest = 'id' in frame
  const asking = askingSchema.safeParse(frame)
  if (!asking.success) {
    // Params that are null or an array, of a notification.
    if (!isRequest && typeof frame['method'] === 'string') return { is: 'empty' }
    return { is: 'bad', fault: 'a request has no method, or params that are no object' }
  }
  const { method, params, emittedAtMs } = asking.data
  if (!isRequest) {
    return frame['params'] === undefined
      ? { is: 'empty' }
      : { is: 'notification', method, params, emittedAtMs }
  }
  const id = serverRequestIdSchema.safeParse(frame['id'])
  return id.success
    ? { is: 'request', id: id.data, method, params }
    : { is: 'bad', fault: `the id of a request (${method}) is not a positive integer` }
}

function readAnswer(frame: Members): ServerFrame {
  const id = requestIdSchema.nullable().safeParse(frame['id'])
  if (!id.success) return { is: 'bad', fault: 'a frame has no method, and no id that it could answer' }
  const bad = (fault: string): ServerFrame =>
    id.data === null ? { is: 'bad', fault } : { is: 'badAnswer', id: id.data, fault }

  if ('result' in frame === 'error' in frame) return bad('an answer has not exactly one of result and error')
  if ('error' in frame) {
    const error = readError(frame['error'])
    return error === undefined
      ? bad('an error has no code, no message or no data.kind')
      : { is: 'error', id: id.data, error }
  }
  const result = membersSchema.safeParse(frame['result'])
  if (!result.success) return bad('a result is not an object')
  return id.data === null
    ? bad('a result answers no request')
    : { is: 'result', id: id.data, result: result.data }
}

function readError(value: unknown): WireError | undefined {
  const read = errorSchema.safeParse(value)
  if (!read.success) return undefined
  // What does not fit is left out; the kind is what counts.
  const { code, message, data } = read.data
  const full = errorObjectSchema.safeParse(value)
  return WireError.fromErrorObject(full.success ? full.data : { code, message, data: { kind: data.kind } })
}
