import { countFault, isBlank } from './answer-value.ts'
import { issuesOfZod, type Issue } from './issue.ts'
import {
  answerSchema,
  askUserQuestionAnswerSchema,
  type Answer,
  type AnswerValue,
  type AskUserQuestionAnswer,
  type Question,
} from './question.ts'

export type AnswerCheck =
  | { readonly ok: true; readonly answer: AskUserQuestionAnswer }
  | { readonly ok: false; readonly issues: readonly Issue[] }

/**
 * The answer rules, the one judge of what counts as an answer to these questions.
 *
 * Refused: a question without an entry, an id that was not asked, an id twice, a label that was not offered, a label
 * twice, two labels for single-select, a label together with custom text for single-select, fewer choices than
 * `minSelections` or more than `maxSelections`. Every fault is named, by path.
 *
 * Accepted answers come back in the order of the questions, labels in the order of the options, and blank custom text
 * or a blank note left out.
 */
export function checkAnswer(questions: readonly Question[], value: unknown): AnswerCheck {
  const parsed = askUserQuestionAnswerSchema.safeParse(value)
  if (!parsed.success) return { ok: false, issues: issuesOfZod(parsed.error) }
  const { byId, issues } = matchEntries(questions, parsed.data.answers)
  const answers: Answer[] = []
  for (const question of questions) {
    const entry = byId.get(question.id)
    if (entry === undefined) {
      issues.push({
        path: 'answers',
        message: `question ${quote(question.id)} has no entry; a skip is { id, selected: [] }`,
      })
      continue
    }
    answers.push(normalize(question, entry.answer))
    issues.push(...checkValue(question, entry.answer, entry.path))
  }
  return issues.length > 0 ? { ok: false, issues } : { ok: true, answer: { answers } }
}

/**
 * The entries of an unfinished answer that hold by the rules, in the order of the questions. What breaks a rule is left
 * out: it accompanies a cancellation, and is no reason to lose the cancellation itself.
 */
export function keepValidAnswers(questions: readonly Question[], answers: readonly Answer[]): Answer[] {
  const entries = Array.isArray(answers) ? answers : []
  const wellFormed = entries.flatMap(entry => answerSchema.safeParse(entry).data ?? [])
  const { byId } = matchEntries(questions, wellFormed)
  return questions.flatMap(question => {
    const entry = byId.get(question.id)
    if (entry === undefined || checkValue(question, entry.answer, '').length > 0) return []
    return [normalize(question, entry.answer)]
  })
}

/** The faults of what was chosen or written for one question; none when it may stand as its answer. */
export function checkValue(question: Question, value: AnswerValue, path: string): Issue[] {
  const issues: Issue[] = []
  const fault = (message: string, field = '.selected'): void =>
    void issues.push({ path: `${path}${field}`, message })
  const offered = question.options ?? []
  const labels = new Set(value.selected)
  if (labels.size < value.selected.length) fault('holds the same label twice')
  for (const label of labels) {
    if (offered.some(option => option.label === label)) continue
    fault(
      offered.length === 0
        ? `${quote(label)} cannot be chosen: the question offers no options; put the text in custom`
        : `${quote(label)} was not offered; offered: ${offered.map(option => quote(option.label)).join(', ')}`,
    )
  }
  const custom = isBlank(value.custom) ? 0 : 1
  if (question.multiSelect !== true) {
    if (labels.size > 1) fault('holds more than one label for a single-select question')
    if (labels.size > 0 && custom > 0) {
      fault('stands beside a label; on a single-select question custom text replaces the choice', '.custom')
    }
  }
  const chosen = labels.size + custom
  const miscounted = countFault(question, chosen)
  if (miscounted !== undefined) {
    const { rule, count } = miscounted
    fault(`holds ${chosen} of at ${rule} ${count} choices`)
  }
  return issues
}

interface Entry {
  readonly answer: Answer
  readonly path: string
}

function matchEntries(
  questions: readonly Question[],
  answers: readonly Answer[],
): { byId: Map<string, Entry>; issues: Issue[] } {
  const byId = new Map<string, Entry>()
  const issues: Issue[] = []
  answers.forEach((answer, index) => {
    const path = `answers[${index}]`
    if (!questions.some(question => question.id === answer.id)) {
      issues.push({ path: `${path}.id`, message: `${quote(answer.id)} was not asked` })
    } else if (byId.has(answer.id)) {
      issues.push({ path: `${path}.id`, message: `${quote(answer.id)} is answered twice` })
    } else {
      byId.set(answer.id, { answer, path })
    }
  })
  return { byId, issues }
}

function normalize(question: Question, answer: Answer): Answer {
  return {
    id: answer.id,
    selected:
      answer.selected.length < 2
        ? answer.selected
        : (question.options ?? []).flatMap(({ label }) => (answer.selected.includes(label) ? [label] : [])),
    ...(isBlank(answer.custom) ? {} : { custom: answer.custom }),
    ...(isBlank(answer.note) ? {} : { note: answer.note }),
    ...(answer.by === undefined ? {} : { by: answer.by }),
  }
}

function quote(text: string): string {
  return JSON.stringify(text)
}
