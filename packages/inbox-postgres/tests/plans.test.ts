import { openPostgresStore } from '@handraise/inbox-postgres'
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeSchema } from './harness.ts'
import { opening, range, settling, START } from './samples.ts'

let place: Awaited<ReturnType<typeof makeSchema>>

beforeEach(async () => {
  place = await makeSchema()
})
afterEach(() => place.remove())

/** Inserts as many requests as given, of which every tenth is pending. */
async function fill(sql: typeof place.sql, count: number): Promise<void> {
  const settled = 'CASE WHEN n % 10 > 0 THEN'
  const pending = 'CASE WHEN n % 10 = 0 THEN'
  await sql(
    `INSERT INTO requests (position, id, kind, session, owner, opened_at, deadline_at, settled_at, settled_position, digest,
       command_id, command_digest, settlement, settled_by, payload, opened_by, pending_position)
     SELECT 1000 + n, 'seed-' || n, 'sample', 'session ' || n % 50, CASE WHEN n % 1000 = 0 THEN 'owner ' || n % 7000 END, ${START}, ${START} + n,
       ${settled} ${START} + n END, ${settled} 1000000 + n END, 'd', ${settled} 'c' END, ${settled} 'd' END,
       ${settled} '{"outcome":"declined","commandId":"c","settledAt":0}' END, ${settled} gen_random_uuid() END, '1',
       gen_random_uuid(), ${pending} 1000 + n END
     FROM generate_series(1, ${count}) AS n`,
  )
  await sql(
    `INSERT INTO log (position, change, request) SELECT position, 'opened', position FROM requests WHERE id LIKE 'seed-%'
     UNION ALL SELECT settled_position, 'settled', position FROM requests WHERE settled_position IS NOT NULL AND id LIKE 'seed-%'`,
  )
  await sql("SELECT setval('positions', 3000000)")
}

test('no statement reads much more than it gives, however many requests there are', async () => {
  const { url, schema, sql } = place
  const ran: { text: string; values: (string | number | null)[] }[] = []
  class Recording extends pg.Client {
    constructor(config: pg.ClientConfig) {
      super(config)
      const query = this.query.bind(this) as unknown as (given: {
        text: string
        values?: unknown[]
      }) => unknown
      Reflect.set(this, 'query', (given: { text: string; values?: (string | number | null)[] }) => {
        ran.push({ text: given.text, values: given.values ?? [] })
        return query(given)
      })
    }
  }
  const store = await openPostgresStore({ url, schema, client: Recording })
  // What the planner knows is that nothing is pending, as it mostly is.
  for (const id of range(200)) await store.open(opening(id, { deadlineAt: START }))
  for (const id of range(200)) await store.settle(settling(id))
  await sql('ANALYZE requests')
  await fill(sql, 100_000)
  ran.length = 0
  const end = await store.end()
  const { next } = await store.list({ state: 'pending', limit: 10 })
  await store.list({ state: 'pending', limit: 10, after: next })
  await store.list({ state: 'pending', session: 'session 10', limit: 10 })
  const settled = await store.list({ state: 'settled', limit: 10 })
  await store.list({ state: 'settled', limit: 10, after: settled.next })
  await store.list({ state: 'settled', session: 'session 11', limit: 10 })
  await store.get('seed-20')
  await store.since(end.replace(/\d+$/u, '20'), 10)
  await store.due(START + 100, 10)
  await store.nextDeadline()
  await store.owners()
  await store.ownedBy('owner 5000')
  await store.open(opening('lone', { key: 'k' }))
  await store.settle(settling('lone'))

  const reads = ran.filter(({ text }) => !/LISTEN|pg_notify|set_config/u.test(text))
  expect(reads.length).toBeGreaterThan(12)
  await sql(
    'SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET plan_cache_mode = force_generic_plan',
  )
  for (const [index, { text, values }] of reads.entries()) {
    await sql(`PREPARE p${index} AS ${text}`)
    const given = values.map(value => (value === null ? 'NULL' : `'${String(value).replaceAll("'", "''")}'`))
    const call = given.length > 0 ? `p${index}(${given.join(', ')})` : `p${index}`
    const plan = (
      await sql(`EXPLAIN (ANALYZE, TIMING off, SUMMARY off, COSTS off, BUFFERS) EXECUTE ${call}`)
    ).map(row => String(row['QUERY PLAN']))
    const pages = plan.flatMap(
      line => /Buffers: shared(?: hit=(\d+))?(?: read=(\d+))?/u.exec(line)?.slice(1) ?? [],
    )
    const [hit = 0, read = 0] = pages.map(Number)
    expect((hit || 0) + (read || 0), `${text}\n${plan.join('\n')}`).toBeLessThan(100)
    expect(
      plan.filter(line => /Seq Scan on (?:requests|log|records)/u.test(line)),
      text,
    ).toEqual([])
  }
  await store.close()
})

test('keeps one batch of each host, and none of a host that is gone for a day', async () => {
  const { url, schema, sql } = place
  const stores = await Promise.all([1, 2].map(() => openPostgresStore({ url, schema })))
  for (const id of range(5))
    for (const store of stores) await store.writeRecords([{ namespace: 'n', key: id, value: 1 }])
  const count = 'SELECT count(*)::int AS count FROM batches'
  expect(await sql(count)).toEqual([{ count: 2 }])
  await sql("UPDATE batches SET at = now() - interval '25 hours'")
  await sql(`INSERT INTO batches SELECT gen_random_uuid(), n, now() - interval '25 hours', '{}', '{}', '{}'
    FROM generate_series(1, 1500) AS n`)
  await stores[0]?.prune(0)
  // So many at a time that no other host waits for it.
  const [left] = await sql(count)
  expect(left?.['count']).toBeGreaterThan(1_000)
  for (const _ of range(10)) await stores[0]?.prune(0)
  expect(await sql(count)).toEqual([{ count: 1 }])
  await Promise.all(stores.map(each => each.close()))
})

test('prunes thousands in steps, by the time of settling, and frees the log', async () => {
  const { url, schema, sql } = place
  const stores = await Promise.all([1, 2].map(() => openPostgresStore({ url, schema })))
  const [store, other] = [stores[0]!, stores[1]!]
  const ids = range(3_000)
  await Promise.all(ids.map(each => store.open(opening(each))))
  await Promise.all(ids.slice(0, 2_500).map(each => store.settle(settling(each))))
  const end = await store.end()
  // Both at once: each request is forgotten by one of them.
  const pruned = await Promise.all([store.prune(START + 2), other.prune(START + 2)])
  expect(pruned.reduce((sum, count) => sum + count, 0)).toBe(2_500)
  expect(await other.end()).toBe(end)
  expect(await other.since(end)).toMatchObject({ entries: [] })
  const page = await store.list({ state: 'pending', limit: 500 })
  expect([page.requests.length, page.requests[0]?.id, page.next]).toEqual([500, 'request-2500', undefined])
  expect(await sql('SELECT count(*)::int AS left FROM log')).toEqual([{ left: 0 }])
  await Promise.all(stores.map(each => each.close()))
})
