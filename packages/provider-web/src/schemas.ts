import { answerSchema, questionSchema, type Answer } from '@handraise/user-questions/types'
import { z } from 'zod'
import { LIMITS } from './limits.ts'

const instant = z.int().describe('Milliseconds since the Unix epoch.')
const json = z.unknown().describe('Any JSON.')
const outcome = z.enum([
  'answered',
  'declined',
  'cancelled',
  'clarified',
  'interrupted',
  'timedOut',
  'aborted',
])
const by = z.enum(['user', 'policy', 'default'])

/** An id as it may stand in a path: printable ASCII without spaces. */
export const idSchema = z
  .string()
  .regex(/^[\x21-\x7e]+$/u, 'expected printable ASCII without spaces')
  .max(LIMITS.idLength)

const nameSchema = z
  .string()
  .regex(/^[^\p{C}\s][^\p{C}]*$/u, 'must start with a visible character and hold no control characters')
  .max(LIMITS.idLength)

const keySchema = z.string().min(1).max(LIMITS.keyLength)

export const settlementSchema = z.object({
  outcome,
  answer: json.optional().describe('In the words of the kind: for `questions`, `{ answers }`.'),
  reason: z.string().optional(),
  text: z.string().optional().describe('What the person wrote back, when clarified.'),
  by: by.optional(),
  surface: z.string().optional().describe('Where it was decided.'),
  commandId: z.string().describe('The command that won.'),
  settledAt: instant,
})

export const requestSchema = z.object({
  id: z.string(),
  kind: z.string(),
  key: z.string().optional(),
  session: z.string().optional(),
  agent: z.string().optional().describe('The id of the agent that asks.'),
  openedAt: instant,
  deadline: instant.optional().describe('When it settles by itself, in milliseconds since the Unix epoch.'),
  payload: json,
  questions: z
    .array(questionSchema)
    .optional()
    .describe('The payload as questions; absent when nothing here knows the kind.'),
  settlement: settlementSchema.optional().describe('Absent while it is pending.'),
})

/** A request as clients see it. */
export type PublicRequest = z.infer<typeof requestSchema>
export type PublicSettlement = z.infer<typeof settlementSchema>

export const listQuerySchema = z.strictObject({
  state: z.enum(['pending', 'settled']).default('pending'),
  session: z.string().max(LIMITS.keyLength).optional(),
  after: z.string().min(1).max(LIMITS.idLength).optional().describe('The `next` of the page before.'),
  limit: wholeNumber(1, 1_000).default(100),
})

export const requestPageSchema = z.object({
  requests: z.array(requestSchema).describe('Pending ones the oldest first, settled ones the latest first.'),
  next: z.string().optional().describe('Where the next page starts; absent on the last.'),
  cursor: z.string().describe('Where the log of events stood before the page was read.'),
  now: instant.describe('The clock by which deadlines are meant, in milliseconds since the Unix epoch.'),
})

export type RequestPage = z.infer<typeof requestPageSchema>

/** The longest a person is waited for: ten years. */
const LONGEST_TIMEOUT_MS = 10 * 365 * 24 * 60 * 60 * 1000

const questionsSchema = z.array(questionSchema).min(1).max(LIMITS.questions)

/** The payload of the kind `questions`. */
export const questionsPayloadSchema = z.strictObject({ questions: questionsSchema })

export const openSchema = z
  .strictObject({
    questions: questionsSchema.optional(),
    kind: nameSchema.optional(),
    payload: json.optional(),
    session: keySchema.optional(),
    key: keySchema
      .optional()
      .describe('Asking again with the same key joins the same request, and gets the recorded answer.'),
    timeoutMs: z.int().min(1).max(LONGEST_TIMEOUT_MS).optional().describe('Default: no deadline.'),
  })
  .describe('Either `questions`, or `kind` with `payload`.')
  .superRefine(({ questions, kind, payload }, context) => {
    if (questions !== undefined) {
      if (kind === undefined && payload === undefined) return
      context.addIssue({ code: 'custom', message: 'takes either questions, or kind with payload, not both' })
    } else if (kind === undefined) {
      context.addIssue({ code: 'custom', path: ['questions'], message: 'expected an array, got nothing' })
    } else if (payload === undefined) {
      context.addIssue({ code: 'custom', path: ['payload'], message: 'is needed with a kind' })
    }
  })

