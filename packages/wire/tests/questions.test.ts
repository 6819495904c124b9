import { describe, expect, test } from 'vitest'
import { asking, DATABASE, TEXT } from './agents.ts'
import { host, type Peer } from './wired.ts'

const LINTERS = {
  id: 'checks',
  question: 'Which checks?',
  multi_select: true,
  options: [{ label: 'Lint' }, { label: 'Types' }, { label: 'Tests' }],
}

interface Asked {
  readonly sessionId: string
  readonly userInputId: string
  readonly viewCursor: string
}

async function asked(peer: Peer): Promise<Asked> {
  const { session } = (await peer.call('session/start', { commandId: peer.commandId() })) as {
    session: { sessionId: string }
  }
  const { sessionId } = session
  await peer.call('turn/start', { sessionId, commandId: peer.commandId(), input: TEXT })
  return (await peer.told('userInput/request')) as unknown as Asked
}

async function scene(...questions: readonly object[]) {
  const hosted = await host({ agent: asking(...questions) })
  const peer = await hosted.peer().start()
  const { sessionId, userInputId, viewCursor } = await asked(peer)
  const answer = (...answers: readonly object[]) => ({
    sessionId,
    userInputId,
    commandId: peer.commandId(),
    answers,
  })
  return { ...hosted, one: peer, sessionId, userInputId, viewCursor, answer }
}

/** The end of the tool call that asked. */
async function callEnd(peer: Peer) {
  const frame = await peer.until(({ method, params }) => {
    const { item } = (params ?? {}) as { item?: { kind?: string } }
    return method === 'item/completed' && item?.kind === 'toolCall'
  })
  const { item } = frame['params'] as { item: Record<string, unknown> }
  const { status, visibleOutput, failureReason } = item
  return { status, visibleOutput, ...(failureReason === undefined ? {} : { failureReason }) }
}

describe('a question', () => {
  test('is told as an event and asked as a request, both under one durable id', async () => {
    const { one, userInputId, viewCursor } = await scene(DATABASE)
    const event = await one.told('userInput/requested')
    const request = await one.told('userInput/request')
    expect(event['userInputId']).toBe(userInputId)
    expect(event['viewCursor']).toBe(viewCursor)
    const { sourceRange, ...rest } = event
    expect(sourceRange).toBeDefined()
    expect(request).toEqual(rest)
    const order = one.methodsTold().slice(-3)
    expect(order).toEqual(['item/started', 'userInput/requested', 'userInput/request'])
  })

  test.each([
    ['answered with the receipt', { result: {} }],
    ['refused with an error', { error: { code: -32_601, message: 'no', data: { kind: 'methodNotFound' } } }],
    ['left without a reply', undefined],
  ])('waits on when its request is %s', async (_, reply) => {
    const { one, answer } = await scene(DATABASE)
    const { id } = await one.until(({ method }) => method === 'userInput/request')
    if (reply !== undefined) one.send({ id, ...reply })
    expect(
      await one.call('userInput/answer', answer({ questionId: 'db', selectedLabel: 'SQLite' })),
    ).toMatchObject({
      status: 'accepted',
    })
    expect(await one.told('userInput/settled')).toMatchObject({ outcome: 'answered' })
  })

  test('is not asked of a client that shows no dialogs, which hears of it all the same', async () => {
    const { peer, sessionId, one, answer } = await scene(DATABASE)
    const silent = await peer().start({ userInputDialogs: false })
    await silent.call('session/resume', { sessionId, commandId: silent.commandId() })
    await one.call('userInput/answer', answer({ questionId: 'db', selectedLabel: 'SQLite' }))
    await silent.told('turn/completed')
    expect(silent.methodsTold()).not.toContain('userInput/request')
    expect(silent.methodsTold()).toContain('userInput/settled')
  })

  test('has its details behind the question, and a header always', async () => {
    const hosted = await host()
    const one = await hosted.peer().start()
    const { core } = hosted.ctx.inbox
    const payload = {
      questions: [{ id: 'go', question: 'Go?', detail: '# Plan', options: [{ label: 'Yes' }] }],
    }
    await core.open({ kind: 'questions', payload, session: 'elsewhere' })
    await one.call('session/resume', { sessionId: 'elsewhere', commandId: one.commandId() })
    expect(await one.told('userInput/request')).toMatchObject({
      toolName: 'ask_user_question',
      questions: [{ id: 'go', header: '', question: 'Go?\n\n# Plan', selection: { mode: 'single' } }],
    })
  })
})

