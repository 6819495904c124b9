import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTerminal, type Terminal } from '../../provider-terminal/tests/pseudo-terminal.ts'
import { bundleHost, hostsIn, type GuardedCall } from './approval-host.ts'
import { command, run } from './run-command.ts'
import { serve, type Served } from './serve-command.ts'

const CREATE: GuardedCall = {
  callId: 'call-1',
  session: 's1',
  subject: { kind: 'fileAccess', access: 'create', path: '/tmp/handraise-never-made' },
}
const AGAIN: GuardedCall = { ...CREATE, callId: 'call-2' }
const RULE = 'act: create exactly: /tmp/handraise-never-made'
// With nothing in focus there is nothing that Enter would do.
const READY = '↑↓ move'
const FOCUSED = /^> \d\. \( \)/u

let bundled: Awaited<ReturnType<typeof bundleHost>>
let directory: string
let hosts: ReturnType<typeof hostsIn>

beforeAll(async () => {
  bundled = await bundleHost()
})
afterAll(() => bundled.remove())

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'handraise-approvals-'))
  hosts = hostsIn(directory, bundled.host)
})
afterEach(() => rm(directory, { recursive: true }))

const rows = (lines: readonly string[]): string[] =>
  lines.flatMap(line => /^[> ] (\d\. )\( \) (.*)$/u.exec(line)?.slice(1).join('') ?? [])
const focusedRows = (lines: readonly string[]): string[] => lines.filter(line => FOCUSED.test(line))

function at({ url, token }: Served) {
  return (...args: string[]) => run(args, '', { HANDRAISE_INBOX: url, HANDRAISE_TOKEN: token })
}

/** The one request that waits, once it does. */
async function pendingId(server: Served): Promise<string> {
  return expect
    .poll(async () => JSON.parse((await at(server)('pending', '--json')).stdout) as object[], {
      timeout: 10_000,
      interval: 50,
    })
    .toHaveLength(1)
    .then(async () => {
      const [request] = JSON.parse((await at(server)('pending', '--json')).stdout) as Array<{ id: string }>
      return request!.id
    })
}

