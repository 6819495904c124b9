import { execFile, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { command, run } from './run-command.ts'

const QUESTION = {
  id: 'db',
  question: 'Which database?',
  options: [{ label: 'Postgres' }, { label: 'SQLite (Recommended)' }],
}
const REQUEST = JSON.stringify({ questions: [QUESTION] })

let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'handraise-ask-'))
})

afterAll(() => rm(directory, { recursive: true }))

async function file(name: string, content: unknown): Promise<string> {
  const path = join(directory, name)
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

function errorOf(stderr: string): { code: string; message: string; answers?: unknown; text?: string } {
  expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  return JSON.parse(stderr) as { code: string; message: string }
}

describe('an ask that is answered', () => {
  test('prints the answer as one line, and nothing else', async () => {
    expect(await run(['ask', '-', '--policy', 'recommended'], REQUEST)).toMatchObject({
      exitCode: 0,
      stdout: '{"answers":[{"id":"db","selected":["SQLite (Recommended)"]}]}\n',
      stderr: '',
    })
  })

  test('takes the request from a file, and answers from a script', async () => {
    const request = await file('request.json', REQUEST)
    const answers = await file('answers.json', { db: 'Postgres' })
    const { exitCode, stdout } = await run(['ask', request, '--answers', answers])
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: '{"answers":[{"id":"db","selected":["Postgres"]}]}\n',
    })
  })

  test('reads what a model might send', async () => {
    const request = JSON.stringify({
      questions: JSON.stringify({ question: 'Which?', options: ['A', 'B'], multiSelect: 'true' }),
    })
    const { stdout } = await run(['ask', '-', '--policy', 'first'], request)
    expect(stdout).toBe('{"answers":[{"id":"q1","selected":["A"]}]}\n')
  })

  test('tells with --json who answered', async () => {
    const { exitCode, stdout } = await run(['ask', '-', '--policy', 'first', '--json'], REQUEST)
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toEqual({
      outcome: 'answered',
      by: 'policy',
      answers: [{ id: 'db', selected: ['Postgres'], by: 'policy' }],
    })
  })

  test('records what was answered, and replays it', async () => {
    const recording = join(directory, 'recording.jsonl')
    await run(['ask', '-', '--policy', 'recommended', '--record', recording], REQUEST)
    expect((await readFile(recording, 'utf8')).trimEnd().split('\n')).toHaveLength(1)
    const { stdout } = await run(['ask', '-', '--replay', recording], REQUEST)
    expect(stdout).toBe('{"answers":[{"id":"db","selected":["SQLite (Recommended)"]}]}\n')
  })
})

describe('an ask that nobody can be asked', () => {
  test('ends at once without a terminal, and prints no answer', async () => {
    const { exitCode, stdout, stderr, tookMs } = await run(['ask', '-'], REQUEST)
    expect({ exitCode, stdout }).toEqual({ exitCode: 5, stdout: '' })
    expect(errorOf(stderr)).toMatchObject({
      code: 'ASK_UNAVAILABLE',
      message: expect.stringContaining('not-interactive'),
    })
    expect(tookMs).toBeLessThan(2_000)
  })

  test('ends in CI in the same way', async () => {
    expect(await run(['ask', '-'], REQUEST, { CI: '1' })).toMatchObject({ exitCode: 5, stdout: '' })
  })

  test.each(['refuse', 'recommended'])('ends where the policy %s has no answer', async policy => {
    const request = JSON.stringify({
      questions: [{ ...QUESTION, options: [{ label: 'A' }, { label: 'B' }] }],
    })
    const { exitCode, stdout, stderr } = await run(['ask', '-', '--policy', policy], request)
    expect({ exitCode, stdout }).toEqual({ exitCode: 5, stdout: '' })
    expect(errorOf(stderr).message).toContain('no-rule')
  })

  test('ends where a rule answers what is not offered', async () => {
    const answers = await file('not-offered.json', [{ match: { id: 'db' }, answer: 'MySQL' }])
    const { exitCode, stderr } = await run(['ask', '-', '--answers', answers], REQUEST)
    expect(exitCode).toBe(5)
    expect(errorOf(stderr).message).toContain('rule-not-offered')
  })

  test('is reported whole with --json', async () => {
    const { stdout } = await run(['ask', '-', '--json'], REQUEST)
    expect(JSON.parse(stdout)).toMatchObject({
      outcome: 'unavailable',
      answers: [],
      code: 'ASK_UNAVAILABLE',
      reason: 'not-interactive',
    })
  })
})

