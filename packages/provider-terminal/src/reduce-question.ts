import { isBlank, isSkip } from '@handraise/user-questions/types'
import { changeDraft, confirm, goBack, goForward, skip, tickedValue } from './answering.ts'
import type { Key, KeyName } from './keys.ts'
import { draftAt, questionAt, type PromptState, type View } from './state.ts'
import { editText, insertText, type Editor } from './text-editor.ts'
import { rowInSight, turnPage, type Viewport } from './viewport.ts'
import { WORDING } from './wording.ts'

type QuestionView = View & { name: 'question' }

/** A key while a question is shown. `before` is what stood before it came; `pasted` text is never a command. */
export function reduceQuestion(
  state: PromptState,
  view: QuestionView,
  key: Key,
  before: Pick<PromptState, 'digits' | 'skipsNext'>,
  viewport: Viewport | undefined,
  pasted = false,
): PromptState {
  const draft = draftAt(state, view.index)
  if (key.kind === 'named') {
    if (key.name === 'ctrl-s') return skip(state, view)
    if (key.name === 'shift-tab') return goBack(state, view)
    if (key.name === 'tab') return goForward(state, view)
    if (key.name === 'page-up') return turn(state, view, viewport, -1)
    if (key.name === 'page-down') return turn(state, view, viewport, 1)
  }
  if (draft.editing) return reduceEditor(state, view, key)
  if (key.kind === 'named') {
    if (key.name === 'enter') return choose(state, view, before.skipsNext)
    return LIST_KEYS[key.name]?.(state, view) ?? state
  }
  const { options } = questionAt(state, view.index)
  if (draft.focus === options.length)
    return key.text === ' ' && !pasted
      ? edit(state, view)
      : edit(state, view, insertText(draft.editor, key.text))
  return pasted ? state : reduceListText(state, view, key.text, before.digits)
}

type Act = (state: PromptState, view: QuestionView) => PromptState

const LIST_KEYS: Readonly<Partial<Record<KeyName, Act>>> = {
  up: (state, view) => {
    const { focus } = draftAt(state, view.index)
    return focusRow(state, view, focus < 0 ? lastRow(state, view) : Math.max(0, focus - 1))
  },
  down: (state, view) =>
    focusRow(state, view, Math.min(lastRow(state, view), draftAt(state, view.index).focus + 1)),
  home: (state, view) => focusRow(state, view, 0),
  end: (state, view) => focusRow(state, view, lastRow(state, view)),
  left: goBack,
  right: goForward,
}

function lastRow(state: PromptState, view: QuestionView): number {
  return questionAt(state, view.index).options.length
}

function reduceListText(state: PromptState, view: QuestionView, text: string, digits: string): PromptState {
  switch (text) {
    case 'j':
      return LIST_KEYS.down?.(state, view) ?? state
    case 'k':
      return LIST_KEYS.up?.(state, view) ?? state
    case 's':
      return skip(state, view)
    case ' ':
      return toggle(state, view, draftAt(state, view.index).focus)
    default:
      return /^[0-9]$/u.test(text) ? pressDigit(state, view, digits, text) : state
  }
}

function choose(state: PromptState, view: QuestionView, mayBeEmpty: boolean): PromptState {
  const { question, options } = questionAt(state, view.index)
  const { focus } = draftAt(state, view.index)
  if (focus < 0) return { ...state, hint: WORDING.moveFirst }
  if (focus === options.length) return edit(state, view)
  if (question.multiSelect === true) {
    const value = tickedValue(state, view.index)
    // Who does not know of Space takes Enter for the choice of what is in focus.
    return isSkip(value) && question.minSelections === undefined && !mayBeEmpty
      ? { ...state, skipsNext: true, hint: WORDING.nothingTicked }
      : confirm(state, view, value)
  }
  const label = options[focus]?.label
  return label === undefined ? state : confirm(state, view, { selected: [label] }, { ticked: [label] })
}

function toggle(state: PromptState, view: QuestionView, row: number): PromptState {
  const { question, options } = questionAt(state, view.index)
  if (row < 0) return { ...state, hint: WORDING.moveFirst }
  const label = options[row]?.label
  if (question.multiSelect !== true || label === undefined) return state
  const { ticked } = draftAt(state, view.index)
  return changeDraft(state, view.index, {
    ticked: ticked.includes(label) ? ticked.filter(each => each !== label) : [...ticked, label],
  })
}

// `1` then `2` is 12 where there are as many rows; where there are not, the second digit counts alone.
function pressDigit(state: PromptState, view: QuestionView, digits: string, digit: string): PromptState {
  const { options } = questionAt(state, view.index)
  const rows = options.length + 1
  const typed = [digits + digit, digit].find(each => Number(each) >= 1 && Number(each) <= rows)
  if (typed === undefined) return state
  const row = Number(typed) - 1
  const focused = focusRow({ ...state, digits: typed }, view, row)
  // With ten rows and more, the digit may be the first of two: it ticks nothing yet.
  return rows < 10 ? toggle(focused, view, row) : focused
}

function focusRow(state: PromptState, view: QuestionView, focus: number): PromptState {
  return changeDraft({ ...state, scroll: { ...state.scroll, follow: true } }, view.index, { focus })
}

function edit(state: PromptState, view: QuestionView, editor?: Editor): PromptState {
  const following = { ...state, scroll: { ...state.scroll, follow: true } }
  return changeDraft(following, view.index, { editing: true, ...(editor === undefined ? {} : { editor }) })
}

function reduceEditor(state: PromptState, view: QuestionView, key: Key): PromptState {
  const { question, options } = questionAt(state, view.index)
  const { editor } = draftAt(state, view.index)
  if (key.kind === 'named') {
    if (key.name === 'enter') {
      if (isBlank(editor.text))
        return { ...state, hint: options.length === 0 ? WORDING.emptyOnlyText : WORDING.emptyText }
      return question.multiSelect === true
        ? confirm(state, view, tickedValue(state, view.index))
        : confirm(state, view, { selected: [], custom: editor.text }, { ticked: [] })
    }
    if (key.name === 'up' && options.length > 0)
      return changeDraft(focusRow(state, view, options.length - 1), view.index, { editing: false })
  }
  const edited = editText(editor, key)
  return edited === undefined ? state : edit(state, view, edited)
}

function turn(
  state: PromptState,
  view: QuestionView,
  viewport: Viewport | undefined,
  by: 1 | -1,
): PromptState {
  const { options } = questionAt(state, view.index)
  const { focus, editing } = draftAt(state, view.index)
  const turned = viewport === undefined ? undefined : turnPage(viewport, by)
  if (turned === undefined) {
    // Nothing to decide by accident: a page key never gives a guarded question its first focus.
    if (editing || focus < 0) return state
    return focusRow(state, view, by === 1 ? options.length : 0)
  }
  const scrolled = { ...state, scroll: { top: turned.top, follow: false } }
  return editing ? scrolled : changeDraft(scrolled, view.index, { focus: rowInSight(turned, focus, by) })
}
