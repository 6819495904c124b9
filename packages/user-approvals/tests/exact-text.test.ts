import { exactLines, exactText, isPlain, quoteWord, quoteWords } from '@handraise/user-approvals/types'
import { visibleText } from '@handraise/user-questions/types'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.string({
    unit: fc.constantFrom(
      'a',
      '<',
      'U',
      '+',
      '0',
      '1',
      '>',
      "'",
      '\\',
      ' ',
      '\n',
      'é',
      'e',
      '\u0301',
      '\ud800',
    ),
  }),
)

/** Undoes what was written out. */
function read(shown: string): string {
  return shown.replace(/<U\+([0-9A-F]{4,6})>/gu, (_, code: string) =>
    String.fromCodePoint(Number.parseInt(code, 16)),
  )
}

function readWords(shown: string): string[] {
  const words = shown.match(/(?:'[^']*'|\\'|[^ '\\])+/gu) ?? []
  return words.map(word =>
    read(word.replace(/'([^']*)'|\\'/gu, (_, inside: string | undefined) => inside ?? "'")),
  )
}

describe('exact text', () => {
  test('is read back to what it was, whatever it was', () => {
    fc.assert(
      fc.property(text, given => {
        expect(read(exactText(given))).toBe(given)
      }),
      { numRuns: 3_000 },
    )
  })

  test('holds nothing that is obeyed, hidden or composed', () => {
    fc.assert(
      fc.property(text, given => {
        const shown = exactText(given)
        expect(visibleText(shown)).toBe(shown)
        expect(shown.normalize('NFC')).toBe(shown)
        expect(shown).not.toMatch(/[\p{C}\p{Default_Ignorable_Code_Point}]|(?! )\p{Z}/u)
        expect(isPlain(shown)).toBe(!shown.includes('<U+'))
      }),
      { numRuns: 3_000 },
    )
  })

  test.each([
    ['a\nb\tc\r', 'a<U+000A>b<U+0009>c<U+000D>'],
    ['\u0000\u001b[2K\u007f\u009b', '<U+0000><U+001B>[2K<U+007F><U+009B>'],
    ['\u202eexe\u2066', '<U+202E>exe<U+2066>'],
    ['a\u200bb\u200dc\u00add\ufeff', 'a<U+200B>b<U+200D>c<U+00AD>d<U+FEFF>'],
    ['a\u00a0b\u3000c\u2800d\u3164e', 'a<U+00A0>b<U+3000>c<U+2800>d<U+3164>e'],
    ['\u{e0041}\u{e0100}', '<U+E0041><U+E0100>'],
    ['\ud800', '<U+D800>'],
    ['cafe\u0301', 'cafe<U+0301>'],
    ['x\u0338y\u20dd', 'x<U+0338>y<U+20DD>'],
    ['\u1100\u1161', '<U+1100><U+1161>'],
    ['\u212a\u212b\uff47\u{1d420}\u2460', '<U+212A><U+212B><U+FF47><U+1D420><U+2460>'],
    ['g\u0456t st\u03b1tus', 'g<U+0456>t st<U+03B1>tus'],
    ['\u0441\u043e\u0440\u0443', '<U+0441><U+043E><U+0440><U+0443>'],
    ['\u13a0\ua4f2\u0261\u01c0', '<U+13A0><U+A4F2><U+0261><U+01C0>'],
    ['\u2013x \u2212y \u2215z \u2044 \u2216', '<U+2013>x <U+2212>y <U+2215>z <U+2044> <U+2216>'],
    ['\u2018a\u2019 \u201cb\u201d \u02bc \uff0f', '<U+2018>a<U+2019> <U+201C>b<U+201D> <U+02BC> <U+FF0F>'],
    ['\u05d0/\u05d1 \u0627', '<U+05D0>/<U+05D1> <U+0627>'],
    ['<U+202E>', '<U+003C>U+202E>'],
  ])('writes out %j', (given, shown) => {
    expect(exactText(given)).toBe(shown)
  })

  test.each([
    'git commit -m "a <b> $c" \\n',
    'café, Zürich, Łódź, naïve, ß',
    'Привет, мир; кот',
    'Καλημέρα',
    '修复（登录）：完成！、日本語のカタカナー、한국어',
    'हिन्दी, தமிழ், ภาษาไทย น้ำ',
    '🙂 → ✓ © 20 €',
  ])('leaves alone %j', given => {
    expect(exactText(given)).toBe(given)
  })

  test('of lines breaks at line feeds alone, and shows blanks at their ends', () => {
    expect(exactLines('a  \n\r\n  b\u2028c')).toEqual(['a<U+0020><U+0020>', '<U+000D>', '  b<U+2028>c'])
  })
})

describe('quoted words', () => {
  test('are read back to what they were, however they are spaced or quoted themselves', () => {
    fc.assert(
      fc.property(fc.array(text, { minLength: 1 }), words => {
        expect(readWords(quoteWords(words))).toEqual(words)
      }),
      { numRuns: 2_000 },
    )
  })

  test.each([
    [['rm', 'a b'], "rm 'a b'"],
    [['rm', 'a', 'b'], 'rm a b'],
    [['rm', ''], "rm ''"],
    [['rm', "it's"], String.raw`rm 'it'\''s'`],
    [['A=b', 'C=d'], "'A=b' C=d"],
    [['rm', 'a\u200b'], "rm 'a<U+200B>'"],
    [['rm', '-rf', '/x'], 'rm -rf /x'],
  ])('%j', (words, shown) => {
    expect(quoteWords(words)).toBe(shown)
  })

  test('a word that is not bare is in quotes', () => {
    expect(['a', 'a:b', '~', 'é'].map(quoteWord)).toEqual(['a', "'a:b'", "'~'", "'é'"])
  })
})
