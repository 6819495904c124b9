import { MemoryStore, type InboxStore, type LogPage } from '@handraise/inbox'
import { openPostgresStore } from '@handraise/inbox-postgres'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { makeSchema } from './harness.ts'
import { opening, settling, START } from './samples.ts'

/** What may be done, each on one of the hosts. */
type Step = (store: InboxStore) => Promise<unknown>

const id = fc.constantFrom('a', 'b', 'c', 'd', 'e')
const key = fc.option(fc.constantFrom('k', 'l'), { nil: undefined })
const session = fc.constantFrom('', 's')
const digest = fc.constantFrom('one', 'two')
const instant = fc.integer({ min: START, max: START + 9 })
const records = fc.option(
  fc.uniqueArray(
    fc.record({
      namespace: fc.constant('n'),
      key: fc.constantFrom('x', 'y'),
      value: fc.constantFrom(null, 1, { two: 2 }),
      expectedVersion: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
    }),
    { selector: write => write.key, maxLength: 2 },
  ),
  { nil: undefined },
)

const steps: fc.Arbitrary<Step> = fc.oneof(
  fc
    .record({ id, key, session, digest, records, deadlineAt: fc.option(instant, { nil: undefined }) })
    .map(({ id: named, key: keyed, session: of, digest: says, records: writes, deadlineAt }): Step => {
      const parts = {
        session: of,
        ...(keyed === undefined ? {} : { key: keyed }),
        ...(deadlineAt === undefined ? {} : { deadlineAt }),
      }
      const command = { ...opening(named, parts), digest: says, owner: `owner of ${of}`, records: writes }
      return store => store.open(command)
    }),
  fc
    .record({
      id,
      digest,
      records,
      command: id,
      ifDueAt: fc.option(instant, { nil: undefined }),
      settledAt: instant,
    })
    .map(({ id: named, digest: says, records: writes, command, ifDueAt, settledAt }): Step => {
      const base = settling(named)
      const settlement = { ...base.settlement, commandId: command, settledAt }
      return store => store.settle({ ...base, settlement, digest: says, records: writes, ifDueAt })
    }),
  id.map(
    (named): Step =>
      store =>
        store.engage(named),
  ),
  records.map(
    (writes = []): Step =>
      store =>
        store.writeRecords(writes),
  ),
  instant.map(
    (before): Step =>
      store =>
        store.prune(before),
  ),
)

/** All that can be read, without what names the store or a place in it. */
async function readAll(store: InboxStore, start: string): Promise<unknown> {
  const log: LogPage = await store.since(start)
  return {
    log: 'lost' in log ? 'lost' : log.entries.map(({ change, request }) => ({ change, request })),
    pending: (await store.list({ state: 'pending' })).requests,
    settled: (await store.list({ state: 'settled' })).requests,
    ofSession: (await store.list({ state: 'pending', session: 's' })).requests,
    due: [...(await store.due(START + 4, 10))].toSorted(),
    next: await store.nextDeadline(),
    owners: [...(await store.owners())].toSorted(),
    records: await store.records('n'),
  }
}

const shown = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null)) as unknown

async function endOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(shown, () => 'rejected')
}

test('does whatever is asked of any host as the store in memory does', async () => {
  const { url, schema, sql, remove } = await makeSchema()
  const hosts = await Promise.all([1, 2, 3].map(() => openPostgresStore({ url, schema })))
  const host = fc.integer({ min: 0, max: hosts.length - 1 })
  const property = fc.asyncProperty(
    fc.array(fc.record({ host, step: steps }), { minLength: 5, maxLength: 25 }),
    async script => {
      await sql('TRUNCATE requests, log, records, deleted_records; UPDATE store SET pruned_through = 0')
      await sql("SELECT setval('positions', 1, false)")
      const model = new MemoryStore()
      const [start, modelStart] = [await hosts[0]!.end(), await model.end()]
      for (const { host: index, step } of script) {
        expect(await endOf(step(hosts[index]!))).toEqual(await endOf(step(model)))
      }
      for (const store of hosts)
        expect(shown(await readAll(store, start))).toEqual(shown(await readAll(model, modelStart)))
    },
  )
  try {
    await fc.assert(property, { numRuns: 60 })
  } finally {
    await Promise.all(hosts.map(store => store.close()))
    await remove()
  }
}, 60_000)
