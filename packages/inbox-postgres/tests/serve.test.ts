import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InboxClient } from '@handraise/provider-web'
import pg from 'pg'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { command, run } from '../../handraise/tests/run-command.ts'
import { serveIn, type Served } from '../../handraise/tests/serve-command.ts'
import { serverUrl } from './harness.ts'

const REQUEST = {
  questions: [{ id: 'db', question: 'Which database?', options: [{ label: 'A' }, { label: 'B' }] }],
}

let directory: string
let database: string
let admin: pg.Client
/** The address of a database of its own. */
let db: string

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'handraise-many-hosts-'))
  const url = new URL(await serverUrl())
  admin = new pg.Client({ connectionString: url.href })
  await admin.connect()
  database = `serve_${crypto.randomUUID().replaceAll('-', '')}`
  await admin.query(`CREATE DATABASE ${database}`)
  url.pathname = database
  db = url.href
})
afterEach(async () => {
  await admin.query(`DROP DATABASE ${database} WITH (FORCE)`)
  await admin.end()
  rmSync(directory, { recursive: true })
})

/** As on a machine of its own: with its own port and token. */
const startHost = (name: string): Promise<Served> =>
  serveIn({ XDG_DATA_HOME: join(directory, name) }, '--db', db)

/** What a page there is told. */
function openPage({ url, token }: Served): string[] {
  const told: string[] = []
  const listen = async (): Promise<void> => {
    for await (const event of new InboxClient({ url, token }).events()) {
      if (event.type === 'opened' || event.type === 'settled') told.push(`${event.type} ${event.request.id}`)
      else told.push(event.type)
    }
  }
  listen().catch(() => {})
  return told
}

test('a question asked on one host is answered on another, and the page on a third is taken down', async () => {
  const [asked, answered, shown] = await Promise.all(['one', 'two', 'three'].map(startHost))
  const page = openPage(shown!)
  await vi.waitFor(() => expect(page).toEqual(['snapshot']), 10_000)
  const client = new InboxClient(asked!)
  const { request } = await client.open({ ...REQUEST, key: 'call' })
  await vi.waitFor(() => expect(page).toContain(`opened ${request.id}`), 10_000)
  const waiting = client.wait(request.id)

  const { url, token } = answered!
  const { exitCode } = await run(['answer', request.id, '--text', 'b'], '', {
    HANDRAISE_INBOX: url,
    HANDRAISE_TOKEN: token,
  })
  expect(exitCode).toBe(0)
  expect(await waiting).toMatchObject({
    settlement: { outcome: 'answered', answer: { answers: [{ id: 'db', selected: ['B'] }] } },
  })
  await vi.waitFor(() => expect(page).toContain(`settled ${request.id}`), 10_000)

  // The host that asked may go: what it asked is kept by the others.
  asked!.child.kill('SIGTERM')
  await asked!.ended
  expect(await new InboxClient(shown!).get(request.id)).toMatchObject({ settlement: { outcome: 'answered' } })
})

test('hosts of one database share the key of what clients of MCP are asked, and keep it nowhere else', async () => {
  await Promise.all(['one', 'two'].map(startHost))
  const client = new pg.Client({ connectionString: db })
  await client.connect()
  const { rows } = await client.query("SELECT version FROM handraise.records WHERE namespace = 'mcp-key'")
  await client.end()
  expect(rows).toEqual([{ version: '1' }])
  const kept = readdirSync(directory, { recursive: true }).map(String)
  expect(kept.filter(name => name.endsWith('.server.json'))).toHaveLength(2)
  expect(kept.filter(name => name.endsWith('.mcp-key'))).toEqual([])
})

test('a host whose database is not there says so, without the password', async () => {
  const nowhere = new URL(db)
  nowhere.pathname = 'nowhere'
  const [{ exitCode, stderr }, ...others] = await Promise.all([
    run(['serve', '--db', nowhere.href]),
    run(['mcp', '--db', nowhere.href]),
    run(['rules', '--db', nowhere.href]),
  ])
  for (const told of [{ exitCode, stderr }, ...others]) {
    expect(told.exitCode).toBe(5)
    expect(told.stderr).toContain('"DATABASE_REFUSED"')
  }
  expect(stderr).toContain('\\"nowhere\\" does not exist')
  expect(stderr).not.toContain(nowhere.password)
})

test('a host that is told to stop while a decision is under way says that its outcome is not known', async () => {
  const host = await startHost('one')
  const { request } = await new InboxClient(host).open({ ...REQUEST, key: 'call' })
  const other = new pg.Client({ connectionString: db })
  await other.connect()
  await other.query('BEGIN; LOCK TABLE handraise.log IN SHARE ROW EXCLUSIVE MODE')
  const env = { HANDRAISE_INBOX: host.url, HANDRAISE_TOKEN: host.token }
  const answered = run(['answer', request.id, '--text', 'b'], '', env)
  await vi.waitFor(async () => {
    const { rows } = await admin.query(
      "SELECT FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock'",
      [database],
    )
    expect(rows).not.toEqual([])
  }, 10_000)
  host.child.kill('SIGTERM')
  const { exitCode, stderr } = await answered
  expect(exitCode).toBe(1)
  expect(stderr).toContain('WRITE_UNKNOWN')
  await other.query('ROLLBACK')
  await other.end()
  expect(await host.ended).toBe(0)
})

test('a host that is told to stop while it opens its database ends at once', async () => {
  const other = new pg.Client({ connectionString: db })
  await other.connect()
  await other.query("SELECT pg_advisory_lock(1752328546, hashtext('handraise'))")
  const child = spawn(process.execPath, [command, 'serve', '--db', db], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = new Promise(resolve => {
    child.once('exit', resolve)
  })
  await vi.waitFor(async () => {
    const { rows } = await admin.query(
      "SELECT FROM pg_stat_activity WHERE datname = $1 AND wait_event = 'advisory'",
      [database],
    )
    expect(rows).not.toEqual([])
  }, 10_000)
  child.kill('SIGTERM')
  expect(await ended).toBe(9)
  await other.end()
})
