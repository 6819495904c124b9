import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openTerminal } from '../../provider-terminal/tests/pseudo-terminal.ts'
import { command, run } from './run-command.ts'
import { serve, type Served } from './serve-command.ts'

const QUESTION = {
  id: 'db',
  question: 'Which database?',
  options: [{ label: 'Postgres' }, { label: 'SQLite' }],
}
const REQUEST = JSON.stringify({ questions: [QUESTION] })

let directory: string
let db: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'handraise-serve-'))
  db = join(directory, 'inbox.db')
})

afterEach(async () => {
  await rm(directory, { recursive: true })
})

function at({ url, token }: Served) {
  return (args: string[], input = '') => run(args, input, { HANDRAISE_INBOX: url, HANDRAISE_TOKEN: token })
}

async function detached(server: Served, ...args: string[]): Promise<string> {
  const { stdout } = await at(server)(['ask', '-', '--inbox', server.url, '--detach', ...args], REQUEST)
  return stdout.trim()
}

describe('a question asked through a served inbox', () => {
  test('is answered by another process, and the asker gets the answer', async () => {
    const server = await serve('--db', db)
    const there = at(server)
    const asking = there(['ask', '-', '--inbox', server.url], REQUEST)
    let pending: Array<{ id: string }> = []
    while (pending.length === 0)
      pending = JSON.parse((await there(['pending', '--json'])).stdout) as typeof pending
    const { exitCode } = await there(['answer', pending[0]!.id, '--text', 'sqlite'])
    expect(exitCode).toBe(0)
    expect(await asking).toMatchObject({
      exitCode: 0,
      stdout: '{"answers":[{"id":"db","selected":["SQLite"]}]}\n',
    })
  })

  test('is listed with what a program needs', async () => {
    const server = await serve('--db', db)
    const id = await detached(server, '--key', 'k', '--session', 's')
    const [request] = JSON.parse((await at(server)(['pending', '--json'])).stdout) as unknown[]
    expect(request).toEqual({
      id,
      kind: 'questions',
      key: 'k',
      session: 's',
      openedAt: expect.any(Number),
      payload: { questions: [QUESTION] },
      questions: [QUESTION],
    })
    expect((await at(server)(['show', id])).stdout).toContain('2. SQLite')
  })

  test('outlives the server, under the same id, port and token', async () => {
    const first = await serve('--db', db)
    const id = await detached(first, '--key', 'k')
    first.child.kill('SIGKILL')
    await first.ended
    const second = await serve('--db', db)
    expect([second.url, second.token]).toEqual([first.url, first.token])
    const again = at(second)(['ask', '-', '--inbox', second.url, '--key', 'k'], REQUEST)
    expect(
      (await at(second)(['answer', id, '{"answers":[{"id":"db","selected":["Postgres"]}]}'])).exitCode,
    ).toBe(0)
    expect((await again).stdout).toBe('{"answers":[{"id":"db","selected":["Postgres"]}]}\n')
    // And once more, when it was answered while the asker was away.
    expect((await at(second)(['ask', '-', '--inbox', second.url, '--key', 'k'], REQUEST)).stdout).toBe(
      '{"answers":[{"id":"db","selected":["Postgres"]}]}\n',
    )
  })

  test.each([
    ['decline', ['--reason', 'not mine'], 7, 'ASK_DECLINED'],
    ['clarify', ['--text', 'which is faster?'], 8, 'ASK_CLARIFIED'],
    ['cancel', ['--reason', 'later'], 3, 'ASK_CANCELLED'],
  ])('ends for who waits as it was ended: %s', async (how, args, exit, code) => {
    const server = await serve('--memory')
    const there = at(server)
    const id = await detached(server)
    const waiting = there(['wait', id])
    expect((await there([how, id, ...args])).exitCode).toBe(0)
    const { exitCode, stdout, stderr } = await waiting
    expect({ exitCode, stdout }).toEqual({ exitCode: exit, stdout: '' })
    expect(JSON.parse(stderr)).toMatchObject({ code })
  })

  test('that is settled already is refused with its own exit code, telling by whom', async () => {
    const server = await serve('--memory')
    const id = await detached(server)
    await at(server)(['answer', id, '--text', '1'])
    const { exitCode, stderr } = await at(server)(['answer', id, '--text', '2'])
    expect(exitCode).toBe(6)
    expect(JSON.parse(stderr)).toMatchObject({
      code: 'ALREADY_SETTLED',
      message: expect.stringContaining('by command'),
    })
    expect((await at(server)(['history'])).stdout).toMatch(/answered by command at .*: Postgres/)
  })

  test('is not answered by what it does not offer', async () => {
    const server = await serve('--memory')
    const id = await detached(server)
    const { exitCode, stderr } = await at(server)(
      ['answer', id, '-'],
      '{"answers":[{"id":"db","selected":["MySQL"]}]}',
    )
    expect(exitCode).toBe(2)
    expect(stderr).toContain('was not offered')
  })

  test('times out where it is kept', async () => {
    const server = await serve('--memory')
    const { exitCode, stderr } = await at(server)(
      ['ask', '-', '--inbox', server.url, '--timeout', '0.3'],
      REQUEST,
    )
    expect(exitCode).toBe(4)
    expect(JSON.parse(stderr)).toMatchObject({ code: 'ASK_TIMED_OUT' })
  })

  test('is answered with a prompt in a terminal', async () => {
    const server = await serve('--memory')
    const id = await detached(server)
    const env = { HANDRAISE_INBOX: server.url, HANDRAISE_TOKEN: server.token }
    const terminal = openTerminal(process.execPath, [command, 'answer', id], { env })
    try {
      await terminal.untilShown('Enter choose')
      terminal.press('down', 'enter')
      await terminal.untilShown('answered')
      expect((await at(server)(['wait', id])).stdout).toBe(
        '{"answers":[{"id":"db","selected":["SQLite"]}]}\n',
      )
    } finally {
      terminal.close()
    }
  })

  test('is taken down in the terminal when it is answered elsewhere', async () => {
    const server = await serve('--memory')
    const id = await detached(server)
    const env = { HANDRAISE_INBOX: server.url, HANDRAISE_TOKEN: server.token }
    const terminal = openTerminal(process.execPath, [command, 'answer', id], { env })
    try {
      await terminal.untilShown('Enter choose')
      await at(server)(['decline', id])
      await terminal.untilShown('ALREADY_SETTLED')
      expect(terminal.lines()[0]).toBe('Declined elsewhere (command): Which database?')
      expect(terminal.lines().join('\n')).not.toContain('Enter choose')
    } finally {
      terminal.close()
    }
  })
})

