import { setImmediate } from 'node:timers/promises'
import type { ProviderRequest, Question, UserQuestionError } from '@handraise/user-questions/types'
import { describe, expect, test, vi } from 'vitest'
import { terminalProvider } from '../src/index.ts'
import { FakeClock, FakeInput, FakeOutput } from './fake-terminal.ts'
import { terminalPerson } from './harness.ts'

const STORE: Question = {
  id: 'db',
  question: 'Which store?',
  options: [{ label: 'Postgres' }, { label: 'SQLite' }],
}
const CACHE: Question = { id: 'cache', question: 'Which cache?', options: [{ label: 'None' }] }

function requestOf(questions: Question[], more: Partial<ProviderRequest> = {}): ProviderRequest {
  return { id: 'r', questions, signal: new AbortController().signal, engaged: () => {}, ...more }
}

const caught = (asking: Promise<unknown>): Promise<UserQuestionError> =>
  asking.then(
    value => Promise.reject(new Error(`resolved with ${JSON.stringify(value)}`)),
    (error: unknown) => error as UserQuestionError,
  )

const EVENTS = ['data', 'end', 'close', 'error', 'keypress', 'newListener', 'resize']
const listeners = (...emitters: NodeJS.EventEmitter[]): number[] =>
  emitters.flatMap(emitter => EVENTS.map(event => emitter.listenerCount(event)))

describe('without a person', () => {
  test.each([
    ['a pipe before it', { isTTY: false }, { isTTY: true }, {}],
    ['a file behind it', { isTTY: true }, { isTTY: false }, {}],
    ['neither', { isTTY: false }, { isTTY: false }, {}],
    ['CI set', { isTTY: true }, { isTTY: true }, { CI: '1' }],
  ])('refuses at once and writes nothing with %s', async (_name, input, output, env) => {
    const streams = {
      input: Object.assign(new FakeInput(), input),
      output: Object.assign(new FakeOutput(), output),
    }
    streams.input.push('\n')
    const provider = terminalProvider({ ...streams, env, foreground: () => true })
    const started = performance.now()
    const error = await caught(provider.ask(requestOf([STORE])))
    expect(performance.now() - started).toBeLessThan(100)
    expect(error.code).toBe('ASK_UNAVAILABLE')
    expect(error.details).toMatchObject({ reason: 'not-interactive' })
    expect(error.message).toContain('--answers FILE or --policy NAME')
    expect(streams.output.text).toBe('')
    expect(streams.input.rawModes).toEqual([])
  })

  test('refuses in the background', async () => {
    const { provider, output } = terminalPerson({ foreground: () => false })
    expect((await caught(provider.ask(requestOf([STORE])))).details).toMatchObject({
      reason: 'not-interactive',
    })
    expect(output.text).toBe('')
  })
})

describe('requests made at once', () => {
  test('are shown one after the other', async () => {
    const { provider, press, screen } = terminalPerson()
    const asking = [provider.ask(requestOf([STORE])), provider.ask(requestOf([CACHE]))]
    await vi.waitFor(() => expect(screen()).toContain('Which store?'))
    press('down', 'enter')
    await vi.waitFor(() => expect(screen()).toContain('Which cache?'))
    press('enter')
    expect(await Promise.all(asking)).toEqual([
      { answers: [{ id: 'db', selected: ['SQLite'] }] },
      { answers: [{ id: 'cache', selected: ['None'] }] },
    ])
  })

  test('leave the queue unseen when they are aborted', async () => {
    const { provider, press, screen, output } = terminalPerson()
    const controller = new AbortController()
    const first = provider.ask(requestOf([STORE]))
    const second = caught(provider.ask(requestOf([CACHE], { signal: controller.signal })))
    controller.abort(new Error('gone'))
    expect((await second).message).toBe('gone')
    await vi.waitFor(() => expect(screen()).toContain('Which store?'))
    press('enter')
    await first
    expect(output.text).not.toContain('Which cache?')
  })

  test('wait for each other across providers of one terminal', async () => {
    const { provider, input, output, press, screen } = terminalPerson()
    const other = terminalProvider({ input, output, env: {}, armingDelayMs: 0, foreground: () => true })
    const asking = [provider.ask(requestOf([STORE])), other.ask(requestOf([CACHE]))]
    await vi.waitFor(() => expect(screen()).toContain('Which store?'))
    expect(output.text).not.toContain('Which cache?')
    press('enter')
    await vi.waitFor(() => expect(screen()).toContain('Which cache?'))
    press('enter')
    await Promise.all(asking)
  })
})

