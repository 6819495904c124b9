import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteStore } from '@handraise/inbox-sqlite'
import { InboxClient } from '@handraise/provider-web'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { fakeBrowser } from './fake-browser.ts'
import {
  ANSWERED,
  chooses,
  CLIENTS,
  inboxOf,
  kill,
  onePending,
  overHttp,
  overStdio,
  QUESTIONS,
  type Asker,
  type Screen,
} from './mcp-clients.ts'
import { run } from './run-command.ts'
import { serve } from './serve-command.ts'

let directory: string
let db: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'handraise-mcp-'))
  db = join(directory, 'inbox.db')
})

afterEach(async () => {
  await rm(directory, { recursive: true })
})

const answer = (inbox: InboxClient, id: string, label = 'SQLite'): Promise<unknown> =>
  inbox.answer(id, [{ id: 'db', selected: [label] }])

/** The keys of what a host keeps beside the requests. */
async function stored(file: string, namespace: string): Promise<string[]> {
  const store = await openSqliteStore({ file })
  try {
    return (await store.records(namespace)).map(({ key }) => key)
  } finally {
    await store.close()
  }
}

/** What a call that waited returned: the id to go on with. */
async function waitingId(asking: ReturnType<Asker['ask']>): Promise<string> {
  const { structured } = await asking
  expect(structured.status).toBe('waiting')
  return structured.request_id ?? ''
}

describe.each(CLIENTS)('the official client (%s)', kind => {
  test('over standard streams asks, and is answered by its form or on the page', async () => {
    const [withForms, without] = await Promise.all([
      overStdio(kind, ['--db', db], chooses('SQLite')),
      overStdio(kind, ['--db', db]),
    ])
    expect((await withForms.ask()).text).toBe(ANSWERED)
    const asking = without.ask()
    const inbox = await inboxOf(db)
    await answer(inbox, await onePending(inbox), 'Postgres')
    expect((await asking).text).toBe(ANSWERED.replace('SQLite', 'Postgres'))
    expect([...withForms.faults, ...without.faults]).toEqual([])
  })

  test('over HTTP asks, and is answered by its form or on the page', async () => {
    const served = await serve('--memory')
    const [withForms, without] = await Promise.all([
      overHttp(kind, served, chooses('SQLite')),
      overHttp(kind, served),
    ])
    expect((await withForms.ask()).text).toBe(ANSWERED)
    const asking = without.ask()
    const inbox = new InboxClient(served)
    await answer(inbox, await onePending(inbox), 'Postgres')
    expect((await asking).text).toBe(ANSWERED.replace('SQLite', 'Postgres'))
    expect([...withForms.faults, ...without.faults]).toEqual([])
  })

  test('takes up over standard streams what it asked a process that was killed', async () => {
    const first = await overStdio(kind, ['--db', db, '--call-limit', '0.2'])
    const id = await waitingId(first.ask())
    process.kill(first.pid, 'SIGKILL')
    const second = await overStdio(kind, ['--db', db])
    const goingOn = second.ask({ request_id: id })
    const inbox = await inboxOf(db)
    await expect.poll(() => answer(inbox, id).catch(() => undefined)).toBeDefined()
    expect((await goingOn).text).toBe(ANSWERED)
  })

  test('takes up over HTTP what it asked a server that was killed', async () => {
    const first = await serve('--db', db, '--call-limit', '0.2')
    const id = await waitingId((await overHttp(kind, first)).ask())
    await kill(first.child)
    const second = await serve('--db', db)
    expect(second.mcp).toBe(first.mcp)
    await answer(new InboxClient(second), id)
    expect((await (await overHttp(kind, second)).ask({ request_id: id })).text).toBe(ANSWERED)
  })
})

test('a form outlives the server: a client of 2026 comes back to the next one with it', async () => {
  const first = await serve('--db', db)
  const screen: Screen = async (...asked) => {
    await kill(first.child)
    await serve('--db', db)
    // A server may be there again sooner than a person could have read the question.
    return chooses('SQLite')(...asked)
  }
  expect((await (await overHttp('pinned', first, screen)).ask()).text).toBe(ANSWERED)
})