describe('an approval in the terminal of its host', () => {
  test('offers its choices in their order, each with the rule it would make, and none in focus', async () => {
    const terminal = hosts.inTerminal([CREATE], { rows: 30 })
    const lines = await terminal.untilShown(READY)
    expect(rows(lines)).toEqual([
      '1. Allow once',
      '2. Allow for this session',
      '3. Always allow',
      '4. Deny',
      '5. Other: type your own answer',
    ])
    expect(lines.filter(line => line.trim() === RULE)).toHaveLength(2)
    expect(lines.join('\n')).toContain('Path: /tmp/handraise-never-made')
    expect(focusedRows(lines)).toEqual([])
  })

  test('is not decided by Enter alone, however often', async () => {
    const terminal = hosts.inTerminal([CREATE])
    await armed(terminal)
    terminal.press('enter')
    await terminal.untilShown('Nothing is chosen yet')
    terminal.press('enter', 'enter', 'enter')
    // What was typed before is read by the time this is.
    terminal.press('4')
    const lines = await terminal.until(shown => focusedRows(shown).length > 0, 'the focus')
    expect(focusedRows(lines)).toEqual(['> 4. ( ) Deny'])
    expect(hosts.results()).toEqual([])
    expect(hosts.effects()).toEqual([])
  })

  test('is allowed for the session by a digit and Enter; the next call runs unasked, and the turn ends', async () => {
    const terminal = hosts.inTerminal([CREATE, AGAIN])
    await armed(terminal)
    terminal.press('2')
    const lines = await terminal.until(shown => focusedRows(shown).length > 0, 'the focus')
    expect(focusedRows(lines)).toEqual(['> 2. ( ) Allow for this session'])
    // A digit alone decides nothing.
    expect(hosts.results()).toEqual([])
    terminal.press('enter')
    await terminal.untilShown('the turn is over')
    expect(hosts.effects()).toEqual(['call-1', 'call-2'])
    expect(hosts.results()).toMatchObject([
      { isError: false, value: 'did call-1' },
      { isError: false, value: 'did call-2' },
    ])
    const listed = await run(['rules', '--db', hosts.file])
    expect(listed.stdout).toMatch(new RegExp(`^\\S+  \\S+Z  on terminal  in the session s1  ${RULE}\n$`, 'u'))
  })

  test('is denied with arrows and Enter', async () => {
    const terminal = hosts.inTerminal([CREATE])
    await armed(terminal)
    terminal.press('down', 'down', 'down', 'down')
    await terminal.untilShown('> 4. ( ) Deny')
    terminal.press('enter')
    await terminal.untilShown('the turn is over')
    expect(hosts.effects()).toEqual([])
    expect(hosts.results()).toMatchObject([
      { isError: false, content: expect.stringMatching(/^denied by the user: .*It was not done\./u) },
    ])
  })

  test('is denied by words of one’s own, which the agent gets, and the turn goes on to its end', async () => {
    const terminal = hosts.inTerminal([CREATE, AGAIN])
    await armed(terminal)
    terminal.press('up', 'not in the temporary directory', 'enter')
    // The second call was not allowed by it, nor denied: it is asked about.
    await terminal.until(() => hosts.results().length === 1, 'the first result')
    await armed(terminal)
    terminal.press('4', 'enter')
    await terminal.untilShown('the turn is over')
    expect(hosts.effects()).toEqual([])
    const [first, second] = hosts.results()
    expect(first).toMatchObject({
      isError: false,
      value: { notDone: true, outcome: { feedback: 'not in the temporary directory' } },
      content: expect.stringContaining('They said: "not in the temporary directory"'),
    })
    expect(second).toMatchObject({ isError: false, value: { notDone: true } })
  })

  test('shows a subject of 5,000 characters to its end, with what would be obeyed or hidden written out', async () => {
    const words = Array.from({ length: 700 }, (_, index) => `word${String(index).padStart(3, '0')}`)
    const line = `printf '\u001b[2K\u202egpj.exe\u0007\u200b' ${words.join(' ')}`
    expect(line.length).toBeGreaterThan(5_000)
    const terminal = hosts.inTerminal([{ ...CREATE, subject: { kind: 'shell', command: line, cwd: '/tmp' } }])
    await armed(terminal, 'PgUp/PgDn')
    const seen: string[] = []
    const atEnd = (lines: readonly string[]): boolean => rows(lines).some(row => row.endsWith('Deny'))
    for (let page = 0; page < 60 && !atEnd(terminal.lines()); page += 1) {
      const before = terminal.lines().join('\n')
      seen.push(before)
      terminal.press('page-down')
      await terminal.until(lines => lines.join('\n') !== before, 'the next page')
    }
    const last = terminal.lines()
    seen.push(last.join('\n'))
    const text = seen.join('\n')
    // Broken where the line ends, so that every blank is seen.
    const unbroken = text.replaceAll('\n', '')
    expect(words.filter(word => !unbroken.includes(word))).toEqual([])
    expect(unbroken).toContain(`| printf '<U+001B>[2K<U+202E>gpj.exe<U+0007><U+200B>' word000`)
    expect(text).toContain('In the directory: /tmp')
    // Nor did any of the paging bring a choice into focus.
    expect(focusedRows(last)).toEqual([])
    terminal.press('enter')
    await terminal.untilShown('Nothing is chosen yet')
    expect(hosts.results()).toEqual([])
  })

  test('is taken down when it is answered elsewhere, and says where', async () => {
    const server = await serve('--db', hosts.file)
    const terminal = hosts.inTerminal([CREATE])
    await terminal.untilShown(READY)
    const { exitCode } = await at(server)('answer', await pendingId(server), '--text', 'deny')
    expect(exitCode).toBe(0)
    const lines = await terminal.untilShown('the turn is over')
    expect(lines.join('\n')).toContain('Answered elsewhere (command)')
    expect(lines.join('\n')).not.toContain(READY)
    expect(hosts.effects()).toEqual([])
  })

  test('is asked one stage at a time where a command has several, and no key meant for the first decides the second', async () => {
    const subject = { kind: 'shell', command: 'git log | head -3', cwd: '/tmp' } as const
    const terminal = hosts.inTerminal([{ ...CREATE, subject }], { rows: 40 })
    await armed(terminal, 'Step 1 of 2')
    terminal.press('1', 'enter', '1', 'enter', 'enter')
    const lines = await terminal.untilShown('Step 2 of 2')
    expect(focusedRows(lines)).toEqual([])
    await armed(terminal, 'Step 2 of 2')
    terminal.press('enter')
    expect(focusedRows(await terminal.untilShown('Nothing is chosen yet'))).toEqual([])
    expect(hosts.effects()).toEqual([])
    terminal.press('1', 'enter')
    await terminal.untilShown('the turn is over')
    expect(hosts.effects()).toEqual(['call-1'])
  })
})

