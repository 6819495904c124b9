import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InboxClient } from '@handraise/provider-web'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { openTerminal, type Terminal } from '../../provider-terminal/tests/pseudo-terminal.ts'
import { command } from './run-command.ts'

const DB = {
  id: 'db',
  question: 'Which database?',
  options: [{ label: 'Postgres' }, { label: 'SQLite (Recommended)' }],
}
const READY = 'Enter choose'

let directory: string
const open: Terminal[] = []

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'handraise-terminal-'))
  await writeFile(join(directory, 'handraise'), `#!/bin/sh\nexec '${process.execPath}' '${command}' "$@"\n`, {
    mode: 0o755,
  })
})

afterEach(() => {
  for (const terminal of open.splice(0)) terminal.close()
})

afterAll(() => rm(directory, { recursive: true }))

async function request(name: string, ...questions: object[]): Promise<string> {
  await writeFile(join(directory, name), JSON.stringify({ questions }))
  return name
}

/** A shell line in a terminal of its own; what it leaves behind is read from files. */
function shell(line: string, size: { columns?: number; rows?: number } = {}): Terminal {
  const script = `cd '${directory}'; PATH="$PWD:$PATH"; ${line}; echo "exit=$?"`
  const terminal = openTerminal('bash', ['--norc', '-c', script], size)
  open.push(terminal)
  return terminal
}

const left = (name: string): Promise<string> => readFile(join(directory, name), 'utf8')

/** Keys before the prompt could be read do not count, so it is waited for until they do. */
async function armed(terminal: Terminal, text = READY): Promise<void> {
  await terminal.untilShown(text)
  await new Promise(resolve => setTimeout(resolve, 550))
}

