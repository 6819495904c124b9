import { setImmediate } from 'node:timers/promises'
import type { ProviderRequest, Question } from '@handraise/user-questions/types'
import { UserQuestionError } from '@handraise/user-questions/types'
import { describe, expect, test, vi } from 'vitest'
import { describeView, readLine } from '../src/plain-session.ts'
import { openPrompt, type PromptState } from '../src/state.ts'
import { FakeClock } from './fake-terminal.ts'
import { terminalPerson } from './harness.ts'

const STORE: Question = {
  id: 'db',
  question: 'Which store?',
  header: 'Store',
  options: [
    { label: 'Postgres' },
    { label: 'SQLite', description: 'One file.' },
    { label: 'None (Recommended)' },
  ],
}
const CHECKS: Question = {
  id: 'f',
  question: 'Which checks?',
  multiSelect: true,
  options: [{ label: 'Lint' }, { label: 'Types' }, { label: 'Tests' }],
}

function type(questions: Question[], ...lines: string[]): { state: PromptState; printed: string[] } {
  let state = openPrompt(questions, { now: 0 })
  const printed = describeView(state)
  for (const line of lines) {
    const step = readLine(state, line)
    state = step.state
    printed.push(...step.print)
  }
  return { state, printed }
}

const answers = (questions: Question[], ...lines: string[]): unknown => {
  const { ending } = type(questions, ...lines).state
  return ending?.kind === 'answered' ? ending.answers : ending
}

describe('a plain question', () => {
  test('is a line for each option', () => {
    expect(type([STORE]).printed).toEqual([
      'Question, Store:',
      'Which store?',
      '1 of 3: Postgres. Not selected.',
      '2 of 3: SQLite. One file. Not selected.',
      '3 of 3: None, recommended. Not selected.',
      'Type your own answer.',
      'Type the number of an option, or your own answer. /help lists the commands.',
    ])
  })

  test('shows the plan and which option approves it', () => {
    const { printed } = type([
      {
        id: 'p',
        question: 'Go?',
        detail: 'First this.\nThen that.',
        options: [{ label: 'Go' }, { label: 'No' }],
        intent: { kind: 'plan-review', approve: 'Go' },
      },
    ])
    expect(printed).toContain('Then that.')
    expect(printed).toContain('1 of 2: Go. Approves the plan. Not selected.')
  })

  test('writes control codes out', () => {
    const text = 'Safe\u001b[2K\u009b31m\u202e\r\b\u0000'
    const { printed } = type([
      { id: 'h', question: text, header: text, detail: text, options: [{ label: text }] },
    ])
    expect(printed.join('\n')).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/u)
    expect(answers([{ id: 'h', question: text, options: [{ label: text }] }], '1')).toEqual([
      { id: 'h', selected: [text] },
    ])
  })
})

