import { z } from 'zod'
import { itemSchema } from './item.ts'
import { pendingRequestPointerSchema } from './pending.ts'
import { sessionConfigSchema, sessionSchema } from './session.ts'
import type { Shape } from './shape.ts'
import { viewSnapshotSchema } from './snapshot.ts'
import { turnErrorSchema, turnTerminalSchema } from './turn.ts'

export const historyPreferenceSchema = z.enum(['auto', 'inline', 'snapshot', 'anchored'])
export type HistoryPreference = Shape<typeof historyPreferenceSchema>

/** Known words of an open set: others are to be tolerated. */
export const HISTORY_MODES = ['anchoredSnapshot', 'inline', 'snapshot', 'none'] as const

export const historyModeSchema = z.string()
export type HistoryMode = Shape<typeof historyModeSchema>

/** Known words of an open set: others are to be tolerated. */
export const HISTORY_NONE_REASONS = [
  'excluded',
  'cursorSuffix',
  'historyBudget',
  'projectionUnavailable',
  'projectionReadLimit',
] as const

export const historyNoneReasonSchema = z.string()
export type HistoryNoneReason = Shape<typeof historyNoneReasonSchema>

/** What a resumed session brings along. What the mode does not bring is null. */
export const sessionHistorySchema = z.looseObject({
  items: z.array(itemSchema).nullable(),
  mode: historyModeSchema,
  snapshot: viewSnapshotSchema.nullable(),
  noneReason: historyNoneReasonSchema.optional(),
})
export type SessionHistory = Shape<typeof sessionHistorySchema>

export const lastTurnSchema = z.looseObject({
  terminal: turnTerminalSchema,
  turnId: z.string(),
  error: turnErrorSchema.optional(),
  reason: z.string().optional(),
})
export type LastTurn = Shape<typeof lastTurnSchema>

export const sessionResumeParamsSchema = z.looseObject({
  sessionId: z.string(),
  commandId: z.string(),
  config: sessionConfigSchema.optional(),
  /** The last one that was seen: only what came after it is sent. */
  cursor: z.string().nullable().optional(),
  excludeItems: z.boolean().optional(),
  history: historyPreferenceSchema.optional(),
})
export type SessionResumeParams = Shape<typeof sessionResumeParamsSchema>

/** The prompts that are pointed to are sent again right after it, under the same durable ids. */
export const sessionResumeResultSchema = z.looseObject({
  viewCursor: z.string(),
  history: sessionHistorySchema,
  /** Empty where nothing waits. */
  pendingRequests: z.array(pendingRequestPointerSchema),
  session: sessionSchema,
  lastTurn: lastTurnSchema.optional(),
})
export type SessionResumeResult = Shape<typeof sessionResumeResultSchema>

export const sessionReadParamsSchema = z.looseObject({
  sessionId: z.string(),
  excludeItems: z.boolean().optional(),
})
export type SessionReadParams = Shape<typeof sessionReadParamsSchema>

/** As a resume without subscribing; nothing is sent again. */
export const sessionReadResultSchema = z.looseObject({
  viewCursor: z.string(),
  history: sessionHistorySchema,
  pendingRequests: z.array(pendingRequestPointerSchema),
  session: sessionSchema,
  lastTurn: lastTurnSchema.optional(),
})
export type SessionReadResult = Shape<typeof sessionReadResultSchema>