describe('an answer', () => {
  test('is acknowledged before anything of what it brings about is told', async () => {
    const { one, answer } = await scene(DATABASE)
    const from = one.frames.length
    await one.call(
      'userInput/answer',
      answer({ questionId: 'db', selectedLabel: 'Postgres', note: 'as ever' }),
    )
    await one.told('turn/completed')
    const told = one.frames.slice(from).map(frame => frame['method'] ?? 'ack')
    expect(told).toEqual(['ack', 'userInput/settled', 'item/completed', 'item/completed', 'turn/completed'])
  })

  test('settles with all ten members, once, for everybody', async () => {
    const { one, peer, sessionId, userInputId, answer } = await scene(DATABASE)
    const other = await peer().start()
    await other.call('session/resume', { sessionId, commandId: other.commandId() })
    const given = answer({ questionId: 'db', selectedLabel: 'Postgres', note: 'as ever' })
    await one.call('userInput/answer', given)
    for (const each of [one, other]) {
      const settled = await each.told('userInput/settled')
      await each.told('turn/completed')
      expect(settled).toEqual({
        sessionId,
        userInputId,
        viewCursor: expect.any(String),
        sourceRange: expect.any(Object),
        outcome: 'answered',
        answers: [{ questionId: 'db', selectedLabel: 'Postgres', note: 'as ever' }],
        clarification: null,
        reason: null,
        decidedByCommandId: given.commandId,
        decidedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/u),
      })
      expect(each.methodsTold().filter(method => method === 'userInput/settled')).toHaveLength(1)
    }
  })

  test('that comes second is told who was first', async () => {
    const { one, peer, sessionId, userInputId, answer } = await scene(DATABASE)
    const other = await peer().start()
    await other.call('session/resume', { sessionId, commandId: other.commandId() })
    const mine = answer({ questionId: 'db', selectedLabel: 'Postgres' })
    const theirs = {
      ...answer({ questionId: 'db', selectedLabel: 'SQLite' }),
      commandId: '018f6a2b-3333-7abc-8def-aaaaaaaaaaaa',
    }
    const [first, second] = await Promise.all([
      one.request('userInput/answer', mine),
      other.request('userInput/answer', theirs),
    ])
    const settled = await one.told('userInput/settled')
    expect('result' in first && 'error' in second).toBe(true)
    expect(settled['decidedByCommandId']).toBe(mine.commandId)
    expect(second['error']).toEqual({
      code: -32_056,
      message: expect.any(String),
      data: {
        kind: 'userInputAlreadySettled',
        userInputId,
        settlement: { outcome: 'answered', viewCursor: settled['viewCursor'] },
      },
    })
  })

  test('that was given on another surface is told with who decided', async () => {
    const { one, ctx, userInputId } = await scene(DATABASE)
    const command = { commandId: 'from-the-page', surface: 'web' }
    const answers = [{ id: 'db', selected: [], custom: 'neither' }]
    await ctx.inbox.core.decide(userInputId, { outcome: 'answered', answer: { answers } }, command)
    expect(await one.told('userInput/settled')).toMatchObject({
      outcome: 'answered',
      answers: [{ questionId: 'db', freeText: 'neither' }],
      decidedByCommandId: 'from-the-page',
    })
  })

  test.each<[string, readonly object[], string]>([
    ['to nothing', [], 'answers "db" is not answered; answer every question'],
    [
      'to what was not asked',
      [{ questionId: 'dbs', selectedLabel: 'SQLite' }],
      'answers[0].questionId "dbs" was not asked; asked: "db"',
    ],
    [
      'with nothing in it',
      [{ questionId: 'db' }],
      'answers[0].questionId takes exactly one of selectedLabel and freeText, got 0',
    ],
    [
      'in two forms',
      [{ questionId: 'db', selectedLabel: 'SQLite', freeText: 'x' }],
      'takes exactly one of selectedLabel and freeText, got 2',
    ],
    [
      'in the form for several',
      [{ questionId: 'db', selectedLabels: ['SQLite'] }],
      'answers[0].selectedLabels one is to be chosen',
    ],
    ['with a label that was not offered', [{ questionId: 'db', selectedLabel: 'Oracle' }], 'Oracle'],
    [
      'twice',
      [
        { questionId: 'db', selectedLabel: 'SQLite' },
        { questionId: 'db', selectedLabel: 'SQLite' },
      ],
      'answers[1].questionId "db" is answered twice',
    ],
    ['with blank text', [{ questionId: 'db', freeText: ' \n' }], 'answers[0].freeText is blank'],
    [
      'with 501 characters',
      [{ questionId: 'db', freeText: 'x'.repeat(501) }],
      'answers[0].freeText is longer than 500 characters',
    ],
    [
      'with a long note',
      [{ questionId: 'db', selectedLabel: 'SQLite', note: '🙂'.repeat(501) }],
      'answers[0].note is longer than 500 characters',
    ],
  ])('%s is refused, and the question waits on', async (_, answers, message) => {
    const { one, answer, userInputId, ctx } = await scene(DATABASE)
    const error = await one.fails('userInput/answer', answer(...answers))
    expect(error.code).toBe(-32_057)
    expect(error.message).toContain(message)
    expect(error.data).toMatchObject({ kind: 'userInputAnswerInvalid', userInputId })
    expect((await ctx.inbox.core.get(userInputId)).settlement).toBeUndefined()
  })

  test('of 500 characters counts characters, however many units they take', async () => {
    const { one, answer } = await scene(DATABASE)
    await one.call('userInput/answer', answer({ questionId: 'db', freeText: '🙂'.repeat(500) }))
    expect(await one.told('userInput/settled')).toMatchObject({ answers: [{ freeText: '🙂'.repeat(500) }] })
  })

  test('with attachments is refused, as they are reserved', async () => {
    const { one, answer } = await scene(DATABASE)
    const error = await one.fails('userInput/answer', {
      ...answer({ questionId: 'db', selectedLabel: 'SQLite' }),
      attachments: [],
    })
    expect(error).toMatchObject({ code: -32_602, data: { kind: 'invalidParams' } })
  })

  test('to several may choose several, in the order in which they were offered', async () => {
    const { one, answer } = await scene(LINTERS)
    await one.call('userInput/answer', answer({ questionId: 'checks', selectedLabels: ['Tests', 'Lint'] }))
    expect(await one.told('userInput/settled')).toMatchObject({
      answers: [{ questionId: 'checks', selectedLabels: ['Lint', 'Tests'] }],
    })
    expect(await callEnd(one)).toEqual({ status: 'completed', visibleOutput: 'Lint, Tests' })
  })
})