test('two clients ask at once, each its own person, and a call that is sent twice asks once', async () => {
  const served = await serve('--memory')
  const inbox = new InboxClient(served)
  const [one, two] = await Promise.all([
    overHttp('legacy', served, chooses('SQLite')),
    overHttp('pinned', served, chooses('Postgres')),
  ])
  const results = await Promise.all([one.ask(), two.ask(), one.ask(), two.ask()])
  const other = ANSWERED.replace('SQLite', 'Postgres')
  expect(results.map(({ text }) => text)).toEqual([ANSWERED, other, ANSWERED, other])
  const [three, four] = await Promise.all([overHttp('v1', served), overHttp('auto', served)])
  const call = { callId: 'call-1' }
  const asking = [three, four, three, four].map(client => client.ask({ questions: QUESTIONS }, call))
  const id = await onePending(inbox)
  await answer(inbox, id)
  for (const { structured } of await Promise.all(asking)) expect(structured.request_id).toBe(id)
  expect((await inbox.list({ state: 'settled' })).requests).toHaveLength(5)
})

test('a call that is sent to two processes at once asks once', async () => {
  const clients = await Promise.all([overStdio('v1', ['--db', db]), overStdio('pinned', ['--db', db])])
  const asking = clients.map(client => client.ask({ questions: QUESTIONS }, { callId: 'call-1' }))
  const inbox = await inboxOf(db)
  const id = await onePending(inbox)
  await answer(inbox, id)
  for (const { structured } of await Promise.all(asking)) expect(structured.request_id).toBe(id)
  expect((await inbox.list({ state: 'settled' })).requests).toHaveLength(1)
})

test('a call of a client that is killed leaves no card behind', async () => {
  const served = await serve('--memory')
  const inbox = new InboxClient(served)
  for (const kind of ['legacy', 'pinned'] as const) {
    const controller = new AbortController()
    const client = await overHttp(kind, served)
    client.ask(undefined, { signal: controller.signal }).catch(() => {})
    await onePending(inbox)
    await client.close()
    await expect.poll(async () => (await inbox.list({ state: 'pending' })).requests).toEqual([])
  }
})

test('a server that is stopped lets its calls return, and keeps what they asked', async () => {
  const served = await serve('--db', db)
  const clients = await Promise.all([overHttp('v1', served), overHttp('pinned', served)])
  const asking = clients.map(client => client.ask())
  const inbox = new InboxClient(served)
  await expect.poll(async () => (await inbox.list({ state: 'pending' })).requests.length).toBe(2)
  served.child.kill('SIGTERM')
  const ids = await Promise.all(asking.map(waitingId))
  expect(await served.ended).toBe(0)
  const { requests } = await new InboxClient(await serve('--db', db)).list({ state: 'pending' })
  expect(requests.map(request => request.id).toSorted()).toEqual(ids.toSorted())
})

test('a form that has come back to a server that is killed leaves no card that answers nobody', async () => {
  const first = await serve('--db', db)
  // Too fast for a person: the call waits for somebody on the page.
  const client = await overHttp('pinned', first, () => ({ action: 'cancel' }))
  const asking = client.ask().catch(() => 'gone')
  const id = await onePending(new InboxClient(first))
  await expect.poll(() => stored(db, 'mcp-untold')).toEqual([id])
  await kill(first.child)
  expect(await asking).toBe('gone')
  await expect
    .poll(async () => (await new InboxClient(await serve('--db', db)).get(id)).settlement)
    .toMatchObject({ outcome: 'aborted', reason: 'orphaned' })
})

describe('progress', () => {
  test('tells where the page is, and nothing tells its token', async () => {
    const served = await serve('--memory', '--call-limit', '0.3', '--answer-in', 'both')
    const messages: string[] = []
    const client = await overHttp('legacy', served, () => new Promise(() => {}))
    const { text, structured } = await client.ask(undefined, {
      onprogress: ({ message = '' }) => void messages.push(message),
    })
    expect(messages.filter(message => message.includes(served.url))).toHaveLength(1)
    expect(structured.page).toBe(served.url)
    expect(text).toContain(served.url)
    expect(JSON.stringify([messages, text, structured])).not.toContain(served.token)
  })
})

