import { describe, expect, test } from 'vitest'
import { asking, calling, DATABASE, TEXT } from './agents.ts'
import { answered, start, waiting } from './session-scene.ts'
import { host } from './wired.ts'

describe('a session', () => {
  test('is told of before its start is acknowledged', async () => {
    const { peer } = await host()
    const one = await peer().start()
    const { session, viewCursor } = await start(one, { workspaceRoot: '/srv/proj', sessionId: 'mine' })
    expect(one.frames.at(-2)).toMatchObject({ method: 'session/started', params: { session } })
    expect(session).toMatchObject({
      sessionId: 'mine',
      status: 'idle',
      turnCount: 0,
      workspaceRoot: '/srv/proj',
      activeTurnId: null,
    })
    expect(viewCursor).toBe('v:mine:0')
  })

  test('of an id that is taken is not started again', async () => {
    const { peer } = await host()
    const one = await peer().start()
    await start(one, { sessionId: 'mine' })
    const commandId = one.commandId()
    expect(await one.fails('session/start', { commandId, sessionId: 'mine' })).toMatchObject({
      code: -32_030,
      data: { kind: 'commandRejected', commandId, reason: 'session_id_conflict' },
    })
  })

  test('started twice by one command is one session', async () => {
    const { peer } = await host()
    const one = await peer().start()
    const commandId = one.commandId()
    const first = await one.call('session/start', { commandId })
    expect(await one.call('session/start', { commandId })).toEqual(first)
  })

  test.each(['', ' ', 'x'.repeat(201), 'line\nbreak', '\ud800'])('cannot be called %j', async sessionId => {
    const { peer } = await host()
    const one = await peer().start()
    expect(await one.fails('session/start', { commandId: one.commandId(), sessionId })).toMatchObject({
      code: -32_602,
    })
  })

  test.each([
    'session/resume',
    'session/read',
    'view/page',
    'view/subscribe',
    'approval/listPending',
    'turn/start',
  ])('that is not there is not found by %s', async method => {
    const { peer } = await host({ agent: asking(DATABASE) })
    const one = await peer().start()
    const params = { sessionId: 'none', commandId: one.commandId(), limit: 1, input: TEXT }
    expect(await one.fails(method, params)).toMatchObject({
      code: -32_020,
      data: { kind: 'sessionNotFound', sessionId: 'none' },
    })
  })

  test('that nobody looks at and in which nothing runs is let go, and answers again when it is resumed', async () => {
    const { one, other, sessionId } = await answered()
    one.close()
    await one.served
    expect(await other.call('session/read', { sessionId })).toMatchObject({
      session: { status: 'notLoaded', turnCount: 1 },
    })
    expect(await other.fails('view/subscribe', { sessionId })).toMatchObject({
      code: -32_024,
      data: { kind: 'sessionNotLoaded', sessionId },
    })
    const resumed = await other.call('session/resume', { sessionId, commandId: other.commandId() })
    expect(resumed).toMatchObject({ session: { status: 'idle' }, lastTurn: { terminal: 'completed' } })
  })

  test('is kept while a turn waits in it, though its client has gone', async () => {
    const { one, other, sessionId, asked } = await waiting()
    one.close()
    await one.served
    const resumed = await other.call('session/resume', {
      sessionId,
      commandId: other.commandId(),
      excludeItems: true,
    })
    const { userInputId, viewCursor } = asked
    expect(resumed).toMatchObject({
      session: { status: 'running' },
      history: { mode: 'none', items: null, snapshot: null, noneReason: 'excluded' },
      pendingRequests: [{ kind: 'userInput', userInputId, viewCursor }],
    })
    expect(await other.told('userInput/request')).toEqual(asked)
    const answers = [{ questionId: 'db', selectedLabel: 'SQLite' }]
    await other.call('userInput/answer', { sessionId, userInputId, commandId: other.commandId(), answers })
    expect(await other.told('turn/completed')).toMatchObject({ terminal: 'completed' })
  })
})

