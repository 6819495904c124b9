import { readFileSync } from 'node:fs'
import { openSqliteStore } from '@handraise/inbox-sqlite'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { APPLICATION_ID, migrate, MIGRATIONS } from '../src/schema.ts'
import { makeDirectory } from './harness.ts'
import { opening, settling } from './samples.ts'

let directory: ReturnType<typeof makeDirectory>

beforeEach(() => {
  directory = makeDirectory()
})
afterEach(() => directory.remove())

function schemaOf(db: Database.Database): unknown[] {
  return db
    .prepare("SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name")
    .all()
    .map(row => JSON.stringify(row).replaceAll(/\\n|\s/gu, ''))
}

test('a file of version one is read and written on', async () => {
  const made = new Database(directory.file)
  made.exec(readFileSync(new URL('fixtures/version-1.sql', import.meta.url), 'utf8'))
  made.close()

  const store = await openSqliteStore({ file: directory.file })
  const store1 = '00112233445566778899aabbccddeeff'
  const pending = {
    id: 'pending',
    kind: 'questions',
    payload: { questions: [] },
    session: 'session',
    key: 'call',
    openedAt: 1_700_000_000_000,
    deadlineAt: 1_700_000_060_000,
  }
  expect(await store.end()).toBe(`${store1}.5`)
  expect(await store.since(`${store1}.1`)).toEqual({ lost: true })
  expect(await store.since(`${store1}.2`)).toMatchObject({
    entries: [
      { change: 'opened', request: pending },
      { change: 'opened', request: { id: 'settled' } },
      { change: 'settled', request: { id: 'settled', settlement: { surface: 'web', commandId: 'click' } } },
    ],
  })
  expect(await store.get('pending')).toEqual(pending)
  expect(await store.nextDeadline()).toBe(1_700_000_060_000)
  expect(await store.open({ request: { ...pending, id: 'again' }, digest: 'digest' })).toMatchObject({
    status: 'joined',
    request: pending,
  })
  expect(await store.settle({ ...settling('settled'), digest: 'command digest' })).toMatchObject({
    status: 'alreadySettled',
  })
  expect(await store.record('rules', 'a')).toMatchObject({ value: { allow: true }, version: 4 })
  await store.writeRecords([{ namespace: 'leases', key: 'a', value: 1, expectedVersion: 0 }])
  expect((await store.record('leases', 'a'))?.version).toBe(8)
  await store.open(opening('new'))
  expect(await store.end()).toBe(`${store1}.6`)
  await store.close()
})

test('a file brought up from version one is like a new one', async () => {
  const old = new Database(directory.file)
  old.exec(readFileSync(new URL('fixtures/version-1.sql', import.meta.url), 'utf8'))
  migrate(old, directory.file)
  const fresh = new Database(':memory:')
  migrate(fresh, ':memory:')
  expect(schemaOf(old)).toEqual(schemaOf(fresh))
  for (const db of [old, fresh]) {
    expect(db.pragma('user_version', { simple: true })).toBe(MIGRATIONS.length)
    expect(db.pragma('application_id', { simple: true })).toBe(APPLICATION_ID)
    db.close()
  }
})

const LATER = [
  ...MIGRATIONS,
  'ALTER TABLE records ADD COLUMN note TEXT',
  "UPDATE records SET note = 'of version ' || version",
]

test('each step of the schema is run once, in order', () => {
  const db = new Database(directory.file)
  db.exec(readFileSync(new URL('fixtures/version-1.sql', import.meta.url), 'utf8'))
  for (const steps of [LATER.slice(0, -1), LATER, LATER]) migrate(db, directory.file, steps)
  expect(db.prepare('SELECT note FROM records').pluck().all()).toEqual(['of version 4'])
  expect(db.pragma('user_version', { simple: true })).toBe(LATER.length)
  expect(() => migrate(db, directory.file)).toThrow(/newer version/u)
  db.close()
})

test('a step that fails leaves the file at its version', () => {
  const db = new Database(directory.file)
  db.exec(readFileSync(new URL('fixtures/version-1.sql', import.meta.url), 'utf8'))
  const before = schemaOf(db)
  expect(() => migrate(db, directory.file, [...LATER, 'UPDATE missing SET a = 1'])).toThrow('no such table')
  expect(schemaOf(db)).toEqual(before)
  expect(db.pragma('user_version', { simple: true })).toBe(1)
  expect(db.inTransaction).toBe(false)
  db.close()
})
