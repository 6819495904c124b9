import { z } from 'zod'
import { approvalModeSchema, effectiveApprovalModeStateSchema } from './approval-mode.ts'
import { clientInfoSchema } from './handshake.ts'
import type { Shape } from './shape.ts'

/** Known words of an open set: others are to be tolerated. */
export const SESSION_STATUSES = ['notLoaded', 'idle', 'running'] as const

export const sessionStatusSchema = z.string()
export type SessionStatus = Shape<typeof sessionStatusSchema>

/** Known words of an open set: others are to be tolerated. */
export const ATTENTION_FLAGS = ['approvalPending', 'inputPending'] as const

export const attentionFlagSchema = z.string()
export type AttentionFlag = Shape<typeof attentionFlagSchema>

/** Known words of an open set: others are to be tolerated. */
export const SESSION_KINDS = ['root', 'subagent'] as const

export const sessionKindSchema = z.string()
export type SessionKind = Shape<typeof sessionKindSchema>

export const forkProvenanceSchema = z.looseObject({
  sessionId: z.string(),
  commandId: z.string(),
  cutCursor: z.string(),
  cutExplicit: z.boolean(),
})
export type ForkProvenance = Shape<typeof forkProvenanceSchema>

export const sideProvenanceSchema = z.looseObject({
  sessionId: z.string(),
  commandId: z.string(),
  cutCursor: z.string(),
})
export type SideProvenance = Shape<typeof sideProvenanceSchema>

/** Attention says that a person is waited for; times are RFC 3339. */
export const sessionSchema = z.looseObject({
  sessionId: z.string(),
  activeTurnId: z.string().nullable(),
  createdAt: z.string(),
  forkedFrom: forkProvenanceSchema.nullable(),
  modelId: z.string().nullable(),
  path: z.string(),
  providerId: z.string().nullable(),
  status: sessionStatusSchema,
  turnCount: z.int(),
  updatedAt: z.string(),
  workspaceRoot: z.string().nullable(),
  kind: sessionKindSchema.optional(),
  approvalMode: effectiveApprovalModeStateSchema.optional(),
  attention: z.array(attentionFlagSchema).optional(),
  branch: z.string().optional(),
  createdByClient: clientInfoSchema.optional(),
  firstUserPrompt: z.string().optional(),
  lastActivityAt: z.string().optional(),
  name: z.string().optional(),
  parentSessionId: z.string().optional(),
  sideFrom: sideProvenanceSchema.optional(),
  title: z.string().optional(),
})
export type Session = Shape<typeof sessionSchema>

export const sessionConfigSchema = z.looseObject({
  mcpServers: z.looseObject({}).optional(),
})
export type SessionConfig = Shape<typeof sessionConfigSchema>

export const sessionStartParamsSchema = z.looseObject({
  commandId: z.string(),
  sessionId: z.string().optional(),
  approvalMode: approvalModeSchema.nullable().optional(),
  config: sessionConfigSchema.optional(),
  modelId: z.string().optional(),
  providerId: z.string().nullable().optional(),
  workspaceRoot: z.string().optional(),
  workspaceRoots: z.array(z.string()).optional(),
})
export type SessionStartParams = Shape<typeof sessionStartParamsSchema>

export const sessionStartResultSchema = z.looseObject({
  viewCursor: z.string(),
  session: sessionSchema,
})
export type SessionStartResult = Shape<typeof sessionStartResultSchema>

/** Goes to every connection, before the response to `session/start`. */
export const sessionStartedParamsSchema = z.looseObject({
  session: sessionSchema,
})
export type SessionStartedParams = Shape<typeof sessionStartedParamsSchema>

/** Goes to every connection; no event of the view. */
export const sessionStatusChangedParamsSchema = z.looseObject({
  sessionId: z.string(),
  viewCursor: z.string().nullable(),
  status: sessionStatusSchema,
  attention: z.array(attentionFlagSchema).optional(),
})
export type SessionStatusChangedParams = Shape<typeof sessionStatusChangedParamsSchema>

/** Known words of an open set: others are to be tolerated. */
export const SESSION_CLOSED_REASONS = ['idle', 'hostShutdown'] as const

export const sessionClosedReasonSchema = z.string()
export type SessionClosedReason = Shape<typeof sessionClosedReasonSchema>

export const sessionClosedParamsSchema = z.looseObject({
  sessionId: z.string(),
  viewCursor: z.string().nullable(),
  reason: sessionClosedReasonSchema,
})
export type SessionClosedParams = Shape<typeof sessionClosedParamsSchema>
