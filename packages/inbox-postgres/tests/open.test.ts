import { openPostgresStore } from '@handraise/inbox-postgres'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Connection } from '../src/connection.ts'
import { migrate } from '../src/migrate.ts'
import { MIGRATIONS } from '../src/schema.ts'
import { makeSchema } from './harness.ts'
import { opening, range, settling } from './samples.ts'

let place: Awaited<ReturnType<typeof makeSchema>>

beforeEach(async () => {
  place = await makeSchema()
})
afterEach(() => place.remove())

test('many hosts that start at once on an empty database all come up on one store', async () => {
  const { url, schema } = place
  const stores = await Promise.all(range(8).map(() => openPostgresStore({ url, schema })))
  const ends = await Promise.all(stores.map(store => store.end()))
  expect(new Set(ends).size).toBe(1)
  await stores[0]?.open(opening('a'))
  for (const store of stores) expect(await store.get('a')).toMatchObject({ id: 'a' })
  await Promise.all(stores.map(store => store.close()))
})

describe('a schema that is not to be touched', () => {
  const refused: Readonly<Record<string, { made: string; why: RegExp }>> = {
    'of a newer version': { made: 'UPDATE store SET version = 99', why: /newer version.+99/u },
    'of a version that never was': { made: 'UPDATE store SET version = 0', why: /version 0/u },
    'whose store is of something else': {
      made: "UPDATE store SET application = 'shop'",
      why: /of something else/u,
    },
    'whose store has other columns': {
      made: 'ALTER TABLE store DROP COLUMN application',
      why: /of something else/u,
    },
    'with tables of the same names': { made: 'DROP TABLE store', why: /tables of something else/u },
  }
  test.each(Object.entries(refused))('%s is refused and left as it is', async (_, { made, why }) => {
    const { url, schema, sql } = place
    await (await openPostgresStore({ url, schema })).close()
    await sql(made)
    const tables = (): Promise<unknown> =>
      sql(
        'SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = $1 ORDER BY 1, 2',
        [schema],
      )
    const before = await tables()
    await expect(openPostgresStore({ url, schema })).rejects.toMatchObject({
      code: 'STORE_UNREADABLE',
      details: { store: `the schema ${schema}`, why: expect.stringMatching(why) as string },
    })
    expect(await tables()).toEqual(before)
  })
})

test('a database that lets the user not in is refused at once', async () => {
  const url = new URL(place.url)
  url.password = 'wrong'
  const opened = openPostgresStore({ url: url.href, schema: place.schema })
  await expect(opened).rejects.toMatchObject({
    code: 'DATABASE_REFUSED',
    cause: { cause: { code: '28P01' } },
  })
})

test.each([
  ['a URL that is none', () => 'postgres://u:p/x@host/database'],
  ['a name that is not encoded', (url: string) => url.replace('//', '//%zz')],
  ['a port that is none', () => 'postgres://u:p@127.0.0.1:99999/database'],
  ['TLS that the server does not speak', (url: string) => `${url}?sslmode=verify-full`],
  ['a certificate that is missing', (url: string) => `${url}?sslmode=verify-full&sslrootcert=/missing`],
])('%s is refused at once', async (_, change) => {
  const opened = openPostgresStore({ url: change(place.url), schema: place.schema, waitMs: 600_000 })
  await expect(opened).rejects.toMatchObject({ code: 'DATABASE_REFUSED' })
})

test.each(['user', 'order', 'default', 'all'])('the schema may be called %s', async schema => {
  const { url, sql } = place
  try {
    const store = await openPostgresStore({ url, schema })
    expect(await store.open(opening('a'))).toMatchObject({ status: 'opened' })
    await store.close()
    expect(await sql(`SELECT id FROM "${schema}".requests`)).toEqual([{ id: 'a' }])
  } finally {
    await sql(`SET client_min_messages = warning; DROP SCHEMA IF EXISTS "${schema}" CASCADE`)
  }
})

test('a role that rounds numbers gets instants and positions back as they were', async () => {
  const url = new URL(place.url)
  url.searchParams.set('options', '-c extra_float_digits=-15')
  const store = await openPostgresStore({ url: url.href, schema: place.schema })
  for (const id of range(12)) await store.open(opening(id, { openedAt: 1_764_525_600_123.456 }))
  expect(await store.get('request-1')).toMatchObject({ openedAt: 1_764_525_600_123.456 })
  expect(await store.end()).toMatch(/\.12$/u)
  await store.close()
})

test('a user who may not make the schema is refused, and one to whom it was given is not', async () => {
  const { sql, schema } = place
  await sql(`CREATE ROLE ${schema} LOGIN PASSWORD 'p'`)
  const url = new URL(place.url)
  url.username = schema
  url.password = 'p'
  try {
    await expect(openPostgresStore({ url: url.href, schema })).rejects.toMatchObject({
      code: 'DATABASE_REFUSED',
    })
    await sql(`CREATE SCHEMA ${schema} AUTHORIZATION ${schema}`)
    const store = await openPostgresStore({ url: url.href, schema })
    expect(await store.open(opening('a'))).toMatchObject({ status: 'opened' })
    await store.close()
  } finally {
    await sql(`DROP OWNED BY ${schema} CASCADE; DROP ROLE ${schema}`)
  }
})