describe('an ask in a terminal', () => {
  test('is answered with arrows and Enter, the answer on standard output alone', async () => {
    const file = await request('arrows.json', DB)
    const terminal = shell(`handraise ask ${file} > out.json 2> err.json`)
    await armed(terminal)
    terminal.press('down', 'enter')
    await terminal.untilShown('exit=0')
    expect(await left('out.json')).toBe('{"answers":[{"id":"db","selected":["SQLite (Recommended)"]}]}\n')
    expect(await left('err.json')).toBe('')
  })

  test('is answered in the controlling terminal when standard input and output are pipes', async () => {
    const file = await request('pipes.json', DB)
    const terminal = shell(`cat ${file} | handraise ask - | cat > out.json`)
    await armed(terminal)
    terminal.press('enter')
    await terminal.untilShown('exit=0')
    expect(await left('out.json')).toBe('{"answers":[{"id":"db","selected":["Postgres"]}]}\n')
  })

  test('is refused in CI even in a terminal', async () => {
    const file = await request('ci.json', DB)
    const terminal = shell(`CI=1 handraise ask ${file} 2> err.json`)
    await terminal.untilShown('exit=5')
    expect(await left('err.json')).toContain('ASK_UNAVAILABLE')
  })

  test('is refused as a background job, not stopped for ever', async () => {
    const file = await request('background.json', DB)
    const terminal = shell(`set -m; handraise ask ${file} > out.json 2> err.json & wait $!`)
    await terminal.untilShown('exit=5')
    expect(await left('err.json')).toContain('not-interactive')
  })

  test.each<[string, string[], number, object]>([
    ['Ctrl-C', ['ctrl-c'], 3, { code: 'ASK_CANCELLED' }],
    ['Esc twice', ['escape', 'escape'], 7, { code: 'ASK_DECLINED' }],
    ['Ctrl-X', ['ctrl-x'], 9, { code: 'ASK_INTERRUPTED' }],
    ['the end of the input', ['ctrl-d'], 3, { code: 'ASK_CANCELLED' }],
  ])(
    'ends with %s, with its own exit code, the prompt gone and the cursor back',
    async (_, keys, exit, error) => {
      const file = await request('ends.json', DB)
      const terminal = shell(`handraise ask ${file} > out.json 2> err.json`)
      await armed(terminal)
      for (const key of keys) {
        terminal.press(key)
        // An escape is one only when nothing follows it at once.
        await new Promise(resolve => setTimeout(resolve, 150))
      }
      const lines = await terminal.untilShown(`exit=${exit}`)
      expect(lines).toEqual([`exit=${exit}`])
      expect(terminal.cursorHidden()).toBe(false)
      expect(await left('out.json')).toBe('')
      expect(JSON.parse(await left('err.json'))).toMatchObject(error)
    },
  )

  test('hands on what the person wrote back', async () => {
    const file = await request('clarify.json', DB)
    const terminal = shell(`handraise ask ${file} 2> err.json`)
    await armed(terminal)
    terminal.press('ctrl-t')
    terminal.press('which is faster?')
    await terminal.untilShown('which is faster?')
    terminal.press('enter')
    await terminal.untilShown('exit=8')
    expect(JSON.parse(await left('err.json'))).toMatchObject({
      code: 'ASK_CLARIFIED',
      text: 'which is faster?',
    })
  })

  test('times out with nothing chosen', async () => {
    const file = await request('timeout.json', DB)
    const terminal = shell(`handraise ask ${file} --timeout 1 > out.json 2> err.json`)
    await terminal.untilShown('exit=4')
    expect(await left('out.json')).toBe('')
    expect(JSON.parse(await left('err.json'))).toMatchObject({ code: 'ASK_TIMED_OUT' })
  })

  test('times out with the defaults that were named, marked as such', async () => {
    const file = await request('default.json', { ...DB, default: { selected: ['Postgres'] } })
    const terminal = shell(`handraise ask ${file} --timeout 1 > out.json 2> err.json`)
    await terminal.untilShown('exit=4')
    expect(await left('out.json')).toBe('{"answers":[{"id":"db","selected":["Postgres"],"by":"default"}]}\n')
  })

  test.each([['SIGTERM'], ['SIGHUP']])('killed with %s gives the terminal back', async signal => {
    const file = await request('killed.json', DB)
    const terminal = shell(
      `stty -a > before.txt; (sleep 1.2; pkill -${signal.slice(3)} -f "[c]li.js ask ${file}") & handraise ask ${file} > out.json 2> err.json; code=$?; stty -a > after.txt; (exit $code)`,
    )
    await terminal.untilShown(READY)
    await terminal.untilShown('exit=9')
    expect(await left('after.txt')).toBe(await left('before.txt'))
    expect(JSON.parse(await left('err.json'))).toMatchObject({ code: 'ASK_ABORTED' })
    expect(terminal.cursorHidden()).toBe(false)
  })

  test.each([['rich'], ['plain']])('whose terminal goes away ends with a code, in %s mode', async mode => {
    const file = await request(`gone-${mode}.json`, DB)
    const plain = mode === 'plain' ? '--plain' : ''
    const terminal = shell(
      `trap '' HUP; handraise ask ${file} ${plain} --json > gone.json 2> gone.err; echo "$?" > gone-${mode}.exit`,
    )
    await terminal.untilShown(mode === 'plain' ? '2 of 2: SQLite' : READY)
    terminal.vanish()
    let exit = ''
    while (exit === '') {
      exit = await left(`gone-${mode}.exit`).catch(() => '')
      await new Promise(resolve => setTimeout(resolve, 20))
    }
    expect(['3', '9']).toContain(exit.trim())
    expect((await left('gone.err')).trimEnd().split('\n')).toHaveLength(1)
  })

  test('in plain mode only adds lines, and Ctrl-C dismisses', async () => {
    const file = await request('plain.json', DB)
    const terminal = shell(`handraise ask ${file} --plain 2> err.json`)
    await armed(terminal, '2 of 2: SQLite')
    terminal.press('ctrl-c')
    await terminal.untilShown('exit=3')
    expect(terminal.lines().join('\n')).toContain('2 of 2: SQLite')
  })

  test('scrolls a list longer than the screen with the focus in sight', async () => {
    const options = Array.from({ length: 200 }, (_, index) => ({ label: `Option number ${index + 1}` }))
    const file = await request('long.json', { id: 'n', question: 'Which of them?', options })
    const terminal = shell(`handraise ask ${file} > out.json`, { columns: 80, rows: 24 })
    await armed(terminal)
    terminal.press('end', 'up')
    const lines = await terminal.until(
      shown => shown.some(line => /^> *200\./u.test(line)),
      'the last option',
    )
    expect(lines.length).toBeLessThanOrEqual(24)
    terminal.press('enter')
    await terminal.untilShown('exit=0')
    expect(await left('out.json')).toContain('Option number 200')
  })
})

