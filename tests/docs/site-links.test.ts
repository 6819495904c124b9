import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { deadLinks } from '../../scripts/site-links.mjs'

let site: string

beforeEach(() => {
  site = mkdtempSync(join(tmpdir(), 'handraise-site-'))
  mkdirSync(join(site, 'docs'))
})

afterEach(() => rmSync(site, { recursive: true }))

const write = (page: string, body: string): void => writeFileSync(join(site, page), body)

test('a site whose links all lead somewhere has no dead ones', () => {
  write('index.html', '<a href="docs/a.html#there">a</a> <a class="b" href="https://example.org/none">b</a>')
  write('docs/a.html', '<h2 id="there">There</h2> <a href="../index.html">c</a> <a href="#there">d</a>')
  expect(deadLinks(site)).toEqual([])
})

test('a page, a picture and a place that are not there are told, with the page that leads there', () => {
  write(
    'index.html',
    '<a href="docs/b.html">a</a> <img alt="" src="none.png"> <a href="docs/a.html#gone">b</a>',
  )
  write('docs/a.html', '<a href="#gone">c</a>')
  expect(deadLinks(site).toSorted((a, b) => a.localeCompare(b))).toEqual([
    'docs/a.html: #gone',
    'index.html: docs/a.html#gone',
    'index.html: docs/b.html',
    'index.html: none.png',
  ])
})
