import { z } from 'zod'

/** One part of what an item says. Other types than `text` are left alone. */
const contentSchema = z.looseObject({ type: z.string(), text: z.string().optional() })

export const threadItemSchema = z.looseObject({
  id: z.string().min(1),
  position: z.number(),
  author: z.string(),
  content: z.array(contentSchema),
  metadata: z.unknown().optional(),
  edited: z.boolean().nullish(),
  postedAt: z.number().nullish(),
})

/** One message of a thread. */
export interface ThreadItem {
  /** Unique within its thread, and the same at every delivery. */
  readonly id: string
  /** Grows in the order of the thread, such as a time stamp or an offset. */
  readonly position: number
  readonly author: string
  readonly content: readonly { readonly type: string; readonly text?: string | undefined }[]
  readonly metadata?: unknown
  /** It no longer says what it said when it was posted. Default false. */
  readonly edited?: boolean | null | undefined
  /** Milliseconds since the Unix epoch. */
  readonly postedAt?: number | null | undefined
}

/** What is posted. */
export interface ThreadDraft {
  readonly content: readonly { readonly type: 'text'; readonly text: string }[]
  readonly metadata: PendingPrompt | PromptResolved
}

/** The kinds of a prompt (seed 004, "Prompt kinds"). */
export const PROMPT_KINDS = ['approval', 'ask_user_question', 'text'] as const

export type PromptKind = (typeof PROMPT_KINDS)[number]

export const promptQuestionSchema = z.looseObject({
  question: z.string(),
  /** What else is shown with it, such as the rest of what an approval allows. */
  detail: z.string().nullish(),
  multiSelect: z.boolean().nullish(),
  /** Absent or empty: free text. */
  options: z.array(z.looseObject({ label: z.string(), description: z.string().nullish() })).nullish(),
})

export type PromptQuestion = z.infer<typeof promptQuestionSchema>

export const APPROVE = 'Approve'
export const DENY = 'Deny'

/** `metadata` of an item that asks. What `handraise` holds is needed to open the same request again. */
export const pendingPromptSchema = z.looseObject({
  type: z.literal('pending_prompt'),
  prompt: z
    .looseObject({
      prompt_id: z.string().min(1),
      kind: z.enum(PROMPT_KINDS),
      prompt_state: z.literal('pending'),
      questions: z.array(promptQuestionSchema).min(1),
    })
    .superRefine(({ kind, questions }, context) => {
      const fault = kindFault(kind, questions)
      if (fault !== undefined) context.addIssue({ code: 'custom', path: ['questions'], message: fault })
    }),
  handraise: z.unknown().optional(),
})

export type PendingPrompt = z.infer<typeof pendingPromptSchema>

function kindFault(kind: PromptKind, questions: readonly PromptQuestion[]): string | undefined {
  if (kind === 'ask_user_question') return undefined
  const [question] = questions
  if (questions.length !== 1 || question === undefined) return `a prompt of the kind ${kind} has one question`
  const labels = (question.options ?? []).map(({ label }) => label)
  if (kind === 'text') return labels.length === 0 ? undefined : 'a prompt of the kind text has no options'
  const isApproval = labels.length === 2 && labels[0] === APPROVE && labels[1] === DENY
  return isApproval ? undefined : `an approval has the options ${APPROVE} and ${DENY}`
}

export const threadAnswerSchema = z.looseObject({ question: z.string(), answer: z.array(z.string()) })

/** The answer to one question: labels and free text, in one list. */
export type ThreadAnswer = z.infer<typeof threadAnswerSchema>

const ended = { prompt_id: z.string().min(1), kind: z.enum(PROMPT_KINDS) }

/** `metadata` of an item that says how a prompt ended: with `answers`, or with a `reason`, never with both. */
export const promptResolvedSchema = z.looseObject({
  type: z.literal('pending_prompt_resolved'),
  prompt: z.discriminatedUnion('prompt_state', [
    z.looseObject({
      ...ended,
      prompt_state: z.literal('answered'),
      answers: z.array(threadAnswerSchema),
      reason: z.null().optional(),
    }),
    z.looseObject({
      ...ended,
      prompt_state: z.literal('cancelled'),
      reason: z.string(),
      answers: z.null().optional(),
    }),
  ]),
  handraise: z.unknown().optional(),
})

export type PromptResolved = z.infer<typeof promptResolvedSchema>

/**
 * `metadata` of an item that answers in full: one entry for each question (seed 004, "Structured answers"). `prompt_id` says
 * to which prompt, so that a card of an earlier one with the same question answers nothing.
 */
export const threadAnswersSchema = z.looseObject({
  answers: z.array(threadAnswerSchema),
  prompt_id: z.string().nullish(),
})

export type ThreadAnswers = z.infer<typeof threadAnswersSchema>

/** What an item says in words. */
export function textOf({ content }: Pick<ThreadItem, 'content'>): string {
  return content.flatMap(({ type, text }) => (type === 'text' && text !== undefined ? [text] : [])).join('\n')
}
