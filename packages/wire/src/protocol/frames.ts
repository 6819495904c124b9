import { z } from 'zod'
import { errorObjectSchema } from './error-object.ts'
import type { Shape } from './shape.ts'

export const jsonRpcVersionSchema = z.enum(['2.0'])
export type JsonRpcVersion = Shape<typeof jsonRpcVersionSchema>

/**
 * A string or an integer, and `1` is not `"1"`: a response carries the very id it answers. Ids of a host
 * are integers above zero.
 */
export const requestIdSchema = z.union([z.string(), z.int()])
export type RequestId = Shape<typeof requestIdSchema>

/** W3C trace context of a request. */
export const traceContextSchema = z.looseObject({
  traceparent: z.string().optional(),
  tracestate: z.string().optional(),
})
export type TraceContext = Shape<typeof traceContextSchema>

/** `params` is omitted when there is nothing to say, never null. */
export const requestSchema = z.looseObject({
  jsonrpc: jsonRpcVersionSchema,
  id: requestIdSchema,
  method: z.string(),
  params: z.looseObject({}).optional(),
  trace: traceContextSchema.optional(),
})
export type Request = Shape<typeof requestSchema>

/** From the host with the time it was written, from the client without. */
export const notificationSchema = z.looseObject({
  jsonrpc: jsonRpcVersionSchema,
  method: z.string(),
  /** Milliseconds since 1970, beside `params` and never inside. */
  emittedAtMs: z.int().optional(),
  params: z.looseObject({}).optional(),
})
export type Notification = Shape<typeof notificationSchema>

/** The result is always an object. */
export const successResponseSchema = z.looseObject({
  jsonrpc: jsonRpcVersionSchema,
  id: requestIdSchema,
  result: z.looseObject({}),
})
export type SuccessResponse = Shape<typeof successResponseSchema>

/** The id is null where the frame it answers had none that could be read. */
export const errorResponseSchema = z.looseObject({
  jsonrpc: jsonRpcVersionSchema,
  id: requestIdSchema.nullable(),
  error: errorObjectSchema,
})
export type ErrorResponse = Shape<typeof errorResponseSchema>

/**
 * Says that a prompt was shown, or that it will be. It decides nothing: the decision is a command of its
 * own.
 */
export const requestReceiptSchema = z.looseObject({})
export type RequestReceipt = Shape<typeof requestReceiptSchema>
