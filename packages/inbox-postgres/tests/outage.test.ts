import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Inbox } from '@handraise/inbox'
import { openPostgresStore } from '@handraise/inbox-postgres'
import { InboxClient, startInboxServer } from '@handraise/provider-web'
import { expect, onTestFinished, test } from 'vitest'
import { run } from '../../handraise/tests/run-command.ts'
import { serveIn } from '../../handraise/tests/serve-command.ts'
import { makeSchema } from './harness.ts'
import { startPostgres } from './server/postgres-server.mjs'
import { startProxy } from './server/tcp-proxy.mjs'

const REQUEST = {
  questions: [{ id: 'db', question: 'Which database?', options: [{ label: 'A' }, { label: 'B' }] }],
}

/** A served inbox whose database is behind a proxy, and that soon loses patience. */
async function startHost() {
  const { schema, sql, ...place } = await makeSchema()
  const address = new URL(place.url)
  const proxy = await startProxy(Number(address.port))
  address.port = String(proxy.port)
  const store = await openPostgresStore({
    url: address.href,
    schema,
    waitMs: 500,
    connectTimeoutMs: 200,
    queryTimeoutMs: 200,
    closeMs: 200,
    pollMs: 50,
  })
  const inbox = new Inbox({ store, closeMs: 200 })
  await inbox.start()
  const reported: unknown[] = []
  const server = await startInboxServer({
    inbox,
    token: 'a-token-of-the-tests',
    report: error => reported.push(error),
  })
  onTestFinished(async () => {
    proxy.mend()
    await server.close()
    await inbox.close()
    await proxy.stop()
    await place.remove()
  })
  const client = new InboxClient(server)
  const command = (...args: string[]) =>
    run(args, JSON.stringify(REQUEST), { HANDRAISE_INBOX: server.url, HANDRAISE_TOKEN: server.token })
  return { schema, sql, proxy, client, reported, command }
}

test('clients and commands are told that the database is away, and that nothing was done', async () => {
  const { proxy, client, reported, command } = await startHost()
  const { request } = await client.open({ ...REQUEST, key: 'call' })
  proxy.hold()
  proxy.cut()
  const refused = { name: 'InboxClientError', code: 'DATABASE_UNREACHABLE', status: 503, retryAfterMs: 5_000 }
  // By the end of the first one all connections are known to be gone.
  await expect(client.get(request.id)).rejects.toMatchObject(refused)
  await expect(client.open({ ...REQUEST, key: 'other' })).rejects.toMatchObject(refused)
  await expect(client.answer(request.id, 'b')).rejects.toMatchObject(refused)
  expect(reported).toContainEqual(expect.objectContaining({ code: 'DATABASE_UNREACHABLE' }))
  for (const args of [
    ['answer', request.id, '--text', 'b'],
    ['ask', '-', '--key', 'other'],
  ]) {
    const { exitCode, stderr } = await command(...args)
    expect([exitCode, JSON.parse(stderr)]).toEqual([
      5,
      { code: 'DATABASE_UNREACHABLE', message: expect.stringContaining('nothing was done') as string },
    ])
  }
  proxy.mend()
  expect(await client.answer(request.id, 'b')).toMatchObject({ request: { settlement: { surface: 'web' } } })
})

test('clients are told that nobody knows what became of a write, and may send it again', async () => {
  const { proxy, client, command } = await startHost()
  await client.open({ ...REQUEST, key: 'call' })
  proxy.hold('toClient')
  const writing = client.open({ ...REQUEST, key: 'other' })
  await expect(writing).rejects.toMatchObject({ code: 'WRITE_UNKNOWN', status: 503, retryAfterMs: 5_000 })
  proxy.mend()
  expect(await client.open({ ...REQUEST, key: 'other' })).toMatchObject({ joined: true })

  proxy.hold('toClient')
  const { exitCode, stderr } = await command('ask', '-', '--key', 'third')
  expect([exitCode, JSON.parse(stderr)]).toMatchObject([1, { code: 'WRITE_UNKNOWN' }])
  proxy.mend()
  expect(await client.open({ ...REQUEST, key: 'third' })).toMatchObject({ joined: true })
})

test('clients are told what the database refuses, and not to try that again', async () => {
  const { schema, sql, client } = await startHost()
  await sql(`ALTER TABLE ${schema}.requests ADD CHECK (session <> 'no')`)
  const opening = client.open({ ...REQUEST, key: 'call', session: 'no' })
  const error = await opening.catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'DATABASE_REFUSED', status: 503, retryAfterMs: undefined })
  // What the database says is for whoever runs the server.
  expect((error as Error).message).not.toContain('check')
})

test.each(['stopped', 'silent'] as const)(
  'a host that is told to stop while its database is %s ends in order, in time',
  async how => {
    const database = await startPostgres()
    onTestFinished(() => database.stop())
    const directory = mkdtempSync(join(tmpdir(), 'handraise-outage-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    const host = await serveIn({ XDG_DATA_HOME: directory }, '--db', database.url)
    const client = new InboxClient(host)
    const { request } = await client.open(REQUEST)
    const leave = new AbortController()
    const waiting = client.wait(request.id, { signal: leave.signal }).catch(() => {})
    if (how === 'stopped') await database.crash()
    else await database.pause()
    host.child.kill('SIGTERM')
    // One that has to be ended by force, after five seconds, ends with 1.
    expect([await host.ended, host.stderr()]).toEqual([0, expect.any(String)])
    // Told that it is still pending, the client would wait for the host to come back.
    leave.abort()
    await waiting
  },
)