test('a name that is no name of a schema is refused', async () => {
  for (const schema of ['', 'Upper', 'a-b', 'a;b', '1a'])
    await expect(openPostgresStore({ url: place.url, schema })).rejects.toThrow(RangeError)
})

test('two schemas of one database are two stores', async () => {
  const beside = await makeSchema()
  const stores = await Promise.all(
    [place, beside].map(({ url, schema }) => openPostgresStore({ url, schema })),
  )
  await stores[0]?.open(opening('a'))
  expect(await stores[1]?.get('a')).toBeUndefined()
  await Promise.all(stores.map(store => store.close()))
  await beside.remove()
})

test('each step of the schema is run once, in order, by hosts that start at once', async () => {
  const { url, schema, sql } = place
  const later = [
    ...MIGRATIONS,
    'ALTER TABLE records ADD COLUMN note text',
    "UPDATE records SET note = 'of two'",
  ]
  const options = {
    Client: pg.Client,
    url,
    schema,
    connectTimeoutMs: 5_000,
    queryTimeoutMs: 10_000,
  }
  const connections = range(6).map(() => new Connection(options))
  const ids: string[] = []
  for (const steps of [MIGRATIONS, later.slice(0, -1), later, later])
    ids.push(...(await Promise.all(connections.map(connection => migrate(connection, schema, steps)))))
  expect(new Set(ids).size).toBe(1)
  expect(await sql('SELECT version FROM store')).toEqual([{ version: later.length }])

  const failing = [...later, 'UPDATE missing SET a = 1']
  for (const connection of connections.slice(0, 2))
    await expect(migrate(connection, schema, failing)).rejects.toMatchObject({ code: '42P01' })
  expect(await sql('SELECT version FROM store')).toEqual([{ version: later.length }])
  await Promise.all(connections.map(connection => connection.close()))
})

test('a server that does not wait for its disk is made to', async () => {
  const { url, schema, sql } = place
  const slack = new URL(url)
  slack.searchParams.set('options', '-c synchronous_commit=off')
  const seen: unknown[] = []
  class Observed extends pg.Client {
    constructor(config: pg.ClientConfig) {
      super(config)
      const query = this.query.bind(this) as unknown as (given: unknown) => Promise<unknown>
      let listens = false
      Reflect.set(this, 'query', async (given: unknown) => {
        const result = await query(given)
        // The one that listens writes nothing.
        listens ||= (given as pg.QueryConfig).text.includes('LISTEN')
        if (listens) return result
        const { rows } = (await query('SHOW synchronous_commit')) as { rows: unknown[] }
        seen.push(...rows)
        return result
      })
    }
  }
  const client = Observed
  const store = await openPostgresStore({ url: slack.href, schema, client })
  await store.open(opening('a'))
  await store.close()
  expect(seen.length).toBeGreaterThan(3)
  expect(seen).toEqual(seen.map(() => ({ synchronous_commit: 'on' })))
  expect(await sql('SELECT id FROM requests')).toEqual([{ id: 'a' }])
})

test('a name that no index holds is refused, and takes no other with it', async () => {
  const { url, schema } = place
  const store = await openPostgresStore({ url, schema })
  const long = '語'.repeat(400)
  for (const parts of [{ session: long }, { key: long }])
    await expect(store.open(opening('long', parts))).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  const records = [{ namespace: long, key: 'a', value: 1 }]
  await expect(store.writeRecords(records)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  expect(
    await store.open(opening('a', { session: 's'.repeat(1_000), key: 'k'.repeat(1_000) })),
  ).toMatchObject({
    status: 'opened',
  })
  await store.close()
})

test('a command that the database refuses takes no other of its batch with it', async () => {
  const { url, schema, sql } = place
  const store = await openPostgresStore({ url, schema })
  await sql("ALTER TABLE requests ADD CHECK (kind <> 'bad')")
  const calls = range(10).map((id, index) => store.open(opening(id, index === 4 ? { kind: 'bad' } : {})))
  const ends = await Promise.allSettled(calls)
  expect(ends.map(({ status }) => status)).toEqual(
    calls.map((_, index) => (index === 4 ? 'rejected' : 'fulfilled')),
  )
  expect(ends[4]).toMatchObject({ reason: { code: 'DATABASE_REFUSED', cause: { code: '23514' } } })
  const { requests } = await store.list({ state: 'pending' })
  expect(requests.map(({ id }) => id)).toEqual(range(10).filter((_, index) => index !== 4))
  await store.close()
})

test('texts that the database cannot hold come back as they were, and stay different', async () => {
  const { url, schema } = place
  const store = await openPostgresStore({ url, schema })
  const texts = [
    '\uD83D',
    '\uD83C',
    '\u{FFFF}',
    '\u{FFFD}',
    '\u{FFFF}"\\ud83d"',
    'a\u0000b',
    'a\u0000c',
    '\u0000',
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
