import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InboxClient } from '@handraise/provider-web'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { fakeBrowser, NO_DISPLAY } from './fake-browser.ts'
import { command, run } from './run-command.ts'

const DB = {
  id: 'db',
  question: 'Which database?',
  header: 'Database',
  options: [{ label: 'Postgres' }, { label: 'SQLite' }],
}
const REQUEST = { questions: [DB] }

/** Starts `handraise ask - --web` and reads where to answer, as a person would. */
async function askOnPage(
  args: readonly string[] = [],
  { request = REQUEST, env = NO_DISPLAY }: { request?: object; env?: NodeJS.ProcessEnv } = {},
) {
  const child = spawn(process.execPath, [command, 'ask', '-', '--web', ...args], {
    detached: true,
    env: { ...process.env, CI: '', ...env },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const ended = new Promise<number | null>(resolve => child.once('close', resolve))
  child.stdin.end(JSON.stringify(request))
  const address = await vi.waitFor(
    () => {
      const [, found] = /^answer at (http:\S+)$/mu.exec(stderr) ?? []
      if (found === undefined) throw new Error(`no address in ${JSON.stringify(stderr)}`)
      return found
    },
    { timeout: 10_000, interval: 10 },
  )
  const url = new URL(address)
  const fragment = new URLSearchParams(url.hash.slice(1))
  return {
    child,
    address,
    url: `${url.origin}/`,
    id: fragment.get('request') ?? '',
    client: new InboxClient({ url: `${url.origin}/`, token: fragment.get('token') ?? '' }),
    stderr: () => stderr,
    ended: async () => ({ exitCode: await ended, stdout, stderr }),
  }
}

const lastLine = (text: string): unknown => JSON.parse(text.trimEnd().split('\n').at(-1) ?? '')

describe('an ask on a page', () => {
  test('is answered there, the answer on standard output alone', async () => {
    const { client, id, address, ended } = await askOnPage()
    expect(await client.get(id)).toMatchObject({ id, questions: [DB] })
    await client.answer(id, [{ id: 'db', selected: ['SQLite'] }])
    expect(await ended()).toEqual({
      exitCode: 0,
      stdout: '{"answers":[{"id":"db","selected":["SQLite"]}]}\n',
      stderr: `answer at ${address}\n`,
    })
  })

  test('serves the page itself, and is gone with its request', async () => {
    const { client, id, url, ended } = await askOnPage()
    const page = await fetch(url)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringContaining('html')])
    const [, script = ''] = /src="([^"]+\.js)"/u.exec(await page.text()) ?? []
    expect((await fetch(new URL(script, url))).status).toBe(200)
    await client.decline(id)
    await ended()
    await expect(client.get(id)).rejects.toMatchObject({ code: 'UNREACHABLE' })
  })

  test.each<[string, (client: InboxClient, id: string) => Promise<unknown>, number, object]>([
    [
      'declined',
      (client, id) => client.decline(id, { reason: 'not mine' }),
      7,
      { code: 'ASK_DECLINED', message: expect.stringContaining('not mine') },
    ],
    ['cancelled', (client, id) => client.cancel(id), 3, { code: 'ASK_CANCELLED' }],
    [
      'clarified',
      (client, id) => client.clarify(id, 'which is faster?'),
      8,
      { code: 'ASK_CLARIFIED', text: 'which is faster?' },
    ],
    ['interrupted', (client, id) => client.interrupt(id), 9, { code: 'ASK_INTERRUPTED' }],
  ])('that is %s there ends with its own exit code', async (_, settle, exit, error) => {
    const { client, id, ended } = await askOnPage()
    await settle(client, id)
    const { exitCode, stdout, stderr } = await ended()
    expect({ exitCode, stdout }).toEqual({ exitCode: exit, stdout: '' })
    expect(lastLine(stderr)).toMatchObject(error)
  })

  test('reports whole with --json', async () => {
    const { client, id, ended } = await askOnPage(['--json'])
    await client.answer(id, 'sqlite')
    expect(JSON.parse((await ended()).stdout)).toEqual({
      outcome: 'answered',
      by: 'user',
      answers: [{ id: 'db', selected: ['SQLite'] }],
    })
  })

  test('times out with nothing chosen', async () => {
    const { exitCode, stdout, stderr } = await (await askOnPage(['--timeout', '0.4'])).ended()
    expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: '' })
    expect(lastLine(stderr)).toMatchObject({ code: 'ASK_TIMED_OUT' })
  })

  test('times out with the defaults that were named, marked as such', async () => {
    const request = { questions: [{ ...DB, default: { selected: ['Postgres'] } }] }
    const { exitCode, stdout } = await (await askOnPage(['--timeout', '0.4'], { request })).ended()
    expect({ exitCode, stdout }).toEqual({
      exitCode: 4,
      stdout: '{"answers":[{"id":"db","selected":["Postgres"],"by":"default"}]}\n',
    })
  })

  test.each([
    ['SIGINT', 3, 'ASK_CANCELLED', 'dismissed by the user'],
    ['SIGTERM', 9, 'ASK_ABORTED', 'aborted'],
  ] as const)(
    'that gets %s is withdrawn and ends as one in the terminal does',
    async (signal, exit, code, why) => {
      const { child, ended } = await askOnPage()
      child.kill(signal)
      const { exitCode, stdout, stderr } = await ended()
      expect({ exitCode, stdout }).toEqual({ exitCode: exit, stdout: '' })
      expect(lastLine(stderr)).toMatchObject({ code, message: expect.stringContaining(why) })
    },
  )

  test('lets an open page see the end, for two seconds at most', async () => {
    const { client, child, ended } = await askOnPage()
    const seen: string[] = []
    const stop = new AbortController()
    onTestFinished(() => stop.abort())
    const watching = (async () => {
      for await (const event of client.events(undefined, { signal: stop.signal })) {
        seen.push(event.type)
        if (event.type === 'snapshot') child.kill('SIGINT')
      }
    })()
    watching.catch(() => {})
    await vi.waitFor(() => expect(seen).toEqual(['snapshot', 'settled']), { timeout: 10_000 })
    const settledAt = performance.now()
    expect((await ended()).exitCode).toBe(3)
    expect(performance.now() - settledAt).toBeGreaterThan(1_000)
    expect(performance.now() - settledAt).toBeLessThan(3_000)
  })

  test('waits for no page that is not open', async () => {
    const { client, id, ended } = await askOnPage()
    await client.decline(id)
    const settledAt = performance.now()
    await ended()
    expect(performance.now() - settledAt).toBeLessThan(1_000)
  })

  test('tells a command of its own, with the texts where that is asked for', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'handraise-ask-web-'))
    onTestFinished(() => rm(directory, { recursive: true }))
    const told = join(directory, 'told')
    const { client, id, ended } = await askOnPage(['--notify', `cat > '${told}'`, '--notify-text'])
    await vi.waitFor(async () => expect(await readFile(told, 'utf8')).toContain('\n'), { timeout: 5_000 })
    expect(JSON.parse(await readFile(told, 'utf8'))).toMatchObject({
      id,
      count: 1,
      questions: [{ question: 'Which database?', options: ['Postgres', 'SQLite'] }],
    })
    await client.decline(id)
    await ended()
  })

  test.each([
    ['--inbox', 'http://127.0.0.1:9/'],
    ['--answers', 'a.json'],
    ['--policy', 'first'],
    ['--replay', 'r.jsonl'],
    ['--record', 'r.jsonl'],
    ['--plain'],
    ['--detach'],
  ])('goes without %s', async (...args) => {
    const { exitCode, stdout, stderr } = await run(['ask', '-', '--web', ...args], JSON.stringify(REQUEST))
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(JSON.parse(stderr)).toMatchObject({
      code: 'BAD_USAGE',
      message: expect.stringContaining(args[0] ?? ''),
    })
  })

  test('of bad questions is refused, and nothing is opened', async () => {
    const request = JSON.stringify({ questions: [] })
    const { exitCode, stderr } = await run(['ask', '-', '--web'], request, NO_DISPLAY)
    expect([exitCode, JSON.parse(stderr)]).toMatchObject([2, { code: 'EMPTY_QUESTIONS' }])
  })
})

