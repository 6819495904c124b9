import { z } from 'zod'

/** One choice the asker offers. The label is the value: it comes back exactly as offered. */
export interface QuestionOption {
  readonly label: string
  /** What choosing it means, shown beside the label and never part of an answer. */
  readonly description?: string | undefined
  /** A longer look at the choice, for a surface that has room for it. */
  readonly preview?: QuestionPreview | undefined
}

export interface QuestionPreview {
  /** How `content` is meant to be read, such as `markdown`, `html` or `text`; a surface shows an unknown one as text. */
  readonly format: string
  readonly content: string
}

/**
 * A claim that the question is a known kind of decision, so that a surface may present it as such.
 * Presentation only: the answer has the same fields either way (seed 002, section 2).
 */
export interface QuestionIntent {
  readonly kind: 'plan-review'
  /** The label that approves. Must be one of the question's own options, and `detail` must hold the plan. */
  readonly approve: string
}

/** What the person chose or wrote for one question, without saying which question. */
export interface AnswerValue {
  /** Labels as offered, in the order they were offered. */
  readonly selected: readonly string[]
  /** Free text. Replaces the choice on a single-select question, adds to it on a multi-select one. */
  readonly custom?: string | undefined
  /** A remark beside the choice. */
  readonly note?: string | undefined
}

/** One thing to decide. */
export interface Question {
  /** Unique within its request; answers are matched by it. */
  readonly id: string
  readonly question: string
  /** A short heading. Surfaces cut it to about 12 columns; the data keeps all of it. */
  readonly header?: string | undefined
  /** Supporting text, Markdown, kept out of the option labels. */
  readonly detail?: string | undefined
  /** Absent or empty: the question asks for free text. */
  readonly options?: readonly QuestionOption[] | undefined
  /** Default false: at most one label. */
  readonly multiSelect?: boolean | undefined
  /** Fewest choices, custom text counted as one. Absent: the question may be skipped. */
  readonly minSelections?: number | undefined
  /** Most choices, custom text counted as one. Absent: as many as are offered. */
  readonly maxSelections?: number | undefined
  readonly intent?: QuestionIntent | undefined
  /** A question where a slip costs much: a surface focuses nothing, and Enter alone does nothing. Default false. */
  readonly guarded?: boolean | undefined
  /** What counts when the deadline passes. Used only when every question of the request names one. */
  readonly default?: AnswerValue | undefined
}

/** Who made an answer: the person, a policy or script standing in for them, or the asker's own default at the deadline. */
export type AnsweredBy = 'user' | 'policy' | 'default'

/** The answer to one question. `selected: []` without `custom` is a skip. */
export interface Answer extends AnswerValue {
  readonly id: string
  /** Absent means the person. */
  readonly by?: AnsweredBy | undefined
}

/** The answers to a request: one entry for each question, in the order of the questions. */
export interface AskUserQuestionAnswer {
  readonly answers: readonly Answer[]
}

const answerValueSchema = z.object({
  selected: z.array(z.string()),
  custom: z.string().optional(),
  note: z.string().optional(),
})

export const questionSchema = z.strictObject({
  id: z.string(),
  question: z.string(),
  header: z.string().optional(),
  detail: z.string().optional(),
  options: z
    .array(
      z.strictObject({
        label: z.string(),
        description: z.string().optional(),
        preview: z.strictObject({ format: z.string(), content: z.string() }).optional(),
      }),
    )
    .optional(),
  multiSelect: z.boolean().optional(),
  minSelections: z.number().optional(),
  maxSelections: z.number().optional(),
  intent: z.strictObject({ kind: z.literal('plan-review'), approve: z.string() }).optional(),
  guarded: z.boolean().optional(),
  default: answerValueSchema.optional(),
}) satisfies z.ZodType<Question>

export const answerSchema = z.object({
  id: z.string(),
  ...answerValueSchema.shape,
  by: z.enum(['user', 'policy', 'default']).optional(),
}) satisfies z.ZodType<Answer>

export const askUserQuestionAnswerSchema = z.object({
  answers: z.array(answerSchema),
}) satisfies z.ZodType<AskUserQuestionAnswer>
