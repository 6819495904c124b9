import { z } from 'zod'
import {
  approvalRequirementRefSchema,
  approvalStageEvidenceSchema,
  approvalSubagentOriginSchema,
  approvalSubjectSchema,
} from './approval-subject.ts'
import { commandStatusSchema } from './command.ts'
import type { Shape } from './shape.ts'
import { sourceRangeSchema } from './source-range.ts'

/** Known words of an open set: others are to be tolerated. */
export const APPROVAL_DECISIONS = [
  'approved',
  'approvedForSession',
  'approvedPolicyAmendment',
  'denied',
  'deniedPolicyAmendment',
  'timedOut',
  'abort',
] as const

export const approvalDecisionSchema = z.string()
export type ApprovalDecision = Shape<typeof approvalDecisionSchema>
/** Those a host of this version gives. */
export type KnownApprovalDecision = (typeof APPROVAL_DECISIONS)[number]

/** Known words of an open set: others are to be tolerated. */
export const APPROVAL_CHOICE_SCOPES = ['once', 'session', 'localPersistent'] as const

export const approvalChoiceScopeSchema = z.string()
export type ApprovalChoiceScope = Shape<typeof approvalChoiceScopeSchema>

/** One entry of the menu. Its id is made by the host and means nothing outside this approval. */
export const approvalChoiceSchema = z.looseObject({
  choiceId: z.string(),
  decision: approvalDecisionSchema,
  label: z.string(),
  scope: approvalChoiceScopeSchema,
  acceptsFeedback: z.boolean().optional(),
  rulePreview: z.string().optional(),
})
export type ApprovalChoice = Shape<typeof approvalChoiceSchema>

/** What `approval/requested` and `approval/request` carry both, and what `approval/listPending` lists. */
export const approvalRequestParamsSchema = z.looseObject({
  sessionId: z.string(),
  viewCursor: z.string(),
  sourceRange: sourceRangeSchema,
  approvalId: z.string(),
  availableChoices: z.array(approvalChoiceSchema),
  currentRequirementId: approvalRequirementRefSchema,
  itemId: z.string(),
  judgeEscalated: z.boolean(),
  protectedWrite: z.boolean(),
  /** The arguments of the call as the model wrote them. */
  rawArgs: z.string(),
  subject: approvalSubjectSchema,
  taskId: z.string(),
  toolCallId: z.string(),
  toolName: z.string(),
  turnId: z.string(),
  subagentOrigin: approvalSubagentOriginSchema.optional(),
})
export type ApprovalRequestParams = Shape<typeof approvalRequestParamsSchema>

export const approvalDecideParamsSchema = z.looseObject({
  sessionId: z.string(),
  commandId: z.string(),
  approvalId: z.string(),
  choiceId: z.string(),
  /** The `currentRequirementId` that was seen. */
  requirementId: approvalRequirementRefSchema,
  /** For the model, and only with a choice that takes it. It is kept nowhere. */
  feedback: z.string().nullable().optional(),
})
export type ApprovalDecideParams = Shape<typeof approvalDecideParamsSchema>

/** `terminal` is false where more requirements remain; the approval is pending still. */
export const approvalDecideResultSchema = z.looseObject({
  commandId: z.string(),
  approvalId: z.string(),
  status: commandStatusSchema,
  terminal: z.boolean(),
})
export type ApprovalDecideResult = Shape<typeof approvalDecideResultSchema>

/** Known words of an open set: others are to be tolerated. */
export const APPROVAL_PERSISTENCE_STATUSES = ['succeeded', 'failed'] as const

export const approvalPersistenceStatusSchema = z.string()
export type ApprovalPersistenceStatus = Shape<typeof approvalPersistenceStatusSchema>

/** What happened to an approval that is not its end. */
export const approvalChangeSchema = z.looseObject({
  kind: z.string(),
  choiceId: z.string().optional(),
  decision: approvalDecisionSchema.optional(),
  executable: z.boolean().optional(),
  reason: z.string().optional(),
  reparsed: z.boolean().optional(),
  requirementId: approvalRequirementRefSchema.optional(),
  status: approvalPersistenceStatusSchema.optional(),
})
export type ApprovalChange = Shape<typeof approvalChangeSchema>

/** A pending approval as it is now. May also come after the end, about keeping a rule. */
export const approvalUpdatedParamsSchema = z.looseObject({
  sessionId: z.string(),
  viewCursor: z.string(),
  sourceRange: sourceRangeSchema,
  approvalId: z.string(),
  availableChoices: z.array(approvalChoiceSchema),
  change: approvalChangeSchema,
  currentRequirementId: approvalRequirementRefSchema,
  subject: approvalSubjectSchema,
  subagentOrigin: approvalSubagentOriginSchema.optional(),
})
export type ApprovalUpdatedParams = Shape<typeof approvalUpdatedParamsSchema>

/** Known words of an open set: others are to be tolerated. */
export const APPROVAL_POLICY_RESULTS = ['allow', 'deny'] as const

export const approvalPolicyResultSchema = z.string()
export type ApprovalPolicyResult = Shape<typeof approvalPolicyResultSchema>

/** Known words of an open set: others are to be tolerated. */
export const APPROVAL_RESOLVERS = ['user', 'policy', 'llmJudge'] as const

export const approvalResolvedBySchema = z.string()
export type ApprovalResolvedBy = Shape<typeof approvalResolvedBySchema>

/** Known words of an open set: others are to be tolerated. */
export const APPROVAL_AMENDMENT_DURABILITIES = ['session', 'localPersistent'] as const

export const approvalAmendmentDurabilitySchema = z.string()
export type ApprovalAmendmentDurability = Shape<typeof approvalAmendmentDurabilitySchema>

/** The rule that was made by the decision. */
export const approvalAmendmentSchema = z.looseObject({
  durability: approvalAmendmentDurabilitySchema,
  rulePreview: z.string(),
})
export type ApprovalAmendment = Shape<typeof approvalAmendmentSchema>

/** The one end of an approval. */
export const approvalResolvedParamsSchema = z.looseObject({
  sessionId: z.string(),
  viewCursor: z.string(),
  sourceRange: sourceRangeSchema,
  approvalId: z.string(),
  decision: approvalDecisionSchema,
  itemId: z.string(),
  policyResult: approvalPolicyResultSchema,
  resolvedBy: approvalResolvedBySchema,
  stageEvidence: z.array(approvalStageEvidenceSchema),
  turnId: z.string(),
  amendment: approvalAmendmentSchema.optional(),
  /** RFC 3339. */
  decidedAt: z.string().optional(),
  decidedByCommandId: z.string().optional(),
  subagentOrigin: approvalSubagentOriginSchema.optional(),
})
export type ApprovalResolvedParams = Shape<typeof approvalResolvedParamsSchema>

/** What a decision that came too late is told. */
export const approvalResolutionSummarySchema = z.looseObject({
  viewCursor: z.string(),
  decision: z.string(),
  resolvedBy: z.string(),
})
export type ApprovalResolutionSummary = Shape<typeof approvalResolutionSummarySchema>