describe.skipIf(process.platform !== 'linux')('the browser', () => {
  test('is opened at the request', async () => {
    const { env, opened } = await fakeBrowser()
    const { address, client, id, ended } = await askOnPage([], { env })
    await vi.waitFor(async () => expect(await opened()).toEqual([address]), { timeout: 5_000 })
    await client.decline(id)
    expect((await ended()).stderr.split('\n')).toHaveLength(3)
  })

  test.each([
    ['where it is not wanted', ['--no-open'], {}],
    ['where there is no display', [], { BROWSER: '' }],
  ])('is not opened %s, and nothing is said of it', async (_, args, more) => {
    const { env, opened } = await fakeBrowser()
    const { client, id, ended } = await askOnPage(args, { env: { ...env, ...more } })
    await new Promise(resolve => setTimeout(resolve, 500))
    await client.decline(id)
    expect((await ended()).stderr.split('\n')).toHaveLength(3)
    expect(await opened()).toEqual([])
  })

  test('that cannot be opened is told of, and the question waits all the same', async () => {
    const { env } = await fakeBrowser(4)
    const { client, id, stderr, ended } = await askOnPage([], { env })
    await vi.waitFor(() => expect(stderr()).toContain('could not be opened'), { timeout: 5_000 })
    await client.answer(id, '1')
    expect((await ended()).exitCode).toBe(0)
  })

  test('that is missing is told of, and the question waits all the same', async () => {
    const { client, id, stderr, ended } = await askOnPage([], { env: { DISPLAY: ':0', PATH: '/nowhere' } })
    await vi.waitFor(() => expect(stderr()).toContain('ENOENT'), { timeout: 5_000 })
    await client.answer(id, '1')
    expect((await ended()).exitCode).toBe(0)
  })
})
