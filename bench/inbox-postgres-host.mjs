// One host of the benchmark, in a process of its own. Takes one task a line on stdin, and says its result in one line.
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { Inbox } from '@handraise/inbox'
import { openPostgresStore } from '@handraise/inbox-postgres'

const pg = createRequire(new URL('../packages/inbox-postgres/package.json', import.meta.url))('pg')

const [url] = process.argv.slice(2)
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
const answers = { answers: [{ id: 'db', selected: ['Postgres'] }] }
const decision = { outcome: 'answered', answer: answers }
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
    answer: answers,
    by: 'user',
    surface: 'web',
    commandId: `command-${id}`,
    settledAt: Date.now(),
  },
  digest: 'digest-of-the-command',
})
/** The same for all processes of this machine. */
const now = () => performance.timeOrigin + performance.now()

/** By hand: what keeps a row, a log row and a receipt, and nothing that lists, prunes, resumes or wakes anybody. */
const BY_HAND = `
  CREATE SCHEMA by_hand;
  CREATE TABLE by_hand.requests (
    id text PRIMARY KEY, kind text, payload text, session text, key text, digest text, state text, opened_at float8,
    settled_at float8, settlement text
  );
  CREATE UNIQUE INDEX by_key ON by_hand.requests (session, key) WHERE key IS NOT NULL;
  CREATE INDEX pending ON by_hand.requests (opened_at) WHERE state = 'pending';
  CREATE TABLE by_hand.log (position bigserial PRIMARY KEY, change text, request text);
  CREATE TABLE by_hand.receipts (command text PRIMARY KEY, request text, digest text);`
const INSERT = "INSERT INTO by_hand.requests VALUES ($1, $2, $3, $4, $5, $6, 'pending', $7, NULL, NULL)"
const SETTLE =
  "UPDATE by_hand.requests SET state = 'settled', settled_at = $2, settlement = $3 WHERE id = $1 AND state = 'pending'"
const insertValues = ({ request: { id, kind, payload, session, key, openedAt }, digest }) => [
  id,
  kind,
  JSON.stringify(payload),
  session,
  key,
  digest,
  openedAt,
]

const store = await openPostgresStore({ url })
let starting
/** Only for what needs one: an inbox reads all that is written, by whomever. */
const startInbox = () =>
  (starting ??= (async () => {
    const inbox = new Inbox({ store })
    await inbox.start()
    return inbox
  })())
const pools = new Map()
const poolOf = max => pools.get(max) ?? pools.set(max, new pg.Pool({ connectionString: url, max })).get(max)

const contestants = {
  store: async id => {
    await store.open(openingOf(id))
    await store.settle(settlingOf(id))
  },
  /** Each statement by itself, in a transaction. */
  statements: async (id, max) => {
    const transaction = async run => {
      const client = await poolOf(max).connect()
      try {
        await client.query('BEGIN')
        await run((name, text, ...values) => client.query({ name, text, values }))
        await client.query('COMMIT')
      } finally {
        client.release()
      }
    }
    await transaction(async run => {
      await run('insert', INSERT, ...insertValues(openingOf(id)))
      await run('opened', "INSERT INTO by_hand.log (change, request) VALUES ('opened', $1)", id)
    })
    await transaction(async run => {
      const { settlement, digest } = settlingOf(id)
      const { rowCount } = await run('settle', SETTLE, id, settlement.settledAt, JSON.stringify(settlement))
      if (rowCount !== 1) throw new Error('lost')
      await run('settled', "INSERT INTO by_hand.log (change, request) VALUES ('settled', $1)", id)
      await run(
        'receipt',
        'INSERT INTO by_hand.receipts VALUES ($1, $2, $3)',
        settlement.commandId,
        id,
        digest,
      )
    })
  },
  /** All in one statement, which few people write, on the same bare tables. */
  bare: async (id, max) => {
    await poolOf(max).query({
      name: 'open',
      text: `WITH r AS (${INSERT} RETURNING id) INSERT INTO by_hand.log (change, request) SELECT 'opened', id FROM r`,
      values: insertValues(openingOf(id)),
    })
    const { settlement, digest } = settlingOf(id)
    const { rowCount } = await poolOf(max).query({
      name: 'settle-all',
      text: `WITH r AS (${SETTLE} RETURNING id), l AS (INSERT INTO by_hand.log (change, request) SELECT 'settled', id FROM r)
        INSERT INTO by_hand.receipts SELECT $4, id, $5 FROM r`,
      values: [id, settlement.settledAt, JSON.stringify(settlement), settlement.commandId, digest],
    })
    if (rowCount !== 1) throw new Error('lost')
  },
}

