import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InboxClient } from '@handraise/provider-web'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { openTerminal, type Terminal } from '../../provider-terminal/tests/pseudo-terminal.ts'
import { fakeBrowser, NO_DISPLAY } from './fake-browser.ts'
import { command, run } from './run-command.ts'
import { serve, serveIn } from './serve-command.ts'

const DB = {
  id: 'db',
  question: 'Which database?',
  header: 'Database',
  options: [{ label: 'Postgres' }, { label: 'SQLite' }],
}
const REQUEST = JSON.stringify({ questions: [DB] })

let directory: string
let told: string
/** A shell command that keeps what it is told. */
let keeping: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'handraise-notify-'))
  told = join(directory, 'told.jsonl')
  keeping = `cat >> '${told}'`
})

afterEach(() => rm(directory, { recursive: true }))

async function notices(): Promise<unknown[]> {
  const text = await readFile(told, 'utf8').catch(() => '')
  return text
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line) as unknown)
}

const until = (holds: () => void | Promise<void>): Promise<void> => vi.waitFor(holds, { timeout: 10_000 })

/** Presses Enter when keys count. */
async function chooseFirst(terminal: Terminal): Promise<void> {
  await terminal.untilShown('Enter choose')
  await new Promise(resolve => setTimeout(resolve, 550))
  terminal.press('enter')
}

/** The command in a terminal of its own, with its output and how it ended left in files. */
function inTerminal(args: string, environment = ''): Terminal {
  const line = `cd '${directory}'; ${environment} ${process.execPath} '${command}' ${args}; echo "exit=$?"`
  const terminal = openTerminal('bash', ['--norc', '-c', line])
  onTestFinished(() => terminal.close())
  return terminal
}

describe('a served inbox', () => {
  test('tells a command of each request, once, with counts and headers alone', async () => {
    const server = await serve('--memory', '--notify', keeping)
    const client = new InboxClient(server)
    const { request } = await client.open({ questions: [DB, { ...DB, id: 'other' }], session: 's', key: 'k' })
    await client.open({ questions: [DB, { ...DB, id: 'other' }], session: 's', key: 'k' })
    await until(async () => expect(await notices()).toHaveLength(1))
    expect(await notices()).toEqual([
      {
        event: 'opened',
        id: request.id,
        kind: 'questions',
        session: 's',
        count: 2,
        headers: ['Database', 'Database'],
        openedAt: request.openedAt,
      },
    ])
  })

  test('tells the texts where that is asked for', async () => {
    const client = new InboxClient(await serve('--memory', '--notify', keeping, '--notify-text'))
    await client.open({ questions: [DB] })
    await until(async () =>
      expect(await notices()).toMatchObject([{ questions: [{ question: DB.question }] }]),
    )
  })

  test('says what is wrong with the command, and serves on', async () => {
    const server = await serve('--memory', '--notify', 'echo "no such channel" >&2; exit 3')
    const client = new InboxClient(server)
    const { request } = await client.open({ questions: [DB] })
    await until(() => expect(server.stderr()).toContain('exited with 3: no such channel'))
    expect((await client.answer(request.id, '1')).request.settlement?.outcome).toBe('answered')
    server.child.kill('SIGINT')
    expect(await server.ended).toBe(0)
  })

  test('refuses to tell texts to nobody', async () => {
    const { exitCode, stderr } = await run(['serve', '--memory', '--notify-text'])
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('--notify')])
  })

  test.each([
    ['rings in its terminal for each request', '', 1],
    ['rings not at all with --no-bell', '--no-bell', 0],
  ])('%s', async (_, option, bells) => {
    const terminal = inTerminal(`serve --memory ${option} > served.txt`)
    const served = await vi.waitFor(
      async () => {
        const text = await readFile(join(directory, 'served.txt'), 'utf8')
        const [, url] = /^inbox: {2}(\S+)$/mu.exec(text) ?? []
        const [, token] = /^token: {2}(\S+)$/mu.exec(text) ?? []
        if (url === undefined || token === undefined) throw new Error(text)
        return { url, token, text }
      },
      { timeout: 10_000 },
    )
    expect(served.text).toContain(`page:   ${served.url}#token=${served.token}\n`)
    await new InboxClient(served).open({ questions: [DB] })
    await new Promise(resolve => setTimeout(resolve, 300))
    expect(terminal.bells()).toBe(bells)
  })

  test.skipIf(process.platform !== 'linux')('opens its page where that is asked for', async () => {
    const { env, opened } = await fakeBrowser()
    const server = await serveIn(env, '--memory', '--open')
    expect(server.page).toBe(`${server.url}#token=${server.token}`)
    await until(async () => expect(await opened()).toEqual([server.page]))
  })

  test.skipIf(process.platform !== 'linux')('says where it cannot open its page, and serves on', async () => {
    const server = await serveIn(NO_DISPLAY, '--memory', '--open')
    await until(() => expect(server.stderr()).toContain('there is no display'))
    expect((await new InboxClient(server).list()).requests).toEqual([])
  })
})

describe('an ask in a terminal', () => {
  beforeEach(() => writeFile(join(directory, 'request.json'), REQUEST))

  test('rings once, and tells a command', async () => {
    const terminal = inTerminal(`ask request.json --notify "${keeping}" > out.json 2> err.json`)
    await chooseFirst(terminal)
    await terminal.untilShown('exit=0')
    expect(terminal.bells()).toBe(1)
    expect(await notices()).toMatchObject([{ count: 1, headers: ['Database'] }])
    expect(await readFile(join(directory, 'err.json'), 'utf8')).toBe('')
  })

  test('rings not at all with --no-bell', async () => {
    const terminal = inTerminal('ask request.json --no-bell > out.json')
    await chooseFirst(terminal)
    await terminal.untilShown('exit=0')
    expect(terminal.bells()).toBe(0)
  })

  test('says what was wrong with the command when the prompt is gone', async () => {
    const terminal = inTerminal('ask request.json --notify "exit 3" > out.json 2> err.txt')
    await chooseFirst(terminal)
    await terminal.untilShown('exit=0')
    expect(await readFile(join(directory, 'err.txt'), 'utf8')).toMatch(/^NoticeError: .* exited with 3.*\n$/u)
    expect(await readFile(join(directory, 'out.json'), 'utf8')).toContain('Postgres')
  })

  test('that is refused rings nobody and tells nobody', async () => {
    const terminal = inTerminal(`ask request.json --notify "${keeping}" 2> err.json`, 'CI=1')
    await terminal.untilShown('exit=5')
    expect([terminal.bells(), await notices()]).toEqual([0, []])
  })

  test.each([
    ['--policy', 'first'],
    ['--inbox', 'http://127.0.0.1:9/'],
  ])('goes without a command to tell where it is not asked here: %s', async (...args) => {
    const options = ['--notify', keeping, '--notify-text']
    const { exitCode, stderr } = await run(['ask', '-', ...options, ...args], REQUEST, {
      HANDRAISE_TOKEN: 'some-token-or-other',
    })
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('--notify, --notify-text: ')])
  })
})