describe('resuming', () => {
  test('gives the items so far, or a snapshot with what waits', async () => {
    const { other, sessionId, asked } = await waiting()
    const resume = (more: object) =>
      other.call('session/resume', { sessionId, commandId: other.commandId(), ...more })
    const inline = (await resume({})) as { history: { mode: string; items: Array<{ kind: string }> } }
    expect(inline.history.mode).toBe('inline')
    expect(inline.history.items.map(({ kind }) => kind)).toEqual(['userMessage', 'toolCall'])
    const { itemId, userInputId, viewCursor, turnId } = asked
    expect(await resume({ history: 'snapshot' })).toMatchObject({
      history: {
        mode: 'snapshot',
        items: null,
        snapshot: {
          viewCursor,
          state: {
            items: inline.history.items,
            activeTurn: { turnId },
            queuedTurns: [],
            pendingApprovals: [],
            pendingUserInputs: [{ userInputId, itemId, viewCursor }],
            turnCount: 0,
          },
        },
      },
    })
  })

  test('behind a cursor gives what followed it, and nothing twice', async () => {
    const { one, other, sessionId } = await answered()
    const events = one.frames.filter(
      ({ params }) => (params as { viewCursor?: string } | undefined)?.viewCursor !== undefined && true,
    )
    const known = (await other.call('view/page', { sessionId, limit: 3 })) as { nextCursor: string }
    const resumed = await other.call('session/resume', {
      sessionId,
      commandId: other.commandId(),
      cursor: known.nextCursor,
    })
    expect(resumed['history']).toMatchObject({ mode: 'none', noneReason: 'cursorSuffix' })
    await other.told('turn/completed')
    const suffix = other.frames.filter(frame => 'emittedAtMs' in frame)
    expect(suffix.map(({ method }) => method)).toEqual([
      'userInput/requested',
      'userInput/settled',
      'item/completed',
      'item/completed',
      'turn/completed',
    ])
    expect(events.length).toBeGreaterThan(0)
  })

  test('behind a cursor of another session or of none is refused', async () => {
    const { other, sessionId } = await answered()
    const resume = (cursor: string) =>
      other.fails('session/resume', { sessionId, commandId: other.commandId(), cursor })
    expect(await resume('v:another:1')).toMatchObject({
      code: -32_025,
      data: { kind: 'sessionStreamMismatch', sessionId },
    })
    expect(await resume('7')).toMatchObject({ code: -32_602 })
  })

  test('of a session in which agents elsewhere ask shows what waits, and takes the answer', async () => {
    const { ctx, peer } = await host()
    const { core } = ctx.inbox
    const payload = { questions: [{ id: 'db', question: 'Which?', options: [{ label: 'A' }] }] }
    const { request } = await core.open({ kind: 'questions', payload, session: 'elsewhere', key: 'k1' })
    const one = await peer().start()
    await one.call('session/resume', { sessionId: 'elsewhere', commandId: one.commandId() })
    expect(await one.told('userInput/request')).toMatchObject({ userInputId: request.id, toolCallId: 'k1' })
    const answers = [{ questionId: 'db', selectedLabel: 'A' }]
    const answer = { sessionId: 'elsewhere', userInputId: request.id, commandId: one.commandId(), answers }
    await one.call('userInput/answer', answer)
    await one.until(
      ({ method, params }) =>
        method === 'item/completed' &&
        (params as { item: { visibleOutput: string } }).item.visibleOutput === 'A',
    )
    expect((await core.get(request.id)).settlement).toMatchObject({ outcome: 'answered', surface: 'wire' })
    expect(
      await one.fails('turn/start', { sessionId: 'elsewhere', commandId: one.commandId(), input: TEXT }),
    ).toMatchObject({
      code: -32_030,
      data: { reason: 'no_agent' },
    })
  })
})

describe('reading', () => {
  test('names what waits and asks nobody', async () => {
    const { other, sessionId, asked } = await waiting()
    const { userInputId, viewCursor } = asked
    expect(await other.call('session/read', { sessionId })).toMatchObject({
      pendingRequests: [{ kind: 'userInput', userInputId, viewCursor }],
      history: { mode: 'inline' },
    })
    expect(other.methodsTold()).toEqual([])
  })

  test('lists what waits in a session that nobody has resumed yet', async () => {
    const { ctx, peer } = await host()
    const payload = { questions: [{ id: 'db', question: 'Which?', options: [{ label: 'A' }] }] }
    const { request } = await ctx.inbox.core.open({ kind: 'questions', payload, session: 'elsewhere' })
    const one = await peer().start()
    expect(await one.call('approval/listPending', { sessionId: 'elsewhere' })).toMatchObject({
      approvals: [],
      userInputs: [{ userInputId: request.id, questions: [{ id: 'db' }] }],
    })
  })
})