describe('the tool call that asked', () => {
  test('shows a line for each of several questions, with what was skipped and what was written', async () => {
    const { one, ctx, userInputId } = await scene(DATABASE, LINTERS, {
      id: 'notes',
      question: 'Anything else?',
    })
    const answers = [
      { id: 'db', selected: [] },
      { id: 'checks', selected: ['Lint'], custom: 'and spelling' },
      { id: 'notes', selected: [], custom: 'ship it' },
    ]
    await ctx.inbox.core.decide(
      userInputId,
      { outcome: 'answered', answer: { answers } },
      { commandId: 'c', surface: 'web' },
    )
    expect(await one.told('userInput/settled')).toMatchObject({
      answers: [
        { questionId: 'checks', selectedLabels: ['Lint'], note: 'and spelling' },
        { questionId: 'notes', freeText: 'ship it' },
      ],
    })
    expect(await callEnd(one)).toEqual({
      status: 'completed',
      visibleOutput: 'Database: (skipped)\nchecks: Lint\nnotes: ship it',
    })
  })

  test('is cancelled when the question is, and the turn goes on', async () => {
    const { one, sessionId, userInputId } = await scene(DATABASE)
    const commandId = one.commandId()
    await one.call('userInput/cancel', { sessionId, userInputId, commandId, reason: 'not now' })
    expect(await one.told('userInput/settled')).toMatchObject({
      outcome: 'cancelled',
      answers: [],
      reason: 'not now',
      decidedByCommandId: commandId,
    })
    expect(await callEnd(one)).toEqual({
      status: 'cancelled',
      failureReason: 'not now',
      visibleOutput: 'User declined to answer: not now',
    })
    expect(await one.told('turn/completed')).toMatchObject({ terminal: 'completed' })
  })

  test('has the words of who wrote back', async () => {
    const { one, sessionId, userInputId } = await scene(DATABASE)
    const clarification = { format: 'text', content: 'What about the load?' }
    await one.call('userInput/clarify', { sessionId, userInputId, commandId: one.commandId(), clarification })
    expect(await one.told('userInput/settled')).toMatchObject({
      outcome: 'clarified',
      answers: [],
      clarification,
      reason: null,
    })
    expect(await callEnd(one)).toEqual({
      status: 'completed',
      visibleOutput: 'User wrote back: What about the load?',
    })
    expect(await one.told('turn/completed')).toMatchObject({ terminal: 'completed' })
  })

  test.each([
    ['with what was confirmed', [{ questionId: 'db', selectedLabel: 'Postgres' }], 'Postgres'],
    ['with nothing', undefined, ''],
  ])('is cancelled by an interruption %s, which stops the turn', async (_, answers, visibleOutput) => {
    const { one, sessionId, userInputId } = await scene(DATABASE)
    const params = {
      sessionId,
      userInputId,
      commandId: one.commandId(),
      ...(answers === undefined ? {} : { answers }),
    }
    await one.call('userInput/interrupt', params)
    expect(await one.told('userInput/settled')).toMatchObject({
      outcome: 'interrupted',
      answers: answers ?? [],
      reason: null,
    })
    expect(await callEnd(one)).toEqual({
      status: 'cancelled',
      failureReason: 'interrupted by the client',
      visibleOutput,
    })
    expect(await one.told('turn/completed')).toMatchObject({
      terminal: 'cancelled',
      reason: 'interrupted by the client',
    })
  })

  test('is told apart when the person declined elsewhere', async () => {
    const { one, ctx, userInputId } = await scene(DATABASE)
    await ctx.inbox.core.decide(
      userInputId,
      { outcome: 'declined', reason: 'ask Ada' },
      { commandId: 'c', surface: 'web' },
    )
    expect(await one.told('userInput/settled')).toMatchObject({
      outcome: 'cancelled',
      reason: 'declined: ask Ada',
    })
  })

  test('ends with the turn that is interrupted, and its question is withdrawn', async () => {
    const { one, sessionId } = await scene(DATABASE)
    await one.call('turn/interrupt', { sessionId, commandId: one.commandId() })
    expect(await one.told('userInput/settled')).toMatchObject({
      outcome: 'aborted',
      answers: [],
      decidedByCommandId: null,
    })
    expect((await callEnd(one)).status).toBe('cancelled')
    expect(await one.told('turn/completed')).toMatchObject({ terminal: 'cancelled' })
  })
})

