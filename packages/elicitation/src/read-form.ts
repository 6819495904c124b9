import {
  checkAnswer,
  issuesOfZod,
  keepValidAnswers,
  type Answer,
  type AskUserQuestionAnswer,
  type Issue,
  type Question,
} from '@handraise/user-questions/types'
import { z } from 'zod'
import { questionFields, type QuestionFields } from './question-fields.ts'
import { isBlank } from './question-text.ts'

export type FormReading =
  | { readonly ok: true; readonly answer: AskUserQuestionAnswer }
  | {
      readonly ok: false
      /** Every fault; the path begins with the property it is about, such as `db` or `checks[1]`. */
      readonly issues: readonly Issue[]
      /** What of it may stand: the answers to the questions without a fault. */
      readonly kept: readonly Answer[]
    }

const textSchema = z.string().nullish()
// A single label may come instead of a list of one.
const labelsSchema = z.preprocess(
  value => (typeof value === 'string' ? [value] : value),
  z.array(z.string()).nullish(),
)

/**
 * The content of an accepted form as answers, whoever filled it in: nothing that the answer rules refuse comes out as an
 * answer. Properties that are no fields of the form are ignored. A field that is missing, null or empty holds nothing,
 * and a question of which no field holds anything was skipped. Never throws.
 */
export function readForm(questions: readonly Question[], content: unknown): FormReading {
  const record = z.record(z.string(), z.unknown()).safeParse(content)
  if (!record.success || Array.isArray(content)) {
    const message = 'an accepted form comes with its content, an object'
    return { ok: false, issues: [{ path: '', message }], kept: [] }
  }
  const all = questionFields(questions)
  const issues: Issue[] = []
  const faulty = new Set<string>()
  const answers = all.map(fields => {
    const { answer, faults } = readQuestion(fields, content as object)
    issues.push(...faults)
    if (faults.length > 0) faulty.add(fields.question.id)
    return answer
  })
  const check = checkAnswer(questions, { answers })
  if (check.ok && issues.length === 0) return check
  for (const issue of check.ok ? [] : check.issues) {
    const { fields, path } = atField(issue, all)
    // What could not even be read was named already.
    if (fields === undefined || !faulty.has(fields.question.id)) issues.push({ ...issue, path })
  }
  const unharmed = answers.filter(({ id }) => !faulty.has(id))
  return { ok: false, issues, kept: keepValidAnswers(questions, unharmed) }
}

function readQuestion(fields: QuestionFields, content: object): { answer: Answer; faults: Issue[] } {
  const { question, name, otherName, own } = fields
  const faults: Issue[] = []
  const read = <T>(property: string, schema: z.ZodType<T>): T | undefined => {
    const parsed = schema.safeParse(
      Object.hasOwn(content, property) ? Reflect.get(content, property) : undefined,
    )
    if (!parsed.success) faults.push(...issuesOfZod(parsed.error, [property]))
    return parsed.data
  }
  if (otherName === undefined) {
    return { answer: { id: question.id, selected: [], ...customOf(read(name, textSchema)) }, faults }
  }
  const selected =
    question.multiSelect === true
      ? (read(name, labelsSchema) ?? []).filter(label => label !== '')
      : [read(name, textSchema) ?? ''].filter(label => label !== '')
  const custom = customOf(read(otherName, textSchema))
  if (own !== undefined && selected.includes(own.label)) {
    faults.push({ path: name, message: `${JSON.stringify(own.label)} is said in words, in ${otherName}` })
  }
  if (question.multiSelect !== true && selected.length > 0 && custom.custom !== undefined) {
    faults.push({ path: otherName, message: 'choose one, or write an answer of your own; not both' })
  }
  return { answer: { id: question.id, selected, ...custom }, faults }
}

function customOf(text: string | null | undefined): { custom?: string } {
  return text === null || isBlank(text) ? {} : { custom: text }
}

/** A fault of the answer rules, at the field where the person can mend it. */
function atField(
  { path }: Issue,
  all: readonly QuestionFields[],
): { fields?: QuestionFields | undefined; path: string } {
  const [, index, part] = /^answers\[(\d+)\]\.?(.*)$/u.exec(path) ?? []
  const fields = all[Number(index)]
  if (fields === undefined) return { path }
  return { fields, path: part === 'custom' ? (fields.otherName ?? fields.name) : fields.name }
}