describe('a view', () => {
  test('is read forwards and backwards, page by page, in one order', async () => {
    const { other, sessionId } = await answered()
    const read = async (direction: string) => {
      const pages: unknown[][] = []
      let cursor: string | null | undefined
      do {
        const params = { sessionId, limit: 3, direction, ...(cursor === undefined ? {} : { cursor }) }
        const page = (await other.call('view/page', params)) as {
          events: unknown[]
          nextCursor: string | null
        }
        pages.push(page.events)
        cursor = page.nextCursor
      } while (cursor !== null)
      return pages
    }
    const forward = (await read('forward')).flat()
    const backward = (await read('backward')).toReversed().flat()
    expect(backward).toEqual(forward)
    expect(forward.map(event => (event as { method: string }).method)).toEqual([
      'turn/started',
      'item/completed',
      'item/started',
      'userInput/requested',
      'userInput/settled',
      'item/completed',
      'item/completed',
      'turn/completed',
    ])
  })

  test('holds what was told live, without its envelope', async () => {
    const { one, other, sessionId } = await answered()
    const { events } = (await other.call('view/page', { sessionId, limit: 100 })) as { events: object[] }
    const live = one.frames
      .filter(({ method, id }) => method !== undefined && id === undefined && method !== 'session/started')
      .map(({ method, params }) => ({ method, params }))
    expect(live).toEqual(events)
  })

  test('leaves out what only passed by', async () => {
    const { peer } = await host({
      agent: {
        async run(turn) {
          const message = turn.stream()
          message.delta('Hel')
          message.delta('lo')
          await message.end()
        },
      },
    })
    const one = await peer().start()
    const { session } = await start(one)
    const { sessionId } = session
    await one.call('turn/start', { sessionId, commandId: one.commandId(), input: TEXT })
    await one.told('turn/completed')
    expect(one.methodsTold().slice(1)).toEqual([
      'turn/started',
      'item/completed',
      'item/started',
      'item/delta',
      'item/delta',
      'item/completed',
      'turn/completed',
    ])
    const cursors = one.frames.flatMap(
      ({ params }) => (params as { viewCursor?: string } | undefined)?.viewCursor ?? [],
    )
    expect(new Set(cursors).size).toBe(cursors.length)
    const { events } = (await one.call('view/page', { sessionId, limit: 100 })) as {
      events: Array<{ method: string }>
    }
    expect(events.map(({ method }) => method)).toEqual([
      'turn/started',
      'item/completed',
      'item/completed',
      'turn/completed',
    ])
  })

  test('is followed from a cursor until it is left, and again after', async () => {
    const { one, sessionId, other } = await answered()
    const { viewCursor } = await other.call('session/resume', { sessionId, commandId: other.commandId() })
    expect(await other.call('view/unsubscribe', { sessionId })).toEqual({})
    expect(await other.call('view/unsubscribe', { sessionId })).toEqual({})
    await one.call('turn/start', { sessionId, commandId: one.commandId(), input: TEXT })
    await one.told('userInput/request', one.frames.length)
    const head = (await other.call('view/subscribe', { sessionId, after: viewCursor })) as {
      viewCursor: string
    }
    expect(head.viewCursor).not.toBe(viewCursor)
    expect(await other.told('userInput/request')).toBeDefined()
    const told = other.methodsTold()
    expect(told).toEqual([
      'turn/started',
      'item/completed',
      'item/started',
      'userInput/requested',
      'userInput/request',
    ])
  })

  test.each([
    ['ahead of everything', 'v:mine:99', -32_040, { kind: 'viewTruncated', earliestCursor: 'v:mine:0' }],
    ['of another session', 'v:other:0', -32_025, { kind: 'sessionStreamMismatch', sessionId: 'mine' }],
    ['of no session', 'here', -32_602, { kind: 'invalidParams' }],
  ])('has no place for a cursor %s', async (_, cursor, code, data) => {
    const { peer } = await host()
    const one = await peer().start()
    await start(one, { sessionId: 'mine' })
    expect(await one.fails('view/page', { sessionId: 'mine', limit: 1, cursor })).toMatchObject({
      code,
      data,
    })
    expect(await one.fails('view/subscribe', { sessionId: 'mine', after: cursor })).toMatchObject({
      code,
      data,
    })
  })

  test.each([
    ['latestCompaction', -32_042, { kind: 'noBoundary', latestBoundaryCursor: null }],
    ['later', -32_011, { kind: 'notFound', reason: 'missingAnchor', sessionId: 'mine', anchor: 'later' }],
  ])('has no anchor %s', async (anchor, code, data) => {
    const { peer } = await host()
    const one = await peer().start()
    await start(one, { sessionId: 'mine' })
    expect(await one.fails('view/page', { sessionId: 'mine', limit: 1, anchor })).toMatchObject({
      code,
      data,
    })
  })
})