describe('a command', () => {
  test('sent again has the identical ack and no second effect', async () => {
    const { one, answer } = await scene(DATABASE)
    const given = answer({ questionId: 'db', selectedLabel: 'Postgres' })
    const first = await one.call('userInput/answer', given)
    await one.told('turn/completed')
    expect(await one.call('userInput/answer', given)).toEqual(first)
    expect(one.methodsTold().filter(method => method === 'userInput/settled')).toHaveLength(1)
  })

  test('sent twice at once is done once', async () => {
    const { one, answer } = await scene(DATABASE)
    const given = answer({ questionId: 'db', selectedLabel: 'Postgres' })
    const [first, second] = await Promise.all([
      one.call('userInput/answer', given),
      one.call('userInput/answer', given),
    ])
    expect(second).toEqual(first)
  })

  test('of an id that was used for something else is refused, before and after it was done', async () => {
    const { one, answer } = await scene(DATABASE)
    const given = answer({ questionId: 'db', selectedLabel: 'Postgres' })
    await one.call('userInput/answer', given)
    const error = await one.fails('userInput/answer', {
      ...given,
      answers: [{ questionId: 'db', selectedLabel: 'SQLite' }],
    })
    expect(error).toMatchObject({
      code: -32_030,
      data: { kind: 'commandRejected', commandId: given.commandId, reason: 'command_id_conflict' },
    })
  })

  test('that was rejected is rejected alike when it is sent again', async () => {
    const { one, answer } = await scene(DATABASE)
    const given = answer({ questionId: 'db', selectedLabel: 'Oracle' })
    const first = await one.fails('userInput/answer', given)
    expect(await one.fails('userInput/answer', given)).toEqual(first)
  })

  test.each(['nope', '018f6a2b-3333-4abc-8def-000000000001', undefined])(
    'with the id %s is no command',
    async commandId => {
      const { one, answer } = await scene(DATABASE)
      const error = await one.fails('userInput/answer', {
        ...answer({ questionId: 'db', selectedLabel: 'SQLite' }),
        commandId,
      })
      expect(error).toMatchObject({ code: -32_602, data: { kind: 'invalidParams' } })
    },
  )

  test('about a question of another session is not found', async () => {
    const { one, answer } = await scene(DATABASE)
    const other = (await one.call('session/start', { commandId: one.commandId() })) as {
      session: { sessionId: string }
    }
    const given = {
      ...answer({ questionId: 'db', selectedLabel: 'SQLite' }),
      sessionId: other.session.sessionId,
    }
    expect(await one.fails('userInput/answer', given)).toMatchObject({
      code: -32_055,
      data: { kind: 'userInputNotFound', userInputId: given.userInputId },
    })
  })
})
