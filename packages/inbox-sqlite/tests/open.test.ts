import { createHash } from 'node:crypto'
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { InboxError } from '@handraise/inbox'
import { openSqliteStore } from '@handraise/inbox-sqlite'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { makeDirectory, openWithConnection } from './harness.ts'
import { opening, range } from './samples.ts'

let directory: ReturnType<typeof makeDirectory>

beforeEach(() => {
  directory = makeDirectory()
})
afterEach(() => directory.remove())

/** Every file of the directory with the digest of its bytes. */
function snapshot(): Record<string, string> {
  return Object.fromEntries(
    readdirSync(directory.path)
      .filter(name => statSync(join(directory.path, name)).isFile())
      .map(name => [
        name,
        createHash('sha256')
          .update(readFileSync(join(directory.path, name)))
          .digest('hex'),
      ]),
  )
}

async function whyRefused(file = directory.file): Promise<string> {
  const error: unknown = await openSqliteStore({ file }).then(
    () => undefined,
    reason => reason,
  )
  if (!InboxError.isInstance(error) || error.code !== 'STORE_UNREADABLE')
    throw error ?? new Error('it opened')
  expect(error.message).toContain(file)
  return error.details.why
}

function makeDatabase(sql: string): void {
  const db = new Database(directory.file)
  db.exec(sql)
  db.close()
}

/** A store that was closed, with so many requests in it. */
async function makeStore(requests: number): Promise<void> {
  const store = await openSqliteStore({ file: directory.file })
  await Promise.all(range(requests).map(id => store.open(opening(id))))
  await store.close()
}

/** Makes files as a process that was killed leaves them: what was written last is in the write-ahead log alone. */
function withLeftoverLog(sql: string): void {
  const db = new Database(directory.file)
  db.exec('PRAGMA wal_autocheckpoint = 0')
  db.exec(sql)
  const names = readdirSync(directory.path)
  const files = names.map(
    name => [join(directory.path, name), readFileSync(join(directory.path, name))] as const,
  )
  db.close()
  for (const [file, bytes] of files) if (!file.endsWith('-shm')) writeFileSync(file, bytes)
}

const REFUSED: Readonly<Record<string, { make: () => unknown; why: RegExp; leaves?: string[] }>> = {
  'a text file': {
    make: () => writeFileSync(directory.file, 'Dear diary,\n'),
    why: /not a SQLite database/u,
  },
  'a long file of something else': {
    make: () => writeFileSync(directory.file, Buffer.alloc(100_000, 7)),
    why: /not a SQLite database/u,
  },
  'a SQLite file of another application': {
    make: () => makeDatabase('CREATE TABLE notes (text); INSERT INTO notes VALUES (1)'),
    why: /something else/u,
  },
  'another application that uses a write-ahead log': {
    make: () =>
      makeDatabase('PRAGMA journal_mode = WAL; PRAGMA user_version = 1; CREATE TABLE requests (id)'),
    why: /something else/u,
  },
  'another application with a write-ahead log left over': {
    make: () =>
      withLeftoverLog('PRAGMA journal_mode = WAL; CREATE TABLE notes (text); INSERT INTO notes VALUES (1)'),
    why: /something else/u,
  },
  'another application of the same shape': {
    make: async () => {
      await makeStore(3)
      makeDatabase('PRAGMA application_id = 1')
    },
    why: /something else/u,
  },
  'a store of a newer version': {
    make: async () => {
      await makeStore(3)
      makeDatabase('PRAGMA user_version = 99')
    },
    why: /newer version.+schema is 99.+update the package/u,
  },
  'a newer version that only the write-ahead log tells': {
    make: async () => {
      await makeStore(3)
      withLeftoverLog('PRAGMA user_version = 99')
    },
    why: /newer version/u,
    // SQLite reads no write-ahead log without its index.
    leaves: ['inbox.db-shm'],
  },
  'a store that was cut off': {
    make: async () => {
      await makeStore(2_000)
      truncateSync(directory.file, 40_960)
    },
    why: /damaged/u,
  },
  'a store that was overwritten in the middle': {
    make: async () => {
      await makeStore(2_000)
      const bytes = readFileSync(directory.file)
      bytes.fill(0xee, 8_192, bytes.length - 4_096)
      writeFileSync(directory.file, bytes)
    },
    why: /damaged/u,
  },
  'a directory': { make: () => mkdirSync(directory.file), why: /is a directory/u },
}

