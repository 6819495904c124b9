import { openQuestion, send } from './answering.ts'
import type { Key } from './keys.ts'
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
  switch (key.name) {
    case 'up':
      return focusOn(view.focus - 1)
    case 'down':
      return focusOn(view.focus + 1)
    case 'home':
      return focusOn(0)
    case 'end':
      return focusOn(last)
    case 'page-up':
      return turn(-1)
    case 'page-down':
      return turn(1)
    case 'left':
    case 'shift-tab':
      return openQuestion(state, last - 1, false)
    case 'enter':
      return view.focus === last ? send(state) : openQuestion(state, view.focus, true)
    default:
      return state
  }
}
