import type { Key, KeyName } from './keys.ts'
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

const EDITS: Readonly<Partial<Record<KeyName, (editor: Editor) => Editor>>> = {
  left: ({ text, cursor }) => ({ text, cursor: before(text, cursor) }),
  right: ({ text, cursor }) => ({ text, cursor: after(text, cursor) }),
  home: ({ text }) => ({ text, cursor: 0 }),
  end: ({ text }) => editorOf(text),
  'ctrl-a': ({ text }) => ({ text, cursor: 0 }),
  'ctrl-e': ({ text }) => editorOf(text),
  backspace: ({ text, cursor }) => remove(text, before(text, cursor), cursor),
  delete: ({ text, cursor }) => remove(text, cursor, after(text, cursor)),
  'ctrl-u': ({ text, cursor }) => remove(text, 0, cursor),
  'ctrl-k': ({ text, cursor }) => remove(text, cursor, text.length),
  'ctrl-w': ({ text, cursor }) => remove(text, wordBefore(text, cursor), cursor),
}

/** What a key does to the text; `undefined` when it means nothing here. */
export function editText(editor: Editor, key: Key): Editor | undefined {
  return key.kind === 'text' ? insertText(editor, key.text) : EDITS[key.name]?.(editor)
}

function remove(text: string, from: number, to: number): Editor {
  return { text: text.slice(0, from) + text.slice(to), cursor: from }
}

function wordBefore(text: string, cursor: number): number {
  return cursor - (/\S*\s*$/u.exec(text.slice(0, cursor))?.[0].length ?? 0)
}

function before(text: string, cursor: number): number {
  return cursor - (graphemes(text.slice(0, cursor)).at(-1)?.length ?? 0)
}

function after(text: string, cursor: number): number {
  return cursor + (graphemes(text.slice(cursor))[0]?.length ?? 0)
}
