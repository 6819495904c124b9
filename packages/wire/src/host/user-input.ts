import { answersOf, questionsKind, type InboxRequest, type SettledRequest } from '@handraise/inbox'
import { isBlank, type Answer, type Issue, type Question } from '@handraise/user-questions/types'
import {
  FREE_TEXT_LIMIT,
  type UserInputAnswer,
  type UserInputQuestion,
  type UserInputRequestParams,
  type UserInputSettledParams,
} from '../protocol/index.ts'
import type { CallPlace } from './call-place.ts'

type Requested = Omit<UserInputRequestParams, 'sessionId' | 'viewCursor' | 'sourceRange'>
type Settled = Omit<UserInputSettledParams, 'sessionId' | 'viewCursor' | 'sourceRange'>

export function questionsOf(request: InboxRequest): readonly Question[] {
  return questionsKind.asQuestions(request.payload)
}

/** A request as it is opened on the wire. */
export function toRequested(request: InboxRequest, place: CallPlace): Requested {
  const { id, openedAt, deadlineAt } = request
  return {
    userInputId: id,
    turnId: place.turnId,
    itemId: place.itemId,
    toolCallId: place.callId,
    toolName: place.tool,
    questions: questionsOf(request).map(toWireQuestion),
    ...(deadlineAt === undefined ? {} : { autoResolutionMs: Math.max(0, Math.round(deadlineAt - openedAt)) }),
  }
}

// The protocol has no place for `detail`, so it follows the question; a header it always has.
function toWireQuestion(question: Question): UserInputQuestion {
  const { id, header, detail, options = [], multiSelect, minSelections, maxSelections } = question
  return {
    id,
    header: header ?? '',
    question: detail === undefined ? question.question : `${question.question}\n\n${detail}`,
    selection:
      multiSelect === true
        ? {
            mode: 'multiple' as const,
            ...(minSelections === undefined ? {} : { minSelections }),
            ...(maxSelections === undefined ? {} : { maxSelections }),
          }
        : { mode: 'single' as const },
    options: options.map(({ label, description, preview }) => ({
      label,
      ...(description === undefined ? {} : { description }),
      ...(preview === undefined ? {} : { preview }),
    })),
  }
}

export type AnswersCheck =
  | { readonly ok: true; readonly answers: readonly Answer[] }
  | { readonly ok: false; readonly issues: readonly Issue[] }

/**
 * Answers from the wire as answers of the seam. Each takes exactly one form: `selectedLabel` where one is to be chosen,
 * `selectedLabels` where several may be, or `freeText`; texts of 500 characters at most. Whether labels were offered and
 * counts hold is for the answer rules to say. `partial`: questions may be left out.
 */
export function fromWireAnswers(
  questions: readonly Question[],
  given: readonly UserInputAnswer[],
  partial: boolean,
): AnswersCheck {
  const issues: Issue[] = []
  const answers = given.map((answer, index) => {
    const question = questions.find(({ id }) => id === answer.questionId)
    const fault = (member: string, message: string): void =>
      void issues.push({ path: `answers[${index}].${member}`, message })
    const asked = questions.map(({ id }) => JSON.stringify(id)).join(', ')
    if (question === undefined)
      fault('questionId', `${JSON.stringify(answer.questionId)} was not asked; asked: ${asked}`)
    if (given.findIndex(({ questionId }) => questionId === answer.questionId) < index)
      fault('questionId', `${JSON.stringify(answer.questionId)} is answered twice`)
    return question === undefined ? undefined : toAnswer(question, answer, fault)
  })
  const missing = partial
    ? []
    : questions.filter(({ id }) => given.every(({ questionId }) => questionId !== id))
  for (const { id } of missing)
    issues.push({ path: 'answers', message: `${JSON.stringify(id)} is not answered; answer every question` })
  return issues.length > 0
    ? { ok: false, issues }
    : { ok: true, answers: answers.filter(answer => answer !== undefined) }
}

function toAnswer(
  { id, multiSelect = false }: Question,
  { selectedLabel, selectedLabels, freeText, note }: UserInputAnswer,
  fault: (member: string, message: string) => void,
): Answer {
  const forms = [selectedLabel, selectedLabels, freeText].filter(form => form !== undefined)
  if (forms.length !== 1) {
    fault(
      'questionId',
      `takes exactly one of ${multiSelect ? 'selectedLabels' : 'selectedLabel'} and freeText, got ${forms.length}`,
    )
  }
  if (selectedLabel !== undefined && multiSelect)
    fault('selectedLabel', 'several may be chosen: send selectedLabels')
  if (selectedLabels !== undefined && !multiSelect)
    fault('selectedLabels', 'one is to be chosen: send selectedLabel')
  for (const [member, text] of Object.entries({ freeText, note })) {
    if (text !== undefined && lengthOf(text) > FREE_TEXT_LIMIT)
      fault(member, `is longer than ${FREE_TEXT_LIMIT} characters`)
  }
  // It would be no text at all, and the question skipped without anybody having said so.
  if (freeText !== undefined && isBlank(freeText)) fault('freeText', 'is blank')
  return {
    id,
    selected: selectedLabels ?? (selectedLabel === undefined ? [] : [selectedLabel]),
    ...(freeText === undefined ? {} : { custom: freeText }),
    ...(note === undefined || isBlank(note) ? {} : { note }),
  }
}

/** How a request ended, as the wire tells it. Every member is always there (MSP). */
export function toSettled(request: SettledRequest): Settled {
  const { outcome, answer, text, surface, commandId, settledAt } = request.settlement
  return {
    userInputId: request.id,
    outcome: outcome === 'declined' ? 'cancelled' : outcome,
    answers: toWireAnswers(questionsOf(request), answersOf(answer)),
    clarification: outcome === 'clarified' ? { format: 'text', content: text ?? '' } : null,
    reason: reasonOf(request.settlement),
    // Nobody commanded what the host settles by itself.
    decidedByCommandId: surface === undefined ? null : commandId,
    decidedAt: new Date(settledAt).toISOString(),
  }
}

// Declining to answer is a cancellation on the wire, and told apart by its reason.
function reasonOf({ outcome, reason }: SettledRequest['settlement']): string | null {
  if (outcome !== 'declined') return reason ?? null
  return reason === undefined ? 'declined' : `declined: ${reason}`
}

/**
 * Answers as the wire holds them. Custom text beside labels travels in `note`; texts end at 500 characters. A skipped
 * question has no entry where one was to be chosen, and an empty list where several could be.
 */
function toWireAnswers(questions: readonly Question[], answers: readonly Answer[]): UserInputAnswer[] {
  return answers.flatMap(({ id, selected, custom, note }): UserInputAnswer[] => {
    const multiple = questions.find(question => question.id === id)?.multiSelect === true
    const [label] = selected
    const words = custom !== undefined && selected.length > 0 ? [custom] : []
    const beside = [...words, ...(note === undefined ? [] : [note])].join('\n')
    const noted = beside === '' ? {} : { note: cut(beside) }
    if (custom !== undefined && selected.length === 0)
      return [{ questionId: id, freeText: cut(custom), ...noted }]
    if (multiple) return [{ questionId: id, selectedLabels: [...selected], ...noted }]
    return label === undefined ? [] : [{ questionId: id, selectedLabel: label, ...noted }]
  })
}

function lengthOf(text: string): number {
  return Array.from(text).length
}

function cut(text: string): string {
  return lengthOf(text) <= FREE_TEXT_LIMIT ? text : Array.from(text).slice(0, FREE_TEXT_LIMIT).join('')
}