describe('a served inbox', () => {
  test('shuts down cleanly with everything keyed kept', async () => {
    const server = await serve('--db', db)
    const id = await detached(server, '--key', 'k')
    server.child.kill('SIGINT')
    expect(await server.ended).toBe(0)
    const again = await serve('--db', db)
    expect((await at(again)(['pending'])).stdout).toContain(id)
  })

  test('tells a second one on its port who holds it', async () => {
    const server = await serve('--db', db)
    const { port } = new URL(server.url)
    const { exitCode, stderr } = await run(['serve', '--db', db, '--port', port])
    expect(exitCode).toBe(1)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
    expect(stderr).toContain(`process ${server.child.pid}`)
  })

  test('refuses a file that is none of its own, and leaves it alone', async () => {
    await writeFile(db, 'not a database, but somebody’s notes')
    const { exitCode, stderr } = await run(['serve', '--db', db])
    expect(exitCode).toBe(1)
    expect(stderr).toContain('left as it is')
  })

  test('refuses a wrong token, and one that is missing', async () => {
    const server = await serve('--memory')
    const wrong = await run(['pending'], '', {
      HANDRAISE_INBOX: server.url,
      HANDRAISE_TOKEN: 'wrong-wrong-wrong-wrong',
    })
    expect(wrong.exitCode).not.toBe(0)
    const missing = await run(['pending'], '', { HANDRAISE_INBOX: server.url, HANDRAISE_TOKEN: '' })
    expect(missing).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('HANDRAISE_TOKEN') })
  })

  test('reads the token from a file', async () => {
    const server = await serve('--memory')
    const file = join(directory, 'token')
    await writeFile(file, `${server.token}\n`)
    const { exitCode } = await run(['pending', '--inbox', server.url, '--token-file', file])
    expect(exitCode).toBe(0)
  })
})

test('an ask goes where the environment says, unless it says that it is asked here', async () => {
  const server = await serve('--db', db)
  const there = at(server)
  const { stdout: id } = await there(['ask', '-', '--key', 'k', '--detach'], REQUEST)
  const asking = there(['ask', '-', '--key', 'k'], REQUEST)
  expect(await there(['answer', id.trim(), '--text', 'SQLite'])).toMatchObject({ exitCode: 0 })
  expect((await asking).stdout).toBe('{"answers":[{"id":"db","selected":["SQLite"]}]}\n')
  const here = await there(['ask', '-', '--key', 'k', '--policy', 'first'], REQUEST)
  expect(here.stdout).toBe('{"answers":[{"id":"db","selected":["Postgres"]}]}\n')
  const nowhere = await run(['ask', '-', '--detach'], REQUEST, { HANDRAISE_INBOX: '' })
  expect([nowhere.exitCode, JSON.parse(nowhere.stderr)]).toMatchObject([2, { code: 'BAD_USAGE' }])
})

test('an ask through an inbox is answered by its surfaces, and takes no policy of its own', async () => {
  const { exitCode, stderr } = await run(
    ['ask', '-', '--inbox', 'http://127.0.0.1:9/', '--policy', 'first'],
    REQUEST,
  )
  expect(exitCode).toBe(2)
  expect(stderr).toContain('--policy')
})

test('an ask through an inbox that cannot be reached was never asked', async () => {
  const env = { HANDRAISE_TOKEN: 'some-token-or-other' }
  const { exitCode, stdout, stderr } = await run(['ask', '-', '--inbox', 'http://127.0.0.1:9/'], REQUEST, env)
  expect({ exitCode, stdout }).toEqual({ exitCode: 5, stdout: '' })
  expect(JSON.parse(stderr)).toMatchObject({ code: 'ASK_UNAVAILABLE' })
})
