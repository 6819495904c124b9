import {
  countFault,
  isSkip,
  type Answer,
  type AnswerValue,
  type Question,
} from '@handraise/user-questions/types'

/** What the person has done to one question so far. Nothing that was typed is lost by choosing something else. */
export interface QuestionDraft {
  readonly ticked: readonly string[]
  readonly text: string
  /** The free-text row is what is chosen, or one of the things that are. */
  readonly own: boolean
  /** A remark beside the choice. */
  readonly note: string
  readonly skipped: boolean
}

/** What the person has done to a request so far. */
export interface RequestDraft {
  /** The question in view, or the number of questions for the review. */
  readonly step: number
  readonly questions: Readonly<Record<string, QuestionDraft>>
  /** What they want to say instead of answering. */
  readonly reply: string
  /** A decision on its way. It keeps its command over every retry, and over a reload. */
  readonly sending?: Sending | undefined
  /** Commands sent from here: what one of them settled was settled by this person. */
  readonly sent: readonly string[]
}

const HOWS = ['answer', 'decline', 'clarify', 'cancel', 'interrupt'] as const

export type How = (typeof HOWS)[number]

export interface Sending {
  readonly commandId: string
  readonly how: How
  readonly answers?: readonly Answer[] | undefined
  readonly text?: string | undefined
}

export const emptyDraft: RequestDraft = { step: 0, questions: Object.create(null), reply: '', sent: [] }

const untouched: QuestionDraft = { ticked: [], text: '', own: false, note: '', skipped: false }

export function draftOf({ questions }: RequestDraft, { id }: Question): QuestionDraft {
  return Object.hasOwn(questions, id) ? (questions[id] ?? untouched) : untouched
}

export function changeQuestion(
  draft: RequestDraft,
  question: Question,
  change: Partial<QuestionDraft>,
): RequestDraft {
  const changed = { ...draftOf(draft, question), skipped: false, ...change }
  // A map without a prototype: a question may be called `__proto__`.
  const questions = Object.assign(Object.create(null), draft.questions, { [question.id]: changed })
  return { ...draft, questions }
}

/** Chooses a label, or on a multi-select question ticks or unticks it. */
export function choose(draft: RequestDraft, question: Question, label: string): RequestDraft {
  const { ticked } = draftOf(draft, question)
  if (question.multiSelect !== true) return changeQuestion(draft, question, { ticked: [label], own: false })
  const others = ticked.filter(other => other !== label)
  return changeQuestion(draft, question, {
    ticked: others.length < ticked.length ? others : [...ticked, label],
  })
}

/** Writes in the free-text row, which chooses it; on a single-select question that takes the place of the choice. */
export function write(draft: RequestDraft, question: Question, text: string): RequestDraft {
  return changeQuestion(draft, question, { ...ownChosen(question), text })
}

export function chooseOwn(draft: RequestDraft, question: Question): RequestDraft {
  const { own } = draftOf(draft, question)
  return question.multiSelect === true
    ? changeQuestion(draft, question, { own: !own })
    : changeQuestion(draft, question, ownChosen(question))
}

function ownChosen({ multiSelect }: Question): Partial<QuestionDraft> {
  return { own: true, ...(multiSelect === true ? {} : { ticked: [] }) }
}

/** What was chosen or written, once it is something; a skip when the person said so. */
export function valueOf(question: Question, draft: QuestionDraft): AnswerValue | undefined {
  if (draft.skipped) return { selected: [] }
  const custom = draft.own && draft.text.trim() !== '' ? draft.text : undefined
  const selected = (question.options ?? []).flatMap(({ label }) =>
    draft.ticked.includes(label) ? [label] : [],
  )
  if (custom === undefined && selected.length === 0) return undefined
  const note = draft.note.trim() === '' || selected.length === 0 ? {} : { note: draft.note }
  return { selected, ...(custom === undefined ? {} : { custom }), ...note }
}

/** The rule of the question that keeps its draft from being sent as it is. */
export function faultOf(
  question: Question,
  draft: QuestionDraft,
): { readonly rule: 'least' | 'most'; readonly count: number } | undefined {
  const { selected, custom } = valueOf(question, draft) ?? { selected: [] }
  return countFault(question, selected.length + (custom === undefined ? 0 : 1))
}

/** The whole answer: what was left open is skipped. */
export function answersOf(questions: readonly Question[], draft: RequestDraft): Answer[] {
  return questions.map(question => ({
    id: question.id,
    ...(valueOf(question, draftOf(draft, question)) ?? { selected: [] }),
  }))
}

/** What was answered so far, for an ending that keeps it. */
export function givenOf(questions: readonly Question[], draft: RequestDraft): Answer[] {
  return answersOf(questions, draft).filter(answer => !isSkip(answer))
}

/** All that was written and not sent, as one text. */
export function textOf(questions: readonly Question[], draft: RequestDraft): string {
  const written = questions.flatMap(question => {
    const { text, note } = draftOf(draft, question)
    return [text, note]
  })
  return [...new Set([...written, draft.reply])].filter(text => text.trim() !== '').join('\n\n')
}

/** Whether something that was kept is a draft, whatever wrote it. */
export function isRequestDraft(value: unknown): value is RequestDraft {
  if (!isRecord(value) || !isRecord(value['questions'])) return false
  const { step, questions, reply, sending, sent } = value
  return (
    Number.isInteger(step) &&
    (step as number) >= 0 &&
    typeof reply === 'string' &&
    isTexts(sent) &&
    (sending === undefined || isSending(sending)) &&
    Object.values(questions).every(
      question =>
        isRecord(question) &&
        isTexts(question['ticked']) &&
        typeof question['text'] === 'string' &&
        typeof question['note'] === 'string',
    )
  )
}

function isSending(value: unknown): boolean {
  return isRecord(value) && typeof value['commandId'] === 'string' && HOWS.some(how => how === value['how'])
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(text => typeof text === 'string')
}
