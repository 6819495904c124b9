import { z } from 'zod'
import { commandStatusSchema } from './command.ts'
import type { Shape } from './shape.ts'
import { sourceRangeSchema } from './source-range.ts'

export const approvalModeSchema = z.enum(['allowAll', 'promptUnmatched', 'onRequest', 'denyUnmatched'])
export type ApprovalMode = Shape<typeof approvalModeSchema>

/** Known words of an open set: others are to be tolerated. */
export const APPROVAL_MODE_SOURCES = ['startup', 'replay', 'approvalReconfigure'] as const

export const approvalModeSourceSchema = z.string()
export type ApprovalModeSource = Shape<typeof approvalModeSourceSchema>

/** Known words of an open set: others are to be tolerated. */
export const APPROVAL_MODE_APPLY_OUTCOMES = ['completed', 'noop'] as const

export const approvalModeApplyOutcomeSchema = z.string()
export type ApprovalModeApplyOutcome = Shape<typeof approvalModeApplyOutcomeSchema>

export const effectiveApprovalModeStateSchema = z.looseObject({
  lastCommandId: z.string().nullable(),
  mode: approvalModeSchema,
  source: approvalModeSourceSchema,
})
export type EffectiveApprovalModeState = Shape<typeof effectiveApprovalModeStateSchema>

export const sessionSetApprovalModeParamsSchema = z.looseObject({
  sessionId: z.string(),
  commandId: z.string(),
  mode: approvalModeSchema,
})
export type SessionSetApprovalModeParams = Shape<typeof sessionSetApprovalModeParamsSchema>

export const sessionSetApprovalModeResultSchema = z.looseObject({
  commandId: z.string(),
  applyOutcome: approvalModeApplyOutcomeSchema,
  effectiveMode: effectiveApprovalModeStateSchema,
  status: commandStatusSchema,
})
export type SessionSetApprovalModeResult = Shape<typeof sessionSetApprovalModeResultSchema>

/** Pending approvals are not decided by it. */
export const sessionApprovalModeChangedParamsSchema = z.looseObject({
  sessionId: z.string(),
  commandId: z.string(),
  viewCursor: z.string(),
  sourceRange: sourceRangeSchema,
  clientName: z.string(),
  mode: approvalModeSchema,
  source: approvalModeSourceSchema,
})
export type SessionApprovalModeChangedParams = Shape<typeof sessionApprovalModeChangedParamsSchema>
