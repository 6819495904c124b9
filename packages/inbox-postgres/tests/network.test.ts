import type { InboxStore } from '@handraise/inbox'
import { openPostgresStore, PostgresStoreError, type PostgresStoreOptions } from '@handraise/inbox-postgres'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { makeSchema } from './harness.ts'
import { opening, range, settling } from './samples.ts'
import { startProxy, type TcpProxy } from './server/tcp-proxy.mjs'

let place: Awaited<ReturnType<typeof makeSchema>>
let proxy: TcpProxy
/** Straight to the database. */
let other: InboxStore
const stores: InboxStore[] = []

beforeEach(async () => {
  place = await makeSchema()
  proxy = await startProxy(Number(new URL(place.url).port))
  other = await openPostgresStore({ url: place.url, schema: place.schema })
  stores.push(other)
})
afterEach(async () => {
  proxy.mend()
  await Promise.all(stores.splice(0).map(store => store.close()))
  await proxy.stop()
  await place.remove()
})

/** A store whose database is behind the proxy, and that soon loses patience. */
async function openBehindProxy(options: Partial<PostgresStoreOptions> = {}): Promise<InboxStore> {
  const url = new URL(place.url)
  url.port = String(proxy.port)
  const store = await openPostgresStore({
    url: url.href,
    schema: place.schema,
    connectTimeoutMs: 300,
    queryTimeoutMs: 300,
    waitMs: 10_000,
    pollMs: 50,
    ...options,
  })
  stores.push(store)
  return store
}

async function logged(store: InboxStore): Promise<string[]> {
  const end = await store.end()
  const page = await store.since(`${end.slice(0, end.indexOf('.'))}.0`)
  if ('lost' in page) throw new Error('the log is lost')
  return page.entries.map(({ change, request }) => `${change} ${request.id}`)
}

describe('a write whose answer is lost', () => {
  test.each(['cut', 'held back'] as const)('is carried out once when its answer is %s', async how => {
    const store = await openBehindProxy()
    await store.open({ ...opening('first', { deadlineAt: 1 }), owner: 'host' })
    const { made } = proxy
    proxy.hold('toClient')
    const record = { namespace: 'leases', key: 'a', value: 1, expectedVersion: 0 }
    const calls = [
      store.open(opening('second', { key: 'call' })),
      store.settle(settling('first')),
      store.writeRecords([record]),
      store.open({ ...opening('third'), records: [{ ...record, key: 'b' }] }),
    ]
    await vi.waitFor(async () => expect((await other.get('third'))?.id).toBe('third'))
    if (how === 'cut') proxy.cut()
    // The listener and the writer have given up and tried again.
    else await vi.waitFor(() => expect(proxy.made).toBeGreaterThan(made + 1), 5_000)
    proxy.mend()
    const [second, first, written, third] = await Promise.all(calls)
    expect([second, first, third]).toMatchObject([
      { status: 'opened' },
      { status: 'settled', request: { id: 'first' } },
      { status: 'opened' },
    ])
    expect(written).toBeUndefined()
    expect((await other.records('leases')).map(({ version }) => version)).toEqual([1, 1])
    expect(await logged(other)).toEqual(['opened first', 'opened second', 'settled first', 'opened third'])
  })

  test('is carried out once when it comes alone', async () => {
    const store = await openBehindProxy()
    proxy.hold('toClient')
    const opened = store.open(opening('alone'))
    await vi.waitFor(async () => expect(await other.get('alone')).toBeDefined())
    proxy.cut()
    proxy.mend()
    expect(await opened).toMatchObject({ status: 'opened' })
    proxy.hold('toClient')
    const settled = store.settle(settling('alone'))
    await vi.waitFor(async () => expect((await other.get('alone'))?.settlement).toBeDefined())
    proxy.cut()
    proxy.mend()
    expect(await settled).toMatchObject({ status: 'settled' })
    expect(await logged(other)).toEqual(['opened alone', 'settled alone'])
  })

  test('is told to be unknown when the database stays away, and the next one goes on', async () => {
    const store = await openBehindProxy({ waitMs: 600 })
    proxy.hold('toClient')
    const opened = store.open(opening('lost'))
    await expect(opened).rejects.toMatchObject({ code: 'WRITE_UNKNOWN', cause: expect.any(Error) as Error })
    expect(PostgresStoreError.isInstance(await opened.catch((error: unknown) => error))).toBe(true)
    proxy.mend()
    expect(await store.open(opening('next'))).toMatchObject({ status: 'opened' })
    // It was carried out in truth, and asking again shows that.
    expect(await store.get('lost')).toMatchObject({ id: 'lost' })
  })
})

test('a call ends with a code when the database cannot be reached, and nothing was done', async () => {
  const store = await openBehindProxy({ waitMs: 400 })
  proxy.hold()
  proxy.cut()
  // By the end of this one all connections are known to be gone.
  await expect(store.get('anything')).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' })
  const ended = await Promise.allSettled([
    store.open(opening('a')),
    store.get('a'),
    store.list({ state: 'pending' }),
  ])
  expect(ended).toMatchObject(
    ended.map(() => ({ status: 'rejected', reason: { code: 'DATABASE_UNREACHABLE' } })),
  )
  proxy.mend()
  expect(await store.get('a')).toBeUndefined()
})

