import { z } from 'zod'
import { commandStatusSchema } from './command.ts'
import type { Shape } from './shape.ts'
import { userInputAnswerSchema, userInputClarificationSchema } from './user-input.ts'

/** Answers every question, once. */
export const userInputAnswerParamsSchema = z.looseObject({
  sessionId: z.string(),
  commandId: z.string(),
  userInputId: z.string(),
  answers: z.array(userInputAnswerSchema),
})
export type UserInputAnswerParams = Shape<typeof userInputAnswerParamsSchema>

export const userInputAnswerResultSchema = z.looseObject({
  commandId: z.string(),
  userInputId: z.string(),
  status: commandStatusSchema,
})
export type UserInputAnswerResult = Shape<typeof userInputAnswerResultSchema>

/** Declines to answer. */
export const userInputCancelParamsSchema = z.looseObject({
  sessionId: z.string(),
  commandId: z.string(),
  userInputId: z.string(),
  reason: z.string().optional(),
})
export type UserInputCancelParams = Shape<typeof userInputCancelParamsSchema>

export const userInputCancelResultSchema = z.looseObject({
  commandId: z.string(),
  userInputId: z.string(),
  status: commandStatusSchema,
})
export type UserInputCancelResult = Shape<typeof userInputCancelResultSchema>

/** Writes back instead of choosing; the model decides anew. */
export const userInputClarifyParamsSchema = z.looseObject({
  sessionId: z.string(),
  commandId: z.string(),
  userInputId: z.string(),
  clarification: userInputClarificationSchema,
})
export type UserInputClarifyParams = Shape<typeof userInputClarifyParamsSchema>

export const userInputClarifyResultSchema = z.looseObject({
  commandId: z.string(),
  userInputId: z.string(),
  status: commandStatusSchema,
})
export type UserInputClarifyResult = Shape<typeof userInputClarifyResultSchema>

/** Ends the prompt with what was confirmed so far, then stops the turn. */
export const userInputInterruptParamsSchema = z.looseObject({
  sessionId: z.string(),
  commandId: z.string(),
  userInputId: z.string(),
  /** Under the rules of an answer; none is the same as an empty list. */
  answers: z.array(userInputAnswerSchema).optional(),
})
export type UserInputInterruptParams = Shape<typeof userInputInterruptParamsSchema>

export const userInputInterruptResultSchema = z.looseObject({
  commandId: z.string(),
  userInputId: z.string(),
  status: commandStatusSchema,
})
export type UserInputInterruptResult = Shape<typeof userInputInterruptResultSchema>

/** Somebody is at it: a prompt with a time limit loses the limit. No command and never answered. */
export const userInputEngagedParamsSchema = z.looseObject({
  sessionId: z.string(),
  userInputId: z.string(),
})
export type UserInputEngagedParams = Shape<typeof userInputEngagedParamsSchema>
