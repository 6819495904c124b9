import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteStore } from '@handraise/inbox-sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { answered, DB, serve, stream } from './served.ts'

function database(): string {
  const directory = mkdtempSync(join(tmpdir(), 'handraise-web-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return join(directory, 'inbox.db')
}

const serveFile = async (file: string, options: Parameters<typeof serve>[0] = {}) =>
  serve({ inbox: { store: await openSqliteStore({ file }) }, ...options })

test('an answer given before a restart is there after it, and the stream resumes where it was', async () => {
  const file = database()
  const first = await serveFile(file)
  const events = await stream(first.url)
  const cursor = (await events.next())!.id!
  const id = await first.ask([DB], { key: 'k', session: 's' })
  const pending = await first.ask([DB], { key: 'k2', session: 's' })
  const { request } = await first.client.answer(id, 'SQLite', { commandId: 'c1' })
  await first.server.close()
  await first.fiber.dispose()

  const second = await serveFile(file)
  expect(await second.client.get(id)).toEqual(request)
  expect((await second.client.list()).requests.map(open => open.id)).toEqual([pending])
  expect(await second.client.answer(id, 'SQLite', { commandId: 'c1' })).toEqual({ request, repeated: true })
  const resumed = await stream(second.url, { headers: { 'last-event-id': cursor } })
  const told = [await resumed.next(), await resumed.next(), await resumed.next()]
  expect(told.map(event => [event?.event, event?.data.request.id])).toEqual([
    ['opened', id],
    ['opened', pending],
    ['settled', id],
  ])
})

test('two servers on one file show the same requests, and let one answer win', async () => {
  const file = database()
  const [a, b] = [await serveFile(file), await serveFile(file)]
  const events = await stream(b.url)
  await events.next()
  const id = await a.ask([DB], { key: 'k' })
  expect(await events.next()).toMatchObject({ event: 'opened', data: { request: { id } } })
  const waiting = a.client.wait(id)
  const results = await Promise.allSettled([
    a.client.answer(id, 'Postgres', { surface: 'a' }),
    b.client.answer(id, 'SQLite', { surface: 'b' }),
  ])
  expect(results.map(({ status }) => status).toSorted((x, y) => x.localeCompare(y))).toEqual([
    'fulfilled',
    'rejected',
  ])
  const { settlement } = await waiting
  expect(settlement.answer).toEqual(answered(settlement.surface === 'a' ? 'Postgres' : 'SQLite'))
  expect(await events.next()).toMatchObject({ event: 'settled', data: { request: { id, settlement } } })
})

test('a text with half a character in it comes back from the file as it was sent', async () => {
  const { call, client } = await serveFile(database())
  const questions = [{ id: 'a', question: 'half \ud83d of a pair' }]
  const { json } = await call('POST', '/api/requests', { questions })
  expect((await client.get(json.request.id)).questions).toEqual(questions)
})
