import { openSqliteStore } from '@handraise/inbox-sqlite'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeDirectory } from './harness.ts'
import { opening, range } from './samples.ts'

let directory: ReturnType<typeof makeDirectory>
let other: Database.Database

beforeEach(async () => {
  directory = makeDirectory()
  await (await openSqliteStore({ file: directory.file })).close()
  other = new Database(directory.file)
})
afterEach(() => {
  other.close()
  directory.remove()
})

/** Holds the write lock for so long. Returns how often the event loop ran a timer meanwhile. */
async function lockedFor(ms: number): Promise<number> {
  other.exec('BEGIN IMMEDIATE')
  let ticks = 0
  const timer = setInterval(() => (ticks += 1), 5)
  await new Promise(resolve => {
    setTimeout(resolve, ms)
  })
  clearInterval(timer)
  other.exec('ROLLBACK')
  return ticks
}

test('a write waits for another process without stopping the event loop', async () => {
  const store = await openSqliteStore({ file: directory.file })
  const locked = lockedFor(300)
  let done = false
  const opened = Promise.all(range(20).map(id => store.open(opening(id)))).then(() => (done = true))
  const readWhileLocked = await store.list({ state: 'pending' })
  expect(readWhileLocked.requests).toEqual([])
  const ticks = await locked
  expect(done).toBe(false)
  expect(ticks).toBeGreaterThan(10)
  await opened
  const { requests } = await store.list({ state: 'pending' })
  expect(requests.map(({ id }) => id)).toEqual(range(20))
  await store.close()
})

test('opening waits for another process as well', async () => {
  const locked = lockedFor(100)
  const store = await openSqliteStore({ file: directory.file })
  expect(await locked).toBeGreaterThan(3)
  await store.close()
})

test('a write that waited too long is given up, and later ones go on', async () => {
  const store = await openSqliteStore({ file: directory.file, lockWaitMs: 100 })
  let free = false
  const locked = lockedFor(1_000).then(() => (free = true))
  const late = store.open(opening('late'))
  await expect(late).rejects.toThrow(/locked by another process for 100 ms.+nothing was done/u)
  await expect(late).rejects.toHaveProperty('cause.code', 'SQLITE_BUSY')
  expect(free).toBe(false)
  await locked
  expect(await store.open(opening('next'))).toMatchObject({ status: 'opened' })
  expect(await store.get('late')).toBeUndefined()
  await store.close()
})

test('opening gives up as well', async () => {
  const locked = lockedFor(500)
  await expect(openSqliteStore({ file: directory.file, lockWaitMs: 50 })).rejects.toThrow(
    /locked by another/u,
  )
  await locked
})

test('closing waits for a write that waits', async () => {
  const store = await openSqliteStore({ file: directory.file })
  const locked = lockedFor(100)
  const opened = store.open(opening('a'))
  await store.close()
  expect(await opened).toMatchObject({ status: 'opened' })
  await locked
})

test('a watcher is woken soon after another process wrote', async () => {
  const [store, writer] = [
    await openSqliteStore({ file: directory.file, pollMs: 10 }),
    await openSqliteStore({ file: directory.file }),
  ]
  const woken = new Promise<number>(resolve => {
    store.watch(() => resolve(performance.now()))
  })
  await writer.open(opening('a'))
  const written = performance.now()
  expect((await woken) - written).toBeLessThan(1_000)
  await Promise.all([store.close(), writer.close()])
})
