import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InboxClient } from '@handraise/provider-web'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { command, run } from './run-command.ts'
import { serve } from './serve-command.ts'

const DB = {
  id: 'db',
  question: 'Which database?',
  header: 'Database',
  options: [{ label: 'Postgres (Recommended)' }, { label: 'SQLite' }],
}
const REQUEST = JSON.stringify({ questions: [DB] })

let directory: string
let log: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'handraise-log-'))
  log = join(directory, 'asks.jsonl')
})

afterEach(() => rm(directory, { recursive: true }))

interface Line {
  readonly event: string
  readonly key?: string
  readonly [member: string]: unknown
}

async function lines(): Promise<Line[]> {
  const text = await readFile(log, 'utf8').catch(() => '')
  return text
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line) as Line)
}

const told = async (): Promise<string[]> =>
  (await lines()).flatMap(({ event, key }) => (key === undefined ? [] : [`${event} ${key}`]))

const until = (holds: () => void | Promise<void>): Promise<void> => vi.waitFor(holds, { timeout: 10_000 })

describe('an ask', () => {
  test('that a policy answers is two lines, and the answer is as ever', async () => {
    const args = ['ask', '-', '--policy', 'recommended', '--log', log, '--session', 's', '--key', 'k']
    expect(await run(args, REQUEST)).toMatchObject({
      exitCode: 0,
      stdout: '{"answers":[{"id":"db","selected":["Postgres (Recommended)"]}]}\n',
      stderr: '',
    })
    expect(await lines()).toMatchObject([
      { event: 'asked', key: 'k', session: 's', questions: [{ id: 'db', header: 'Database' }] },
      {
        event: 'settled',
        key: 'k',
        outcome: 'answered',
        by: 'policy',
        answers: [{ id: 'db', selected: ['Postgres (Recommended)'] }],
      },
    ])
    expect(await readFile(log, 'utf8')).not.toContain(DB.question)
    expect((await stat(log)).mode & 0o777).toBe(0o600)
  })

  test('has the question in the log where that is asked for', async () => {
    await run(['ask', '-', '--policy', 'first', '--log', log, '--log-text'], REQUEST)
    expect(await lines()).toMatchObject([{ questions: [{ question: DB.question }] }, {}])
  })

  test('logs to standard error, beside what it says there', async () => {
    const { exitCode, stderr, stdout } = await run(['ask', '-', '--policy', 'refuse', '--log', '-'], REQUEST)
    expect([exitCode, stdout]).toEqual([5, ''])
    const said = stderr
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as Line)
    expect(said).toMatchObject([
      { event: 'asked' },
      { event: 'settled', outcome: 'unavailable', code: 'ASK_UNAVAILABLE' },
      { code: 'ASK_UNAVAILABLE' },
    ])
  })

  test.each([
    ['a file that cannot be made', ['--log', '/no/such/directory/log'], 'cannot be written'],
    ['texts without a log', ['--log-text'], '--log-text needs --log'],
    ['an inbox that has a log of its own', ['--log', 'x', '--inbox', 'http://127.0.0.1:9/'], '--log: '],
  ])('is refused before anybody is asked: %s', async (_, options, why) => {
    const policy = options.includes('--inbox') ? [] : ['--policy', 'first']
    const { exitCode, stderr, stdout } = await run(['ask', '-', ...policy, ...options], REQUEST)
    expect([exitCode, stdout, stderr]).toEqual([2, '', expect.stringContaining(why)])
  })

  test.skipIf(process.platform !== 'linux')('is answered though its log is full', async () => {
    const { exitCode, stdout, stderr } = await run(
      ['ask', '-', '--policy', 'first', '--log', '/dev/full'],
      REQUEST,
    )
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('Postgres')])
    expect(stderr.match(/\[LOG_[A-Z]+\]/gu)).toEqual(['[LOG_FAILED]', '[LOG_LOST]'])
  })
})

/** Runs the command with a standard error that is full, and that nobody reads. */
function runUnread(...args: string[]) {
  const wrapper = `
    process.stderr.write('x'.repeat(4 * 1024 * 1024))
    const child = require('node:child_process').spawn(process.execPath, process.argv.slice(1), { stdio: 'inherit' })
    process.on('SIGTERM', () => child.kill('SIGTERM'))
    child.on('exit', code => process.exit(code))`
  const child = spawn(process.execPath, ['-e', wrapper, command, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
    child.stderr.destroy()
  })
  return child
}

test('a standard error that nobody reads holds up neither an ask nor a host', async () => {
  const asking = runUnread('ask', '-', '--policy', 'first', '--log', '-')
  const serving = runUnread('serve', '--memory', '--json', '--no-bell', '--log', '-')
  asking.stdin.end(REQUEST)
  const ended = Promise.all([asking, serving].map(async child => (await once(child, 'exit'))[0] as unknown))
  const [[answer], [address]] = await Promise.all([once(asking.stdout, 'data'), once(serving.stdout, 'data')])
  expect(JSON.parse(String(answer))).toMatchObject({ answers: [{ id: 'db' }] })
  const { url, token } = JSON.parse(String(address)) as { url: string; token: string }
  await new InboxClient({ url, token }).open({ questions: [DB], key: 'k' })
  serving.kill('SIGTERM')
  expect(await ended).toEqual([0, 0])
})

