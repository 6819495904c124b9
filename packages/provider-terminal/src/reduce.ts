import { isBlank } from '@handraise/user-questions/types'
import type { Key } from './keys.ts'
import { reduceQuestion } from './reduce-question.ts'
import { reduceReview } from './reduce-review.ts'
import {
  confirmedAnswers,
  countGiven,
  draftAt,
  isBare,
  isTooEarly,
  questionAt,
  type PromptState,
  type View,
} from './state.ts'
import { editText, emptyEditor, insertText } from './text-editor.ts'
import type { Viewport } from './viewport.ts'
import { WORDING } from './wording.ts'

export type PromptEvent =
  /** `now` in milliseconds since the Unix epoch; `viewport` is what the person saw when they pressed. */
  | {
      readonly type: 'key'
      readonly key: Key
      readonly now: number
      readonly viewport?: Viewport | undefined
    }
  | { readonly type: 'paste'; readonly text: string; readonly now: number }
  /** From here on keys count. */
  | { readonly type: 'arm' }
  /** What the person was brought to is on the screen. */
  | { readonly type: 'shown'; readonly now: number }
  | { readonly type: 'tick'; readonly now: number }
  /** No key will come any more. */
  | { readonly type: 'end' }

const ESCAPE_AGAIN_MS = 2000

/** What an event makes of a prompt. Pure; once `ending` is set nothing changes any more. */
export function reduce(state: PromptState, event: PromptEvent): PromptState {
  if (state.ending !== undefined) return state
  switch (event.type) {
    case 'arm':
      return { ...state, armed: true }
    case 'shown':
      return { ...state, shownAt: event.now }
    case 'tick':
      return tick(state, event.now)
    case 'end':
      return cancel(state, WORDING.reasons.endOfInput)
    case 'paste':
      return counts(state, event.now)
        ? paste(engage(state, event.now), event.text)
        : ignoreEarly(state, event.now)
    case 'key':
      if (isNamed(event.key, 'ctrl-c')) return cancel(state, WORDING.reasons.dismissed)
      return counts(state, event.now)
        ? noteArrival(state, press(state, event))
        : ignoreEarly(state, event.now)
  }
}

// Keys that are typed ahead, held down or pressed twice by accident are no answer to what they brought up.
function counts(state: PromptState, now: number): boolean {
  return state.armed && !isTooEarly(state, now)
}

function noteArrival(before: PromptState, after: PromptState): PromptState {
  // That nothing is ticked is news as well: the same Enter must not be the answer to it.
  return isNewView(before.view, after.view) || (after.skipsNext && !before.skipsNext)
    ? { ...after, shownAt: after.now }
    : after
}

// Writing back is opened and left by the person alone, and what is behind it was read before.
function isNewView(before: View, after: View): boolean {
  if (before.name === 'reply' || after.name === 'reply') return false
  return before.name === 'question' && after.name === 'question'
    ? before.index !== after.index
    : before.name !== after.name
}

function press(before: PromptState, event: PromptEvent & { type: 'key' }): PromptState {
  const { key, viewport, now } = event
  const engaged = engage(before, now)
  const state =
    viewport === undefined ? engaged : { ...engaged, scroll: { ...engaged.scroll, top: viewport.top } }
  if (key.kind === 'named') {
    if (key.name === 'escape') return escape(state, before.escapeUntil)
    if (key.name === 'ctrl-d') return cancel(state, WORDING.reasons.endOfInput)
    if (key.name === 'ctrl-x')
      return { ...state, ending: { kind: 'interrupted', answers: confirmedAnswers(state) } }
    if (key.name === 'ctrl-t' && state.view.name !== 'reply')
      return { ...state, view: { name: 'reply', back: state.view }, scroll: { top: 0, follow: true } }
  }
  switch (state.view.name) {
    case 'question':
      return reduceQuestion(state, state.view, key, before, viewport)
    case 'review':
      return reduceReview(state, state.view, key, viewport)
    case 'reply':
      return reduceReply(state, key)
  }
}

// Any key takes back what waited for a certain next one.
function engage(state: PromptState, now: number): PromptState {
  return {
    ...state,
    now,
    engaged: true,
    deadlineAt: undefined,
    hint: undefined,
    escapeUntil: undefined,
    digits: '',
    skipsNext: false,
  }
}

// Each key that comes too early begins the pause anew: what is held down ends before anything counts.
function ignoreEarly(state: PromptState, now: number): PromptState {
  if (!state.armed) return { ...state, hint: WORDING.ignoredEarly }
  return { ...state, shownAt: now, hint: state.skipsNext ? state.hint : WORDING.ignoredEarly }
}

function tick(state: PromptState, now: number): PromptState {
  if (state.escapeUntil === undefined || now <= state.escapeUntil) return { ...state, now }
  return { ...state, now, escapeUntil: undefined, hint: undefined }
}

function paste(state: PromptState, text: string): PromptState {
  const follow = { ...state.scroll, follow: true }
  if (state.view.name === 'reply') return { ...state, reply: insertText(state.reply, text), scroll: follow }
  if (state.view.name === 'review') return state
  return reduceQuestion(state, state.view, { kind: 'text', text }, state, undefined, true)
}

function cancel(state: PromptState, reason: string): PromptState {
  return { ...state, ending: { kind: 'cancelled', reason, answers: confirmedAnswers(state) } }
}

function escape(state: PromptState, escapeUntil: number | undefined): PromptState {
  const { view } = state
  if (view.name === 'reply') return { ...state, view: view.back, scroll: { top: 0, follow: true } }
  if (view.name === 'question') {
    const draft = draftAt(state, view.index)
    const isOnlyText = isBare(questionAt(state, view.index))
    if (draft.editing && !(isOnlyText && draft.editor.text === '')) {
      const left = draft.editor.text === '' ? { ...draft, editing: false } : { ...draft, editor: emptyEditor }
      return { ...state, drafts: state.drafts.with(view.index, left) }
    }
  }
  const answers = confirmedAnswers(state)
  const given = countGiven(answers)
  if (escapeUntil === undefined || state.now > escapeUntil) {
    return {
      ...state,
      escapeUntil: state.now + ESCAPE_AGAIN_MS,
      hint:
        given === 0
          ? WORDING.escapeDeclines
          : WORDING.escapeDismisses(given, answers.length - given, state.questions.length - answers.length),
    }
  }
  return given === 0 ? { ...state, ending: { kind: 'declined' } } : cancel(state, WORDING.reasons.dismissed)
}

function reduceReply(state: PromptState, key: Key): PromptState {
  if (isNamed(key, 'enter')) {
    return isBlank(state.reply.text)
      ? { ...state, hint: WORDING.emptyReply }
      : { ...state, ending: { kind: 'clarified', text: state.reply.text } }
  }
  const edited = editText(state.reply, key)
  return edited === undefined ? state : { ...state, reply: edited, scroll: { ...state.scroll, follow: true } }
}

function isNamed(key: Key, name: Extract<Key, { kind: 'named' }>['name']): boolean {
  return key.kind === 'named' && key.name === name
}