describe('the page of a client over standard streams', () => {
  test('is opened once, and its address is told without the token', async () => {
    const { env, opened } = await fakeBrowser()
    const client = await overStdio('v1', ['--db', db, '--call-limit', '0.3'], undefined, env)
    const first = await client.ask()
    const id = first.structured.request_id
    await client.ask({ request_id: id })
    const { token = '' } = JSON.parse(await readFile(`${db}.server.json`, 'utf8')) as { token?: string }
    expect(token.length).toBeGreaterThan(16)
    expect(first.structured.page).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/u)
    expect(first.text).not.toContain(token)
    await expect.poll(opened).toEqual([`${first.structured.page}#token=${token}`])
    expect(client.stderr()).toContain(`answer at ${first.structured.page}#token=${token}\n`)
  })

  test('is that of a server on the same inbox, where there is one, and is opened once until a browser looks at it', async () => {
    const served = await serve('--db', db)
    const { env, opened } = await fakeBrowser()
    const client = await overStdio('legacy', ['--db', db, '--call-limit', '0.3'], undefined, env)
    const first = await client.ask()
    expect(first.structured.page).toBe(served.url)
    expect(JSON.stringify(first)).not.toContain(served.token)
    await client.ask({ request_id: first.structured.request_id })
    expect(client.stderr()).toBe(`answer at ${served.page}\n`)
    await expect.poll(opened).toEqual([served.page])
    // Another question: the browser is still on its way.
    await client.ask()
    expect(await opened()).toEqual([served.page])
    expect(client.stderr()).toBe(`answer at ${served.page}\n`)
  })

  test('is not opened while somebody looks at that server', async () => {
    const served = await serve('--db', db)
    const { env, opened } = await fakeBrowser()
    const looking = new AbortController()
    onTestFinished(() => looking.abort())
    const headers = { authorization: `Bearer ${served.token}` }
    await fetch(new URL('api/events', served.url), { headers, signal: looking.signal })
    const client = await overStdio('legacy', ['--db', db, '--call-limit', '0.3'], undefined, env)
    const { structured } = await client.ask()
    expect(client.stderr()).toBe(`answer at ${served.page}\n`)
    looking.abort()
    // Nor for the same question later, when they have closed it.
    await client.ask({ request_id: structured.request_id })
    expect(await opened()).toEqual([])
  })

  test('is served by the client’s own process once the server is gone', async () => {
    const served = await serve('--db', db)
    const client = await overStdio('legacy', ['--db', db, '--call-limit', '0.3'])
    const { structured } = await client.ask()
    served.child.kill('SIGTERM')
    await served.ended
    const asking = client.ask({ request_id: structured.request_id })
    await waitingId(asking)
    const inbox = await inboxOf(db)
    await answer(inbox, await onePending(inbox))
    expect((await client.ask({ request_id: structured.request_id })).text).toBe(ANSWERED)
  })

  test('is served by the other one of two clients once the first is gone', async () => {
    const limited = ['--db', db, '--call-limit', '0.3']
    const first = await overStdio('legacy', limited)
    await first.ask()
    const second = await overStdio('legacy', limited)
    const { structured } = await second.ask()
    await first.close()
    await second.ask({ request_id: structured.request_id })
    await answer(await inboxOf(db), structured.request_id ?? '')
    expect((await second.ask({ request_id: structured.request_id })).text).toBe(ANSWERED)
  })

  test('is not needed where the client shows forms', async () => {
    const client = await overStdio('legacy', ['--db', db], chooses('SQLite'))
    await client.ask()
    await expect(stat(`${db}.server.json`)).rejects.toThrow('ENOENT')
  })
})

describe('/mcp refuses', () => {
  const initialize = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'client', version: '1' },
    },
  })

  function post(url: string, headers: Record<string, string>): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      const sent = httpRequest(url, { method: 'POST', headers }, response => {
        response.resume()
        resolve(response.statusCode)
      })
      sent.once('error', reject)
      sent.end(initialize)
    })
  }

  test('a page of another origin, another name, and whoever has not the token', async () => {
    const { mcp, token } = await serve('--memory')
    const good = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    }
    const { authorization: _, ...without } = good
    const { origin, host } = new URL(mcp)
    expect(await post(mcp, good)).toBe(200)
    expect(await post(mcp, { ...good, origin })).toBe(200)
    expect(await post(mcp, { ...good, origin: 'https://elsewhere.example' })).toBe(403)
    expect(await post(mcp, { ...good, origin: 'http://127.0.0.1:1' })).toBe(403)
    expect(await post(mcp, { ...good, host: 'elsewhere.example' })).toBe(403)
    expect(await post(mcp, { ...good, host })).toBe(200)
    expect(await post(mcp, without)).toBe(401)
    expect(await post(mcp, { ...good, authorization: `Bearer ${token}x` })).toBe(401)
    expect(await post(`${mcp}?token=${token}`, without)).toBe(401)
    expect(await post(mcp.replace('/mcp', '/other'), good)).toBe(404)
  })
})

