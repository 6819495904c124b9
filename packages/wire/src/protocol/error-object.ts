import { z } from 'zod'
import { approvalResolutionSummarySchema } from './approval.ts'
import { approvalRequirementRefSchema } from './approval-subject.ts'
import { capabilityNameSchema } from './handshake.ts'
import type { Shape } from './shape.ts'
import { userInputSettlementSummarySchema } from './user-input.ts'

/** What to branch on. An unknown kind is an error like any other. */
export const errorKindSchema = z.string()
export type ErrorKind = Shape<typeof errorKindSchema>

/** One flat shape for all errors; a kind says which members come with it. */
export const errorDataSchema = z.looseObject({
  kind: errorKindSchema,
  sessionId: z.string().optional(),
  commandId: z.string().optional(),
  viewCursor: z.string().optional(),
  userInputId: z.string().optional(),
  approvalId: z.string().optional(),
  alignedNextOffset: z.int().optional(),
  anchor: z.string().nullable().optional(),
  availability: z.string().optional(),
  capability: capabilityNameSchema.optional(),
  capacity: z.int().optional(),
  choiceId: z.string().optional(),
  currentRequirementId: approvalRequirementRefSchema.optional(),
  descriptor: z.string().optional(),
  details: z.looseObject({}).optional(),
  earliestCursor: z.string().nullable().optional(),
  itemId: z.string().optional(),
  lastTurnId: z.string().optional(),
  latestBoundaryCursor: z.string().nullable().optional(),
  limitBytes: z.int().optional(),
  outputRef: z.string().optional(),
  paths: z.array(z.string()).optional(),
  reason: z.string().optional(),
  resolution: approvalResolutionSummarySchema.optional(),
  retryable: z.boolean().optional(),
  selector: z.string().optional(),
  settlement: userInputSettlementSummarySchema.optional(),
  uploadId: z.string().optional(),
})
export type ErrorData = Shape<typeof errorDataSchema>

/** Every error of this protocol carries `data`; plain JSON-RPC errors may not. */
export const errorObjectSchema = z.looseObject({
  code: z.int(),
  message: z.string(),
  data: errorDataSchema.optional(),
})
export type ErrorObject = Shape<typeof errorObjectSchema>
