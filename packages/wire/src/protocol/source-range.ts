import { z } from 'zod'
import type { Shape } from './shape.ts'

export const recordPositionSchema = z.looseObject({
  id: z.string(),
  sequence: z.int(),
})
export type RecordPosition = Shape<typeof recordPositionSchema>

export const streamRefSchema = z.looseObject({
  id: z.string(),
  kind: z.string(),
})
export type StreamRef = Shape<typeof streamRefSchema>

/** Where in the logs of the host an event comes from. Opaque to clients. */
export const sourceRangeSchema = z.looseObject({
  first: recordPositionSchema,
  last: recordPositionSchema,
  stream: streamRefSchema,
})
export type SourceRange = Shape<typeof sourceRangeSchema>
