import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  approveTools,
  askUserServer,
  canUseTool,
  deferQuestions,
} from '@handraise/tool-ask-user/claude-agent'
import type { Asker } from '@handraise/tool-ask-user'
import {
  UserQuestionError,
  type AskUserQuestionRequest,
  type ProviderRequest,
} from '@handraise/user-questions'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  ANSWER,
  ANSWER_TEXT,
  ASKED,
  askDirectly,
  databaseFile,
  FAILURES,
  failWith,
  startHost,
} from './host.ts'
import { resultOf, says, startClaude, uses } from './messages-api.ts'

const QUESTION = {
  question: 'Which store?',
  header: 'Store',
  multiSelect: false,
  options: [
    { label: 'SQLite', description: 'One file.', preview: '`a.db`' },
    { label: 'Postgres', description: 'A server.' },
  ],
}
const asks = (id: string, questions: unknown = [QUESTION]) => uses(id, 'AskUserQuestion', { questions })
const byFirstOption = ({ questions }: ProviderRequest) => ({
  answers: questions.map(({ id, options }) => ({ id, selected: [options?.[0]?.label ?? ''] })),
})

const call = { signal: new AbortController().signal, toolUseID: 'ask-1' }

describe('canUseTool', () => {
  test('answers AskUserQuestion, asks for other tools, and tells every other end as what it is, in one run', async () => {
    const { home, run, told, script } = await startClaude()
    const failures = FAILURES.map(([error]) => error ?? new UserQuestionError('NO_PROVIDER'))
    const writes = (name: string) => uses(name, 'Write', { file_path: join(home, name), content: 'x' })
    script.push(
      asks('ask-0'),
      ...failures.map((_, index) => asks(`ask-${index + 1}`)),
      ...['allowed', 'denied', 'dismissed'].map(writes),
      says('Done.'),
    )
    const asked: AskUserQuestionRequest[] = []
    const asker: Asker = {
      async ask(request) {
        const failure = failures[asked.push(request) - 2]
        if (failure !== undefined) throw failure
        return { answers: [{ id: 'q1', selected: ['SQLite'] }] }
      },
    }
    const { approver, choose, dismiss, waiting } = await startHost()
    const otherwise = approveTools(approver, { session: 's1' })
    const running = run({ canUseTool: canUseTool(asker, { session: 's1', otherwise }) })
    const untilAskedAbout = async (name: string) => {
      const isAsked = async () => JSON.stringify((await waiting()).payload).includes(join(home, name))
      await expect.poll(isAsked, { timeout: 25_000 }).toBe(true)
      return waiting()
    }
    expect(await untilAskedAbout('allowed')).toMatchObject({
      session: 's1',
      key: expect.stringContaining('allowed'),
      payload: { subject: { kind: 'tool', toolName: 'Write' } },
    })
    await choose('allow_once')
    await untilAskedAbout('denied')
    await choose('deny_feedback', 'Keep it.')
    await untilAskedAbout('dismissed')
    await dismiss()
    expect(resultOf(await running)).toMatchObject({ subtype: 'success', result: 'Done.' })

    expect(asked.map(({ key, session }) => [key, session])).toEqual(
      script.slice(0, failures.length + 1).map((_, index) => [`ask-${index}`, 's1']),
    )
    expect(asked[0]?.questions).toEqual([
      {
        id: 'q1',
        question: 'Which store?',
        header: 'Store',
        multiSelect: false,
        options: [
          { label: 'SQLite', description: 'One file.', preview: { format: 'markdown', content: '`a.db`' } },
          { label: 'Postgres', description: 'A server.' },
        ],
      },
    ])
    const existing = ['allowed', 'denied', 'dismissed'].filter(name => existsSync(join(home, name)))
    expect(existing).toEqual(['allowed'])
    expect(told().map(({ isError, text }) => [isError, text])).toEqual([
      [false, expect.stringContaining('"Which store?"="SQLite"')],
      ...failures.map(({ message }) => [true, `Error: ${message}`]),
      [false, expect.stringContaining('created')],
      [
        true,
        'denied by the user: Write. It was not done. They said: "Keep it.". Do not try to do the same in another way.',
      ],
      [true, expect.stringMatching(/dismissed.*nobody has denied it\.$/u)],
    ])
  })

  test('takes its question down when the run is aborted, which ends as that', async () => {
    const { run, turns } = await startClaude(asks('ask-1'), says('never'))
    const { asker, waiting, list } = await startHost()
    const abortController = new AbortController()
    const running = run({ abortController, canUseTool: canUseTool(asker) }).catch(String)
    await waiting()
    abortController.abort()
    expect(await running).toMatch(/abort/iu)
    expect(turns()).toBe(1)
    await expect.poll(async () => (await list('settled'))[0]?.settlement?.outcome).toBe('aborted')
  })

  const answering = async (answers: unknown, questions: unknown[] = [QUESTION]) => {
    const { asker } = await askDirectly(() => ({ answers }))
    return canUseTool(asker)('AskUserQuestion', { questions }, call)
  }

  test('gives labels, texts, notes and previews where the SDK reads them', async () => {
    const several = { ...QUESTION, question: 'Which checks?', multiSelect: true }
    const input = { questions: [QUESTION, several] }
    const answers = [
      { id: 'q1', selected: ['SQLite'], note: 'for now' },
      { id: 'q2', selected: ['SQLite', 'Postgres'], custom: 'and files', by: 'policy' },
    ]
    expect(await answering(answers, input.questions)).toEqual({
      behavior: 'allow',
      updatedInput: {
        ...input,
        answers: { 'Which store?': 'SQLite', 'Which checks?': 'SQLite, Postgres, and files' },
        annotations: {
          'Which store?': { preview: '`a.db`', notes: 'for now' },
          'Which checks?': { notes: 'This was answered by a policy, not by the user.' },
        },
      },
    })
    expect(await answering([{ id: 'q1', selected: [], custom: 'files' }])).toMatchObject({
      updatedInput: { answers: { 'Which store?': 'files' } },
    })
  })

  test('makes no answer of a skip', async () => {
    const skipped = { id: 'q1', selected: [] }
    expect(await answering([skipped])).toEqual({
      behavior: 'deny',
      message: 'the user skipped every question; nothing was chosen',
      interrupt: false,
    })
    const second = { ...QUESTION, question: 'And then?' }
    expect(await answering([skipped, { id: 'q2', selected: ['SQLite'] }], [QUESTION, second])).toMatchObject({
      updatedInput: {
        answers: {
          'Which store?': '(the user skipped this question; nothing was chosen)',
          'And then?': 'SQLite',
        },
      },
    })
  })

  test('tells what the person wrote beside questions they all skipped', async () => {
    const second = { ...QUESTION, question: 'And then?' }
    const skip = { id: 'q1', selected: [], note: 'Ask Bob.' }
    expect(await answering([skip])).toMatchObject({
      message: 'the user skipped every question; nothing was chosen. They wrote "Ask Bob."',
    })
    expect(
      await answering(
        [
          { id: 'q1', selected: [] },
          { ...skip, id: 'q2' },
        ],
        [QUESTION, second],
      ),
    ).toMatchObject({ message: expect.stringMatching(/They wrote to "And then\?": "Ask Bob\."$/u) })
  })

  test.each([
    [JSON.stringify([{ question: 'Which?', options: ['A', 'B'] }])],
    [[{ question: 'Which?', header: null, options: [{ label: 'A' }, { label: 'B' }] }]],
    [{ question: 'Which?', multi_select: 'true', options: ['A', 'B'] }],
    [[{ question: 'Which?', options: [{ label: 'A', preview: 3 }, { label: 'B' }] }]],
  ])('gives the answer to questions that had to be mended: %o', async questions => {
    const { asker } = await askDirectly(byFirstOption)
    const answered = await canUseTool(asker)('AskUserQuestion', { questions }, call)
    expect(answered).toMatchObject({ behavior: 'allow', updatedInput: { answers: { 'Which?': 'A' } } })
  })

  test('ends the turn where the person stopped it', async () => {
    const { asker } = await askDirectly(failWith(new UserQuestionError('ASK_INTERRUPTED')))
    expect(await canUseTool(asker)('AskUserQuestion', { questions: [QUESTION] }, call)).toMatchObject({
      behavior: 'deny',
      interrupt: true,
    })
    const approver = { request: async () => ({ approvalId: '1', outcome: 'interrupted' as const }) }
    expect(await approveTools(approver)('Bash', { command: 'ls' }, call)).toMatchObject({
      behavior: 'deny',
      interrupt: true,
    })
  })

  test('tells the faults of what is no question, and lets no other tool pass by itself', async () => {
    expect(await answering([], [])).toMatchObject({
      behavior: 'deny',
      message: expect.stringMatching(/^Error: /u),
    })
    const { asker } = await askDirectly(byFirstOption)
    expect(await canUseTool(asker)('Bash', { command: 'ls' }, call)).toMatchObject({
      behavior: 'deny',
      message: expect.stringMatching(/nobody can be asked.*Bash.*nobody has denied it/u),
    })
  })
})