describe('a window', () => {
  test('that passes settles the question, and the turn moves on', async () => {
    const { ctx, peer } = await host({ agent: calling(['deploy', {}]) })
    ctx.tools.register({
      name: 'deploy',
      description: 'Deploys.',
      parameters: (await import('zod')).z.object({}),
      async execute(_: unknown, { callId, signal, session }) {
        await ctx.userQuestions.ask({
          questions: [{ id: 'go', question: 'Go?' }],
          key: callId,
          signal,
          session,
          timeoutMs: 30,
        })
        return 'deployed'
      },
    })
    const one = await peer().start()
    const { session } = await start(one)
    const { sessionId } = session
    await one.call('turn/start', { sessionId, commandId: one.commandId(), input: TEXT })
    expect(await one.told('userInput/request')).toMatchObject({ autoResolutionMs: 30, toolName: 'deploy' })
    expect(await one.told('userInput/settled')).toMatchObject({
      outcome: 'timedOut',
      answers: [],
      reason: null,
      decidedByCommandId: null,
      decidedAt: expect.any(String),
    })
    expect(await one.told('turn/completed')).toMatchObject({ terminal: 'completed' })
  })

  test('is disarmed by who begins to answer, and is not told again', async () => {
    const { ctx, peer } = await host()
    const { core } = ctx.inbox
    const payload = { questions: [{ id: 'go', question: 'Go?' }] }
    const deadlineAt = core.clock.now() + 60_000
    const { request } = await core.open({ kind: 'questions', payload, session: 'elsewhere', deadlineAt })
    const one = await peer().start()
    await one.call('session/resume', { sessionId: 'elsewhere', commandId: one.commandId() })
    expect(await one.told('userInput/request')).toHaveProperty('autoResolutionMs')
    one.send({ method: 'userInput/engaged', params: { sessionId: 'elsewhere', userInputId: request.id } })
    // A request behind it, so that it has been heard.
    while ((await core.get(request.id)).deadlineAt !== undefined)
      await one.call('session/read', { sessionId: 'elsewhere' })
    const other = await peer().start()
    await other.call('session/resume', { sessionId: 'elsewhere', commandId: other.commandId() })
    expect(await other.told('userInput/request')).not.toHaveProperty('autoResolutionMs')
  })
})

describe('too many requests at once', () => {
  test('are told so, and the others are answered', async () => {
    let release = (): void => {}
    const released = new Promise<void>(resolve => {
      release = resolve
    })
    const agent = { run() {}, request: async () => released.then(() => ({ models: [] })) }
    const { peer } = await host({ agent, limits: { requestsInFlight: 2 } })
    const one = await peer().start()
    const answers = Array.from({ length: 5 }, () => one.request('model/list'))
    const refused = await Promise.all(answers.slice(2))
    for (const { error } of refused)
      expect(error).toMatchObject({ code: -32_001, data: { kind: 'overloaded' } })
    release()
    for (const { result } of await Promise.all(answers.slice(0, 2))) expect(result).toEqual({ models: [] })
  })
})
