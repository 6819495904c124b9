import { describe, expect, test, vi } from 'vitest'
import { keyReader, type Key } from '../src/keys.ts'

function read(...chunks: (string | Buffer)[]): { keys: string[]; pasted: string[] } {
  const keys: string[] = []
  const pasted: string[] = []
  const named = (key: Key): string => (key.kind === 'text' ? key.text : `<${key.name}>`)
  const reader = keyReader({ key: key => keys.push(named(key)), paste: text => pasted.push(text) })
  for (const chunk of chunks) reader.read(chunk)
  return { keys, pasted }
}

describe('the key reader', () => {
  test('tells characters from keys that are none', () => {
    expect(read('a選🚀', '\r', '\u001b[A', '\u0003').keys).toEqual([
      'a',
      '選',
      '🚀',
      '<enter>',
      '<up>',
      '<ctrl-c>',
    ])
  })

  test('takes a line feed for Enter', () => {
    expect(read('\n').keys).toEqual(['<enter>'])
  })

  test('takes a lone escape for Esc, and two for two', async () => {
    const [one, two] = [read('\u001b'), read('\u001b\u001b')]
    await vi.waitFor(() => expect(one.keys).toEqual(['<escape>']))
    await vi.waitFor(() => expect(two.keys).toEqual(['<escape>', '<escape>']))
  })

  test('hears Ctrl-C right behind an Esc', () => {
    expect(read('\u001b', '\u0003').keys).toEqual(['<ctrl-c>'])
  })

  test('puts a character together that arrives in two pieces', () => {
    const bytes = Buffer.from('選')
    expect(read(bytes.subarray(0, 1), bytes.subarray(1)).keys).toEqual(['選'])
  })

  test('hands a marked paste over as one text', () => {
    expect(read('\u001b[200~a\rb\u001b[201~c')).toEqual({ keys: ['c'], pasted: ['a\rb'] })
  })

  test('hears Ctrl-C inside a paste that does not end', () => {
    expect(read('\u001b[200~abc\u0003').keys).toEqual(['<ctrl-c>'])
  })

  test('reports keys without a meaning as unbound', () => {
    expect(read('\u000f', '\u001bx', '\u001b[15~').keys).toEqual(['<unbound>', '<unbound>', '<unbound>'])
  })
})
