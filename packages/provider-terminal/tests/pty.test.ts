import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Question } from '@handraise/user-questions/types'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { bundle, openTerminal, type Terminal } from './pseudo-terminal.ts'

const STORE: Question = {
  id: 'db',
  question: 'Which store should the service use for what it must not lose?',
  header: 'Store',
  options: [
    { label: 'Postgres', description: 'A server of its own, for many machines at once.' },
    { label: 'SQLite (Recommended)', description: 'One file.' },
  ],
}
const READY = 'Enter choose'

describe.skipIf(process.platform === 'win32')('in a real terminal', () => {
  let fixture: Awaited<ReturnType<typeof bundle>>
  const open: Terminal[] = []

  beforeAll(async () => {
    fixture = await bundle('./pty-fixture.ts')
  })
  afterEach(() => {
    for (const terminal of open.splice(0)) terminal.close()
  })
  afterAll(() => fixture.remove())

  function ask(
    questions: Question[],
    {
      columns = 80,
      rows = 24,
      ...options
    }: {
      columns?: number
      rows?: number
      armingDelayMs?: number
      abortOn?: string
      abortReason?: string
      plain?: boolean
      controlling?: boolean
      report?: string
    } = {},
  ): Terminal {
    const argument = JSON.stringify({ armingDelayMs: 1, ...options, questions })
    const terminal = openTerminal(process.execPath, [fixture.file, argument], { columns, rows })
    open.push(terminal)
    return terminal
  }

  test('arrows and Enter choose, and one line stays', async () => {
    const terminal = ask([STORE])
    await terminal.untilShown(READY)
    expect(terminal.cursorHidden()).toBe(true)
    terminal.press('down')
    await terminal.untilShown('> 2. ( ) SQLite (recommended)')
    terminal.press('enter')
    await terminal.untilShown('raw:')
    expect(terminal.history()).toEqual([
      'before',
      'Store: SQLite',
      'ended: [{"id":"db","selected":["SQLite (Recommended)"]}]',
      'raw: false',
    ])
    expect(terminal.cursorHidden()).toBe(false)
  })

  test('text with wide characters is typed, corrected and answered', async () => {
    const terminal = ask([STORE])
    await terminal.untilShown(READY)
    terminal.press('end', '選択肢と🚀')
    await terminal.untilShown('選択肢と🚀')
    expect(terminal.cursorHidden()).toBe(false)
    terminal.press('backspace', 'left', 'X')
    await terminal.untilShown('選択肢Xと')
    terminal.press('enter')
    await terminal.untilShown('"custom":"選択肢Xと"')
  })

  test('Ctrl-C gives the cursor and the line mode back', async () => {
    const terminal = ask([STORE])
    await terminal.untilShown(READY)
    terminal.press('ctrl-c')
    await terminal.untilShown('raw: false')
    expect(terminal.history()).toEqual([
      'before',
      'ended: ASK_CANCELLED {"reason":"dismissed by the user","answers":[]}',
      'raw: false',
    ])
    expect(terminal.cursorHidden()).toBe(false)
  })

  test('Esc twice declines', async () => {
    const terminal = ask([STORE])
    await terminal.untilShown(READY)
    terminal.press('escape')
    await terminal.untilShown('Esc again to decline')
    terminal.press('escape')
    await terminal.untilShown('ended: ASK_DECLINED')
  })

  test.each([
    ['standard streams', false],
    ['controlling terminal', true],
  ])('a narrower and a wider %s shows the prompt once, without debris', async (_name, controlling) => {
    const terminal = ask([STORE], { controlling })
    await terminal.untilShown(READY)
    for (const columns of [30, 80, 50, 100]) {
      terminal.resize(columns, 24)
      await terminal.until(lines => isDrawnFor(columns, lines), `the prompt on ${columns} columns`)
      expect(terminal.history()[0]).toBe('before')
      for (const part of [/^>/u, /Which store/u, /Enter choose/u])
        expect(terminal.history().filter(line => part.test(line))).toHaveLength(1)
    }
    terminal.press('enter')
    await terminal.untilShown('raw:')
    expect(terminal.history().slice(0, 2)).toEqual(['before', 'Store: Postgres'])
  })

  test('a terminal that is dragged to many sizes leaves what was above the prompt', async () => {
    const terminal = ask([STORE])
    await terminal.untilShown(READY)
    for (const columns of [60, 40, 25, 50, 100]) terminal.resize(columns, 24)
    await terminal.until(lines => isDrawnFor(100, lines), 'the prompt on 100 columns')
    expect(terminal.history()[0]).toBe('before')
    expect(terminal.history().filter(line => line.startsWith('>'))).toHaveLength(1)
  })

  test('a list of 200 options in 24 rows keeps the focus in sight', async () => {
    const options = Array.from({ length: 200 }, (_, index) => ({ label: `Option ${index + 1}` }))
    const terminal = ask([{ id: 'many', question: 'Which of them?', options }])
    await terminal.untilShown(READY)
    for (const [keys, row] of [
      [['page-down'], 20],
      [['1', '5', '0'], 150],
      [['end', 'up'], 200],
      [['home'], 1],
      [['down', 'down'], 3],
    ] as const) {
      terminal.press(...keys)
      const shown = await terminal.until(
        lines =>
          lines.some(line =>
            row === 20 ? /^> *\d\d\. /u.test(line) : line.startsWith(`> ${String(row).padStart(3)}. `),
          ),
        `the focus on row ${row}`,
      )
      expect(shown.filter(line => line.startsWith('>'))).toHaveLength(1)
      expect(shown.join('\n')).toContain('Which of them?')
    }
    terminal.press('enter')
    await terminal.untilShown('"Option 3"')
    expect(terminal.history()[0]).toBe('before')
  })

  test('an abort erases the prompt and gives the terminal back', async () => {
    const terminal = ask([STORE], { abortOn: 'SIGUSR2' })
    await terminal.untilShown(READY)
    terminal.signal('SIGUSR2')
    await terminal.untilShown('raw: false')
    expect(terminal.history()).toEqual(['before', 'ended: Error: withdrawn', 'raw: false'])
    expect(terminal.cursorHidden()).toBe(false)
  })

  test.each([
    ['redrawn', false],
    ['plain', true],
  ])('a %s prompt that is answered elsewhere leaves a line that says by whom', async (_name, plain) => {
    const terminal = ask([STORE], { abortOn: 'SIGUSR2', abortReason: 'answered by web', plain })
    await terminal.untilShown(plain ? '2 of 2: SQLite' : READY)
    terminal.signal('SIGUSR2')
    await terminal.untilShown('raw: false')
    expect(terminal.history().slice(plain ? -3 : 0)).toEqual([
      ...(plain ? [] : ['before']),
      'Answered elsewhere (web): Store',
      'ended: ASK_ABORTED {"reason":"answered by web"}',
      'raw: false',
    ])
    expect(terminal.cursorHidden()).toBe(false)
  })

  test('keys pressed too early answer nothing', async () => {
    const terminal = ask([STORE], { armingDelayMs: 400 })
    terminal.press('enter', ' ', 'y', '1')
    await terminal.untilShown('What was typed before this was shown is ignored')
    terminal.press('enter')
    await terminal.untilShown(READY)
    terminal.press('2', 'enter')
    await terminal.untilShown('ended: [{"id":"db","selected":["SQLite (Recommended)"]}]')
  })

  test('control codes in the text of a model do nothing', async () => {
    const label = 'Safe\u001b[2K\u001b[1A\u001b]0;x\u0007\u009b31mFAKE\u202e'
    const terminal = ask([{ id: 'h', question: 'a\rb\bc\u0000', options: [{ label }] }])
    await terminal.untilShown(READY)
    expect(terminal.lines().slice(0, 4)).toEqual([
      'before',
      'a\\u000db\\u0008c\\u0000',
      '',
      '> 1. ( ) Safe\\u001b[2K\\u001b[1A\\u001b]0;x\\u0007\\u009b31mFAKE\\u202e',
    ])
  })

  test('plain mode reads lines as the terminal edits them', async () => {
    const terminal = ask([STORE], { plain: true })
    await terminal.untilShown('Answer:')
    terminal.press('9', 'backspace', '2', 'enter')
    await terminal.untilShown('raw:')
    expect(terminal.history()).toContain('Selected 2 of 2: SQLite.')
  })

  test.each([
    ['38 columns and 10 rows', 38, 10],
    ['one row', 80, 1],
    ['four rows', 30, 4],
  ])(
    'a screen that shrinks to %s and grows again, three times, shows the prompt once',
    async (_, columns, rows) => {
      const questions = ['a', 'b', 'c'].map(id => ({ ...STORE, id }))
      const terminal = ask(questions)
      await terminal.untilShown(READY)
      for (let time = 0; time < 3; time += 1) {
        terminal.resize(columns, rows)
        await new Promise(resolve => setTimeout(resolve, 150))
        terminal.resize(80, 24)
        await new Promise(resolve => setTimeout(resolve, 150))
      }
      await terminal.until(lines => isDrawnFor(80, lines), 'the prompt on 80 columns')
      expect(terminal.history()[0]).toBe('before')
      for (const part of [/^>/u, /Which store/u, /^Store/u, /Enter choose/u])
        expect(terminal.history().filter(line => part.test(line))).toHaveLength(1)
    },
  )

  test('four Enters at once answer the first of three questions and no other', async () => {
    const terminal = ask(
      ['a', 'b', 'c'].map(id => ({ ...STORE, id })),
      { armingDelayMs: 200 },
    )
    await terminal.untilShown(READY)
    terminal.press('\r\r\r\r')
    const lines = await terminal.untilShown('What was typed before this was shown is ignored')
    expect(lines.join('\n')).toContain('Store  2/3')
    terminal.press('ctrl-c')
    await terminal.untilShown('raw:')
    expect(terminal.lines().join('')).toContain('"answers":[{"id":"a","selected":["Postgres"]}]}')
  })

  test('lines typed ahead in plain mode answer no question that was printed after them', async () => {
    const terminal = ask(
      ['a', 'b', 'c'].map(id => ({ ...STORE, id })),
      { armingDelayMs: 200, plain: true },
    )
    await terminal.untilShown('Answer:')
    await new Promise(resolve => setTimeout(resolve, 400))
    terminal.press('1\r1\r1\r')
    await terminal.until(
      () => terminal.history().filter(line => line.includes('is ignored')).length === 2,
      'two lines ignored',
    )
    expect(terminal.history().join('\n')).not.toContain('Question 3 of 3')
    terminal.signal('SIGKILL')
  })

  test.each([
    ['a prompt', false, false],
    ['a plain one', true, false],
    ['one on the controlling terminal', false, true],
  ])(
    'that vanishes ends %s as the end of the input, and the process goes on',
    async (_, plain, controlling) => {
      const report = join(fixture.folder, `vanished-${String(plain)}-${String(controlling)}`)
      const terminal = ask([STORE], { report, plain, controlling })
      await terminal.untilShown('SQLite')
      terminal.vanish()
      const ended = await vi.waitFor(() => readFile(report, 'utf8'), { timeout: 10_000 })
      expect(ended).toBe('ASK_CANCELLED {"reason":"end of input","answers":[]} exit 0')
    },
  )

  test('a process that was stopped draws its prompt anew and reads keys when it is in the foreground again', async () => {
    const argument = JSON.stringify({ armingDelayMs: 1, questions: [STORE], stopAfterMs: 1000 })
    const terminal = openTerminal('bash', ['--norc', '--noprofile', '-i'], {
      env: { PS1: 'shell> ', FIXTURE: fixture.file, ARGUMENT: argument, NODE: process.execPath },
    })
    open.push(terminal)
    await terminal.untilShown('shell>')
    terminal.press('"$NODE" "$FIXTURE" "$ARGUMENT"', 'enter')
    await terminal.untilShown(READY)
    await terminal.until(lines => lines.at(-1)?.trim() === 'shell>', 'the shell')
    expect(terminal.history().join('\n')).toContain('Stopped')
    terminal.press('fg', 'enter')
    await terminal.until(lines => lines.at(-1)?.includes('Ctrl-C dismiss') === true, 'the prompt again')
    expect(terminal.cursorHidden()).toBe(true)
    terminal.press('down')
    await terminal.untilShown('> 2. ( ) SQLite (recommended)')
    terminal.press('enter')
    await terminal.untilShown('ended: [{"id":"db","selected":["SQLite (Recommended)"]}]')
    expect(terminal.history().join('\n')).toContain('Stopped')
  })

  test('a job in the background is refused and not stopped', async () => {
    const argument = JSON.stringify({ armingDelayMs: 1, questions: [STORE] })
    const script = 'set -m; "$0" "$1" "$2" & wait; echo over'
    const terminal = openTerminal('sh', ['-c', script, process.execPath, fixture.file, argument])
    open.push(terminal)
    await terminal.untilShown('over')
    expect(terminal.history().join('')).toContain('ended: ASK_UNAVAILABLE {"reason":"not-interactive"')
    expect(terminal.history().join('')).not.toContain('Which store')
  })
})

// The controls fill the width they have: how they break tells for which width they were drawn.
function isDrawnFor(columns: number, lines: string[]): boolean {
  const controls = lines.find(line => line.startsWith('Enter choose')) ?? ''
  const expected: Readonly<Record<number, string>> = {
    30: 'Enter choose · Esc decline',
    50: 'Enter choose · Esc decline · ↑↓ move · s skip',
    80: 'Enter choose · Esc decline · ↑↓ move · s skip · Ctrl-T write back',
    100: 'Enter choose · Esc decline · ↑↓ move · s skip · Ctrl-T write back · Ctrl-X stop the turn',
  }
  return controls === expected[columns]
}
