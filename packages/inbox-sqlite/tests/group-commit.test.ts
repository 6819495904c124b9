import type { InboxStore, OpenResult } from '@handraise/inbox'
import { openSqliteStore, type SqliteDatabase, type SqliteStatement } from '@handraise/inbox-sqlite'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makeDirectory } from './harness.ts'
import { opening, range, settling } from './samples.ts'

let directory: ReturnType<typeof makeDirectory>
let store: InboxStore
let commits: number
/** What the next statement of this SQL throws, once. */
let failing: { readonly sql: string; readonly error: Error } | undefined
let onCommit: () => void

/** `better-sqlite3`, no more of it than a store uses. Counts commits, and fails a statement when told to. */
class Observed implements SqliteDatabase {
  private readonly db: Database.Database

  constructor(file: string, options: Database.Options) {
    this.db = new Database(file, options)
  }

  get open(): boolean {
    return this.db.open
  }

  get inTransaction(): boolean {
    return this.db.inTransaction
  }

  prepare(sql: string): SqliteStatement {
    const statement = this.db.prepare(sql)
    return {
      get: (...values) => statement.get(...values),
      all: (...values) => statement.all(...values),
      run(...values) {
        if (failing !== undefined && sql.includes(failing.sql)) {
          const { error } = failing
          failing = undefined
          throw error
        }
        if (sql === 'COMMIT') {
          onCommit()
          commits += 1
        }
        return statement.run(...values)
      },
    }
  }

  exec(sql: string): unknown {
    return this.db.exec(sql)
  }

  pragma(sql: string, options: { simple: true }): unknown {
    return this.db.pragma(sql, options)
  }

  close(): unknown {
    return this.db.close()
  }
}

beforeEach(async () => {
  directory = makeDirectory()
  failing = undefined
  onCommit = () => {}
  store = await openSqliteStore({ file: directory.file, database: Observed })
  commits = 0
})
afterEach(async () => {
  await store.close()
  directory.remove()
})

/** What somebody else sees of the file. */
function idsInFile(): string[] {
  const db = new Database(directory.file, { readonly: true })
  const ids = db.prepare('SELECT id FROM requests ORDER BY position').pluck().all()
  db.close()
  return ids.map(String)
}

const statusOf = ({ status }: OpenResult): string => status

test('commands given at once share a commit', async () => {
  const results = await Promise.all(range(64).map(id => store.open(opening(id))))
  expect(new Set(results.map(statusOf))).toEqual(new Set(['opened']))
  // One, unless this machine is so busy that the batch ran out of time.
  expect(commits).toBeLessThan(4)
  commits = 0
  await Promise.all(range(64).map(id => store.settle(settling(id))))
  expect(commits).toBeLessThan(4)
})

test('callers who each go on by themselves keep sharing commits', async () => {
  const lane = async (name: string): Promise<void> => {
    for (const id of range(10, name)) {
      await store.open(opening(id))
      await store.settle(settling(id))
    }
  }
  await Promise.all(range(64, 'lane').map(lane))
  expect(commits).toBeLessThan(100)
})

test('a command alone has a commit of its own', async () => {
  for (const id of range(5)) await store.open(opening(id))
  expect(commits).toBe(5)
})

test('one caller alone leaves the event loop its turns', async () => {
  let turns = 0
  const timer = setInterval(() => (turns += 1), 1)
  const end = performance.now() + 100
  for (let count = 0; performance.now() < end; count += 1) await store.open(opening(`request-${count}`))
  clearInterval(timer)
  expect(turns).toBeGreaterThan(5)
})

test('a great many commands at once leave the event loop its turns', async () => {
  const ids = range(2_000)
  let turns = 0
  const count = (): void => {
    turns += 1
    next = setImmediate(count)
  }
  let next = setImmediate(count)
  await Promise.all(ids.map(id => store.open(opening(id))))
  clearImmediate(next)
  expect(turns).toBeGreaterThanOrEqual(7)
  expect(idsInFile()).toEqual(ids)
})

test('nobody is told before the commit, and nobody sees it', async () => {
  let told = false
  let seen: readonly string[] = ['not looked']
  onCommit = () => {
    expect(told).toBe(false)
    seen = idsInFile()
  }
  const opened = store.open(opening('a')).then(() => (told = true))
  await opened
  expect(seen).toEqual([])
  expect(idsInFile()).toEqual(['a'])
})