export const openedSchema = z.object({
  request: requestSchema,
  joined: z.boolean().describe('True when the key was known: the request as it stands, settled or not.'),
})

export const MAX_WAIT_MS = 30_000

export const waitQuerySchema = z.strictObject({
  timeoutMs: wholeNumber(0, MAX_WAIT_MS).default(MAX_WAIT_MS),
})

export const waitedSchema = z.object({
  pending: z.boolean().describe('True when the time was up first.'),
  request: requestSchema.optional().describe('The settled request.'),
})

const command = {
  commandId: idSchema.describe(
    'Chosen by the client, once for each decision; sent again it gets its receipt.',
  ),
  surface: nameSchema.optional().describe('Where it was decided. Default `web`.'),
  by: z.enum(['user', 'policy']).optional().describe('Default `user`.'),
}

const answersSchema = z
  .array(answerSchema.omit({ by: true }).strict())
  .max(LIMITS.questions)
  .describe('One entry for each question; a skip is `{ id, selected: [] }`.')

const reason = z.string().optional()

export const answerBodySchema = z
  .strictObject({
    ...command,
    answers: answersSchema.optional(),
    text: z
      .string()
      .optional()
      .describe('For one question: a typed line, such as the number of an option, a label, or free text.'),
  })
  .describe('Either `answers` or `text`.')
  .superRefine(({ answers, text }, context) => {
    if ((answers === undefined) === (text === undefined))
      context.addIssue({ code: 'custom', path: ['answers'], message: 'expected either answers or text' })
  })

export const declineBodySchema = z.strictObject({ ...command, reason })

export const clarifyBodySchema = z.strictObject({
  ...command,
  text: z
    .string()
    .refine(text => text.trim() !== '', 'must not be blank')
    .describe('What the person writes back.'),
})

/** Of `cancel` and `interrupt`: what was answered so far is kept, as far as it fits. */
export const stopBodySchema = z.strictObject({ ...command, reason, answers: answersSchema.optional() })

export const engagedBodySchema = z.strictObject({})

export const receiptSchema = z.object({
  request: requestSchema,
  repeated: z.boolean().describe('True when this command had been received before.'),
})

export const gotSchema = z.object({ request: requestSchema })

export const eventsQuerySchema = z.strictObject({
  cursor: z.string().max(LIMITS.idLength).optional().describe('Where to resume, as `Last-Event-ID` says.'),
})

export const snapshotEventSchema = z.object({
  requests: z.array(requestSchema),
  done: z.boolean().describe('True on the last one.'),
  cursor: z.string().optional().describe('On the last one: where the events go on.'),
})

export const changeEventSchema = z.object({ request: requestSchema })

export const issueSchema = z.object({ path: z.string(), message: z.string() })

export const errorSchema = z.looseObject({
  code: z.string(),
  message: z.string(),
  issues: z.array(issueSchema).optional(),
  id: z.string().optional(),
  settlement: settlementSchema.optional().describe('Of a request that is settled already: how, and by whom.'),
})

export type OpenBody = z.input<typeof openSchema>
export type Opened = z.infer<typeof openedSchema>
export type AnswerEntry = Omit<Answer, 'by'>
export type ReceiptBody = z.infer<typeof receiptSchema>

// A number as a query holds it.
function wholeNumber(least: number, most: number) {
  const fault = `expected a whole number from ${least} to ${most}`
  return z
    .string()
    .regex(/^\d{1,9}$/u, fault)
    .transform(Number)
    .pipe(z.int().min(least, fault).max(most, fault))
}