describe('bad input', () => {
  const blank = {
    questions: [
      { id: 'a', question: ' ' },
      { id: 'b', question: 'Ok?', options: [{ label: 7 }] },
    ],
  }

  test.each<[string, unknown, string[]]>([
    ['nothing', '', ['standard input is empty']],
    ['no JSON', '{', ['standard input is not JSON']],
    ['a list of nothing', { questions: [] }, ['requires at least one question']],
    ['no questions', {}, ['questions']],
    [
      'a blank question',
      { questions: [{ id: 'a', question: ' ' }] },
      ['questions[0].question: must not be blank'],
    ],
    ['a label that is a number', blank, ['questions[1].options[0].label']],
    ['a field it does not know', { questions: [{ ...QUESTION, colour: 'red' }] }, ['questions[0]', 'colour']],
    [
      'a default that is not offered',
      { questions: [{ ...QUESTION, default: { selected: ['x'] } }] },
      ['questions[0].default'],
    ],
    ['a repeated id', { questions: [QUESTION, QUESTION] }, ['questions[1].id']],
    [
      'a plan without its plan',
      { questions: [{ ...QUESTION, intent: { kind: 'plan-review', approve: 'Postgres' } }] },
      ['detail'],
    ],
    ['a time to wait of nothing', { questions: [QUESTION], timeoutMs: 0 }, ['timeoutMs']],
  ])('of %s is refused, naming the place', async (_, request, messages) => {
    const input = typeof request === 'string' ? request : JSON.stringify(request)
    const { exitCode, stdout, stderr } = await run(['ask', '-', '--policy', 'first'], input)
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    for (const message of messages) expect(errorOf(stderr).message).toContain(message)
  })

  test.each([
    [['ask'], 'file'],
    [['ask', '-', '--policy', 'always'], 'refuse, recommended, first'],
    [['ask', '-', '--timeout', 'soon'], 'seconds'],
    [['ask', '-', '--colour'], '--colour'],
    [['ask', '/does/not/exist'], '/does/not/exist'],
    [['ask', '-', '--answers', '/does/not/exist'], '/does/not/exist'],
    [['ask', '-', '--replay', '/does/not/exist'], '/does/not/exist'],
    [['nothing'], 'nothing'],
    [[], '--help'],
  ])('of the arguments %j is refused, naming them', async (args, message) => {
    const { exitCode, stdout, stderr } = await run(args, REQUEST)
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(errorOf(stderr).message).toContain(message)
  })

  test('of a script with a bad rule names the rule', async () => {
    const answers = await file('bad-rule.json', [{ match: { id: '/(/' }, answer: 'x' }])
    const { exitCode, stderr } = await run(['ask', '-', '--answers', answers], REQUEST)
    expect(exitCode).toBe(2)
    expect(errorOf(stderr).message).toContain('bad-rule.json')
  })
})

describe('an ask that fails in its surroundings', () => {
  test('writes one line when nobody reads its output any more', async () => {
    const shell = `echo '${REQUEST}' | '${process.execPath}' '${command}' ask - --policy first 2> '${join(directory, 'epipe')}' | head -0`
    await promisify(execFile)('bash', ['-c', shell])
    expect(errorOf(await readFile(join(directory, 'epipe'), 'utf8'))).toMatchObject({ code: 'INTERNAL' })
  })

  test('refuses a recording it cannot write before anybody is asked', async () => {
    const { exitCode, stderr } = await run(
      ['ask', '-', '--policy', 'first', '--record', '/no/where/at.all'],
      REQUEST,
    )
    expect(exitCode).toBe(2)
    expect(errorOf(stderr).message).toContain('/no/where')
  })

  test('prints no character that a terminal would obey', async () => {
    const label = 'L\u009b2J\u202eX\u{e0041}'
    const request = JSON.stringify({ questions: [{ id: 'a', question: 'A?', options: [{ label }] }] })
    const { stdout } = await run(['ask', '-', '--policy', 'first'], request)
    expect(stdout).toContain('L\\u009b2J\\u202eX\\udb40\\udc41')
    expect(JSON.parse(stdout)).toEqual({ answers: [{ id: 'a', selected: [label] }] })
  })

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 9],
    ['SIGHUP', 9],
  ] as const)('stopped by %s before anybody was asked says so in one line', async (signal, exit) => {
    const child = spawn(process.execPath, [command, 'ask', '-'], { stdio: ['pipe', 'ignore', 'pipe'] })
    let stderr = ''
    child.stderr.on('data', (text: Buffer) => (stderr += text.toString()))
    const ended = new Promise<number | null>(resolve => child.once('close', resolve))
    // It reads the request by then.
    await new Promise(resolve => setTimeout(resolve, 1_000))
    child.kill(signal)
    expect(await ended).toBe(exit)
    expect(errorOf(stderr)).toMatchObject({ code: 'SIGNALLED' })
  })

  test('reads no file without an end to its end', async () => {
    const { exitCode, stderr } = await run(['ask', '/dev/zero', '--policy', 'first'])
    expect(exitCode).toBe(2)
    expect(errorOf(stderr).message).toContain('larger than')
  })

  test('accepts a byte order mark', async () => {
    expect(await run(['ask', '-', '--policy', 'first'], `\ufeff${REQUEST}`)).toMatchObject({ exitCode: 0 })
  })
})

test('the version and the help are printed', async () => {
  expect(await run(['--version'])).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/u),
  })
  const { exitCode, stdout } = await run(['ask', '--help'])
  expect(exitCode).toBe(0)
  expect(stdout).toContain('Examples:')
})
