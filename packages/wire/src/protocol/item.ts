import { z } from 'zod'
import type { Shape } from './shape.ts'
import { sourceRangeSchema } from './source-range.ts'

/** Known words of an open set: others are to be tolerated. */
export const ITEM_KINDS = [
  'userMessage',
  'agentMessage',
  'reasoning',
  'toolCall',
  'userShell',
  'subagent',
  'workflow',
  'reminderChild',
  'compaction',
  'hookRun',
  'sideChat',
] as const

/** Questions and approvals are no items: the tool call that waits for them is one. */
export const itemKindSchema = z.string()
export type ItemKind = Shape<typeof itemKindSchema>

/** Known words of an open set: others are to be tolerated. */
export const ITEM_STATUSES = [
  'inProgress',
  'completed',
  'failed',
  'cancelled',
  'rejected',
  'timedOut',
] as const

export const itemStatusSchema = z.string()
export type ItemStatus = Shape<typeof itemStatusSchema>
/** Those a host of this version gives. */
export type KnownItemStatus = (typeof ITEM_STATUSES)[number]

/** The members of messages and tool calls; those of other kinds are kept as they are. */
export const itemSchema = z.looseObject({
  kind: itemKindSchema,
  itemId: z.string(),
  /** The higher one replaces the lower. */
  revision: z.int(),
  status: itemStatusSchema,
  commandId: z.string().optional(),
  approvalId: z.string().optional(),
  /** As the model wrote them. */
  args: z.string().optional(),
  callId: z.string().optional(),
  displayText: z.string().optional(),
  failureKind: z.string().optional(),
  failureReason: z.string().optional(),
  fallbackText: z.string().optional(),
  recordedAt: z.string().optional(),
  steered: z.boolean().optional(),
  text: z.string().optional(),
  tool: z.string().optional(),
  truncated: z.boolean().optional(),
  turnId: z.string().nullable().optional(),
  visibleOutput: z.string().optional(),
})
export type Item = Shape<typeof itemSchema>

/** Without `sourceRange` where it is not kept: such an event is on no page. */
export const itemStartedParamsSchema = z.looseObject({
  sessionId: z.string(),
  viewCursor: z.string(),
  item: itemSchema,
  sourceRange: sourceRangeSchema.optional(),
})
export type ItemStartedParams = Shape<typeof itemStartedParamsSchema>

export const itemUpdatedParamsSchema = z.looseObject({
  sessionId: z.string(),
  viewCursor: z.string(),
  sourceRange: sourceRangeSchema,
  item: itemSchema,
})
export type ItemUpdatedParams = Shape<typeof itemUpdatedParamsSchema>

export const itemCompletedParamsSchema = z.looseObject({
  sessionId: z.string(),
  viewCursor: z.string(),
  sourceRange: sourceRangeSchema,
  item: itemSchema,
})
export type ItemCompletedParams = Shape<typeof itemCompletedParamsSchema>

/** Live only, on no page. */
export const itemDeltaParamsSchema = z.looseObject({
  sessionId: z.string(),
  viewCursor: z.string(),
  delta: z.string(),
  itemId: z.string(),
  field: z.string().optional(),
})
export type ItemDeltaParams = Shape<typeof itemDeltaParamsSchema>
