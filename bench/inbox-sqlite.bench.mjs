// Durable open, then settle, through the SQLite store, against the same statements written by hand on better-sqlite3
// with the same pragmas, one commit each; in one process, in alternating rounds, the median round counts.
// Then a store with many requests, opened by a process of its own.
import { openSqliteStore } from '@handraise/inbox-sqlite'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const requireOfStore = createRequire(new URL('../packages/inbox-sqlite/package.json', import.meta.url))
const Database = requireOfStore('better-sqlite3')

const ROUNDS = 15
const PAIRS = 400
const IN_FLIGHT = 64
const PENDING = 100_000

const asked = {
  questions: [
    {
      id: 'db',
      question: 'Which store?',
      header: 'Store',
      options: [{ label: 'Postgres' }, { label: 'SQLite (Recommended)' }],
    },
  ],
}
const answer = { answers: [{ id: 'db', selected: ['Postgres'] }] }
const openingOf = id => ({
  request: {
    id,
    kind: 'questions',
    payload: asked,
    session: 'session',
    key: `call-${id}`,
    openedAt: Date.now(),
  },
  digest: 'digest-of-the-questions',
})
const settlingOf = id => ({
  id,
  settlement: {
    outcome: 'answered',
    answer,
    by: 'user',
    surface: 'web',
    commandId: `command-${id}`,
    settledAt: Date.now(),
  },
  digest: 'digest-of-the-command',
})

async function storeIn(directory, name) {
  const store = await openSqliteStore({ file: join(directory, name) })
  return {
    async pair() {
      const id = crypto.randomUUID()
      await store.open(openingOf(id))
      await store.settle(settlingOf(id))
    },
    close: () => store.close(),
  }
}

function connect(file) {
  const db = new Database(file, { timeout: 0 })
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL')
  db.pragma('foreign_keys = ON')
  return db
}

/** The statements the store needs on tables like its own: read, row, log row; read, row with the receipt, log row. */
async function byHandIn(directory) {
  const file = join(directory, 'by-hand.db')
  await (await openSqliteStore({ file })).close()
  const db = connect(file)
  const end = db.prepare('SELECT max(position) FROM log').pluck()
  const byKey = db.prepare('SELECT * FROM requests WHERE session = ? AND key = ?')
  const byId = db.prepare('SELECT * FROM requests WHERE id = ?')
  const log = db.prepare('INSERT INTO log (position, change, request) VALUES (?, ?, ?)')
  const insert = db.prepare(
    'INSERT INTO requests (position, id, kind, session, key, opened_at, digest, payload) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const settle = db.prepare(
    'UPDATE requests SET settled_position = ?, settled_at = ?, command_digest = ?, settlement = ? WHERE position = ?',
  )
  const openOne = db.transaction(({ request: { id, kind, session, key, openedAt, payload }, digest }) => {
    if (byKey.get(session, key) !== undefined) throw new Error('known')
    const position = (end.get() ?? 0) + 1
    insert.run(position, id, kind, session, key, openedAt, digest, JSON.stringify(payload))
    log.run(position, 'opened', position)
  })
  const settleOne = db.transaction(({ id, settlement, digest }) => {
    const row = byId.get(id)
    if (row.settlement !== null) throw new Error('lost')
    const position = end.get() + 1
    settle.run(position, settlement.settledAt, digest, JSON.stringify(settlement), row.position)
    log.run(position, 'settled', row.position)
  })
  return pairsOf(db, openOne, settleOne)
}

/** The same with nothing that lists, prunes or resumes: a row, a log row, a receipt in a table of its own. */
function bareIn(directory) {
  const db = connect(join(directory, 'bare.db'))
  db.exec(`
    CREATE TABLE requests (
      id TEXT PRIMARY KEY, kind TEXT, payload TEXT, session TEXT, key TEXT, digest TEXT, state TEXT, opened_at INTEGER,
      settled_at INTEGER, settlement TEXT
    ) STRICT;
    CREATE UNIQUE INDEX by_key ON requests (session, key) WHERE key IS NOT NULL;
    CREATE INDEX pending ON requests (opened_at) WHERE state = 'pending';
    CREATE TABLE log (position INTEGER PRIMARY KEY AUTOINCREMENT, change TEXT, request TEXT) STRICT;
    CREATE TABLE receipts (command TEXT PRIMARY KEY, request TEXT, digest TEXT) STRICT, WITHOUT ROWID;
  `)
  const insert = db.prepare("INSERT INTO requests VALUES (?, ?, ?, ?, ?, ?, 'pending', ?, NULL, NULL)")
  const log = db.prepare('INSERT INTO log (change, request) VALUES (?, ?)')
  const settle = db.prepare(
    "UPDATE requests SET state = 'settled', settled_at = ?, settlement = ? WHERE id = ? AND state = 'pending'",
  )
  const receipt = db.prepare('INSERT INTO receipts VALUES (?, ?, ?)')
  const openOne = db.transaction(({ request: { id, kind, payload, session, key, openedAt }, digest }) => {
    insert.run(id, kind, JSON.stringify(payload), session, key, digest, openedAt)
    log.run('opened', id)
  })
  const settleOne = db.transaction(({ id, settlement, digest }) => {
    if (settle.run(settlement.settledAt, JSON.stringify(settlement), id).changes !== 1)
      throw new Error('lost')
    log.run('settled', id)
    receipt.run(settlement.commandId, id, digest)
  })
  return pairsOf(db, openOne, settleOne)
}