test('commands are done in the order they were given', async () => {
  const [opened, settled, again] = await Promise.all([
    store.open(opening('a', { key: 'call' })),
    store.settle(settling('a')),
    store.open({ ...opening('b', { key: 'call' }), digest: 'digest of a' }),
  ])
  expect([opened.status, settled.status, again.status]).toEqual(['opened', 'settled', 'joined'])
  expect(again).toHaveProperty('request.settlement.outcome', 'answered')
})

describe('when a commit fails', () => {
  for (const code of ['SQLITE_FULL', 'SQLITE_IOERR_FSYNC', 'SQLITE_READONLY']) {
    test(`with ${code} all its commands are told why, and nothing is visible`, async () => {
      await store.open(opening('before'))
      const end = await store.end()
      const cause = new Database.SqliteError('the disk said no', code)
      failing = { sql: 'COMMIT', error: cause }
      const results = await Promise.allSettled([
        ...range(10).map(id => store.open(opening(id))),
        store.settle(settling('before')),
        store.writeRecords([{ namespace: 'n', key: 'k', value: 1 }]),
      ])
      expect(results.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 'rejected'))
      for (const result of results) {
        expect(result).toMatchObject({
          reason: { message: expect.stringContaining('the disk said no'), cause },
        })
      }
      expect(await store.end()).toBe(end)
      expect(idsInFile()).toEqual(['before'])
      expect((await store.get('before'))?.settlement).toBeUndefined()
      expect(await store.record('n', 'k')).toBeUndefined()
    })
  }

  test('the store goes on', async () => {
    failing = { sql: 'COMMIT', error: new Database.SqliteError('full', 'SQLITE_FULL') }
    await expect(store.open(opening('a'))).rejects.toThrow('full')
    expect(await store.open(opening('a'))).toMatchObject({ status: 'opened' })
    expect(idsInFile()).toEqual(['a'])
  })

  test('nobody who watches is woken', async () => {
    let woken = 0
    const stop = store.watch(() => (woken += 1))
    failing = { sql: 'COMMIT', error: new Database.SqliteError('full', 'SQLITE_FULL') }
    await expect(store.open(opening('a'))).rejects.toThrow('full')
    expect(woken).toBe(0)
    await store.open(opening('a'))
    expect(woken).toBe(1)
    stop()
  })
})

describe('when a statement of one command fails', () => {
  test('the other commands of its commit are done', async () => {
    const end = await store.end()
    failing = { sql: 'INSERT INTO requests', error: new TypeError('cannot be bound') }
    // The first try fails at the first command; the second try, command by command, does not fail.
    await Promise.all(range(3).map(id => store.open(opening(id))))
    const results = await Promise.allSettled([
      store.open(opening('a')),
      store.open(opening('a')),
      store.open({ ...opening('b'), digest: 'b', records: [{ namespace: 'n', key: 'k', value: 1 }] }),
      store.open({ ...opening('b'), records: [{ namespace: 'n', key: 'late', value: 1 }] }),
      store.open(opening('c')),
    ])
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
    expect(idsInFile()).toEqual([...range(3), 'a', 'b', 'c'])
    expect(await store.record('n', 'late')).toBeUndefined()
    const page = await store.since(end)
    expect('entries' in page && page.entries.map(({ request }) => request.id)).toEqual(idsInFile())
  })

  test('a full disk rejects the whole commit at once', async () => {
    failing = { sql: 'INSERT INTO requests', error: new Database.SqliteError('full', 'SQLITE_FULL') }
    const results = await Promise.allSettled(range(3).map(id => store.open(opening(id))))
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(idsInFile()).toEqual([])
  })
})

test('what cannot be read back is not kept', async () => {
  const bad = { ...settling('a').settlement, outcome: 'forgotten' }
  await store.open(opening('a'))
  await expect(store.settle({ ...settling('a'), settlement: bad as never })).rejects.toThrow('outcome')
  await expect(store.open(opening('b', { deadlineAt: Number.NaN }))).rejects.toThrow('no instant')
  await expect(store.open(opening('c', { payload: undefined as never }))).rejects.toThrow('no JSON value')
  expect(idsInFile()).toEqual(['a'])
})

describe('closing', () => {
  test('waits for the commands given before', async () => {
    const opened = Promise.all(range(600).map(id => store.open(opening(id))))
    await store.close()
    expect((await opened).map(statusOf)).toEqual(range(600).map(() => 'opened'))
    expect(idsInFile()).toEqual(range(600))
  })

  test('refuses the commands given after', async () => {
    const closed = store.close()
    await expect(store.open(opening('a'))).rejects.toHaveProperty('code', 'STORE_CLOSED')
    await closed
    expect(await store.close()).toBeUndefined()
    expect(idsInFile()).toEqual([])
  })
})
