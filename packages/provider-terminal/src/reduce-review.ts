import { openQuestion, send } from './answering.ts'
import type { Key, KeyName } from './keys.ts'
import type { PromptState, View } from './state.ts'
import { rowInSight, turnPage, type Viewport } from './viewport.ts'

/** A key while the answers are looked over. */
export function reduceReview(
  state: PromptState,
  view: View & { name: 'review' },
  key: Key,
  viewport: Viewport | undefined,
): PromptState {
  const last = state.questions.length
  const focusOn = (focus: number): PromptState => ({
    ...state,
    view: { ...view, focus: Math.min(Math.max(focus, 0), last) },
    scroll: { ...state.scroll, follow: true },
  })
  const turn = (by: 1 | -1): PromptState => {
    const turned = viewport === undefined ? undefined : turnPage(viewport, by)
    if (turned === undefined) return focusOn(by === 1 ? last : 0)
    return {
      ...state,
      view: { ...view, focus: rowInSight(turned, view.focus, by) },
      scroll: { top: turned.top, follow: false },
    }
  }
  if (key.kind === 'text') {
    if (key.text === 'j') return focusOn(view.focus + 1)
    if (key.text === 'k') return focusOn(view.focus - 1)
    return /^[1-9]$/u.test(key.text) && Number(key.text) <= last ? focusOn(Number(key.text) - 1) : state
  }
  const acts: Readonly<Partial<Record<KeyName, () => PromptState>>> = {
    up: () => focusOn(view.focus - 1),
    down: () => focusOn(view.focus + 1),
    home: () => focusOn(0),
    end: () => focusOn(last),
    'page-up': () => turn(-1),
    'page-down': () => turn(1),
    left: () => openQuestion(state, last - 1, false),
    'shift-tab': () => openQuestion(state, last - 1, false),
    enter: () => (view.focus === last ? send(state) : openQuestion(state, view.focus, true)),
  }
  return acts[key.name]?.() ?? state
}
