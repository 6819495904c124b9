import { z } from 'zod'
import { approvalRequestParamsSchema } from './approval.ts'
import type { Shape } from './shape.ts'
import { userInputRequestParamsSchema } from './user-input.ts'

/** Known words of an open set: others are to be tolerated. */
export const PENDING_REQUEST_KINDS = ['approval', 'userInput'] as const

export const pendingRequestKindSchema = z.string()
export type PendingRequestKind = Shape<typeof pendingRequestKindSchema>

/** Points to what waits for a person. After a resume the requests themselves follow the response. */
export const pendingRequestPointerSchema = z.looseObject({
  viewCursor: z.string(),
  kind: pendingRequestKindSchema,
  userInputId: z.string().optional(),
  approvalId: z.string().optional(),
})
export type PendingRequestPointer = Shape<typeof pendingRequestPointerSchema>

export const pendingApprovalPointerSchema = z.looseObject({
  viewCursor: z.string(),
  approvalId: z.string(),
  itemId: z.string().optional(),
})
export type PendingApprovalPointer = Shape<typeof pendingApprovalPointerSchema>

export const pendingUserInputPointerSchema = z.looseObject({
  viewCursor: z.string(),
  userInputId: z.string(),
  itemId: z.string().optional(),
})
export type PendingUserInputPointer = Shape<typeof pendingUserInputPointerSchema>

export const approvalListPendingParamsSchema = z.looseObject({
  sessionId: z.string(),
})
export type ApprovalListPendingParams = Shape<typeof approvalListPendingParamsSchema>

/** Both in the order in which they were opened. */
export const approvalListPendingResultSchema = z.looseObject({
  approvals: z.array(approvalRequestParamsSchema),
  userInputs: z.array(userInputRequestParamsSchema),
})
export type ApprovalListPendingResult = Shape<typeof approvalListPendingResultSchema>