describe('a typed line', () => {
  test('is read as a number, a label or a text', () => {
    expect(answers([STORE], '2')).toEqual([{ id: 'db', selected: ['SQLite'] }])
    expect(answers([STORE], 'none')).toEqual([{ id: 'db', selected: ['None (Recommended)'] }])
    expect(answers([STORE], 'a file, please')).toEqual([{ id: 'db', selected: [], custom: 'a file, please' }])
    expect(answers([CHECKS], '1, 3')).toEqual([{ id: 'f', selected: ['Lint', 'Tests'] }])
  })

  test('is answered with what was understood', () => {
    expect(type([STORE], '2').printed.at(-1)).toBe('Selected 2 of 3: SQLite.')
    expect(type([STORE], 'mine').printed.at(-1)).toBe('Your text: mine.')
  })

  test('chooses nothing while it is blank', () => {
    const { state, printed } = type([STORE], '', '   ')
    expect(state.ending).toBeUndefined()
    expect(printed).toContain('Nothing was typed, so nothing is chosen.')
  })

  test('is no answer when it names a command there is not', () => {
    const { state, printed } = type([STORE], '/usr/bin')
    expect(state.ending).toBeUndefined()
    expect(printed.at(-1)).toContain('There is no command /usr/bin.')
    expect(answers([STORE], '/text /usr/bin')).toEqual([{ id: 'db', selected: [], custom: '/usr/bin' }])
  })

  test.each([
    [STORE, '9'],
    [STORE, '0'],
    [CHECKS, '7'],
    [CHECKS, '1, 9'],
  ])('is no answer when it is a number of no option', (question, line) => {
    const { state, printed } = type([question], line)
    expect(state.ending).toBeUndefined()
    expect(printed.at(-1)).toBe(`There is no option ${line}. /text ${line} sends it as your own text.`)
    expect(answers([question], `/text ${line}`)).toEqual([{ id: question.id, selected: [], custom: line }])
  })

  test('is a number where there is nothing to choose from', () => {
    expect(answers([{ id: 'n', question: 'How many?' }], '9')).toEqual([
      { id: 'n', selected: [], custom: '9' },
    ])
  })

  test('is no answer when it only names the free-text row', () => {
    const question = { ...STORE, options: [{ label: 'A' }, { label: 'Other' }, { label: 'B' }] }
    expect(type([question], 'other').state.ending).toBeUndefined()
    expect(answers([question], '2')).toEqual([{ id: 'db', selected: ['B'] }])
    expect(answers([question], 'other', 'x')).toEqual([{ id: 'db', selected: [], custom: 'x' }])
  })

  test('adds a text beside choices by a command', () => {
    expect(answers([CHECKS], '/add also docs, please', '1,3')).toEqual([
      { id: 'f', selected: ['Lint', 'Tests'], custom: 'also docs, please' },
    ])
    expect(type([STORE], '/add x').printed.at(-1)).toContain('/add is for questions where')
  })
})

describe('a plain command', () => {
  test.each([
    ['/decline', { kind: 'declined' }],
    ['/dismiss', { kind: 'cancelled', reason: 'dismissed by the user', answers: [] }],
    ['/stop', { kind: 'interrupted', answers: [] }],
    ['/reply Why?', { kind: 'clarified', text: 'Why?' }],
    ['/REPLY Why?', { kind: 'clarified', text: 'Why?' }],
  ])('%s ends the request', (line, ending) => {
    expect(type([STORE], line).state.ending).toEqual(ending)
  })

  test('skips, and not where an answer is needed', () => {
    expect(answers([STORE], '/skip')).toEqual([{ id: 'db', selected: [] }])
    const { state, printed } = type([{ ...STORE, minSelections: 1 }], '/skip')
    expect(state.ending).toBeUndefined()
    expect(printed.at(-1)).toBe('This one needs an answer and cannot be skipped.')
  })

  test('goes back with what was chosen still selected', () => {
    const { printed } = type([STORE, CHECKS], '2', '/back')
    expect(printed.slice(-8)).toContain('2 of 3: SQLite. One file. Selected.')
  })

  test('helps', () => {
    expect(type([STORE], '/help').printed.join('\n')).toContain('/skip skips this question.')
  })
})

describe('a plain review', () => {
  test('lists the answers and sends on a clear word', () => {
    const { state, printed } = type([STORE, CHECKS], '2', '/skip')
    expect(state.ending).toBeUndefined()
    expect(printed.slice(-4)).toEqual([
      'Your answers, 1 of 2 answered:',
      '1: Store: SQLite.',
      '2: Which checks? skipped.',
      'Type send to send them, or the number of a question to change its answer.',
    ])
    expect(type([STORE, CHECKS], '2', '/skip', '').state.ending).toBeUndefined()
    expect(answers([STORE, CHECKS], '2', '/skip', 'yes', 'Send')).toEqual([
      { id: 'db', selected: ['SQLite'] },
      { id: 'f', selected: [] },
    ])
  })

  test('opens a question to change its answer', () => {
    expect(answers([STORE, CHECKS], '2', '1', '1', '1', 'send')).toEqual([
      { id: 'db', selected: ['Postgres'] },
      { id: 'f', selected: ['Lint'] },
    ])
  })
})

