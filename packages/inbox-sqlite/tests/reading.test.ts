import type { InboxStore } from '@handraise/inbox'
import { openSqliteStore } from '@handraise/inbox-sqlite'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makeDirectory } from './harness.ts'
import { opening, range, settling, START } from './samples.ts'

let directory: ReturnType<typeof makeDirectory>

beforeEach(() => {
  directory = makeDirectory()
})
afterEach(() => directory.remove())

test('no statement reads more rows than it gives, or sorts them', async () => {
  const statements: string[] = []
  class Recording extends Database {
    constructor(...args: ConstructorParameters<typeof Database>) {
      super(...args)
      const prepare = this.prepare.bind(this)
      this.prepare = (sql: string) => {
        statements.push(sql)
        return prepare(sql)
      }
    }
  }
  const store = await openSqliteStore({ file: directory.file, database: Recording })
  const db = new Database(directory.file, { readonly: true })
  const plans = statements
    .filter(sql => /\b(?:requests|log|records|store)\b/u.test(sql))
    .flatMap(sql => {
      const values = Array.from(sql.matchAll(/\?/gu), () => 1)
      const steps = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values)
      return steps.map(step => `${String(Object(step).detail)} in ${sql}`)
    })
  db.close()
  await store.close()
  expect(plans.length).toBeGreaterThan(20)
  // The store has one row; the steps of the owners and of the log's end are one row each.
  const harmless = /SCAN (?:store|next|CONSTANT ROW|\(subquery|SUBQUERY)/u
  expect(plans.filter(plan => /TEMP B-TREE|\bSCAN\b/u.test(plan) && !harmless.test(plan))).toEqual([])
})

describe('with many requests', () => {
  let store: InboxStore

  beforeEach(async () => {
    store = await openSqliteStore({ file: directory.file })
  })
  afterEach(() => store.close())

  test('prunes thousands in steps and gives the event loop its turns', async () => {
    const ids = range(3_000)
    await Promise.all(ids.map(id => store.open(opening(id))))
    await Promise.all(ids.slice(0, 2_500).map(id => store.settle(settling(id))))
    const end = await store.end()
    let turns = 0
    const count = (): void => {
      turns += 1
      next = setImmediate(count)
    }
    let next = setImmediate(count)
    expect(await store.prune(START + 2)).toBe(2_500)
    clearImmediate(next)
    expect(turns).toBeGreaterThan(3)
    expect(await store.end()).toBe(end)
    expect(await store.since(end)).toMatchObject({ entries: [] })
    const page = await store.list({ state: 'pending', limit: 500 })
    expect([page.requests.length, page.requests[0]?.id, page.next]).toEqual([500, 'request-2500', undefined])
    const db = new Database(directory.file, { readonly: true })
    expect(db.prepare('SELECT count(*) FROM log').pluck().get()).toBe(0)
    db.close()
  })

  test('prunes by the time of settling, in whatever order that was', async () => {
    for (const [id, settledAt] of [
      ['late', START + 9],
      ['early', START + 1],
      ['middle', START + 5],
    ] as const) {
      await store.open(opening(id))
      const command = settling(id)
      await store.settle({ ...command, settlement: { ...command.settlement, settledAt } })
    }
    expect(await store.prune(START + 5)).toBe(1)
    const { requests } = await store.list({ state: 'settled' })
    expect(requests.map(({ id }) => id)).toEqual(['middle', 'late'])
  })
})

test('texts that UTF-8 cannot hold come back as they were, and stay different', async () => {
  const store = await openSqliteStore({ file: directory.file })
  const texts = [
    '\uD83D',
    '\uD83C',
    '\uDE00',
    '\u{FFFF}',
    '\u{FFFD}',
    '\u{FFFF}"\\ud83d"',
    'a\u0000b',
    'a\u0000c',
    '',
  ]
  for (const text of texts) {
    const parts = { session: text, key: text, agent: text, kind: text, payload: { [text]: text } }
    const command = {
      ...opening(`id ${text}`, parts),
      records: [{ namespace: text, key: text, value: text }],
    }
    expect(await store.open(command)).toMatchObject({ status: 'opened' })
    expect(await store.settle(settling(command.request.id))).toMatchObject({ status: 'settled' })
  }
  for (const text of texts) {
    expect(await store.get(`id ${text}`)).toMatchObject({ session: text, key: text, agent: text, kind: text })
    const { requests } = await store.list({ state: 'settled', session: text })
    expect(requests.map(({ payload }) => payload)).toEqual([{ [text]: text }])
    expect(await store.records(text)).toEqual([{ namespace: text, key: text, value: text, version: 1 }])
  }
  await store.close()
})