describe('a served inbox', () => {
  const database = (): string[] => ['--db', join(directory, 'inbox.db')]

  test('has a line for what a second process answers, and nothing that was typed', async () => {
    const server = await serve(...database(), '--log', log)
    const { request } = await new InboxClient(server).open({ questions: [DB], session: 's', key: 'k' })
    const env = { HANDRAISE_INBOX: server.url, HANDRAISE_TOKEN: server.token }
    const answer = await run(['answer', request.id, '--text', 'something of my own'], '', env)
    expect(answer.exitCode).toBe(0)
    await until(async () => expect(await told()).toEqual(['asked k', 'settled k']))
    expect((await lines()).at(-1)).toMatchObject({
      id: request.id,
      by: 'user',
      surface: 'command',
      answers: [{ id: 'db', selected: [], typed: true }],
    })
    expect(await readFile(log, 'utf8')).not.toContain('of my own')
  })

  test('goes on where it was after it was killed, and misses nothing that happened meanwhile', async () => {
    const first = await serve(...database(), '--log', log)
    const open = (server: typeof first, key: string) =>
      new InboxClient(server).open({ questions: [DB], session: 's', key })
    const { request } = await open(first, 'a')
    await until(async () => expect(await told()).toEqual(['asked a']))
    first.child.kill('SIGKILL')
    await first.ended

    const between = await serve(...database())
    await new InboxClient(between).answer(request.id, '2')
    await open(between, 'b')
    between.child.kill('SIGINT')
    expect(await between.ended).toBe(0)

    const back = await serve(...database(), '--log', log)
    await open(back, 'c')
    await until(async () => expect(await told()).toEqual(['asked a', 'settled a', 'asked b', 'asked c']))
    back.child.kill('SIGINT')
    expect(await back.ended).toBe(0)
    expect(await told()).toHaveLength(4)
  })

  test('misses nothing that happened since its log was moved away and it was killed', async () => {
    const first = await serve(...database(), '--log', log)
    await new InboxClient(first).open({ questions: [DB], key: 'a' })
    await until(async () => expect(await told()).toEqual(['asked a']))
    await rename(log, `${log}.1`)
    first.child.kill('SIGKILL')
    await first.ended
    const between = await serve(...database())
    await new InboxClient(between).open({ questions: [DB], key: 'b' })
    between.child.kill('SIGINT')
    await between.ended
    const back = await serve(...database(), '--log', log)
    await new InboxClient(back).open({ questions: [DB], key: 'c' })
    await until(async () => expect((await told()).at(-1)).toBe('asked c'))
    back.child.kill('SIGINT')
    await back.ended
    // The first may be there again, since its host had no time to say that it was written.
    expect((await told()).filter(line => line !== 'asked a')).toEqual(['asked b', 'asked c'])
    expect((await lines()).map(({ event }) => event)).not.toContain('started')
  })

  test('shares its log with another host on the same database, without a line twice', async () => {
    const server = await serve(...database(), '--log', log)
    const wire = spawn(process.execPath, [command, 'wire', ...database(), '--log', log], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    onTestFinished(() => void wire.kill('SIGKILL'))
    const hello = { clientInfo: { name: 'test', version: '1' } }
    wire.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: hello })}\n`)
    await once(wire.stdout, 'data')
    await new InboxClient(server).open({ questions: [DB], key: 'a' })
    await until(async () => expect(await told()).toEqual(['asked a']))
    server.child.kill('SIGKILL')
    await server.ended
    // Whoever is left writes what comes from now on.
    const other = await serve(...database())
    await new InboxClient(other).open({ questions: [DB], key: 'b' })
    await until(async () => expect(await told()).toEqual(['asked a', 'asked b']))
    wire.stdin.end()
    await once(wire, 'exit')
    expect(await told()).toEqual(['asked a', 'asked b'])
  })
})

test('mcp logs what its client asks', async () => {
  const child = spawn(
    process.execPath,
    [command, 'mcp', '--memory', '--no-open', '--call-limit', '1', '--log', log],
    { stdio: ['pipe', 'pipe', 'ignore'] },
  )
  onTestFinished(() => void child.kill('SIGKILL'))
  const frames = [
    {
      id: 1,
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'test', version: '1' },
      },
    },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/call', params: { name: 'ask_user_question', arguments: { questions: [DB] } } },
  ]
  for (const frame of frames) child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...frame })}\n`)
  await until(async () =>
    expect((await lines()).at(-1)).toMatchObject({ event: 'asked', questions: [{ header: 'Database' }] }),
  )
  child.stdin.end()
  await once(child, 'exit')
})

test('an ask on a page that is dismissed is in the log, too', async () => {
  const file = join(directory, 'request.json')
  await writeFile(file, REQUEST)
  const child = spawn(process.execPath, [command, 'ask', file, '--web', '--no-open', '--log', log], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stderr, 'data')
  child.kill('SIGINT')
  await once(child, 'exit')
  const [, asked, settled] = await lines()
  expect([asked, settled]).toMatchObject([{ event: 'asked' }, { event: 'settled', outcome: 'aborted' }])
})