test('approveTools lets no question pass without its answers, whatever is allowed', async () => {
  const { run, told } = await startClaude(asks('ask-1'), says('Done.'))
  const { ctx, approver, list } = await startHost()
  await ctx.userApprovals.setMode('s1', 'allowAll')
  await run({ canUseTool: approveTools(approver, { session: 's1' }) })
  expect(told()).toMatchObject([{ isError: true, text: expect.stringMatching(/mount `canUseTool\(asker/u) }])
  expect([...(await list('pending')), ...(await list('settled'))]).toEqual([])
})

describe('deferQuestions', () => {
  test('ends a run whose question waits, and gives the resumed one the answer that was given meanwhile', async () => {
    const { run, told, turns } = await startClaude(asks('ask-1'), says('Done.'))
    const file = databaseFile()
    const before = await startHost(file)
    const optionsOf = ({ asker }: Pick<typeof before, 'asker'>, patienceMs: number) => ({
      canUseTool: canUseTool(asker, { session: 's1' }),
      hooks: { PreToolUse: [deferQuestions(asker, { session: 's1', patienceMs })] },
    })
    const result = resultOf(await run(optionsOf(before, 0)))
    expect(result).toMatchObject({ subtype: 'success', deferred_tool_use: { id: 'ask-1' } })
    const { id } = await before.waiting()
    await before.leave()

    const away = await startHost(file)
    await away.answer({ answers: [{ id: 'q1', selected: ['Postgres'] }] })
    await away.leave()

    const after = await startHost(file)
    const resume = result?.session_id ?? expect.fail('no session')
    await run({ resume, ...optionsOf(after, 20_000) })
    expect(told()).toMatchObject([
      { id: 'ask-1', text: expect.stringContaining('"Which store?"="Postgres"') },
    ])
    expect(turns()).toBe(3)
    expect((await after.list('settled')).map(request => request.id)).toEqual([id])
  })

  /** What a session is resumed with that shall not say anything: it stays open until it is told to end. */
  const nothingToSay = () => {
    let end = () => {}
    const ended = new Promise<IteratorResult<never>>(resolve => {
      end = () => resolve({ done: true, value: undefined })
    })
    const prompt = { [Symbol.asyncIterator]: () => ({ next: () => ended }) }
    return { prompt, end }
  }

  test('ends a run whose host goes down, and a run that is resumed before the answer waits for it', async () => {
    const { run, told, turns } = await startClaude(asks('ask-1'), says('Done.'))
    const file = databaseFile()
    const optionsOf = ({ asker }: { asker: Asker }, patienceMs: number) => ({
      canUseTool: canUseTool(asker, { session: 's1' }),
      hooks: { PreToolUse: [deferQuestions(asker, { session: 's1', patienceMs })] },
    })
    const before = await startHost(file)
    const running = run(optionsOf(before, 20_000))
    await before.waiting()
    await before.leave()
    const result = resultOf(await running)
    expect(result).toMatchObject({ deferred_tool_use: { id: 'ask-1' } })

    const after = await startHost(file)
    const asked: unknown[] = []
    const watched: Asker = { ask: request => (asked.push(request.key), after.asker.ask(request)) }
    const { prompt, end } = nothingToSay()
    const resumed = run({ resume: result?.session_id ?? '', ...optionsOf({ asker: watched }, 0) }, prompt)
    await expect.poll(() => asked, { timeout: 25_000 }).toEqual(['ask-1'])
    await after.answer({ answers: [{ id: 'q1', selected: ['Postgres'] }] })
    await expect.poll(turns, { timeout: 25_000 }).toBe(2)
    end()
    expect(resultOf(await resumed)).toMatchObject({ result: 'Done.' })
    expect(told()).toMatchObject([{ text: expect.stringContaining('"Which store?"="Postgres"') }])
    expect(turns()).toBe(2)
  })

  test.each([
    ['another question', 2, asks('other', [{ ...QUESTION, question: 'And then?' }])],
    ['a call of another tool', 1, uses('other', 'Glob', { pattern: '*.none' })],
  ])('waits for a question that has %s beside it in its turn', async (_, questions, other) => {
    const { home, run, told } = await startClaude([asks('ask-1'), other], says('Done.'))
    const asked: Array<() => void> = []
    const asker: Asker = {
      ask: () =>
        new Promise(resolve => asked.push(() => resolve({ answers: [{ id: 'q1', selected: ['SQLite'] }] }))),
    }
    const running = run({
      canUseTool: canUseTool(asker),
      hooks: { PreToolUse: [deferQuestions(asker, { patienceMs: 0 })] },
    })
    await expect.poll(() => asked.length, { timeout: 25_000 }).toBe(questions)
    const transcripts = () =>
      readdirSync(home, { recursive: true, encoding: 'utf8' })
        .filter(path => path.endsWith('.jsonl'))
        .map(path => readFileSync(join(home, path), 'utf8'))
    await expect.poll(() => transcripts().join(''), { timeout: 25_000 }).toContain('"other"')
    asked.forEach(answer => answer())
    expect(resultOf(await running)).toMatchObject({ result: 'Done.' })
    expect(told()).toHaveLength(2)
    // The other tool is not there in every version.
    const answered = told().filter(({ isError }) => !isError)
    expect(answered.map(({ id }) => id)).toEqual(
      expect.arrayContaining(questions === 2 ? ['ask-1', 'other'] : ['ask-1']),
    )
  })

  const transcriptOf = (...lines: string[]): string => {
    const directory = mkdtempSync(join(tmpdir(), 'handraise-transcripts-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    const path = join(directory, 'session.jsonl')
    writeFileSync(path, lines.join('\n'))
    return path
  }
  const turn = (message: string, ids: string[], more: object = {}, stop_reason: string | null = 'tool_use') =>
    ids
      .map(id => ({ type: 'tool_use', id, ...more }))
      .map(part =>
        JSON.stringify({ type: 'assistant', message: { id: message, stop_reason, content: [part] } }),
      )
      .join('\n')

  const hook = (asker: Asker, patienceMs = 20_000, signal = new AbortController().signal) => {
    const { hooks, matcher } = deferQuestions(asker, { patienceMs })
    expect('AskUserQuestion').toMatch(new RegExp(matcher ?? ''))
    const transcript_path = transcriptOf(turn('m', ['ask-1']))
    const input = { hook_event_name: 'PreToolUse', transcript_path, tool_input: { questions: [QUESTION] } }
    return hooks[0]?.(input as never, 'ask-1', { signal })
  }

  test('denies with the text of a failure, and stops the turn where the person did', async () => {
    const { asker } = await askDirectly(failWith(new UserQuestionError('ASK_DECLINED')))
    expect(await hook(asker)).toEqual({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: `Error: ${new UserQuestionError('ASK_DECLINED').message}`,
      },
    })
    const stopped = await askDirectly(failWith(new UserQuestionError('ASK_INTERRUPTED')))
    expect(await hook(stopped.asker)).toMatchObject({ continue: false })
  })

  test('defers no question beside which another of its session waits, or was deferred', async () => {
    const { hooks } = deferQuestions({ ask: () => new Promise(() => {}) }, { patienceMs: 1000 })
    const ended: string[] = []
    const transcript_path = transcriptOf(...['a1', 'a2', 'b1', 'b2'].map(id => turn(id, [id])))
    const ask = (id: string, session_id = 'one') => {
      const tool_input = { questions: [QUESTION] }
      const input = { hook_event_name: 'PreToolUse', session_id, transcript_path, tool_input }
      void hooks[0]?.(input as never, id, { signal: call.signal }).then(() => ended.push(id))
    }
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    ask('a1')
    ask('a2')
    ask('b1', 'two')
    await vi.waitFor(() => expect(vi.getTimerCount()).toBe(3))
    await vi.advanceTimersByTimeAsync(2000)
    await expect.poll(() => ended).toEqual(['b1'])
    ask('b2', 'two')
    await vi.advanceTimersByTimeAsync(2000)
    // Comes again, as its session was resumed.
    ask('b1', 'two')
    await vi.advanceTimersByTimeAsync(2000)
    expect(ended).toEqual(['b1'])
  })

  test('goes by the transcript of the session, which says what else the turn has and what was deferred', async () => {
    const deferred = JSON.stringify({ attachment: { type: 'hook_deferred_tool', toolUseID: 'resumed' } })
    const ended: string[] = []
    const ask = (id: string, transcript_path: string) => {
      const { hooks } = deferQuestions({ ask: () => new Promise(() => {}) }, { patienceMs: 0 })
      const input = { hook_event_name: 'PreToolUse', transcript_path, tool_input: { questions: [QUESTION] } }
      void hooks[0]?.(input as never, id, { signal: call.signal }).then(() => ended.push(id))
      return transcript_path
    }
    ask('several', transcriptOf('no json', turn('m', ['several', 'other'])))
    ask('resumed', transcriptOf(turn('m', ['resumed']), deferred))
    ask('again', transcriptOf(turn('m', ['again']), turn('n', ['again', 'other'])))
    const unfinished = ask('unfinished', transcriptOf(turn('m', ['unfinished'], {}, null)))
    ask(
      'alone',
      transcriptOf(turn('m', ['alone'], { input: { type: 'hook_deferred_tool', toolUseID: 'alone' } })),
    )
    const later = 9 * 1024 * 1024
    ask('last', transcriptOf('x'.repeat(later), turn('m', ['last'])))
    await expect.poll(() => ended.toSorted()).toEqual(['alone', 'last'])
    writeFileSync(unfinished, turn('m', ['unfinished']))
    await expect.poll(() => ended.toSorted()).toEqual(['alone', 'last', 'unfinished'])
  })

  test('asks, and does not defer, where there is no transcript that could tell', async () => {
    const pipe = `${transcriptOf()}.pipe`
    execFileSync('mkfifo', [pipe])
    for (const transcript_path of [pipe, join(pipe, '..'), undefined]) {
      const { ask, answer } = answeredLater()
      const { hooks } = deferQuestions({ ask }, { patienceMs: 0 })
      const input = { hook_event_name: 'PreToolUse', transcript_path, tool_input: { questions: [QUESTION] } }
      const hooked = hooks[0]?.(input as never, 'ask-1', { signal: call.signal })
      await expect.poll(() => ask.mock.calls.length).toBe(1)
      answer()
      expect(await hooked).toMatchObject({ hookSpecificOutput: { permissionDecision: 'allow' } })
    }
  })

  const answeredLater = () => {
    let answer = () => {}
    const ask = vi.fn(
      () =>
        new Promise<typeof ANSWER>(resolve => {
          answer = () => resolve({ answers: [{ id: 'q1', selected: ['SQLite'] }] })
        }),
    )
    return { ask, answer: () => answer() }
  }

  test('withdraws the question of a run that is aborted before it ends, and of no other', async () => {
    const { asker, waiting, list } = await startHost()
    const controller = new AbortController()
    const hooked = hook(asker, 20_000, controller.signal)
    await waiting()
    controller.abort(new Error('stop'))
    await expect(hooked).rejects.toThrow('stop')
    await expect.poll(async () => (await list('settled'))[0]?.settlement?.outcome).toBe('aborted')
    const other = await startHost()
    const later = new AbortController()
    expect(await hook(other.asker, 0, later.signal)).toMatchObject({
      hookSpecificOutput: { permissionDecision: 'defer' },
    })
    later.abort()
    await other.waiting()
  })
})

test('the in-process server asks under the id of its call, mends arguments, and tells faults and failures', async () => {
  const tool = 'mcp__handraise__ask_user_question'
  const { run, told, offered } = await startClaude(
    uses('ask-1', tool, { questions: JSON.stringify(ASKED.questions) }),
    uses('ask-2', tool, { questions: [{ id: 'a', options: 3 }] }),
    uses('ask-3', tool, ASKED),
    says('Done.'),
  )
  const { asker, asked } = await askDirectly(({ key }) =>
    key === 'ask-1' ? ANSWER : Promise.reject(new UserQuestionError('ASK_DECLINED')),
  )
  await run({
    mcpServers: { handraise: askUserServer(asker, { session: 's1' }) },
    allowedTools: [tool],
    disallowedTools: ['AskUserQuestion'],
  })
  expect(offered(tool)?.input_schema).toMatchObject({
    properties: { questions: { type: 'array', items: { required: ['id', 'question'] } } },
  })
  expect(asked).toMatchObject([{ key: 'ask-1', session: 's1', questions: ASKED.questions }, { key: 'ask-3' }])
  expect(told()).toEqual([
    { id: 'ask-1', text: ANSWER_TEXT, isError: false },
    {
      id: 'ask-2',
      text: expect.stringMatching(
        /^Error: invalid arguments .*questions\[0\]\.question: .*send for example/u,
      ),
      isError: true,
    },
    { id: 'ask-3', text: `Error: ${new UserQuestionError('ASK_DECLINED').message}`, isError: true },
  ])
})
