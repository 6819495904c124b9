import { checkValue } from '@handraise/user-questions/types'
import { confirmedAnswers, countGiven, draftAt, questionAt, type PromptState } from './state.ts'
import { WORDING } from './wording.ts'
import { cut, widthOf } from './wrap.ts'

const { controls } = WORDING
type Control = (typeof controls)[keyof typeof controls]

const SEPARATOR = ' · '

/**
 * The keys that do something now, in at most `lines` lines. What answers and what leaves come first, and are the last to
 * go where there is no room.
 */
export function controlLines(state: PromptState, columns: number, lines: number, pages: boolean): string[] {
  if (!state.armed) return [cut(WORDING.notYet, columns)]
  const packed: string[] = []
  for (const [key, does] of controlsOf(state, pages)) {
    const text = `${key} ${does}`
    const last = packed.at(-1)
    if (last !== undefined && widthOf(last + SEPARATOR + text) <= columns)
      packed[packed.length - 1] = last + SEPARATOR + text
    else if (packed.length < lines) packed.push(cut(text, columns))
    // How to leave is to be seen on any screen, if only by the name of the key.
    else if (last !== undefined && key === 'Esc' && widthOf(last + SEPARATOR + key) <= columns)
      packed[packed.length - 1] = last + SEPARATOR + key
  }
  return packed
}

function controlsOf(state: PromptState, pages: boolean): Control[] {
  const { view } = state
  const paging = pages ? [controls.page] : []
  const leave = countGiven(confirmedAnswers(state)) > 0 ? controls.dismiss : controls.decline
  switch (view.name) {
    case 'reply':
      return [controls.send, controls.return, controls.cancel]
    case 'review': {
      const enter = view.focus === state.questions.length ? controls.send : controls.openReview
      return [
        enter,
        leave,
        controls.move,
        controls.back,
        ...paging,
        controls.reply,
        controls.stop,
        controls.cancel,
      ]
    }
    case 'question': {
      const { question, options } = questionAt(state, view.index)
      const { editing, focus, editor, outcome } = draftAt(state, view.index)
      const onOwn = focus === options.length
      const mayGoBack = view.index > 0 || view.fromReview
      const skip =
        checkValue(question, { selected: [] }, '').length > 0
          ? []
          : [editing || onOwn ? controls.skipAnywhere : controls.skip]
      const ends = [controls.reply, controls.stop, controls.cancel]
      const forward = outcome === undefined ? [] : [controls.forward]
      if (editing) {
        const back = mayGoBack ? [controls.backFromText] : []
        const escape = editor.text !== '' ? controls.clear : options.length > 0 ? controls.toList : leave
        return [controls.confirm, escape, ...paging, ...skip, ...back, ...forward, ...ends]
      }
      const back = mayGoBack ? [controls.back] : []
      const multi = question.multiSelect === true
      const enter = onOwn ? [controls.open] : focus < 0 ? [] : [multi ? controls.goOn : controls.choose]
      const tick = multi && !onOwn && focus >= 0 ? [controls.toggle] : []
      return [...enter, leave, ...tick, controls.move, ...paging, ...skip, ...back, ...forward, ...ends]
    }
  }
}
