import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { MIGRATIONS as POSTGRES_MIGRATIONS } from '../../packages/inbox-postgres/src/schema.ts'
import { MIGRATIONS as SQLITE_MIGRATIONS } from '../../packages/inbox-sqlite/src/schema.ts'

interface Manifest {
  readonly name: string
  readonly exports: Readonly<Record<string, unknown>>
  readonly engines: { readonly node: string }
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const page = readFileSync(`${root}/docs/stable.md`, 'utf8')
const manifests = readdirSync(`${root}/packages`).map(
  name => JSON.parse(readFileSync(`${root}/packages/${name}/package.json`, 'utf8')) as Manifest,
)

test('the page on what is stable names every entry of every package, and none besides', () => {
  const entries = manifests
    .flatMap(({ name, exports }) => Object.keys(exports).map(path => name + path.slice(1)))
    .filter(entry => entry.replace(/^@handraise\//u, '').includes('/') && !entry.endsWith('/package.json'))
  const [, list = ''] = /\n## Entries\n([\s\S]*?)\n## /u.exec(page) ?? []
  const named = new Set(list.match(/@handraise\/[\w-]+\/[\w.-]+/gu))
  expect([...named].filter(entry => !entries.includes(entry))).toEqual([])
  expect(entries.filter(entry => !named.has(entry))).toEqual([])
})

test('the page on what is stable has the version of each schema', () => {
  expect(page).toContain(`| SQLite | ${SQLITE_MIGRATIONS.length},`)
  expect(page).toContain(`| PostgreSQL | ${POSTGRES_MIGRATIONS.length},`)
})

test('the page on what is stable has the oldest Node that is supported', () => {
  const [oldest] = new Set(manifests.map(({ engines }) => engines.node.replace('>=', '')))
  expect(page).toContain(`| Node | ${oldest} or newer |`)
})