describe('an approval through a served inbox', () => {
  async function asked(...calls: GuardedCall[]) {
    const server = await serve('--db', hosts.file)
    const host = hosts.start(calls.length === 0 ? [CREATE] : calls)
    return { server, host, there: at(server), id: await pendingId(server) }
  }

  test.each([
    ['1', 'Allow once', true],
    ['allow for this session', 'Allow for this session', true],
    ['deny', 'Deny', false],
    ['4', 'Deny', false],
    ['not today', 'Deny, and say why, "not today"', false],
    ['allow it, but only in /tmp', 'Deny, and say why, "allow it, but only in /tmp"', false],
  ])('is answered by the typed line %j with: %s', async (text, choice, allowed) => {
    const { there, host, id } = await asked()
    const { stdout, exitCode } = await there('answer', id, '--text', text)
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: expect.stringMatching(/answered by command at /u) as unknown,
    })
    expect(stdout.trimEnd().endsWith(`: ${choice}`)).toBe(true)
    expect(await host.ended).toBe(0)
    expect(hosts.effects()).toEqual(allowed ? ['call-1'] : [])
    expect((await there('history')).stdout).toBe(stdout)
    const waited = await there('wait', id, '--json')
    expect(JSON.parse(waited.stdout)).toMatchObject({ outcome: 'answered', answers: [{ id: 'approval' }] })
  })

  test.each([
    ['/deny', 'is a command, not an answer'],
    ['  ', 'must not be blank'],
  ])('stays open at the line %j', async (text, fault) => {
    const { there, id } = await asked()
    const { exitCode, stderr } = await there('answer', id, '--text', text)
    expect(exitCode).toBe(2)
    expect(stderr).toContain(fault)
    expect((await there('pending')).stdout).toContain(id)
  })

  test.each([
    [{ selected: ['Allow twice'] }, 'names no choice that was offered'],
    [{ selected: ['Allow once'], note: 'but be quick' }, 'does not go with'],
    [{ selected: [] }, 'choiceId'],
  ])('stays open at the JSON answer %j', async (given, fault) => {
    const { there, id } = await asked()
    const json = JSON.stringify({ answers: [{ id: 'approval', ...given }] })
    const { exitCode, stderr } = await there('answer', id, json)
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining(fault) as unknown })
    expect((await there('pending')).stdout).toContain(id)
  })

  test('is answered with a prompt, where Enter alone does nothing', async () => {
    const { server, host, id } = await asked()
    const env = { HANDRAISE_INBOX: server.url, HANDRAISE_TOKEN: server.token }
    const terminal: Terminal = openTerminal(process.execPath, [command, 'answer', id], { env })
    try {
      await armed(terminal)
      terminal.press('enter')
      await terminal.untilShown('Nothing is chosen yet')
      terminal.press('1', 'enter')
      await terminal.untilShown('answered by command')
    } finally {
      terminal.close()
    }
    expect(await host.ended).toBe(0)
    expect(hosts.effects()).toEqual(['call-1'])
  })

  test('is listed by what it is about, and shown in full with every rule that it offers', async () => {
    const text = `\u202e${'x'.repeat(5_000)}end-of-it`
    const { there, id } = await asked({
      ...CREATE,
      subject: { kind: 'tool', toolName: 'deploy', input: { text } },
      reason: 'line one\nline \u001b[2K two',
    })
    const { stdout: pending } = await there('pending')
    expect(pending.trimEnd().split('\n')).toHaveLength(1)
    expect(pending).toContain('s1  Allow act: deploy {"text":"<U+202E>xxx')
    expect(pending.length).toBeLessThan(600)
    const { stdout: shown } = await there('show', id)
    expect(shown).toContain(`|   "text": "<U+202E>${'x'.repeat(5_000)}end-of-it"`)
    expect(shown).toContain('line <U+001B>[2K two')
    expect(shown).not.toContain('\u202e')
    expect(shown).not.toContain('\u001b')
    const choices = shown.match(/(?<=^ {4})\d\. .*$/gmu)
    expect(choices).toEqual([
      '1. Allow once',
      '2. Allow for this session',
      '3. Always allow',
      '4. Deny',
      '5. Other',
    ])
    const [request] = JSON.parse((await there('pending', '--json')).stdout) as Array<{
      payload: { choices: Array<{ label: string; rulePreview?: string }> }
    }>
    const previews = request!.payload.choices.flatMap(({ rulePreview }) => rulePreview ?? [])
    expect(previews).not.toEqual([])
    for (const preview of previews) expect(shown).toContain(`\n       ${preview}\n`)
  })
})

