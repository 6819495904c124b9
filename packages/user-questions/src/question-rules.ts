import { checkValue } from './answer-rules.ts'
import { isBlank } from './answer-value.ts'
import type { Issue } from './issue.ts'
import { foldLabel } from './label.ts'
import { answerSchema, type Question, type QuestionOption } from './question.ts'

/** Why an intent does not hold: it approves a label that is not offered, or reviews a plan that is not shown. */
export interface IntentFault {
  readonly question: string
  readonly kind: string
  readonly approve: string
  readonly fault: 'approve' | 'detail'
}

/** The first intent that claims what its question does not have (seed 002, section 5). */
export function findIntentFault(questions: readonly Question[]): IntentFault | undefined {
  for (const question of questions) {
    const intent = (question as Question | null)?.intent
    if (intent === undefined || intent === null) continue
    const about = {
      question: textOf(question.id),
      kind: textOf(intent.kind),
      approve: textOf(intent.approve),
    }
    const options: unknown = question.options
    if (!Array.isArray(options) || !options.some(option => option?.label === intent.approve))
      return { ...about, fault: 'approve' }
    if (typeof question.detail !== 'string' || isBlank(question.detail)) return { ...about, fault: 'detail' }
  }
  return undefined
}

/**
 * Every fault that makes questions impossible to ask or to answer: a blank or repeated id, a blank question, a blank
 * label or one that a typed reply could not tell from another, a number of choices nobody can make, a default that is
 * no answer. Types are checked as well, since a caller may be plain JavaScript.
 */
export function checkQuestions(questions: readonly Question[]): Issue[] {
  if (!Array.isArray(questions))
    return [{ path: 'questions', message: `expected an array, got ${typeName(questions)}` }]
  const issues: Issue[] = []
  const ids = new Set<string>()
  // Not by forEach alone, which leaves out the holes of a sparse list.
  Array.from(questions).forEach((question: Question | null | undefined, index) => {
    const path = `questions[${index}]`
    if (typeof question !== 'object' || question === null || Array.isArray(question)) {
      issues.push({ path, message: `expected an object, got ${typeName(question)}` })
      return
    }
    if (checkText(question.id, `${path}.id`, issues)) {
      if (ids.has(question.id))
        issues.push({ path: `${path}.id`, message: `${JSON.stringify(question.id)} is used twice` })
      ids.add(question.id)
    }
    checkText(question.question, `${path}.question`, issues)
    checkTypes(question, QUESTION_TYPES, path, issues)
    if (!checkOptions(question, path, issues)) return
    checkCounts(question, path, issues)
    checkDefault(question, path, issues)
  })
  return issues
}

function checkOptions(question: Question, path: string, issues: Issue[]): boolean {
  const options: unknown = question.options
  if (options === undefined || options === null) return true
  if (!Array.isArray(options)) {
    issues.push({ path: `${path}.options`, message: `expected an array, got ${typeName(options)}` })
    return false
  }
  const before = issues.length
  const seen = new Map<string, string>()
  options.forEach((option: { label?: unknown } | null, index) => {
    const at = `${path}.options[${index}].label`
    const label = option?.label
    if (!checkText(label, at, issues)) return
    checkTypes(option ?? {}, OPTION_TYPES, `${path}.options[${index}]`, issues)
    const preview = (option as QuestionOption).preview
    if (preview) checkTypes(preview, PREVIEW_TYPES, `${path}.options[${index}].preview`, issues)
    const folded = foldLabel(label)
    const twin = seen.get(folded)
    if (twin !== undefined) {
      issues.push({
        path: at,
        message: `${JSON.stringify(label)} cannot be told apart from ${JSON.stringify(twin)}; give each option its own label`,
      })
    }
    seen.set(folded, label)
  })
  return issues.length === before
}

function checkCounts(question: Question, path: string, issues: Issue[]): void {
  const min = question.minSelections ?? undefined
  const max = question.maxSelections ?? undefined
  if (min === undefined && max === undefined) return
  const limit = question.multiSelect === true ? (question.options?.length ?? 0) + 1 : 1
  const check = (field: string, value: number | undefined, least: number): void => {
    if (value === undefined || (Number.isInteger(value) && value >= least && value <= limit)) return
    issues.push({
      path: `${path}.${field}`,
      message: `expected a whole number from ${least} to ${limit}, got ${typeof value === 'number' ? value : typeName(value)}`,
    })
  }
  check('minSelections', min, 0)
  check('maxSelections', max, 1)
  if (min !== undefined && max !== undefined && min > max) {
    issues.push({ path: `${path}.minSelections`, message: `${min} is more than maxSelections, ${max}` })
  }
}

function checkDefault(question: Question, path: string, issues: Issue[]): void {
  if (question.default === undefined || question.default === null) return
  const parsed = answerSchema.safeParse({ ...question.default, id: question.id })
  if (!parsed.success) {
    issues.push({ path: `${path}.default`, message: 'expected { selected: [labels], custom? }' })
    return
  }
  issues.push(...checkValue(question, parsed.data, `${path}.default`))
}

const QUESTION_TYPES = {
  header: 'string',
  detail: 'string',
  multiSelect: 'boolean',
  guarded: 'boolean',
  intent: 'object',
} as const satisfies Partial<Record<keyof Question, string>>

const OPTION_TYPES = { description: 'string', preview: 'object' } as const satisfies Partial<
  Record<keyof QuestionOption, string>
>

const PREVIEW_TYPES = { format: 'string', content: 'string' } as const

/** A fault for each field that is there with a value of another type. */
export function checkTypes(
  value: object,
  types: Readonly<Record<string, string>>,
  path: string,
  issues: Issue[],
): void {
  for (const name in types) {
    const given = (value as Readonly<Record<string, unknown>>)[name]
    if (given === undefined || given === null || typeof given === types[name]) continue
    issues.push({
      path: path === '' ? name : `${path}.${name}`,
      message: `expected ${withArticle(types[name])}, got ${typeName(given)}`,
    })
  }
}

function withArticle(noun = ''): string {
  return `${/^[aeiou]/u.test(noun) ? 'an' : 'a'} ${noun}`
}

function checkText(value: unknown, path: string, issues: Issue[]): value is string {
  if (typeof value === 'string' && foldLabel(value) !== '') return true
  issues.push({
    path,
    message: typeof value === 'string' ? 'must not be blank' : `expected a string, got ${typeName(value)}`,
  })
  return false
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : typeName(value)
}

export function typeName(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : value === undefined ? 'nothing' : typeof value
}
