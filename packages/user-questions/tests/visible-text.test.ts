import { visibleLine, visibleText } from '@handraise/user-questions'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const texts = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map(code => String.fromCharCode(code)) }),
  fc.string({
    unit: fc.constantFrom(
      '\u001b[2K',
      '\u0007',
      '\u009b31m',
      '\u202e',
      '\r',
      '\n',
      '\r\n',
      '\b',
      '\0',
      '\t',
      '\ud83d',
      '\ude80',
      '🚀',
      'a',
    ),
  }),
)

// Spelt out here once more, so that the test does not trust the pattern it tests.
const obeyed = (character: string): boolean => {
  const code = character.codePointAt(0) ?? 0
  return (
    code < 0x20 ||
    (code >= 0x7f && code <= 0x9f) ||
    (code >= 0x202a && code <= 0x202e) ||
    (code >= 0x2066 && code <= 0x2069) ||
    [0x061c, 0x200e, 0x200f, 0x2028, 0x2029, 0xfeff].includes(code) ||
    (code >= 0xd800 && code <= 0xdfff) ||
    (code >= 0xe0000 && code <= 0xe007f)
  )
}

describe('visible text', () => {
  test('holds nothing that a terminal would obey', () => {
    fc.assert(
      fc.property(texts, text => {
        expect(
          Array.from(visibleText(text)).filter(character => character !== '\n' && obeyed(character)),
        ).toEqual([])
        expect(Array.from(visibleLine(text)).filter(obeyed)).toEqual([])
      }),
      { numRuns: 1000 },
    )
  })

  test('stays as it is when made visible again', () => {
    fc.assert(
      fc.property(texts, text => {
        const once = visibleText(text)
        expect(visibleText(once)).toBe(once)
        expect(visibleLine(visibleLine(text))).toBe(visibleLine(text))
      }),
    )
  })

  test('leaves clean text alone, in any script', () => {
    for (const text of [
      'Yes, always',
      '選択肢',
      'בחירה (Recommended)',
      '👨‍👩‍👧‍👦 🇯🇵 👍🏽',
      'e\u0301',
      'क्षि',
      'a\nb',
    ]) {
      expect(visibleText(text)).toBe(text)
    }
  })

  test('writes out what it will not obey', () => {
    expect(visibleText('Safe\u001b[2K\u001b[1A\u001b]0;x\u0007\u009b31mFAKE\u202e')).toBe(
      String.raw`Safe\u001b[2K\u001b[1A\u001b]0;x\u0007\u009b31mFAKE\u202e`,
    )
    expect(visibleText('a\rb\bc\0d\ud83de')).toBe(String.raw`a\u000db\u0008c\u0000d\ud83de`)
    expect(visibleText('x\u{e0041}y')).toBe(String.raw`x\u{e0041}y`)
    expect(visibleText('safe\u202etxt.exe')).toBe(String.raw`safe\u202etxt.exe`)
  })

  test('writes out each mark that reorders or hides text', () => {
    const marks = [0x61c, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202e, 0x2066, 0x2069, 0xfeff, 0xfff9]
    for (const mark of marks) {
      const written = String.raw`a\u` + mark.toString(16).padStart(4, '0') + 'b'
      expect(visibleText(`a${String.fromCodePoint(mark)}b`)).toBe(written)
    }
  })

  test('keeps line breaks, and takes two spaces for a tab', () => {
    expect(visibleText('a\r\nb\nc\td')).toBe('a\nb\nc  d')
  })

  test('on one line has a space for each line break', () => {
    expect(visibleLine('a \r\n\n  b\nc')).toBe('a b c')
  })
})