describe('the plain terminal', () => {
  const request = (questions: Question[], more: Partial<ProviderRequest> = {}): ProviderRequest => ({
    id: 'r',
    questions,
    signal: new AbortController().signal,
    engaged: () => {},
    ...more,
  })

  test('only ever adds lines, without cursor codes, colour or boxes', async () => {
    const { provider, input, output } = terminalPerson({ plain: true })
    const asking = provider.ask(request([STORE, CHECKS]))
    input.push('2\n1,3\nsend\n')
    await asking
    expect(output.text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2500-\u257f]/u)
    expect(input.rawModes).toEqual([])
  })

  test('ignores lines typed before the question was shown', async () => {
    const clock = new FakeClock()
    const { provider, input, screen } = terminalPerson({ plain: true, clock, armingDelayMs: 500 })
    const engaged = vi.fn<() => void>()
    input.push('1\n')
    const asking = provider.ask(request([STORE], { engaged }))
    await vi.waitFor(() =>
      expect(screen()).toContain('A line typed before the question was shown is ignored.'),
    )
    expect(engaged).not.toHaveBeenCalled()
    clock.advance(500)
    input.push('2\n')
    expect(await asking).toEqual({ answers: [{ id: 'db', selected: ['SQLite'] }] })
    expect(engaged).toHaveBeenCalledOnce()
  })

  test('ignores lines typed ahead of a question, and of the review', async () => {
    const clock = new FakeClock()
    const { provider, input, screen } = terminalPerson({ plain: true, clock, armingDelayMs: 500 })
    const asking = provider.ask(request([STORE, CHECKS]))
    const ignored = (): number => screen().split('typed before the question was shown').length - 1
    clock.advance(500)
    input.push('1\n1\nsend\n')
    await vi.waitFor(() => expect(ignored()).toBe(2))
    expect(screen()).toContain('Question 2 of 2:')
    expect(screen()).not.toContain('Selected 1 of 3: Lint.')
    clock.advance(150)
    input.push('2\nsend\n')
    await vi.waitFor(() => expect(ignored()).toBe(3))
    clock.advance(150)
    input.push('send\n')
    expect(await asking).toEqual({
      answers: [
        { id: 'db', selected: ['Postgres'] },
        { id: 'f', selected: ['Types'] },
      ],
    })
  })

  test('ends with the input', async () => {
    const { provider, input } = terminalPerson({ plain: true })
    const asking = provider.ask(request([STORE, CHECKS]))
    input.push('2\n')
    input.push(null)
    const error = await asking.then(
      () => undefined,
      (reason: unknown) => reason,
    )
    expect(UserQuestionError.isInstance(error) && [error.code, error.details]).toEqual([
      'ASK_CANCELLED',
      { reason: 'end of input', answers: [{ id: 'db', selected: ['SQLite'] }] },
    ])
  })

  test('is given back after an answer and after an abort', async () => {
    const { provider, input, output, screen } = terminalPerson({ plain: true })
    const events = ['data', 'end', 'close', 'error', 'keypress', 'newListener']
    const listeners = (): number[] =>
      [input, output].flatMap(stream => events.map(event => stream.listenerCount(event)))
    const before = listeners()
    const asking = provider.ask(request([STORE]))
    input.push('1\n')
    await asking
    await setImmediate()
    expect(listeners()).toEqual(before)
    expect(input.isPaused()).toBe(true)
    const controller = new AbortController()
    const aborted = provider.ask(request([STORE], { signal: controller.signal }))
    controller.abort(new Error('gone'))
    await expect(aborted).rejects.toThrow('gone')
    expect(screen()).toContain('The question was withdrawn.')
    await setImmediate()
    expect(listeners()).toEqual(before)
  })
})