describe('handraise mcp', () => {
  test('writes frames and nothing else, and ends with its input once what was asked is answered', async () => {
    const frames = [
      {
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'sh', version: '1' } },
      },
      { method: 'notifications/initialized' },
      { id: 2, method: 'tools/list' },
    ]
    const input = frames.map(frame => `${JSON.stringify({ jsonrpc: '2.0', ...frame })}\n`).join('')
    const { exitCode, stdout, stderr } = await run(['mcp', '--memory'], input)
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    const told = stdout.trimEnd().split('\n')
    expect(told.map(line => (JSON.parse(line) as { id: number }).id)).toEqual([1, 2])
  })

  test('lets its calls return when it is stopped, and keeps what they asked', async () => {
    const client = await overStdio('legacy', ['--db', db])
    const asking = client.ask()
    const inbox = await inboxOf(db)
    const id = await onePending(inbox)
    process.kill(client.pid, 'SIGTERM')
    expect(await waitingId(asking)).toBe(id)
    const { settlement } = await new InboxClient(await serve('--db', db)).get(id)
    expect(settlement).toBeUndefined()
  })

  test('withdraws what its client asked and cannot come back for', async () => {
    const client = await overStdio('legacy', ['--db', db, '--answer-in', 'both'], () => new Promise(() => {}))
    client.ask().catch(() => {})
    const inbox = await inboxOf(db)
    const id = await onePending(inbox)
    await client.close()
    expect(client.stderr()).toMatch(/^answer at \S+\n$/u)
    const later = new InboxClient(await serve('--db', db))
    expect((await later.get(id)).settlement).toMatchObject({ outcome: 'aborted' })
  })

  test('that is killed leaves no card behind that answers nobody', async () => {
    const client = await overStdio('legacy', ['--db', db])
    client.ask().catch(() => {})
    const id = await onePending(await inboxOf(db))
    process.kill(client.pid, 'SIGKILL')
    await expect
      .poll(async () => (await new InboxClient(await serve('--db', db)).get(id)).settlement, {
        timeout: 10_000,
      })
      .toMatchObject({ outcome: 'aborted', reason: 'orphaned' })
  })

  test('finds nothing that another principal has asked', async () => {
    const limited = ['--db', db, '--call-limit', '0.2']
    const id = await waitingId((await overStdio('auto', limited)).ask())
    const other = await overStdio('auto', [...limited, '--principal', 'other'])
    expect(await other.ask({ request_id: id })).toMatchObject({ isError: true, structured: {} })
    const same = await overStdio('auto', limited)
    expect(await waitingId(same.ask({ request_id: id }))).toBe(id)
  })

  const failing = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await run(['mcp', ...args])
    expect(stdout).toBe('')
    return { exitCode, ...(JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '') as { code: string }) }
  }

  test.each([
    ['for an option that is not known', ['--nonsense']],
    ['for a place that is none', ['--answer-in', 'dreams']],
    ['for a time that is none', ['--call-limit', '0']],
    ['for a principal without a name', ['--principal', ' ']],
    ['for a database that is not to be kept', ['--memory', '--db', '/srv/handraise/inbox.db']],
  ])('exits with 2 %s', async (_, args) => {
    expect(await failing(...args)).toMatchObject({ exitCode: 2, code: 'BAD_USAGE' })
  })

  test('exits with 3 where the database, or the key beside it, cannot be used', async () => {
    await (await overStdio('legacy', ['--db', db])).close()
    await chmod(`${db}.mcp-key`, 0o644)
    expect(await failing('--db', db)).toMatchObject({ exitCode: 3, code: 'BAD_CONFIG' })
    const other = join(directory, 'other.db')
    await writeFile(other, 'somebody’s notes')
    expect(await failing('--db', other)).toMatchObject({ exitCode: 3, code: 'BAD_CONFIG' })
  })
})