/** All in one statement on tables like the store's own, with the indices that list, prune and resume need. */
contestants.alike = async (id, max) => {
  const { request, digest } = openingOf(id)
  const opened = [request.id, request.kind, request.session, request.key, request.openedAt, digest]
  await poolOf(max).query({
    name: 'open-alike',
    text: `WITH p AS (SELECT nextval('alike.positions') AS position), r AS (
        INSERT INTO alike.requests (position, id, kind, session, key, opened_at, digest, payload, opened_by, pending_position)
        SELECT p.position, $1, $2, $3, $4, $5, $6, $7, $8, p.position FROM p RETURNING position
      ) INSERT INTO alike.log (position, change, request) SELECT position, 'opened', position FROM r`,
    values: [...opened, JSON.stringify(request.payload), crypto.randomUUID()],
  })
  const { settlement, digest: commandDigest } = settlingOf(id)
  const receipt = [settlement.settledAt, settlement.commandId, commandDigest, JSON.stringify(settlement)]
  const { rowCount } = await poolOf(max).query({
    name: 'settle-alike',
    text: `WITH p AS (SELECT nextval('alike.positions') AS position), r AS (
        UPDATE alike.requests r SET settled_position = p.position, settled_at = $2, command_id = $3, command_digest = $4,
          settlement = $5, settled_by = $6, pending_position = NULL
        FROM p WHERE r.id = $1 AND coalesce(r.settled_position, 0) = 0 RETURNING r.*
      ), l AS (INSERT INTO alike.log (position, change, request) SELECT settled_position, 'settled', position FROM r)
      SELECT * FROM r`,
    values: [id, ...receipt, crypto.randomUUID()],
  })
  if (rowCount !== 1) throw new Error('lost')
}

const tasks = {
  async prepare() {
    await poolOf(1).query(BY_HAND)
    await (await openPostgresStore({ url, schema: 'alike' })).close()
  },
  /** Asks and answers `pairs` requests, so many in flight. */
  async pairs({ by, pairs, inFlight, connections }) {
    let left = pairs
    const started = now()
    await Promise.all(
      Array.from({ length: inFlight }, async () => {
        while (left > 0) {
          left -= 1
          await contestants[by](crypto.randomUUID(), connections)
        }
      }),
    )
    return { started, ended: now() }
  },
  /** Asks and leaves it at that. */
  async leave({ count }) {
    await Promise.all(Array.from({ length: count }, () => store.open(openingOf(crypto.randomUUID()))))
  },
  /** Asks, and says when the answer was there. */
  async ask({ id }) {
    const inbox = await startInbox()
    const { request } = await inbox.open({ id, key: id, kind: 'questions', payload: asked })
    void inbox.wait(request.id).then(() => say({ answered: request.id, at: now() }))
  },
  async answer({ id }) {
    const inbox = await startInbox()
    const given = now()
    await inbox.decide(id, decision, { commandId: crypto.randomUUID(), surface: 'web' })
    return { given, acknowledged: now() }
  },
  async followers({ count }) {
    const inbox = await startInbox()
    for (let each = 0; each < count; each += 1) await inbox.follow({ entry: () => {}, lost: () => {} })
  },
  /** Milliseconds for each of a few calls, the median. */
  async latencies({ rounds }) {
    const calls = {
      'list pending': () => store.list({ state: 'pending' }),
      'list settled': () => store.list({ state: 'settled' }),
      'list a session': () => store.list({ state: 'pending', session: 'session' }),
      'next deadline': () => store.nextDeadline(),
      open: id => store.open(openingOf(id)),
      settle: id => store.settle(settlingOf(id)),
      'a row by hand': () => poolOf(1).query("INSERT INTO by_hand.log (change) VALUES ('opened')"),
    }
    const took = Object.fromEntries(Object.keys(calls).map(name => [name, []]))
    for (let round = 0; round < rounds; round += 1) {
      const id = crypto.randomUUID()
      for (const [name, call] of Object.entries(calls)) {
        const started = performance.now()
        await call(id)
        took[name].push(performance.now() - started)
      }
    }
    return Object.fromEntries(
      Object.entries(took).map(([name, times]) => [name, times.toSorted((a, b) => a - b)[rounds >> 1]]),
    )
  },
  async stop() {
    for (const pool of pools.values()) await pool.end()
    await (starting === undefined ? store : await starting).close()
    process.exit(0)
  },
}

say({ ready: true })
for await (const line of createInterface({ input: process.stdin })) {
  const { task, number, ...parts } = JSON.parse(line)
  void tasks[task](parts).then(
    result => say({ number, result }),
    error => say({ number, error: String(error?.stack ?? error) }),
  )
}

function say(value) {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}