describe('the remembered rules', () => {
  async function remembered(choice: string): Promise<Served> {
    const server = await serve('--db', hosts.file)
    const { ended } = hosts.start([CREATE])
    await at(server)('answer', await pendingId(server), '--text', choice)
    await ended
    return server
  }
  const rules = async (...args: string[]) => {
    const { stdout, exitCode } = await run(['rules', '--db', hosts.file, '--json', ...args])
    expect(exitCode).toBe(0)
    return JSON.parse(stdout) as Array<{ id: string }>
  }

  test('are listed with what a program needs while a server runs on the same file', async () => {
    await remembered('always allow')
    expect(await rules()).toEqual([
      {
        id: expect.any(String),
        rule: expect.objectContaining({ toolName: 'act' }),
        preview: RULE,
        approvalId: expect.any(String),
        surface: 'command',
        madeAt: expect.any(Number),
      },
    ])
    const { stdout } = await run(['rules', '--db', hosts.file])
    expect(stdout).toMatch(new RegExp(`^\\S+  \\S+Z  on command  always  ${RULE}\n$`, 'u'))
  })

  test('are those that hold in the session that is named', async () => {
    await remembered('allow for this session')
    expect(await rules('--session', 's1')).toMatchObject([{ session: 's1' }])
    expect(await rules('--session', 's2')).toEqual([])
  })

  test('are forgotten one at a time, and from then on people are asked again', async () => {
    const server = await remembered('always allow')
    const [rule] = await rules()
    const { stdout, exitCode } = await run(['rules', 'revoke', rule!.id, '--db', hosts.file])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(new RegExp(`^revoked  ${rule!.id}  .*${RULE}\n$`, 'u'))
    expect(await rules()).toEqual([])
    const { ended } = hosts.start([AGAIN])
    await at(server)('answer', await pendingId(server), '--text', 'deny')
    await ended
    expect(hosts.effects()).toEqual(['call-1'])
  })

  test('are none by an id that no rule has', async () => {
    await remembered('always allow')
    const { exitCode, stdout, stderr } = await run(['rules', 'revoke', 'no-such', '--db', hosts.file])
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(JSON.parse(stderr)).toEqual({
      code: 'BAD_INPUT',
      message: 'there is no rule "no-such"; list them to see what is remembered',
    })
    expect(await rules()).toHaveLength(1)
  })

  test('are not looked for in a file that is not there, which is not made either', async () => {
    const missing = join(directory, 'elsewhere', 'inbox.db')
    for (const args of [['rules'], ['rules', 'revoke', 'x']]) {
      const { exitCode, stderr } = await run([...args, '--db', missing])
      expect(exitCode).toBe(2)
      expect(stderr).toContain(missing)
    }
    const { exitCode } = await run(['rules'], '', { XDG_DATA_HOME: directory })
    expect(exitCode).toBe(2)
  })

  test('are found where the served inbox is kept when no file is named', async () => {
    const { child, ended } = await serve('--db', join(directory, 'handraise', 'inbox.db'))
    child.kill('SIGTERM')
    await ended
    expect(await run(['rules', '--json'], '', { XDG_DATA_HOME: directory })).toMatchObject({
      exitCode: 0,
      stdout: '[]\n',
    })
  })
})

describe('a host that is killed while it asks', () => {
  test.each([
    ['1', ['call-1'], 'did call-1'],
    ['not on a Friday', [], 'not on a Friday'],
  ])(
    'finds what was decided by the line %j when its call is resumed, and acts on it once',
    async (text, effects, said) => {
      const first = hosts.start([CREATE])
      const server = await serve('--db', hosts.file)
      const id = await pendingId(server)
      first.child.kill('SIGKILL')
      await first.ended
      // Whoever was asked is still asked, after a restart of what shows it as well.
      server.child.kill('SIGKILL')
      await server.ended
      const restarted = await serve('--db', hosts.file)
      expect(await pendingId(restarted)).toBe(id)
      // Nor is it decided by asking again.
      const impatient = hosts.start([CREATE])
      await new Promise(resolve => setTimeout(resolve, 500))
      expect(await pendingId(restarted)).toBe(id)
      impatient.child.kill('SIGKILL')
      await impatient.ended
      expect(hosts.results()).toEqual([])

      expect((await at(restarted)('answer', id, '--text', text)).exitCode).toBe(0)
      expect(await hosts.start([CREATE]).ended).toBe(0)
      expect(hosts.effects()).toEqual(effects)
      expect(await hosts.start([CREATE]).ended).toBe(0)
      expect(hosts.effects()).toEqual(effects)

      const [resumed, again] = hosts.results()
      expect(resumed).toMatchObject({ isError: false, content: expect.stringContaining(said) })
      if (effects.length === 0) expect(again).toEqual(resumed)
      else expect(again).toMatchObject({ isError: true, error: { code: 'APPROVAL_USED' } })
      expect((await at(restarted)('pending')).stdout).toBe('')
    },
  )
})

/** Keys before the prompt could be read do not count, so it is waited for until they do. */
async function armed(terminal: Terminal, text = READY): Promise<void> {
  await terminal.untilShown(text)
  await new Promise(resolve => setTimeout(resolve, 550))
}
