import type { InboxRequest, SettledRequest } from '@handraise/inbox'
import { answerSchema, type Answer } from '@handraise/user-questions/types'
import { z } from 'zod'

const originSchema = z.object({
  version: z.literal(1),
  id: z.string().min(1),
  kind: z.string(),
  payload: z.json(),
  session: z.string(),
  key: z.string().optional(),
  agent: z.string().optional(),
  openedAt: z.number(),
  deadlineAt: z.number().optional(),
  kept: z.array(answerSchema).optional(),
})

/** The request a prompt was made of, as the prompt carries it, with what was answered where it is asked one by one. */
export type Origin = z.infer<typeof originSchema>

export function toOrigin(request: InboxRequest, kept: readonly Answer[] | undefined): Origin {
  const { settlement: _, ...members } = request
  return { version: 1, ...members, ...(kept === undefined ? {} : { kept }) } as Origin
}

export function readOrigin(value: unknown): Origin | undefined {
  return originSchema.safeParse(value).data
}

const outcomes = [
  'answered',
  'declined',
  'cancelled',
  'clarified',
  'interrupted',
  'timedOut',
  'aborted',
] as const

const settlementSchema = z.object({
  version: z.literal(1),
  settlement: z.object({
    outcome: z.enum(outcomes),
    answer: z.json().optional(),
    reason: z.string().optional(),
    text: z.string().optional(),
    by: z.enum(['user', 'policy', 'default']).optional(),
    surface: z.string().optional(),
    commandId: z.string().min(1),
    settledAt: z.number(),
  }),
})

/** How a request ended, as its audit carries it. */
export function toEnding({ settlement }: SettledRequest): object {
  return { version: 1, settlement }
}

export function readEnding(value: unknown): SettledRequest['settlement'] | undefined {
  return settlementSchema.safeParse(value).data?.settlement
}