describe('the demo in a terminal', () => {
  /** Starts it, and reads the address of its page as a person would. */
  async function demo(): Promise<{ terminal: Terminal; client: InboxClient }> {
    const terminal = shell('handraise demo', { rows: 40 })
    const lines = await terminal.untilShown('Which database')
    const page = new URL(lines.find(line => line.startsWith('http:')) ?? 'no:')
    const token = new URLSearchParams(page.hash.slice(1)).get('token') ?? ''
    return { terminal, client: new InboxClient({ url: page.origin, token }) }
  }

  const idOf = async (client: InboxClient, header: string): Promise<string> =>
    vi.waitFor(
      async () => {
        const { requests } = await client.list()
        const found = requests.find(({ questions }) => questions?.[0]?.header === header)
        if (found === undefined) throw new Error(`${header} is not asked`)
        return found.id
      },
      { timeout: 10_000 },
    )

  test('asks its three questions, answered here, and goes on', async () => {
    const { terminal } = await demo()
    await armed(terminal)
    terminal.press('enter')
    await armed(terminal, 'Which checks')
    terminal.press(' ', 'enter')
    await armed(terminal, 'Shall I go ahead')
    terminal.press('enter')
    const text = (await terminal.untilShown('exit=0')).join('\n')
    expect(text).toContain('=> SQLite (Recommended) (on terminal)')
    expect(text).toContain('=> Lint (on terminal)')
    expect(text).toContain('The agent goes on with these answers.')
    expect(text).not.toContain('elsewhere')
  })

  test('takes each question down that is answered on the page first, and says where', async () => {
    const { terminal, client } = await demo()
    await armed(terminal)
    await client.answer(await idOf(client, 'Database'), [{ id: 'database', selected: ['Postgres'] }])
    await terminal.untilShown('=> Postgres (on web)')
    await armed(terminal, 'Which checks')
    terminal.press(' ', 'enter')
    await terminal.untilShown('=> Lint (on terminal)')
    await terminal.untilShown('Shall I go ahead')
    await client.answer(await idOf(client, 'Plan'), [{ id: 'plan', selected: ['Keep planning'] }])
    const lines = await terminal.untilShown('exit=0')
    expect(lines.filter(line => line !== '').slice(2)).toEqual([
      'Answered elsewhere (web): Database',
      'Database: Which database should the new service use?',
      '  => Postgres (on web)',
      'Checks: Lint',
      'Checks: Which checks should run before a release?',
      '  => Lint (on terminal)',
      'Answered elsewhere (web): Plan',
      'Plan: Shall I go ahead with this plan?',
      '  => Keep planning (on web)',
      'The agent goes on with these answers.',
      'exit=0',
    ])
    expect(terminal.cursorHidden()).toBe(false)
  })

  test('ends with what was declined on the page', async () => {
    const { terminal, client } = await demo()
    await client.decline(await idOf(client, 'Database'))
    const lines = await terminal.untilShown('exit=7')
    expect(lines.join('\n')).toContain('Declined elsewhere (web): Database')
  })

  test('goes on here alone where no page can be served', async () => {
    const preload = join(directory, 'no-server.mjs')
    const fails = `process.nextTick(() => this.emit('error', new Error('listen EPERM')))`
    await writeFile(
      preload,
      `import net from 'node:net'\nnet.Server.prototype.listen = function () { ${fails}; return this }\n`,
    )
    const terminal = shell(`NODE_OPTIONS='--import=${preload}' handraise demo`)
    await terminal.untilShown('Which database')
    expect(terminal.lines().join('\n')).toContain('this terminal alone: listen EPERM')
    await armed(terminal)
    terminal.press('enter')
    await terminal.untilShown('=> SQLite (Recommended)')
    await armed(terminal, 'Which checks')
    terminal.press('ctrl-c')
    await terminal.untilShown('exit=3')
  })
})

test('the doctor says that a question can be shown here', async () => {
  const terminal = shell('handraise doctor')
  await terminal.untilShown('exit=0')
  expect(terminal.lines().join('\n')).toContain('terminal: yes, rich prompts')
})
