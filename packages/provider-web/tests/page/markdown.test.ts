import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import type { VNode } from 'preact'
import { expect, test } from 'vitest'
import { Painted } from '../../page/src/markdown.tsx'

type Shown = VNode<Record<string, unknown>> | string | number | boolean | null | undefined | Shown[]

/** The elements that come out, and the text in them, without a browser. */
function read(
  node: Shown,
  elements: VNode<Record<string, unknown>>[] = [],
): { text: string; elements: VNode<Record<string, unknown>>[] } {
  if (node === null || node === undefined || typeof node === 'boolean') return { text: '', elements }
  if (typeof node === 'string' || typeof node === 'number') return { text: String(node), elements }
  if (Array.isArray(node)) return { text: node.map(each => read(each, elements).text).join(''), elements }
  if (typeof node.type === 'function') {
    const component = node.type as (props: unknown) => Shown
    return read(component(node.props), elements)
  }
  elements.push(node)
  return read(node.props['children'] as Shown, elements)
}

const show = (text: string) => read(Painted({ text }))
const pages = ['README.md', ...readdirSync('packages').map(name => `packages/${name}/README.md`)]
const letters = (text: string) => text.replace(/[^\p{L}\p{N}]/gu, '')

const piece = fc.oneof(
  fc.constantFrom(
    '**',
    '*',
    '_',
    '`',
    '```',
    '~~',
    '# ',
    '## ',
    '- ',
    '1. ',
    '> ',
    '| a | b |\n| - | - |\n',
    '[',
    '](',
    ')',
    '![',
    '\n',
    '\n\n',
    '    ',
    '\\',
    '<b>',
    '&lt;',
    '---\n',
    '- [x] ',
    '$',
    '$$',
    '\\[',
    'https://example.test/x',
    'mailto:a@b.test',
    '<',
    '>',
    '"',
    'word',
    'zwei',
    '字',
    'א',
    '🚀',
    '7',
  ),
  fc.string({ maxLength: 6 }),
)
const random = fc.array(piece, { maxLength: 40 }).map(pieces => pieces.join(''))

test('any text is shown without an error, and only as elements that do nothing', () => {
  const allowed = new Set([
    'div',
    'pre',
    'p',
    'h3',
    'h4',
    'h5',
    'h6',
    'code',
    'em',
    'strong',
    's',
    'blockquote',
    'ul',
    'ol',
    'li',
    'tr',
    'td',
    'th',
    'thead',
    'tbody',
    'table',
    'br',
    'hr',
    'a',
    'small',
  ])
  fc.assert(
    fc.property(random, text => {
      for (const { type, props } of show(text).elements) {
        expect(allowed).toContain(type)
        for (const name of Object.keys(props)) expect(name).not.toMatch(/^on|srcdoc|dangerously|^style$/iu)
        if (type === 'a') expect(String(props['href'])).toMatch(/^(?:https?|mailto):/u)
      }
    }),
    { numRuns: 2_000 },
  )
})

test('no letter of a text is lost, wherever it stands', () => {
  fc.assert(
    fc.property(
      fc
        .array(
          fc.constantFrom(
            '**',
            '*',
            '_',
            '`',
            '```',
            '# ',
            '- ',
            '> ',
            '\n',
            '\n\n',
            ' ',
            '| ',
            '<',
            '~~',
            '1. ',
            '[',
            ']',
            '](',
            '![',
            '(',
            ')',
            'word',
            '字',
            'א',
            '7x',
          ),
          { maxLength: 40 },
        )
        .map(pieces => pieces.join('')),
      text => {
        const shown = letters(show(text).text)
        // The numbers of a list are drawn by the browser.
        for (const word of ['word', '字', 'א', '7x'])
          expect(shown.split(word).length, word).toBe(letters(text).split(word).length)
      },
    ),
    { numRuns: 3_000 },
  )
})

test('what it is made for is shown as such', () => {
  const { elements, text } = show(
    '# One\n\nA *b* **c** `d` ~~e~~\n\n- f\n- [x] g\n\n1. h\n\n> i\n\n```js\nj\n```\n\n| k | l |\n| - | - |\n| m | n |\n\n---\n',
  )
  expect(elements.map(({ type }) => type)).toEqual(
    expect.arrayContaining([
      'h3',
      'p',
      'em',
      'strong',
      'code',
      's',
      'ul',
      'li',
      'ol',
      'blockquote',
      'pre',
      'table',
      'tr',
      'td',
      'hr',
    ]),
  )
  expect(letters(text)).toBe('OneAbcdefghijsjklmn')
})

test.each([
  '[字](word',
  'see [字](word',
  '[a](one) [字](word',
  '![字](word',
  '**[字](word',
  '[字',
  '字 <',
  '字 [',
])('what is not finished is shown as it stands: %s', text => {
  const bare = (shown: string) => shown.replaceAll('**', '').replace('[a](one)', 'a (one)')
  expect(show(text).text).toBe(bare(text))
})

test.each(pages)('a page people wrote is shown as elements, not as it stands: %s', page => {
  expect(show(readFileSync(page, 'utf8')).elements.map(({ type }) => type)).toContain('h3')
})
