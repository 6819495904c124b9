import { z } from 'zod'
import { commandStatusSchema } from './command.ts'
import type { Shape } from './shape.ts'
import { sourceRangeSchema } from './source-range.ts'

export const turnInputPartTypeSchema = z.enum(['text', 'image', 'skill', 'video'])
export type TurnInputPartType = Shape<typeof turnInputPartTypeSchema>

export const turnInputPartSchema = z.looseObject({
  type: turnInputPartTypeSchema,
  arguments: z.string().optional(),
  base64Data: z.string().optional(),
  height: z.int().optional(),
  mediaType: z.string().optional(),
  selector: z.string().optional(),
  text: z.string().optional(),
  uploadId: z.string().optional(),
  width: z.int().optional(),
})
export type TurnInputPart = Shape<typeof turnInputPartSchema>

export const ifBusySchema = z.enum(['queue', 'steer', 'replace'])
export type IfBusy = Shape<typeof ifBusySchema>

export const reasoningEffortSchema = z.enum([
  'none',
  'minimal',
  'low',
  'medium',
  'high',
  'xhigh',
  'max',
  'ultra',
])
export type ReasoningEffort = Shape<typeof reasoningEffortSchema>

export const turnStartParamsSchema = z.looseObject({
  sessionId: z.string(),
  commandId: z.string(),
  input: z.array(turnInputPartSchema),
  displayText: z.string().optional(),
  ifBusy: ifBusySchema.optional(),
  reasoningEffort: reasoningEffortSchema.optional(),
  workspaceRoots: z.array(z.string()).optional(),
})
export type TurnStartParams = Shape<typeof turnStartParamsSchema>

/** Known words of an open set: others are to be tolerated. */
export const TURN_START_DISPOSITIONS = ['started', 'queued', 'steered'] as const

export const turnStartDispositionSchema = z.string()
export type TurnStartDisposition = Shape<typeof turnStartDispositionSchema>

export const turnStartResultSchema = z.looseObject({
  commandId: z.string(),
  disposition: turnStartDispositionSchema,
  startedNewTurn: z.boolean(),
  status: commandStatusSchema,
  turnId: z.string(),
})
export type TurnStartResult = Shape<typeof turnStartResultSchema>

export const turnStartedParamsSchema = z.looseObject({
  sessionId: z.string(),
  commandId: z.string(),
  viewCursor: z.string(),
  sourceRange: sourceRangeSchema,
  turnId: z.string(),
})
export type TurnStartedParams = Shape<typeof turnStartedParamsSchema>

/** Known words of an open set: others are to be tolerated. */
export const TURN_TERMINALS = ['completed', 'failed', 'cancelled'] as const

export const turnTerminalSchema = z.string()
export type TurnTerminal = Shape<typeof turnTerminalSchema>
/** Those a host of this version gives. */
export type KnownTurnTerminal = (typeof TURN_TERMINALS)[number]

/** Known words of an open set: others are to be tolerated. */
export const TURN_ERROR_KINDS = [
  'stepLimit',
  'configError',
  'projectionError',
  'logError',
  'workflowLaunchError',
  'environmentError',
  'modelError',
  'launchError',
  'authRequired',
] as const

export const turnErrorKindSchema = z.string()
export type TurnErrorKind = Shape<typeof turnErrorKindSchema>

export const turnErrorSchema = z.looseObject({
  kind: turnErrorKindSchema,
  message: z.string(),
  retryable: z.boolean(),
})
export type TurnError = Shape<typeof turnErrorSchema>

export const tokenUsageSchema = z.looseObject({
  cachedTokens: z.int(),
  inputTokens: z.int(),
  outputTokens: z.int(),
  reasoningTokens: z.int(),
  cacheReadTokens: z.int().optional(),
  cacheWriteTokens: z.int().optional(),
})
export type TokenUsage = Shape<typeof tokenUsageSchema>

export const turnCompletedParamsSchema = z.looseObject({
  sessionId: z.string(),
  viewCursor: z.string(),
  sourceRange: sourceRangeSchema,
  terminal: turnTerminalSchema,
  turnId: z.string(),
  durationMs: z.int().optional(),
  error: turnErrorSchema.optional(),
  reason: z.string().optional(),
  timeToFirstTokenMs: z.int().optional(),
  usage: tokenUsageSchema.optional(),
})
export type TurnCompletedParams = Shape<typeof turnCompletedParamsSchema>

export const turnCancelParamsSchema = z.looseObject({
  sessionId: z.string(),
  commandId: z.string(),
  turnId: z.string().optional(),
})
export type TurnCancelParams = Shape<typeof turnCancelParamsSchema>

export const turnCancelResultSchema = z.looseObject({
  commandId: z.string(),
  status: commandStatusSchema,
  turnId: z.string(),
})
export type TurnCancelResult = Shape<typeof turnCancelResultSchema>

export const turnInterruptParamsSchema = z.looseObject({
  sessionId: z.string(),
  commandId: z.string(),
  retract: z.boolean().optional(),
  turnId: z.string().optional(),
})
export type TurnInterruptParams = Shape<typeof turnInterruptParamsSchema>

export const turnInterruptResultSchema = z.looseObject({
  commandId: z.string(),
  status: commandStatusSchema,
  turnId: z.string(),
})
export type TurnInterruptResult = Shape<typeof turnInterruptResultSchema>
