import type { Question } from '@handraise/user-questions/types'
import type { Key, KeyName } from '../src/keys.ts'
import { lineText } from '../src/line.ts'
import { reduce } from '../src/reduce.ts'
import { render, type Size } from '../src/render.ts'
import { openPrompt, type PromptState } from '../src/state.ts'

const NAMES: readonly string[] = [
  'up',
  'down',
  'left',
  'right',
  'home',
  'end',
  'page-up',
  'page-down',
  'enter',
  'escape',
  'backspace',
  'delete',
  'tab',
  'shift-tab',
  'unbound',
]

export const NOON = 1_000_000

export function keyOf(key: string): Key {
  return NAMES.includes(key) || /^ctrl-[a-z]$/u.test(key)
    ? { kind: 'named', name: key as KeyName }
    : { kind: 'text', text: key }
}

/** A prompt whose keys count. */
export function armed(questions: readonly Question[], deadlineAt?: number): PromptState {
  return reduce(openPrompt(questions, { now: NOON, deadlineAt }), { type: 'arm' })
}

/** Presses keys one after the other; text is typed character by character. `size` is the screen they are pressed on. */
export function press(state: PromptState, keys: readonly string[], size?: Size): PromptState {
  return keys
    .flatMap(key => (keyOf(key).kind === 'named' ? [key] : Array.from(key)))
    .reduce(
      (each, key) =>
        reduce(each, {
          type: 'key',
          key: keyOf(key),
          now: each.now,
          viewport: size === undefined ? undefined : render(each, size).viewport,
        }),
      state,
    )
}

/** The frame as text. */
export function screen(state: PromptState, size: Size = { columns: 80, rows: 24 }): string[] {
  return render(state, size).lines.map(lineText)
}
