import type { InboxStore } from '@handraise/inbox'
import { openPostgresStore, type PostgresStoreOptions } from '@handraise/inbox-postgres'
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeSchema } from './harness.ts'
import { opening, range, settling } from './samples.ts'

let place: Awaited<ReturnType<typeof makeSchema>>
const stores: InboxStore[] = []

beforeEach(async () => {
  place = await makeSchema()
})
afterEach(async () => {
  await Promise.all(stores.splice(0).map(store => store.close()))
  await place.remove()
})

async function openStore(options: Partial<PostgresStoreOptions> = {}): Promise<InboxStore> {
  const { url, schema } = place
  const store = await openPostgresStore({ url, schema, ...options })
  stores.push(store)
  return store
}

/** From now on the server takes back each transaction that opens a request whose id begins so, with this code of SQL. */
async function refuseOpening(prefix: string, state: string): Promise<void> {
  await place.sql(
    `CREATE FUNCTION ${place.schema}.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       IF starts_with(NEW.id, '${prefix}') THEN RAISE EXCEPTION 'not this one' USING ERRCODE = '${state}'; END IF;
       RETURN NEW;
     END $$;
     CREATE TRIGGER refuse BEFORE INSERT ON ${place.schema}.requests FOR EACH ROW EXECUTE FUNCTION ${place.schema}.refuse();`,
  )
}

const codesOf = (ended: PromiseSettledResult<unknown>[]): string[] =>
  ended.map(each =>
    each.status === 'fulfilled' ? 'done' : ((each.reason as { code?: string }).code ?? 'none'),
  )

test.each([
  ['could go better another time', '40001', 'DATABASE_UNREACHABLE'],
  ['stays as it is', '23514', 'DATABASE_REFUSED'],
])('a command that always fails in a way that %s takes no other with it', async (_, state, code) => {
  const store = await openStore({ waitMs: 2_000 })
  await refuseOpening('guilty', state)
  const ids = range(60).toSpliced(17, 0, 'guilty-1').toSpliced(40, 0, 'guilty-2')
  const calls = ids.map(id => store.open(opening(id)))
  const ended = Promise.allSettled(calls)
  // Nor does it hold up what comes after it.
  expect(await Promise.all([calls[0], store.open(opening('after'))])).toMatchObject([
    { status: 'opened' },
    { status: 'opened' },
  ])
  expect(codesOf(await ended)).toEqual(ids.map(id => (id.startsWith('guilty') ? code : 'done')))
  expect(await store.get('guilty-1')).toBeUndefined()
})

test('a command that fails for a while is carried out once it can be', async () => {
  const store = await openStore()
  await refuseOpening('late', '40001')
  const late = [store.open(opening('late')), store.open(opening('beside'))]
  expect(await late[1]).toMatchObject({ status: 'opened' })
  await place.sql(`DROP TRIGGER refuse ON ${place.schema}.requests`)
  expect(await late[0]).toMatchObject({ status: 'opened' })
})

test('closing does not wait for a command that always fails', async () => {
  const store = await openStore({ closeMs: 100 })
  await refuseOpening('guilty', '40001')
  const guilty = expect(store.open(opening('guilty'))).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' })
  const beside = expect(store.open(opening('beside'))).resolves.toMatchObject({ status: 'opened' })
  await beside
  await store.close()
  await guilty
})

test('a request that a stranger has locked holds up no other, on no host', async () => {
  const [store, other] = [await openStore(), await openStore()]
  await store.open(opening('locked'))
  const stranger = new pg.Client({ connectionString: place.url })
  await stranger.connect()
  await stranger.query(`BEGIN; SELECT FROM ${place.schema}.requests WHERE id = 'locked' FOR UPDATE`)
  const order: string[] = []
  const settled = store.settle(settling('locked')).then(({ status }) => order.push(status))
  await Promise.all([...range(50).map(id => store.open(opening(id))), other.open(opening('elsewhere'))])
  order.push('the others')
  await stranger.query('ROLLBACK')
  await stranger.end()
  await settled
  expect(order).toEqual(['the others', 'settled'])
})

test('a command that takes long is ended soon, and the others go on', async () => {
  const store = await openStore({ waitMs: 2_000, queryTimeoutMs: 800 })
  await place.sql(
    `CREATE FUNCTION ${place.schema}.doze() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       IF NEW.id = 'sleepy' THEN PERFORM pg_sleep(60); END IF; RETURN NEW;
     END $$;
     CREATE TRIGGER doze BEFORE INSERT ON ${place.schema}.requests FOR EACH ROW EXECUTE FUNCTION ${place.schema}.doze();`,
  )
  const calls = Promise.allSettled(['a', 'sleepy', 'b'].map(id => store.open(opening(id))))
  // The server itself ended it each time, so it is known that nothing was done.
  expect(codesOf(await calls)).toEqual(['done', 'DATABASE_UNREACHABLE', 'done'])
})

test('many commands that always fail hold up no other', async () => {
  const store = await openStore({ waitMs: 2_000 })
  await refuseOpening('guilty', '40001')
  const ids = range(80).flatMap((id, index) => [id, `guilty-${index}`])
  const ended = await Promise.allSettled(ids.map(id => store.open(opening(id))))
  expect(codesOf(ended)).toEqual(ids.map(id => (id.startsWith('guilty') ? 'DATABASE_UNREACHABLE' : 'done')))
})

test('what fails only when it is committed takes no other with it', async () => {
  const store = await openStore({ waitMs: 2_000 })
  await place.sql(
    `CREATE FUNCTION ${place.schema}.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       IF NEW.id = 'guilty' THEN RAISE EXCEPTION 'not this one' USING ERRCODE = '40001'; END IF; RETURN NEW;
     END $$;
     CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON ${place.schema}.requests DEFERRABLE INITIALLY DEFERRED
       FOR EACH ROW EXECUTE FUNCTION ${place.schema}.refuse();`,
  )
  const ids = range(20).toSpliced(7, 0, 'guilty')
  const ended = await Promise.allSettled(ids.map(id => store.open(opening(id))))
  expect(codesOf(ended)).toEqual(ids.map(id => (id === 'guilty' ? 'DATABASE_UNREACHABLE' : 'done')))
})

test('what touches the same as a command that has to wait goes behind it', async () => {
  const store = await openStore()
  await refuseOpening('late', '40001')
  const record = { namespace: 'n', key: 'k' }
  const order: string[] = []
  const told =
    (name: string) =>
    (result: unknown): void =>
      void order.push(`${name} ${(result as { status?: string } | undefined)?.status ?? 'done'}`)
  const calls = [
    store.open({ ...opening('late'), records: [{ ...record, value: 'first' }] }).then(told('open')),
    store.settle(settling('late')).then(told('settle')),
    store
      .writeRecords([
        { ...record, value: 'second' },
        { namespace: 'n', key: 'other', value: 1 },
      ])
      .then(told('write')),
    store.writeRecords([{ namespace: 'n', key: 'other', value: 2 }]).then(told('behind')),
    store.open(opening('beside')).then(told('beside')),
  ]
  await calls[4]
  expect(order).toEqual(['beside opened'])
  await place.sql(`DROP TRIGGER refuse ON ${place.schema}.requests`)
  await Promise.all(calls)
  expect(order).toEqual(['beside opened', 'open opened', 'settle settled', 'write done', 'behind done'])
  expect(await store.record('n', 'k')).toMatchObject({ value: 'second' })
  expect(await store.record('n', 'other')).toMatchObject({ value: 2 })
})
