import type { Key } from './keys.ts'
import { graphemes } from './wrap.ts'

/** A line of text being written. */
export interface Editor {
  readonly text: string
  /** Where the next character goes: an index into `text`, between two graphemes. */
  readonly cursor: number
}

export const emptyEditor: Editor = { text: '', cursor: 0 }

export function editorOf(text: string): Editor {
  return { text, cursor: text.length }
}

/** Puts text in at the cursor. Line breaks and tabs become spaces, other control codes are dropped. */
export function insertText({ text, cursor }: Editor, added: string): Editor {
  const clean = added
    .replace(/\r\n|[\n\r\t\u0085\u2028\u2029]/gu, ' ')
    .replace(/[\u0000-\u001f\u007f-\u009f]/gu, '')
  return { text: text.slice(0, cursor) + clean + text.slice(cursor), cursor: cursor + clean.length }
}

/** What a key does to the text; `undefined` when it means nothing here. */
export function editText(editor: Editor, key: Key): Editor | undefined {
  if (key.kind === 'text') return insertText(editor, key.text)
  const { text, cursor } = editor
  const remove = (from: number, to: number): Editor => ({
    text: text.slice(0, from) + text.slice(to),
    cursor: from,
  })
  switch (key.name) {
    case 'left':
      return { text, cursor: before(text, cursor) }
    case 'right':
      return { text, cursor: after(text, cursor) }
    case 'home':
    case 'ctrl-a':
      return { text, cursor: 0 }
    case 'end':
    case 'ctrl-e':
      return { text, cursor: text.length }
    case 'backspace':
      return remove(before(text, cursor), cursor)
    case 'delete':
      return remove(cursor, after(text, cursor))
    case 'ctrl-u':
      return remove(0, cursor)
    case 'ctrl-k':
      return remove(cursor, text.length)
    case 'ctrl-w':
      return remove(cursor - (/\S*\s*$/u.exec(text.slice(0, cursor))?.[0].length ?? 0), cursor)
    default:
      return undefined
  }
}

function before(text: string, cursor: number): number {
  return cursor - (graphemes(text.slice(0, cursor)).at(-1)?.length ?? 0)
}

function after(text: string, cursor: number): number {
  return cursor + (graphemes(text.slice(cursor))[0]?.length ?? 0)
}
