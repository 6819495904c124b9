import { z } from 'zod'
import type { Shape } from './shape.ts'
import { sourceRangeSchema } from './source-range.ts'

export const userInputSelectionModeSchema = z.enum(['single', 'multiple'])
export type UserInputSelectionMode = Shape<typeof userInputSelectionModeSchema>

export const userInputSelectionSchema = z.looseObject({
  mode: userInputSelectionModeSchema,
  maxSelections: z.int().optional(),
  minSelections: z.int().optional(),
})
export type UserInputSelection = Shape<typeof userInputSelectionSchema>

export const userInputOptionPreviewSchema = z.looseObject({
  content: z.string(),
  format: z.string(),
})
export type UserInputOptionPreview = Shape<typeof userInputOptionPreviewSchema>

/** Labels are what answers name. */
export const userInputOptionSchema = z.looseObject({
  label: z.string(),
  description: z.string().optional(),
  preview: userInputOptionPreviewSchema.optional(),
})
export type UserInputOption = Shape<typeof userInputOptionSchema>

/** May have no options: then it is answered in free text. */
export const userInputQuestionSchema = z.looseObject({
  id: z.string(),
  header: z.string(),
  options: z.array(userInputOptionSchema),
  question: z.string(),
  selection: userInputSelectionSchema,
})
export type UserInputQuestion = Shape<typeof userInputQuestionSchema>

/** What `userInput/requested` and `userInput/request` carry both, and what `approval/listPending` lists. */
export const userInputRequestParamsSchema = z.looseObject({
  sessionId: z.string(),
  viewCursor: z.string(),
  userInputId: z.string(),
  itemId: z.string(),
  questions: z.array(userInputQuestionSchema),
  toolCallId: z.string(),
  toolName: z.string(),
  turnId: z.string(),
  /** With the event, not with the request. */
  sourceRange: sourceRangeSchema.optional(),
  /** Milliseconds until the host settles by itself; absent, it waits for ever. */
  autoResolutionMs: z.int().optional(),
})
export type UserInputRequestParams = Shape<typeof userInputRequestParamsSchema>

/**
 * With exactly one of `selectedLabel` (single), `selectedLabels` (multiple) and `freeText`. That it has is
 * not part of the shape: an answer against it is refused by the host as `userInputAnswerInvalid`.
 */
export const userInputAnswerSchema = z.looseObject({
  questionId: z.string(),
  /** At most `FREE_TEXT_LIMIT` characters, as is `note`. */
  freeText: z.string().optional(),
  note: z.string().optional(),
  selectedLabel: z.string().optional(),
  selectedLabels: z.array(z.string()).optional(),
})
export type UserInputAnswer = Shape<typeof userInputAnswerSchema>

/** What a person writes instead of choosing. */
export const userInputClarificationSchema = z.looseObject({
  /** At most `FREE_TEXT_LIMIT` characters. */
  content: z.string(),
  /** `text`; open. */
  format: z.string(),
})
export type UserInputClarification = Shape<typeof userInputClarificationSchema>

/** Known words of an open set: others are to be tolerated. */
export const USER_INPUT_OUTCOMES = [
  'answered',
  'cancelled',
  'interrupted',
  'clarified',
  'timedOut',
  'aborted',
] as const

export const userInputOutcomeSchema = z.string()
export type UserInputOutcome = Shape<typeof userInputOutcomeSchema>
/** Those a host of this version gives. */
export type KnownUserInputOutcome = (typeof USER_INPUT_OUTCOMES)[number]

/** The one settlement of a prompt. All ten members are always there; what does not apply is null. */
export const userInputSettledParamsSchema = z.looseObject({
  sessionId: z.string(),
  viewCursor: z.string(),
  sourceRange: sourceRangeSchema,
  userInputId: z.string(),
  answers: z.array(userInputAnswerSchema),
  clarification: userInputClarificationSchema.nullable(),
  /** RFC 3339. Required, and left out by hosts older than it: a reader may take absence for null. */
  decidedAt: z.string().nullable(),
  /** The command that won, null where it was none. */
  decidedByCommandId: z.string().nullable(),
  outcome: userInputOutcomeSchema,
  reason: z.string().nullable(),
})
export type UserInputSettledParams = Shape<typeof userInputSettledParamsSchema>

/** What a command that came too late is told. */
export const userInputSettlementSummarySchema = z.looseObject({
  viewCursor: z.string(),
  outcome: z.string(),
})
export type UserInputSettlementSummary = Shape<typeof userInputSettlementSummarySchema>