test('each call has its own time, though it is sent with one whose time is over', async () => {
  const store = await openBehindProxy({ waitMs: 1_500, connectTimeoutMs: 200 })
  await store.open(opening('before'))
  proxy.hold()
  proxy.cut()
  const codeOf = (call: Promise<unknown>): Promise<string> =>
    call.then(
      () => 'done',
      (error: unknown) => (error as { code: string }).code,
    )
  const wait = (ms: number): Promise<void> =>
    new Promise(resolve => {
      setTimeout(resolve, ms)
    })
  // While it is tried, the others come together.
  const before = codeOf(store.open(opening('tried')))
  await wait(100)
  const first = codeOf(store.open(opening('first')))
  await wait(700)
  const later = ['a', 'b'].map(id => store.open(opening(id)))
  expect(await before).toMatch(/^(?:DATABASE_UNREACHABLE|WRITE_UNKNOWN)$/u)
  expect(await first).toBe('DATABASE_UNREACHABLE')
  proxy.mend()
  expect(await Promise.all(later)).toMatchObject([{ status: 'opened' }, { status: 'opened' }])
  expect(await store.get('first')).toBeUndefined()
})

test('calls that wait for the same connections give up together, not one after the other', async () => {
  const store = await openBehindProxy({ waitMs: 1_000, pollMs: 60_000 })
  await store.get('a')
  const { made } = proxy
  proxy.hold()
  proxy.cut()
  const calls = range(300).flatMap(id => [store.get(id), store.open(opening(id))])
  const ended = await Promise.allSettled(calls)
  expect(ended).toMatchObject(
    ended.map(() => ({ status: 'rejected', reason: { code: /UNREACHABLE|UNKNOWN/u } })),
  )
  // Each of four connections was tried a few times, for all.
  expect(proxy.made - made).toBeLessThan(30)
  proxy.mend()
  expect(await store.open(opening('next'))).toMatchObject({ status: 'opened' })
})

test('a write that was not sent to its end was not done, and its code says so', async () => {
  const store = await openBehindProxy({ waitMs: 500, queryTimeoutMs: 5_000 })
  await store.open(opening('first'))
  proxy.stall()
  // More than the buffers on the way take.
  const payload = 'x'.repeat(32_000_000)
  await expect(store.open(opening('long', { payload }))).rejects.toMatchObject({
    code: 'DATABASE_UNREACHABLE',
  })
  proxy.mend()
  expect(await store.open(opening('next'))).toMatchObject({ status: 'opened' })
  expect(await store.get('long')).toBeUndefined()
})

test('opening ends with a code when nobody answers', async () => {
  proxy.hold()
  await expect(openBehindProxy({ waitMs: 200 })).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' })
})

test('calls wait out a database that is away for a moment', async () => {
  const store = await openBehindProxy()
  proxy.hold()
  proxy.cut()
  const calls = range(20).map(id => store.open(opening(id)))
  const read = store.get('request-0')
  await vi.waitFor(() => expect(proxy.connections).toBeGreaterThan(0))
  proxy.mend()
  expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(calls.map(() => 'opened'))
  await read
})

test('closing ends although nobody answers, whatever is under way', async () => {
  const store = await openBehindProxy({
    waitMs: 60_000,
    queryTimeoutMs: 60_000,
    connectTimeoutMs: 60_000,
    closeMs: 200,
  })
  await store.get('a')
  proxy.hold()
  const calls = [store.open(opening('a')), store.open(opening('b')), store.get('a')]
  const ended = Promise.all(
    calls.map(call => expect(call).rejects.toMatchObject({ code: /UNKNOWN|UNREACHABLE/u })),
  )
  await store.close()
  await ended
})

describe('a watcher', () => {
  const wakes = async (store: InboxStore, change: () => Promise<unknown>): Promise<void> => {
    let woken = false
    const stop = store.watch(() => {
      woken = true
    })
    await change()
    await vi.waitFor(() => expect(woken).toBe(true), 5_000)
    stop()
  }

  test('is woken after a connection that was cut', async () => {
    const store = await openBehindProxy({ pollMs: 60_000 })
    proxy.cut()
    await wakes(store, () => other.open(opening('a')))
    // By then it listens again.
    await vi.waitFor(async () => wakes(store, () => other.open(opening(crypto.randomUUID()))))
  })

  test('is woken although its connection died without a word', async () => {
    const store = await openBehindProxy()
    proxy.hold()
    await wakes(store, async () => {
      await other.open(opening('a'))
      proxy.mend()
    })
  })

  test('is woken by the host that wrote, without waiting to look', async () => {
    const store = await openBehindProxy({ pollMs: 60_000 })
    for (const id of range(5)) await wakes(store, () => other.open(opening(id)))
  })

  test('hears in the end of a write whose host could not tell', async () => {
    const store = await openBehindProxy()
    // As a host that is killed between its commit and the notification.
    const { sql } = place
    const [row] = await sql("SELECT nextval('positions') AS position")
    const position = String(row?.['position'])
    await wakes(store, () =>
      sql(
        `INSERT INTO requests (position, id, kind, session, opened_at, digest, payload, opened_by, pending_position)
         VALUES (${position}, 'untold', 'sample', '', 0, '', '1', gen_random_uuid(), ${position});
         INSERT INTO log (position, change, request) SELECT position, 'opened', position FROM requests`,
      ),
    )
  })
})
