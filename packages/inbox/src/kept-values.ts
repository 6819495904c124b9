import { z } from 'zod'
import type { InboxSettlement, JsonValue } from './request.ts'

// What JSON.parse returns is JSON; only that it is there is left to check.
const jsonValue = z.custom<JsonValue>(value => value !== undefined)

const settlementSchema: z.ZodType<InboxSettlement> = z.object({
  outcome: z.enum(['answered', 'declined', 'cancelled', 'clarified', 'interrupted', 'timedOut', 'aborted']),
  answer: jsonValue.optional(),
  reason: z.string().optional(),
  text: z.string().optional(),
  by: z.enum(['user', 'policy', 'default']).optional(),
  surface: z.string().optional(),
  commandId: z.string(),
  settledAt: z.number(),
})

/** A settlement that a store keeps as JSON. Throws for what could not be read back, so it is called before one is kept as well. */
export function readSettlement(text: string): InboxSettlement {
  return settlementSchema.parse(JSON.parse(text))
}

/** A value as a store keeps it. Throws what `JSON.stringify` throws, and a `TypeError` for what JSON does not hold at all. */
export function encodeJson(value: unknown): string {
  const text: string | undefined = JSON.stringify(value)
  if (text === undefined) throw new TypeError(`${typeof value} cannot be kept: it is no JSON value`)
  return text
}

export function decodeJson(text: string): JsonValue {
  return JSON.parse(text) as JsonValue
}

/** An instant as a store keeps it. Throws a `TypeError` for NaN and infinities, which JSON and SQLite would make null of. */
export function encodeInstant(instant: number): number {
  if (!Number.isFinite(instant)) throw new TypeError(`${instant} is no instant`)
  return instant
}