function pairsOf(db, openOne, settleOne) {
  return {
    async pair() {
      const id = crypto.randomUUID()
      openOne.immediate(openingOf(id))
      settleOne.immediate(settlingOf(id))
    },
    close: () => db.close(),
  }
}

async function perSecond(to, pairs, inFlight) {
  let left = pairs
  const lane = async () => {
    while (left > 0) {
      left -= 1
      await to.pair()
    }
  }
  const started = performance.now()
  await Promise.all(Array.from({ length: inFlight }, lane))
  return (pairs * 1_000) / (performance.now() - started)
}

async function race(contestants) {
  const rounds = new Map(Object.keys(contestants).map(name => [name, []]))
  for (let round = -2; round < ROUNDS; round += 1) {
    for (const [name, { to, pairs = PAIRS, inFlight = 1 }] of Object.entries(contestants)) {
      const rate = await perSecond(to, pairs, inFlight)
      if (round >= 0) rounds.get(name).push(rate)
    }
  }
  return new Map(
    [...rounds].map(([name, rates]) => [name, rates.toSorted((a, b) => a - b)[Math.floor(rates.length / 2)]]),
  )
}

/** Milliseconds to open a store with many pending and read its first page, and how far that lets the process grow. */
async function openWithManyPending(directory) {
  const file = join(directory, 'many.db')
  const store = await openSqliteStore({ file })
  for (let done = 0; done < PENDING; done += 1_000) {
    await Promise.all(Array.from({ length: 1_000 }, () => store.open(openingOf(crypto.randomUUID()))))
  }
  await store.close()
  const script = `
    import { openSqliteStore } from '@handraise/inbox-sqlite'
    const before = process.memoryUsage.rss()
    const started = performance.now()
    const store = await openSqliteStore({ file: process.argv[1] })
    const opened = performance.now()
    await store.list({ state: 'pending' })
    await store.nextDeadline()
    const listed = performance.now()
    console.log(JSON.stringify([opened - started, listed - opened, (process.memoryUsage.rss() - before) / 2 ** 20]))
  `
  const options = { cwd: new URL('.', import.meta.url), encoding: 'utf8' }
  return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', script, file], options))
}

export async function run() {
  const directory = mkdtempSync(join(tmpdir(), 'handraise-bench-'))
  try {
    const store = await storeIn(directory, 'store.db')
    // A file of its own, as it grows faster.
    const grouped = await storeIn(directory, 'grouped.db')
    const hand = await byHandIn(directory)
    const bare = bareIn(directory)
    const rates = await race({
      'by hand, alone': { to: hand },
      'by hand, bare tables, alone': { to: bare },
      'store, alone': { to: store },
      [`store, ${IN_FLIGHT} in flight`]: { to: grouped, pairs: PAIRS * 8, inFlight: IN_FLIGHT },
    })
    await store.close()
    await grouped.close()
    hand.close()
    bare.close()
    const alone = rates.get('by hand, alone')
    console.log('durable open, then settle (WAL, synchronous=FULL), median of', ROUNDS, 'alternating rounds')
    for (const [name, rate] of rates) {
      console.log(
        `  ${name.padEnd(28)} ${rate.toFixed(0).padStart(8)} /s   ${(rate / alone).toFixed(2).padStart(6)} x by hand`,
      )
    }
    const [openMs, listMs, grownMiB] = await openWithManyPending(directory)
    console.log(
      `  a store with ${PENDING.toLocaleString('en')} pending: opened in ${openMs.toFixed(0)} ms, first page in ${listMs.toFixed(0)} ms, ${grownMiB.toFixed(0)} MiB more memory`,
    )
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