describe('a file that is not its own is refused and left as it is', () => {
  for (const [what, { make, why, leaves = [] }] of Object.entries(REFUSED)) {
    test(what, async () => {
      await make()
      const before = snapshot()
      expect(await whyRefused()).toMatch(why)
      const after = snapshot()
      for (const name of leaves) delete after[name]
      expect(after).toEqual(before)
    })
  }

  test('a file in a directory that does not exist', async () => {
    expect(await whyRefused(join(directory.path, 'none', 'inbox.db'))).toMatch(/no directory/u)
    expect(snapshot()).toEqual({})
  })

  test('a device', async () => {
    expect(await whyRefused('/dev/null')).toMatch(/not a file/u)
  })

  test('a file that this user may not read', async () => {
    await makeStore(1)
    chmodSync(directory.path, 0o755)
    const before = snapshot()
    await asNobody(async () => expect(await whyRefused()).toMatch(/may not read and write/u))
    expect(snapshot()).toEqual(before)
  })

  test('a file that this user may not write', async () => {
    await makeStore(1)
    chmodSync(directory.file, 0o444)
    chmodSync(directory.path, 0o555)
    const before = snapshot()
    await asNobody(async () => expect(await whyRefused()).toMatch(/may not read and write/u))
    expect(snapshot()).toEqual(before)
  })
})

/** Root may read and write everything, so it steps down for a while. */
async function asNobody(run: () => Promise<void>): Promise<void> {
  if (process.geteuid?.() !== 0) return run()
  process.seteuid?.(65_534)
  try {
    await run()
  } finally {
    process.seteuid?.(0)
  }
}

describe('a new file', () => {
  test('is readable by its owner alone', async () => {
    const store = await openSqliteStore({ file: directory.file })
    await store.open(opening('a'))
    for (const name of readdirSync(directory.path)) {
      expect([name, (statSync(join(directory.path, name)).mode & 0o777).toString(8)]).toEqual([name, '600'])
    }
    await store.close()
  })

  test('may be an empty one', async () => {
    writeFileSync(directory.file, '')
    const store = await openSqliteStore({ file: directory.file })
    expect(await store.open(opening('a'))).toMatchObject({ status: 'opened' })
    await store.close()
  })

  test('is made once by many who open it at once', async () => {
    const stores = await Promise.all(range(8).map(() => openSqliteStore({ file: directory.file })))
    const ends = await Promise.all(stores.map(store => store.end()))
    expect(new Set(ends).size).toBe(1)
    await Promise.all(stores.map(store => store.close()))
    expect(readdirSync(directory.path)).toEqual(['inbox.db'])
  })

  test('may be reached by a link', async () => {
    await makeStore(1)
    const link = join(directory.path, 'link.db')
    symlinkSync(directory.file, link)
    const [one, other] = [
      await openSqliteStore({ file: link }),
      await openSqliteStore({ file: directory.file }),
    ]
    await one.open(opening('by the link'))
    expect(await other.get('by the link')).toBeDefined()
    await Promise.all([one.close(), other.close()])
  })
})

test('every connection commits durably', async () => {
  for (const round of ['new', 'again']) {
    const { store, connection } = await openWithConnection({ file: directory.file })
    const read = (pragma: string): unknown => connection.pragma(pragma, { simple: true })
    expect([
      round,
      read('journal_mode'),
      read('synchronous'),
      read('foreign_keys'),
      read('busy_timeout'),
    ]).toEqual([round, 'wal', 2, 1, 0])
    await store.close()
  }
})

test('a store in memory keeps nothing', async () => {
  const store = await openSqliteStore({ file: ':memory:' })
  await store.open(opening('a'))
  await store.close()
  const again = await openSqliteStore({ file: ':memory:' })
  expect(await again.get('a')).toBeUndefined()
  await again.close()
})

test('an interval too long for a person waiting is refused', async () => {
  await expect(openSqliteStore({ file: ':memory:', pollMs: 51 })).rejects.toThrow(RangeError)
})

test('without better-sqlite3 it says what to install and what runs without', async () => {
  vi.doMock('better-sqlite3', () => {
    throw new Error('Could not locate the bindings file')
  })
  try {
    const refused = openSqliteStore({ file: directory.file })
    await expect(refused).rejects.toThrow(/npm install better-sqlite3.+MemoryStore/u)
    await expect(refused).rejects.toHaveProperty('cause')
    expect(snapshot()).toEqual({})
  } finally {
    vi.doUnmock('better-sqlite3')
  }
})
