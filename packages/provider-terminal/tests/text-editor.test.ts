import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Key, KeyName } from '../src/keys.ts'
import { editorOf, editText, emptyEditor, insertText, type Editor } from '../src/text-editor.ts'

const press = (editor: Editor, ...names: KeyName[]): Editor =>
  names.reduce<Editor>((each, name) => editText(each, { kind: 'named', name }) ?? each, editor)

describe('the text editor', () => {
  test('puts text in at the cursor', () => {
    expect(insertText(press(editorOf('ac'), 'left'), 'b')).toEqual({ text: 'abc', cursor: 2 })
  })

  test('moves and deletes by what is seen as one character', () => {
    const family = '👨‍👩‍👧‍👦'
    expect(press(editorOf(`a${family}`), 'left')).toEqual({ text: `a${family}`, cursor: 1 })
    expect(press(editorOf(`a${family}`), 'backspace')).toEqual(editorOf('a'))
    expect(press({ text: 'e\u0301b', cursor: 0 }, 'delete')).toEqual({ text: 'b', cursor: 0 })
  })

  test('deletes the word before the cursor', () => {
    expect(press(editorOf('also docs  '), 'ctrl-w')).toEqual(editorOf('also '))
  })

  test('deletes to either end of the line', () => {
    const middle: Editor = { text: 'abcd', cursor: 2 }
    expect(press(middle, 'ctrl-u')).toEqual({ text: 'cd', cursor: 0 })
    expect(press(middle, 'ctrl-k')).toEqual({ text: 'ab', cursor: 2 })
  })

  test('jumps to either end', () => {
    expect(press(editorOf('abc'), 'home').cursor).toBe(0)
    expect(press(editorOf('abc'), 'ctrl-a', 'ctrl-e').cursor).toBe(3)
  })

  test('keeps a pasted text on one line without control codes', () => {
    expect(insertText(emptyEditor, 'a\r\nb\tc\u001b[2Jd\u0007').text).toBe('a b c[2Jd')
  })

  test('leaves keys that mean nothing to it to others', () => {
    expect(editText(editorOf('a'), { kind: 'named', name: 'tab' })).toBeUndefined()
  })

  test('keeps the cursor inside the text whatever is pressed', () => {
    const names: KeyName[] = [
      'left',
      'right',
      'home',
      'end',
      'backspace',
      'delete',
      'ctrl-u',
      'ctrl-w',
      'ctrl-k',
    ]
    const key: fc.Arbitrary<Key> = fc.oneof(
      fc.constantFrom(...names).map(name => ({ kind: 'named' as const, name })),
      fc.string({ unit: 'grapheme' }).map(text => ({ kind: 'text' as const, text })),
    )
    fc.assert(
      fc.property(fc.array(key), keys => {
        const { text, cursor } = keys.reduce<Editor>(
          (editor, each) => editText(editor, each) ?? editor,
          emptyEditor,
        )
        expect(cursor).toBeGreaterThanOrEqual(0)
        expect(cursor).toBeLessThanOrEqual(text.length)
      }),
    )
  })
})
