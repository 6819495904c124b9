import {
  checkValue,
  countFault,
  isBlank,
  type AnswerValue,
  type Question,
} from '@handraise/user-questions/types'
import { confirmedAnswers, draftAt, questionAt, type Draft, type PromptState, type View } from './state.ts'
import { WORDING } from './wording.ts'

type QuestionView = View & { name: 'question' }

/** Takes `value` as what the person decided and goes on; says why not when it breaks a rule. */
export function confirm(
  state: PromptState,
  view: QuestionView,
  value: AnswerValue,
  change: Partial<Draft> = {},
): PromptState {
  const { question } = questionAt(state, view.index)
  const fault = faultOf(question, value)
  if (fault !== undefined) return { ...state, hint: fault }
  return goOn(changeDraft(state, view.index, { ...change, outcome: value }), view)
}

export function skip(state: PromptState, view: QuestionView): PromptState {
  const { question } = questionAt(state, view.index)
  if (faultOf(question, { selected: [] }) !== undefined) return { ...state, hint: WORDING.cannotSkip }
  return confirm(state, view, { selected: [] }, { ticked: [] })
}

/** What is ticked and written on a multi-select question. */
export function tickedValue(state: PromptState, index: number): AnswerValue {
  const { options } = questionAt(state, index)
  const { ticked, editor } = draftAt(state, index)
  const selected = options.flatMap(({ label }) => (ticked.includes(label) ? [label] : []))
  return isBlank(editor.text) ? { selected } : { selected, custom: editor.text }
}

/** To the next question without changing what was confirmed. */
export function goForward(state: PromptState, view: QuestionView): PromptState {
  const { question } = questionAt(state, view.index)
  const { outcome } = draftAt(state, view.index)
  if (question.multiSelect === true) {
    const value = tickedValue(state, view.index)
    // Ticks that were never confirmed are confirmed by going on: what is seen is what is sent.
    if (outcome !== undefined || value.selected.length > 0 || value.custom !== undefined)
      return confirm(state, view, value)
  }
  return outcome === undefined ? { ...state, hint: WORDING.notAnsweredYet } : goOn(state, view)
}

export function goBack(state: PromptState, view: QuestionView): PromptState {
  if (view.fromReview) return openReview(state)
  return view.index === 0
    ? { ...state, hint: WORDING.noPrevious }
    : openQuestion(state, view.index - 1, false)
}

export function openQuestion(state: PromptState, index: number, fromReview: boolean): PromptState {
  const { focus, outcome } = draftAt(state, index)
  return {
    ...state,
    view: { name: 'question', index, fromReview },
    // A question that is new is read from its beginning.
    scroll: { top: 0, follow: focus > 0 || outcome !== undefined },
  }
}

export function send(state: PromptState): PromptState {
  return { ...state, ending: { kind: 'answered', answers: confirmedAnswers(state) } }
}

export function changeDraft(state: PromptState, index: number, change: Partial<Draft>): PromptState {
  return { ...state, drafts: state.drafts.with(index, { ...draftAt(state, index), ...change }) }
}

function goOn(state: PromptState, view: QuestionView): PromptState {
  if (state.questions.length === 1) return send(state)
  const next = view.index + 1
  return view.fromReview || next === state.questions.length
    ? openReview(state)
    : openQuestion(state, next, false)
}

function openReview(state: PromptState): PromptState {
  return {
    ...state,
    view: { name: 'review', focus: state.questions.length },
    scroll: { top: 0, follow: true },
  }
}

function faultOf(question: Question, value: AnswerValue): string | undefined {
  const [fault] = checkValue(question, value, '')
  if (fault === undefined) return undefined
  const miscounted = countFault(question, value.selected.length + (isBlank(value.custom) ? 0 : 1))
  if (miscounted === undefined) return fault.message
  return miscounted.rule === 'least' ? WORDING.atLeast(miscounted.count) : WORDING.atMost(miscounted.count)
}
