import type { JsonValue } from '@handraise/inbox'
import { z } from 'zod'
import type { InputResponse } from './accepted-content.ts'
import { askedSchema, type Asked } from './asked.ts'
import type { Seal } from './seal.ts'

const responseSchema = z.union([
  z.object({ action: z.literal('accept'), content: z.json().optional() }),
  z.object({ action: z.enum(['decline', 'cancel']) }),
  z.object({ result: z.json() }),
])

const pausedSchema = z.object({
  version: z.literal(1),
  /** Redeemed once. The states of one pause, such as when a part of it is asked for again, share it and when it ends. */
  pause: z.string(),
  /** Milliseconds since the Unix epoch. */
  expiresAt: z.number(),
  principal: z.string(),
  /** The digest of what was called. */
  call: z.string(),
  asked: z.array(askedSchema),
  /** What is answered already, of this round and those before, by id. */
  answers: z.array(z.tuple([z.string(), responseSchema])),
  /** How often in a row the answers could not be used. */
  attempts: z.int(),
  requestState: z.json().optional(),
})

/** A pause as its client carries it. */
export interface PausedState extends Pick<
  z.infer<typeof pausedSchema>,
  'version' | 'pause' | 'expiresAt' | 'principal' | 'call' | 'attempts'
> {
  readonly asked: readonly Asked[]
  readonly answers: ReadonlyMap<string, InputResponse>
  readonly requestState: JsonValue | undefined
}

/** Throws `RangeError` when it is too large to be carried. */
export function closeState(seal: Seal, { answers, ...state }: PausedState): string {
  return seal.close(JSON.stringify({ ...state, answers: [...answers] }))
}

/** The state, or nothing when it was not sealed here, exactly so. */
export function openState(seal: Seal, sealed: string): PausedState | undefined {
  const text = seal.open(sealed)
  if (text === undefined) return undefined
  // It is ours, but may be of another version.
  const { data } = pausedSchema.safeParse(JSON.parse(text))
  if (data === undefined) return undefined
  const { answers, requestState, ...state } = data
  return { ...state, answers: new Map(answers), requestState }
}