describe('the terminal', () => {
  test.each([
    ['an answer', ['enter']],
    ['a dismissal', ['ctrl-c']],
    ['the end of the input', ['ctrl-d']],
  ])('is given back after %s', async (_name, keys) => {
    const { provider, press, input, output } = terminalPerson()
    const before = listeners(input, output, process)
    const asking = provider.ask(requestOf([STORE])).catch(() => {})
    await vi.waitFor(() => expect(input.isRaw).toBe(true))
    press(...keys)
    await asking
    expect(input.rawModes).toEqual([true, false])
    expect(input.isPaused()).toBe(true)
    await setImmediate()
    expect(listeners(input, output, process)).toEqual(before)
    expect(output.text.endsWith('\u001b[?7h\u001b[?2004l\u001b[?25h')).toBe(true)
  })

  test('is given back when the request is aborted, with nothing left on it', async () => {
    const { provider, press, screen, input, output } = terminalPerson()
    const controller = new AbortController()
    const before = listeners(input, output, process)
    const asking = caught(provider.ask(requestOf([STORE], { signal: controller.signal })))
    await vi.waitFor(() => expect(screen()).toContain('Which store?'))
    controller.abort(new Error('gone'))
    expect((await asking).message).toBe('gone')
    expect(screen()).toBe('')
    expect([input.isRaw, input.isPaused()]).toEqual([false, true])
    await setImmediate()
    expect(listeners(input, output, process)).toEqual(before)
    const next = provider.ask(requestOf([CACHE]))
    await vi.waitFor(() => expect(screen()).toContain('Which cache?'))
    press('enter')
    await next
  })

  test('is given back when drawing fails', async () => {
    const { provider, input, output } = terminalPerson()
    const before = listeners(input, output, process)
    const failing = caught(provider.ask(requestOf([STORE])))
    Object.defineProperty(output, 'columns', {
      get: () => {
        throw new Error('no size')
      },
      configurable: true,
    })
    input.push('\u001b[B')
    expect((await failing).message).toBe('no size')
    expect(input.isRaw).toBe(false)
    await setImmediate()
    expect(listeners(input, output, process)).toEqual(before)
  })

  test('that goes away ends the request as the end of the input', async () => {
    const { provider, input } = terminalPerson()
    const asking = caught(provider.ask(requestOf([STORE])))
    await vi.waitFor(() => expect(input.isRaw).toBe(true))
    input.destroy(new Error('EIO'))
    const error = await asking
    expect(error.code).toBe('ASK_CANCELLED')
    expect(error.details).toMatchObject({ reason: 'end of input' })
  })

  test.each([
    ['writing', false],
    ['writing in plain mode', true],
  ])(
    'that goes away while %s ends the request as the end of the input, and nothing else',
    async (_, plain) => {
      const { provider, input, output } = terminalPerson({ plain })
      const asking = caught(provider.ask(requestOf([STORE, CACHE])))
      await vi.waitFor(() => expect(output.text).toContain('Which store?'))
      const failing = vi.fn<(chunk: unknown, encoding: string, done: (error: Error) => void) => void>(
        (_chunk, _encoding, done) => done(new Error('write EIO')),
      )
      output._write = failing
      input.push(plain ? '1\n' : '\u001b[B')
      expect((await asking).details).toMatchObject({ reason: 'end of input' })
      await setImmediate()
      expect(failing).toHaveBeenCalled()
      expect(output.listenerCount('error')).toBe(1)
    },
  )

  test('that goes away just when it is given back ends nothing but the request', async () => {
    const { provider, press, input, output } = terminalPerson()
    const asking = provider.ask(requestOf([STORE]))
    await vi.waitFor(() => expect(input.isRaw).toBe(true))
    output._write = (_chunk, _encoding, done: (error?: Error) => void) => done(new Error('write EIO'))
    input.setRawMode = () => input.emit('error', new Error('setRawMode EIO')) as never
    press('enter')
    expect(await asking).toEqual({ answers: [{ id: 'db', selected: ['Postgres'] }] })
    await setImmediate()
  })

  test.each([
    ['is told of', (input: FakeInput) => input.emit('error', new Error('setRawMode EIO')) as never],
    [
      'is thrown',
      () => {
        throw new Error('setRawMode EIO')
      },
    ],
  ])('whose line mode cannot be set ends the request, where that %s', async (_, setRawMode) => {
    const { provider, input, output } = terminalPerson()
    input.setRawMode = () => setRawMode(input)
    expect((await caught(provider.ask(requestOf([STORE])))).details).toMatchObject({ reason: 'end of input' })
    expect(output.text).not.toContain('Which store?')
    expect(output.text.endsWith('\u001b[?7h\u001b[?2004l\u001b[?25h')).toBe(true)
    await setImmediate()
    expect(listeners(output, process)).toEqual(listeners(new FakeOutput(), process))
  })

  test('is taken again when the process goes on in the foreground', async () => {
    const clock = new FakeClock()
    let inFront = true
    const { provider, press, input, output } = terminalPerson({ clock, foreground: () => inFront })
    const asking = provider.ask(requestOf([STORE]))
    await vi.waitFor(() => expect(output.text).toContain('Which store?'))
    inFront = false
    process.emit('SIGCONT')
    clock.advance(5000)
    expect(input.rawModes).toEqual([true])
    inFront = true
    const drawn = output.writes.length
    clock.advance(500)
    expect(input.rawModes).toEqual([true, false, true])
    const anew = output.writes.slice(drawn).join('')
    expect(anew).toContain('Which store?')
    expect(anew).toContain('\u001b[?2004h')
    // Nothing above is taken away: the shell may have written there.
    expect(anew).not.toMatch(/\u001b\[\d*A/u)
    press('enter')
    await asking
    expect(clock.pending).toBe(0)
  })

  test('keeps reading for a host that was reading before', async () => {
    const { provider, press, input } = terminalPerson()
    const heard: string[] = []
    input.on('data', chunk => heard.push(String(chunk)))
    const asking = provider.ask(requestOf([STORE]))
    press('enter')
    await asking
    expect(input.isPaused()).toBe(false)
    expect(input.listenerCount('data')).toBe(1)
  })

  test('keeps one line for each question that was answered', async () => {
    const { provider, press, screen } = terminalPerson()
    const asking = provider.ask(requestOf([{ ...STORE, header: 'Store' }, CACHE]))
    await vi.waitFor(() => expect(screen()).toContain('Which store?'))
    press('down', 'enter', 's', 'enter')
    await asking
    expect(screen()).toBe('Store: SQLite\nWhich cache? skipped\n')
  })

  test('is never erased from the very beginning of a line, which tmux would keep a copy of', async () => {
    const { provider, press, output } = terminalPerson()
    const asking = provider.ask(requestOf([STORE]))
    await vi.waitFor(() => expect(output.text).toContain('Which store?'))
    press('down', 'enter')
    await asking
    expect(
      output.text
        .split('\u001b[J')
        .slice(0, -1)
        .every(text => text.endsWith('\u001b[K\u001b[1C')),
    ).toBe(true)
  })

  test('has no colour where NO_COLOR says so', async () => {
    const sgr = /\u001b\[[0-9;]*m/u
    for (const [env, coloured] of [
      [{}, true],
      [{ NO_COLOR: '1' }, false],
    ] as const) {
      const { provider, press, output } = terminalPerson({ env })
      const asking = provider.ask(requestOf([STORE]))
      press('enter')
      await asking
      expect(sgr.test(output.text)).toBe(coloured)
    }
  })
})

describe('keys', () => {
  test('count from half a second after the question was shown', async () => {
    const clock = new FakeClock()
    const { provider, press, input, screen } = terminalPerson({ clock, armingDelayMs: undefined })
    const engaged = vi.fn<() => void>()
    press('enter', ' ', 'y', '1')
    const asking = provider.ask(requestOf([STORE], { engaged }))
    await vi.waitFor(() => expect(screen()).toContain('is ignored'))
    clock.advance(300)
    press('enter')
    await vi.waitFor(() => expect(input.readableLength).toBe(0))
    expect(engaged).not.toHaveBeenCalled()
    clock.advance(500)
    press('2', 'enter')
    expect(await asking).toEqual({ answers: [{ id: 'db', selected: ['SQLite'] }] })
    expect(engaged).toHaveBeenCalledOnce()
    expect(clock.pending).toBe(0)
  })

  test('dismiss at any time when they are Ctrl-C', async () => {
    const { provider, press } = terminalPerson({ clock: new FakeClock(), armingDelayMs: 500 })
    const asking = caught(provider.ask(requestOf([STORE])))
    press('ctrl-c')
    expect((await asking).code).toBe('ASK_CANCELLED')
  })

  test('end the countdown', async () => {
    const clock = new FakeClock()
    const { provider, press, screen } = terminalPerson({ clock })
    const asking = provider.ask(requestOf([STORE], { deadlineAt: clock.now() + 65_000 }))
    await vi.waitFor(() => expect(screen()).toContain('1:05 left'))
    clock.advance(1000)
    expect(screen()).toContain('1:04 left')
    press('down')
    await vi.waitFor(() => expect(screen()).not.toContain('left'))
    expect(clock.pending).toBe(0)
    press('enter')
    await asking
  })

  test.each([
    [['escape', 'escape'], 'ASK_DECLINED', {}],
    [['ctrl-x'], 'ASK_INTERRUPTED', { answers: [] }],
    [['ctrl-t', 'Why?', 'enter'], 'ASK_CLARIFIED', { text: 'Why?' }],
    [['ctrl-d'], 'ASK_CANCELLED', { reason: 'end of input', answers: [] }],
  ])('such as %s end a request with their code', async (keys, code, details) => {
    const { provider, press } = terminalPerson()
    const asking = caught(provider.ask(requestOf([STORE])))
    press(...keys)
    const error = await asking
    expect([error.code, error.details]).toEqual([code, details])
  })
})
