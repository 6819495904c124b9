import { readdirSync, readFileSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { BUILT } from './browser.ts'

const files = readdirSync(BUILT, { recursive: true, withFileTypes: true })
  .filter(entry => entry.isFile())
  .map(entry => join(entry.parentPath, entry.name))
const textOf = (file: string) => readFileSync(file, 'utf8')
const named = (...extensions: string[]) => files.filter(file => extensions.includes(extname(file)))

const gzipped = (paths: readonly string[]) =>
  paths.reduce((sum, file) => sum + gzipSync(readFileSync(file), { level: 9 }).length, 0)

test('script and style are 30 KB gzip together, at most, in whatever language', () => {
  const isLanguage = (file: string) => /^[a-z]{2}-/u.test(basename(file))
  const always = named('.js', '.css').filter(file => !isLanguage(file))
  const languages = named('.js').filter(isLanguage)
  expect(always).toHaveLength(2)
  expect(languages.length).toBeGreaterThanOrEqual(2)
  for (const language of languages) {
    const bytes = gzipped([...always, language])
    console.log(`script and style of the page with ${basename(language)}: ${bytes} bytes gzip`)
    expect(bytes).toBeLessThanOrEqual(30 * 1024)
  }
})

test('the page holds no script, style or handler of its own, and loads nothing but its own files', () => {
  const html = textOf(join(BUILT, 'index.html'))
  expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:/iu)
  for (const [, attributes = '', body = ''] of html.matchAll(/<script([^>]*)>([^<]*)<\/script>/giu)) {
    expect(attributes).toContain('src="./page/')
    expect(body.trim()).toBe('')
  }
  for (const [, address = ''] of html.matchAll(/(?:src|href)="([^"]*)"/gu))
    expect(address).toMatch(/^\.\/page\//u)
})

test('no built file names another server, is a map of the source, or makes code of text', () => {
  for (const file of files) {
    const text = textOf(file)
    const addresses = [...text.matchAll(/(?:https?:)?\/\/[a-z0-9-]+(?:\.[a-z0-9-]+)+[^\s"'`)]*/giu)]
      .map(([address]) => address)
      // Names of vocabularies, which nothing ever loads.
      .filter(
        address =>
          !/^http:\/\/www\.w3\.org\/(?:\d{4}\/(?:svg|xhtml|xlink|Math)|1998\/Math\/MathML|XML)/iu.test(
            address,
          ),
      )
    expect(addresses, file).toEqual([])
    expect(text, file).not.toMatch(
      /sourceMappingURL|\beval\(|new Function\(|document\.write|insertAdjacentHTML/u,
    )
  }
  expect(files.filter(file => file.endsWith('.map'))).toEqual([])
})
