import { checkValue, foldLabel, isBlank, type Answer, type Question } from '@handraise/user-questions/types'
import { z } from 'zod'
import { threadAnswersSchema, type ThreadAnswer } from './items.ts'

/**
 * The entries of `metadata.answers` that hold, by the id of their question. They are matched by question text, equal texts
 * in their order; an entry that breaks a rule of its question is left out.
 */
export interface StructuredAnswers {
  readonly valid: ReadonlyMap<string, Answer>
  /** One entry for each question, and no entry besides. */
  readonly complete: boolean
  /** It names a question that is none of these: it was given to something else. */
  readonly isForOther: boolean
  /** It holds no entry at all. */
  readonly isEmpty: boolean
}

const addressSchema = z.looseObject({ prompt_id: z.unknown() })

/** Undefined where an item carries no `metadata.answers`, or one that is no list of entries. */
export function readStructuredAnswers(
  questions: readonly Question[],
  metadata: unknown,
): StructuredAnswers | undefined {
  const parsed = threadAnswersSchema.safeParse(metadata)
  if (!parsed.success) return undefined
  const left = [...questions]
  const valid = new Map<string, Answer>()
  const asked = new Set(questions.map(({ question }) => question))
  let unmatched = 0
  let isForOther = false
  for (const entry of parsed.data.answers) {
    if (!asked.has(entry.question)) isForOther = true
    const index = left.findIndex(({ question }) => question === entry.question)
    const [question] = index < 0 ? [] : left.splice(index, 1)
    const answer = question === undefined ? undefined : toAnswer(question, entry.answer)
    if (answer === undefined) unmatched += 1
    else valid.set(answer.id, answer)
  }
  const complete = unmatched === 0 && valid.size === questions.length
  return { valid, complete, isForOther, isEmpty: parsed.data.answers.length === 0 }
}

/** True where an item says in `prompt_id` that it is for another prompt than this one. */
export function isForOtherPrompt(promptId: string | undefined, metadata: unknown): boolean {
  const address = addressSchema.safeParse(metadata).data?.prompt_id ?? undefined
  return address !== undefined && promptId !== undefined && address !== promptId
}

function toAnswer(question: Question, texts: readonly string[]): Answer | undefined {
  const selected: string[] = []
  const customs: string[] = []
  for (const text of texts) {
    if (isBlank(text)) return undefined
    const label = labelOf(question, text)
    if (label === undefined) customs.push(text)
    else selected.push(label)
  }
  const [custom] = customs
  if (customs.length > 1) return undefined
  // No choice is an answer only where several could be made: elsewhere nobody has answered.
  if (question.multiSelect !== true && texts.length !== 1) return undefined
  const answer = { id: question.id, selected, ...(custom === undefined ? {} : { custom }) }
  return checkValue(question, answer, '').length === 0 ? answer : undefined
}

function labelOf({ options = [] }: Question, text: string): string | undefined {
  const exact = options.find(({ label }) => label === text)
  if (exact !== undefined) return exact.label
  const wanted = foldLabel(text)
  const alike = options.filter(({ label }) => foldLabel(label) === wanted)
  return alike.length === 1 ? alike[0]?.label : undefined
}

/** An answer as the entry of its question. */
export function toThreadAnswer(question: Question, answer: Answer | undefined): ThreadAnswer {
  const { selected = [], custom } = answer ?? {}
  return { question: question.question, answer: [...selected, ...(custom === undefined ? [] : [custom])] }
}
