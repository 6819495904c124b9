import { isBlank, isOtherLabel, readTextReply, type AnswerValue } from '@handraise/user-questions/types'
import { confirm, goBack, openQuestion, send, skip } from './answering.ts'
import { describeQuestion, describeReview, describeValue, understood } from './plain-text.ts'
import {
  confirmedAnswers,
  draftAt,
  questionAt,
  type PromptQuestion,
  type PromptState,
  type View,
} from './state.ts'
import { editorOf } from './text-editor.ts'
import { WORDING } from './wording.ts'

/** What a line that was typed leads to: the state after it, and what to print. */
export interface PlainStep {
  readonly state: PromptState
  readonly print: readonly string[]
}

type QuestionView = View & { name: 'question' }

const { plain } = WORDING

/** What to print for the view the person is in. */
export function describeView(state: PromptState): string[] {
  switch (state.view.name) {
    case 'question':
      return describeQuestion(questionAt(state, state.view.index), draftAt(state, state.view.index), state)
    case 'review':
      return describeReview(state)
    case 'reply':
      return []
  }
}

/** What a typed line makes of a prompt that is printed, not drawn. Pure. */
export function readLine(before: PromptState, line: string): PlainStep {
  const state: PromptState = { ...before, engaged: true, deadlineAt: undefined, hint: undefined }
  switch (state.view.name) {
    case 'question':
      return readQuestionLine(state, state.view, line)
    case 'review':
      return readReviewLine(state, line)
    case 'reply':
      return { state, print: [] }
  }
}

function readQuestionLine(state: PromptState, view: QuestionView, line: string): PlainStep {
  const asked = questionAt(state, view.index)
  const reply = readTextReply({ ...asked.question, options: asked.options }, line)
  switch (reply.kind) {
    case 'blank':
      return { state, print: [plain.blank, howTo(state, view)] }
    case 'command':
      return command(state, view, reply.name, reply.rest)
    case 'answer': {
      const folded = asked.options.length < (asked.question.options?.length ?? 0)
      // The folded `Other` is this row of ours: to name it is not to answer.
      if (folded && reply.value.custom !== undefined && isOtherLabel(reply.value.custom.trim()))
        return { state, print: [plain.ownNeedsText] }
      if (isNoOption(asked, reply.value)) return { state, print: [plain.noSuchOption(line.trim())] }
      return answer(state, view, reply.value)
    }
  }
}

// Elsewhere this is a text like any other; here a number is what one types to choose, and so to choose wrongly.
function isNoOption({ question, options }: PromptQuestion, { custom }: AnswerValue): boolean {
  if (options.length === 0 || custom === undefined) return false
  return (question.multiSelect === true ? /^[\d\s,]*\d[\d\s,]*$/u : /^\s*\d+\s*$/u).test(custom)
}

function answer(state: PromptState, view: QuestionView, given: AnswerValue): PlainStep {
  const { editor } = draftAt(state, view.index)
  const { question } = questionAt(state, view.index)
  const added = question.multiSelect === true && !isBlank(editor.text) && given.custom === undefined
  const value = added ? { ...given, custom: editor.text } : given
  const next = confirm(state, view, value, {
    ticked: value.selected,
    editor: editorOf(value.custom ?? ''),
  })
  return next.hint === undefined
    ? move(next, understood(questionAt(state, view.index), value))
    : { state: next, print: [`${next.hint}.`] }
}

function command(state: PromptState, view: QuestionView, name: string, rest: string): PlainStep {
  switch (name) {
    case 'skip': {
      const next = skip(state, view)
      if (next.hint !== undefined) return { state: next, print: [`${next.hint}.`] }
      return move(next, [describeValue(questionAt(state, view.index).question, { selected: [] })])
    }
    case 'back': {
      const next = goBack(state, view)
      return next.hint === undefined ? move(next, []) : { state: next, print: [`${next.hint}.`] }
    }
    case 'text':
      return isBlank(rest)
        ? { state, print: [plain.needsText(name)] }
        : answer(state, view, { selected: [], custom: rest })
    case 'add':
      return add(state, view, rest)
    default:
      return common(state, name, rest)
  }
}

function add(state: PromptState, view: QuestionView, text: string): PlainStep {
  const { question, options } = questionAt(state, view.index)
  if (question.multiSelect !== true || options.length === 0) return { state, print: [plain.addOnlyMulti] }
  if (isBlank(text)) return { state, print: [plain.needsText('add')] }
  const draft = { ...draftAt(state, view.index), editor: editorOf(text) }
  return { state: { ...state, drafts: state.drafts.with(view.index, draft) }, print: [plain.added(text)] }
}

function common(state: PromptState, name: string, rest: string): PlainStep {
  const answers = confirmedAnswers(state)
  switch (name) {
    case 'help':
      return { state, print: plain.help }
    case 'dismiss':
      return {
        state: { ...state, ending: { kind: 'cancelled', reason: WORDING.reasons.dismissed, answers } },
        print: [],
      }
    case 'decline':
      return { state: { ...state, ending: { kind: 'declined' } }, print: [] }
    case 'stop':
      return { state: { ...state, ending: { kind: 'interrupted', answers } }, print: [] }
    case 'reply':
      return isBlank(rest)
        ? { state, print: [plain.needsText(name)] }
        : { state: { ...state, ending: { kind: 'clarified', text: rest } }, print: [] }
    default:
      return { state, print: [plain.unknownCommand(name)] }
  }
}

function readReviewLine(state: PromptState, line: string): PlainStep {
  const text = line.trim().toLowerCase()
  if (text === 'send' || text === '/send') return { state: send(state), print: [] }
  if (text === '') return { state, print: [plain.blankReview, plain.howReview] }
  if (text === '/back') return move(openQuestion(state, state.questions.length - 1, true), [])
  const number = /^[0-9]{1,4}$/u.test(text) ? Number(text) : 0
  if (number >= 1 && number <= state.questions.length) return move(openQuestion(state, number - 1, true), [])
  const [, name, rest = ''] = /^\/(\S*)\s*([^]*)$/u.exec(line.trim()) ?? []
  return name === undefined
    ? { state, print: [plain.unreadReview, plain.howReview] }
    : common(state, name.toLowerCase(), rest)
}

function move(state: PromptState, print: readonly string[]): PlainStep {
  return { state, print: state.ending === undefined ? [...print, '', ...describeView(state)] : print }
}

function howTo(state: PromptState, view: QuestionView): string {
  const { question, options } = questionAt(state, view.index)
  if (options.length === 0) return plain.howText
  return question.multiSelect === true ? plain.howMulti : plain.howSingle
}

/** What stands before the place where the person types. */
export function promptOf(state: PromptState): string {
  return state.view.name === 'review' ? plain.reviewPrompt : plain.prompt
}
