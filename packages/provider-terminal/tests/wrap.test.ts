import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cut, graphemes, widthOf, wrap } from '../src/wrap.ts'

const WIDTHS: [string, number][] = [
  ['選択肢', 6],
  ['한국어', 6],
  ['ｶﾅ', 2],
  ['🚀', 2],
  ['⚠️', 2],
  ['👨‍👩‍👧‍👦', 2],
  ['🇯🇵', 2],
  ['1️⃣', 2],
  ['👍🏽', 2],
  ['e\u0301', 1],
  ['क्षि', 2],
  ['a\u200bb', 2],
]

const anyText = fc
  .array(
    fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom(' ', '\n', ...WIDTHS.map(([text]) => text))),
  )
  .map(parts => parts.join(''))
const columns = fc.integer({ min: 1, max: 40 })

describe('widthOf', () => {
  test.each(WIDTHS)('counts the columns of %s', (text, width) => {
    expect(widthOf(text)).toBe(width)
  })
})

describe('wrap', () => {
  test('breaks at spaces and leaves them out', () => {
    expect(wrap('the quick brown fox', 10)).toEqual(['the quick', 'brown fox'])
  })

  test('keeps line breaks and indentation', () => {
    expect(wrap('- one\n    two three four', 12)).toEqual(['- one', '    two', 'three four'])
  })

  test('breaks a word that is longer than a line', () => {
    expect(wrap('BBBBBBBBBB', 4)).toEqual(['BBBB', 'BBBB', 'BB'])
  })

  test('shows a grapheme wider than the line as a question mark', () => {
    expect(wrap('a🚀b', 1)).toEqual(['a', '?', 'b'])
  })

  test('never makes a line wider than the columns', () => {
    fc.assert(
      fc.property(anyText, columns, (text, width) => {
        for (const line of wrap(text, width)) expect(widthOf(line)).toBeLessThanOrEqual(width)
      }),
    )
  })

  test('loses nothing but spaces at the breaks', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 2, max: 40 }), (text, width) => {
        fc.pre(graphemes(text).every(grapheme => widthOf(grapheme) <= width))
        expect(wrap(text, width).join('').replaceAll(' ', '')).toBe(text.replace(/[ \n]/gu, ''))
      }),
    )
  })

  test.each(WIDTHS)('never splits %s', text => {
    for (const grapheme of graphemes(text)) {
      const lines = wrap(grapheme.repeat(6), 3)
      expect(lines.flatMap(graphemes).every(each => each === grapheme)).toBe(true)
    }
  })
})

describe('cut', () => {
  test('marks what it leaves out within the columns', () => {
    expect(cut('Module & repo', 12)).toBe('Module & re…')
  })

  test('leaves alone what fits', () => {
    expect(cut('Module', 6)).toBe('Module')
  })

  test('never cuts inside a grapheme', () => {
    expect(cut('👨‍👩‍👧‍👦👨‍👩‍👧‍👦', 3)).toBe('👨‍👩‍👧‍👦…')
    expect(cut('選択肢', 4)).toBe('選…')
  })

  test('is never wider than the columns', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 0, max: 40 }), (text, width) => {
        fc.pre(!text.includes('\n'))
        expect(widthOf(cut(text, width))).toBeLessThanOrEqual(width)
      }),
    )
  })
})
