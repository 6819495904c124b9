import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Connection } from '../src/connection.ts'
import { failureOf } from '../src/error.ts'
import { makeSchema } from './harness.ts'

let place: Awaited<ReturnType<typeof makeSchema>>
let connection: Connection

beforeEach(async () => {
  place = await makeSchema()
  const { url, schema } = place
  connection = new Connection({
    Client: pg.Client,
    url,
    schema,
    connectTimeoutMs: 5_000,
    queryTimeoutMs: 200,
  })
})
afterEach(async () => {
  await connection.close()
  await place.remove()
})

test('a statement whose time is over when its turn comes is not sent', async () => {
  await place.sql(`CREATE SCHEMA ${place.schema}; CREATE TABLE ${place.schema}.t (n integer)`)
  const slow = connection.run('SELECT pg_sleep(0.05)')
  const late = connection.run('INSERT INTO t VALUES (1)', [], { end: performance.now() })
  await expect(late).rejects.toSatisfy(error => failureOf(error) === 'notDone')
  await slow
  expect(await connection.run('SELECT n FROM t')).toEqual([])
})

test('a statement is given no longer than is left to its call', async () => {
  const run = connection.run('SELECT pg_sleep(60)', [], { end: performance.now() + 100 })
  await expect(run).rejects.toSatisfy(error => failureOf(error) === 'unknown')
})

test('a statement that runs too long is ended by the server, which says that nothing was done', async () => {
  await connection.run('SELECT 1')
  const { pid } = connection
  const error = await connection.run('SELECT pg_sleep(60)').catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: '57014' })
  expect(failureOf(error)).toBe('notDone')
  expect(connection.pid).toBe(pid)
})

test('a connection to a server that takes no writes is given up for another', async () => {
  await connection.run('SET default_transaction_read_only = on')
  await expect(connection.run(`CREATE SCHEMA ${place.schema}`)).rejects.toMatchObject({ code: '25006' })
  expect(connection.pid).toBeUndefined()
  await connection.run(`CREATE SCHEMA ${place.schema}`)
})
