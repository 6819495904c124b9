import { z } from 'zod'
import type { Shape } from './shape.ts'

/** Known words of an open set: others are to be tolerated. */
export const COMMAND_STATUSES = ['accepted'] as const

/** An accepted command was admitted, which is not yet done. */
export const commandStatusSchema = z.string()
export type CommandStatus = Shape<typeof commandStatusSchema>

export const commandAckStatusSchema = z.enum(['accepted', 'noop'])
export type CommandAckStatus = Shape<typeof commandAckStatusSchema>

export const commandAcceptedResultSchema = z.looseObject({
  commandId: z.string(),
  status: commandAckStatusSchema,
})
export type CommandAcceptedResult = Shape<typeof commandAcceptedResultSchema>
