import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, extname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { marked, type Token } from 'marked'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const inFolders = (folder: string): string[] =>
  readdirSync(join(root, folder)).map(name => `${folder}/${name}/README.md`)
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  '.changeset/README.md',
  ...readdirSync(join(root, 'docs'))
    .filter(name => name.endsWith('.md'))
    .map(name => `docs/${name}`),
  ...[...inFolders('packages'), ...inFolders('examples')].filter(page => existsSync(join(root, page))),
]

function tokensOf(page: string): Token[] {
  const tokens: Token[] = []
  const keep = (token: Token): void => {
    tokens.push(token)
  }
  void marked.walkTokens(marked.lexer(readFileSync(join(root, page), 'utf8')), keep)
  return tokens
}

/** What a heading is linked by, as GitHub makes it. */
function placesOf(page: string): Set<string> {
  const places = new Set<string>()
  for (const token of tokensOf(page)) {
    if (token.type !== 'heading') continue
    const text = (token as { text: string }).text.replaceAll(/[`*]|\]\([^)]*\)|\[/gu, '')
    const place = text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-')
    let copy = place
    for (let number = 1; places.has(copy); number++) copy = `${place}-${number}`
    places.add(copy)
  }
  return places
}

const targetsOf = (page: string, types: readonly string[]): string[] =>
  tokensOf(page)
    .filter(({ type }) => types.includes(type))
    .map(token => (token as { href: string }).href)

test.each(pages)('every link of %s leads to something that is there', page => {
  const dead = targetsOf(page, ['link', 'image'])
    .filter(href => !/^[a-z]+:/u.test(href))
    .filter(href => {
      const [path = '', place] = href.split('#')
      const target = path === '' ? page : relative(root, join(root, dirname(page), path))
      if (!existsSync(join(root, target))) return true
      if (place === undefined || extname(target) !== '.md') return false
      return !statSync(join(root, target)).isFile() || !placesOf(target).has(place)
    })
  expect(dead).toEqual([])
})

test('no link of a page leads out of the repository by its path', () => {
  const outside = pages.flatMap(page =>
    targetsOf(page, ['link', 'image']).filter(
      href => !/^[a-z]+:/u.test(href) && relative(root, join(root, dirname(page), href)).startsWith('..'),
    ),
  )
  expect(outside).toEqual([])
})

test('every page of docs/ can be reached from the README', () => {
  const reached = new Set<string>()
  const visit = (page: string): void => {
    if (reached.has(page) || !pages.includes(page)) return
    reached.add(page)
    for (const href of targetsOf(page, ['link'])) {
      if (!/^[a-z]+:/u.test(href)) visit(relative(root, join(root, dirname(page), href.split('#')[0] ?? '')))
    }
  }
  visit('README.md')
  expect(pages.filter(page => page.startsWith('docs/') && !reached.has(page))).toEqual([])
})

test('every picture that is shown is one that a test draws', () => {
  const views = readFileSync(join(root, 'packages/provider-web/tests/page/views.test.ts'), 'utf8')
  const [, names = ''] = /const SHOWN = new Set\(\[(.*)\]\)/u.exec(views) ?? []
  const drawn = new Set(
    [...names.matchAll(/'([^']+)'/gu)].map(([, name]) => `docs/pictures/page-${name}.png`),
  )
  const shown = pages.flatMap(page =>
    targetsOf(page, ['image']).map(href => relative(root, join(root, dirname(page), href))),
  )
  expect(shown.length).toBeGreaterThan(2)
  expect(shown.filter(picture => !drawn.has(picture))).toEqual([])
})
