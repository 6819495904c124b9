import { z } from 'zod'
import type { Shape } from './shape.ts'

/** Known kinds of what an approval is about, an open set: others are to be tolerated. */
export const APPROVAL_SUBJECT_KINDS = [
  'shell',
  'fileAccess',
  'network',
  'unixSocket',
  'process',
  'tool',
] as const

/** Which requirement of an approval is meant; a decision names the one it was made for. */
export const approvalRequirementRefSchema = z.looseObject({
  approvalId: z.string(),
  sourceIndex: z.int(),
})
export type ApprovalRequirementRef = Shape<typeof approvalRequirementRefSchema>

export const approvalOriginSchema = z.looseObject({
  kind: z.string(),
  command: z.string().optional(),
  url: z.string().optional(),
})
export type ApprovalOrigin = Shape<typeof approvalOriginSchema>

export const approvalStageResolutionSchema = z.looseObject({
  kind: z.string(),
  argvPrefix: z.array(z.string()).optional(),
  diagnostic: z.string().optional(),
})
export type ApprovalStageResolution = Shape<typeof approvalStageResolutionSchema>

export const approvalSuggestedPrefixSchema = z.looseObject({
  argvPrefix: z.array(z.string()),
  label: z.string(),
})
export type ApprovalSuggestedPrefix = Shape<typeof approvalSuggestedPrefixSchema>

/** One program of a command line. */
export const approvalStageSchema = z.looseObject({
  argv: z.array(z.string()),
  argvComplete: z.boolean(),
  position: z.int(),
  requirementId: approvalRequirementRefSchema,
  resolution: approvalStageResolutionSchema,
  totalStages: z.int(),
  suggestedPrefix: approvalSuggestedPrefixSchema.optional(),
})
export type ApprovalStage = Shape<typeof approvalStageSchema>

/** What is asked about. Kinds are open: an unknown one is shown as it is and never approved on its own. */
export const approvalSubjectSchema = z.looseObject({
  kind: z.string(),
  access: z.string().optional(),
  command: z.string().optional(),
  host: z.string().optional(),
  origin: approvalOriginSchema.optional(),
  path: z.string().optional(),
  port: z.int().optional(),
  protocol: z.string().optional(),
  stages: z.array(approvalStageSchema).optional(),
  target: z.string().optional(),
  toolName: z.string().optional(),
  workspaceRoot: z.string().optional(),
})
export type ApprovalSubject = Shape<typeof approvalSubjectSchema>

/** What was decided about one stage. */
export const approvalStageEvidenceSchema = z.looseObject({
  argv: z.array(z.string()),
  position: z.int(),
  requirementId: approvalRequirementRefSchema,
  resolution: approvalStageResolutionSchema,
  totalStages: z.int(),
})
export type ApprovalStageEvidence = Shape<typeof approvalStageEvidenceSchema>

/** Whose approval it is, where a child of the session asked. */
export const approvalSubagentOriginSchema = z.looseObject({
  childRunId: z.string(),
  childSessionId: z.string(),
  subagentId: z.string(),
})
export type ApprovalSubagentOrigin = Shape<typeof approvalSubagentOriginSchema>
