import { v7 as uuidv7 } from 'uuid'
import { describe, expect, test, vi } from 'vitest'
import type { Frame } from './fixtures/bare-client.ts'
import { ask, scriptedAgent, shell, write } from './fixtures/scripted-agent.ts'
import { answer, decide, eventsOf, startSession, startTurn, viewOf } from './fixtures/session-commands.ts'
import { allowNothingUnhandled } from './fixtures/unhandled.ts'
import { afterALease, goes, MEDIA, requestsOf, worldOn } from './fixtures/world.ts'

allowNothingUnhandled()

const agent = () =>
  scriptedAgent({
    ask: [ask('db')],
    two: [ask('db'), ask('cache', ['Redis', 'None'])],
    write: [write('a.txt')],
    shell: [shell('make build && make install')],
  })

const SQLITE = '{"answers":[{"id":"db","selected":["SQLite"]}]}'
const POSTGRES = '{"answers":[{"id":"db","selected":["Postgres"]}]}'

describe.each(MEDIA)('on %s', medium => {
  test('a session that another host holds is in use, and can be looked at', async () => {
    const world = worldOn(medium)
    const [first, second] = [await world.host({ agent: agent() }), await world.host({ agent: agent() })]
    const [one, two] = [await first.client(), await second.client()]
    const sessionId = await startSession(one)
    await startTurn(one, sessionId, 'ask')
    const { userInputId } = await one.told('userInput/request')
    const { data } = await two.fails('session/resume', { sessionId, commandId: uuidv7() })
    expect(data).toMatchObject({ kind: 'sessionInUse', sessionId })
    expect(await two.call('session/read', { sessionId })).toMatchObject({
      session: { status: 'notLoaded' },
      pendingRequests: [{ kind: 'userInput', userInputId }],
    })
    expect(await two.call('approval/listPending', { sessionId })).toMatchObject({
      userInputs: [{ userInputId }],
    })
    expect((await viewOf(two, sessionId)).map(({ method }) => method)).toContain('userInput/requested')
    const refused = await two.fails('userInput/answer', {
      commandId: uuidv7(),
      ...answer(sessionId, userInputId, 'db', 'SQLite'),
    })
    expect(refused.data.kind).toBe('sessionNotLoaded')
    await one.command('userInput/answer', answer(sessionId, userInputId, 'db', 'SQLite'))
    await one.told('turn/completed')
  })

  test.each(['closed', 'silent'])('a question keeps its id when its host is %s', async how => {
    const world = worldOn(medium)
    const [before, after] = [agent(), agent()]
    const first = await world.host({ agent: before })
    const one = await first.client()
    const sessionId = await startSession(one)
    const turnId = await startTurn(one, sessionId, 'ask')
    const asked = await one.told('userInput/request')
    await goes(first, how)
    const second = await world.host({ agent: after, clock: afterALease() })
    const two = await second.client()
    const resumed = await two.command('session/resume', { sessionId })
    expect(resumed).toMatchObject({
      session: { status: 'running', activeTurnId: turnId },
      pendingRequests: [{ kind: 'userInput', userInputId: asked['userInputId'] }],
    })
    expect(await two.told('userInput/request')).toEqual(asked)
    await two.command('userInput/answer', answer(sessionId, asked['userInputId'], 'db', 'SQLite'))
    await two.told('turn/completed')
    expect(after.runs).toMatchObject([{ turn: { resumed: true }, results: [SQLITE] }])
    expect(before.runs.map(({ results }) => results)).toEqual([[]])
    const view = await viewOf(two, sessionId)
    expect(view.map(({ method }) => method)).toEqual([
      'turn/started',
      'item/completed',
      'item/started',
      'userInput/requested',
      'userInput/settled',
      'item/completed',
      'item/completed',
      'turn/completed',
    ])
    expect(view.at(-1)?.params).toMatchObject({ turnId, terminal: 'completed' })
    expect(await requestsOf(second, sessionId)).toMatchObject([
      { id: asked['userInputId'], settlement: { outcome: 'answered', surface: 'wire' } },
    ])
  })

  test('an answer given while no host held the session is what the call gets', async () => {
    const world = worldOn(medium)
    const [before, after] = [agent(), agent()]
    const first = await world.host({ agent: before })
    const one = await first.client()
    const sessionId = await startSession(one)
    await startTurn(one, sessionId, 'two')
    const { userInputId } = await one.told('userInput/request')
    await goes(first, 'closed')
    const elsewhere = await world.host()
    await elsewhere.inbox.decide(
      String(userInputId),
      { outcome: 'answered', answer: { answers: [{ id: 'db', selected: ['Postgres'] }] } },
      { commandId: 'of-a-page', surface: 'web' },
    )
    const second = await world.host({ agent: after })
    const two = await second.client()
    await two.command('session/resume', { sessionId })
    const next = await two.told('userInput/request')
    expect(next).toMatchObject({ toolCallId: expect.stringMatching(/call-1$/u) })
    expect(after.runs[0]?.results).toEqual([POSTGRES])
    const view = await viewOf(two, sessionId)
    expect(eventsOf(view, 'userInput/requested')).toHaveLength(2)
    expect(eventsOf(view, 'userInput/settled')).toMatchObject([
      { userInputId, outcome: 'answered', decidedByCommandId: 'of-a-page' },
    ])
    const late = await two.fails('userInput/answer', {
      commandId: uuidv7(),
      ...answer(sessionId, userInputId, 'db', 'SQLite'),
    })
    expect(late.data).toMatchObject({ kind: 'userInputAlreadySettled', settlement: { outcome: 'answered' } })
  })

  test.each([
    ['question', 'ask', 'userInput', { answers: [{ id: 'db', selected: ['SQLite'] }] }, SQLITE],
    ['permission', 'write', 'approval', { choiceId: 'allow_once' }, 'wrote a.txt'],
  ])(
    'a %s that its host could not record any more is told once, with its answer',
    async (_, text, area, given, result) => {
      const world = worldOn(medium)
      const after = agent()
      const first = await world.host({ agent: agent() })
      const one = await first.client()
      const sessionId = await startSession(one)
      first.stalled.stallBefore(writes => JSON.stringify(writes).includes(`${area}/requested`))
      await startTurn(one, sessionId, text)
      const elsewhere = await world.host()
      const asked = await vi.waitFor(async () => {
        const [request] = await requestsOf(elsewhere, sessionId)
        return request ?? expect.fail('nothing was asked')
      })
      await elsewhere.inbox.decide(
        asked.id,
        { outcome: 'answered', answer: given },
        { commandId: 'of-a-page', surface: 'web' },
      )
      const second = await world.host({ agent: after, clock: afterALease() })
      const two = await second.client()
      await two.command('session/resume', { sessionId, cursor: `v:${sessionId}:0` })
      await two.told('turn/completed')
      expect(after.runs.map(({ results }) => results)).toEqual([[result]])
      const view = await viewOf(two, sessionId)
      const [begun, ...more] = eventsOf(view, 'item/started').map(({ item }) => item as Frame)
      expect(more).toEqual([])
      expect(eventsOf(view, `${area}/requested`)).toMatchObject([{ itemId: begun?.['itemId'] }])
      const ends = eventsOf(view, area === 'approval' ? 'approval/resolved' : 'userInput/settled')
      expect(ends).toMatchObject([{ decidedByCommandId: 'of-a-page' }])
      const items = eventsOf(view, 'item/completed').map(({ item }) => item as Frame)
      const [call, ...others] = items.filter(({ kind }) => kind === 'toolCall')
      expect(others).toEqual([])
      expect(call).toMatchObject({ itemId: begun?.['itemId'], status: 'completed' })
    },
  )

  test.each([
    ['question', 'ask', 'userInput'],
    ['permission', 'write', 'approval'],
  ])('a turn is stopped with a %s that its host could not record any more', async (_, text, area) => {
    const world = worldOn(medium)
    const after = agent()
    const first = await world.host({ agent: agent() })
    const one = await first.client()
    const sessionId = await startSession(one)
    first.stalled.stallBefore(writes => JSON.stringify(writes).includes(`${area}/requested`))
    const turnId = await startTurn(one, sessionId, text)
    const second = await world.host({ agent: after, clock: afterALease() })
    await vi.waitFor(async () => expect(await requestsOf(second, sessionId)).toHaveLength(1))
    const two = await second.client()
    await two.command('session/resume', { sessionId })
    await vi.waitFor(() => expect(after.runs).toHaveLength(1))
    await two.command('turn/interrupt', { sessionId, turnId })
    expect(await two.told('turn/completed')).toMatchObject({ turnId, terminal: 'cancelled' })
    expect(await requestsOf(second, sessionId)).toMatchObject([{ settlement: { outcome: 'aborted' } }])
    const { events } = await two.call('view/page', { sessionId, limit: 1_000 })
    const ended = area === 'approval' ? 'approval/resolved' : 'userInput/settled'
    expect(eventsOf(events as never, ended)).toHaveLength(1)
    expect(await two.call('approval/listPending', { sessionId })).toEqual({ approvals: [], userInputs: [] })
  })

  test.each(['closed', 'silent'])('an approval keeps its id when its host is %s', async how => {
    const world = worldOn(medium)
    const effects: string[] = []
    const effect = (line: string): void => void effects.push(line)
    const first = await world.host({ agent: agent(), effect })
    const one = await first.client()
    const sessionId = await startSession(one)
    await startTurn(one, sessionId, 'write')
    const asked = await one.told('approval/request')
    await goes(first, how)
    const second = await world.host({ agent: agent(), effect, clock: afterALease() })
    const two = await second.client()
    await two.command('session/resume', { sessionId })
    expect(await two.told('approval/request')).toEqual(asked)
    await two.command('approval/decide', decide(sessionId, asked, 'allow_once'))
    await two.told('turn/completed')
    expect(effects).toEqual(['wrote a.txt'])
    const view = await viewOf(two, sessionId)
    expect(eventsOf(view, 'approval/requested')).toHaveLength(1)
    expect(eventsOf(view, 'approval/resolved')).toMatchObject([
      { approvalId: asked['approvalId'], decision: 'approved', policyResult: 'allow' },
    ])
  })

  test.each(['closed', 'silent'])(
    'an approval of several stages goes on at its stage when its host is %s',
    async how => {
      const world = worldOn(medium)
      const effects: string[] = []
      const effect = (line: string): void => void effects.push(line)
      const first = await world.host({ agent: agent(), effect })
      const one = await first.client()
      const sessionId = await startSession(one)
      await startTurn(one, sessionId, 'shell')
      const stage = await one.told('approval/request')
      const ack = await one.command('approval/decide', decide(sessionId, stage, 'allow_once'))
      expect(ack).toMatchObject({ terminal: false })
      const next = await one.told(
        'approval/request',
        ({ currentRequirementId }) => at(currentRequirementId) === 1,
      )
      expect(next['approvalId']).toBe(stage['approvalId'])
      await goes(first, how)
      const second = await world.host({ agent: agent(), effect, clock: afterALease() })
      const two = await second.client()
      await two.command('session/resume', { sessionId })
      expect(await two.told('approval/request')).toEqual(next)
      await two.command('approval/decide', decide(sessionId, next, 'allow_once'))
      await two.told('turn/completed')
      expect(effects).toEqual(['ran make build && make install'])
      const view = await viewOf(two, sessionId)
      expect(eventsOf(view, 'approval/requested')).toHaveLength(1)
      expect(eventsOf(view, 'approval/updated')).toHaveLength(1)
      expect(eventsOf(view, 'approval/resolved')).toMatchObject([
        {
          approvalId: stage['approvalId'],
          policyResult: 'allow',
          stageEvidence: [{ position: 0 }, { position: 1 }],
        },
      ])
    },
  )

  test('turns that waited go on in their order', async () => {
    const world = worldOn(medium)
    const first = await world.host({ agent: agent() })
    const one = await first.client()
    const sessionId = await startSession(one)
    const turns = [
      await startTurn(one, sessionId, 'ask'),
      await startTurn(one, sessionId, 'quiet'),
      await startTurn(one, sessionId, 'ask'),
    ]
    await one.told('userInput/request')
    await goes(first, 'silent')
    const after = agent()
    const second = await world.host({ agent: after, clock: afterALease() })
    const two = await second.client()
    const { history } = await two.command('session/resume', { sessionId, history: 'snapshot' })
    expect(history).toMatchObject({
      snapshot: { state: { queuedTurns: turns.slice(1).map(turnId => ({ turnId })) } },
    })
    for (const turnId of [turns[0], turns[2]]) {
      const { userInputId } = await two.told('userInput/request', params => params['turnId'] === turnId)
      await two.command('userInput/answer', answer(sessionId, userInputId, 'db', 'SQLite'))
      await two.told('turn/completed', params => params['turnId'] === turnId)
    }
    const view = await viewOf(two, sessionId)
    expect(eventsOf(view, 'turn/started').map(({ turnId }) => turnId)).toEqual(turns)
    expect(eventsOf(view, 'turn/completed').map(({ turnId }) => turnId)).toEqual(turns)
    expect(after.runs.map(({ turn }) => turn.resumed)).toEqual([true, false, false])
  })

  test('a session that nobody looks at any more is free for another host', async () => {
    const world = worldOn(medium)
    const [first, second] = [await world.host({ agent: agent() }), await world.host({ agent: agent() })]
    const [one, two] = [await first.client(), await second.client()]
    const sessionId = await startSession(one)
    await startTurn(one, sessionId, 'quiet')
    await one.told('turn/completed')
    one.close()
    await vi.waitFor(() => two.command('session/resume', { sessionId }))
    await startTurn(two, sessionId, 'quiet')
    await two.told('turn/completed')
    expect(first.reported).toEqual([])
  })

  test('a host that adopts goes on with what was left, without a client', async () => {
    const world = worldOn(medium)
    const first = await world.host({ agent: agent() })
    const one = await first.client()
    const [parked, waiting, idle] = [
      await startSession(one),
      await startSession(one),
      await startSession(one),
    ]
    await startTurn(one, parked, 'ask')
    await startTurn(one, waiting, 'ask')
    await one.told('userInput/request', params => params['sessionId'] === waiting)
    const { userInputId } = await one.told('userInput/request', params => params['sessionId'] === parked)
    await goes(first, 'silent')
    const after = agent()
    const second = await world.host({ agent: after, clock: afterALease(), adopt: true })
    expect(after.runs.map(({ turn }) => turn.sessionId).toSorted()).toEqual([parked, waiting].toSorted())
    const two = await second.client()
    expect(await two.call('session/read', { sessionId: idle })).toMatchObject({
      session: { status: 'notLoaded' },
    })
    await second.inbox.decide(
      String(userInputId),
      { outcome: 'answered', answer: { answers: [{ id: 'db', selected: ['SQLite'] }] } },
      { commandId: 'of-a-page', surface: 'web' },
    )
    await vi.waitFor(async () => {
      const view = await viewOf(two, parked)
      expect(eventsOf(view, 'turn/completed')).toMatchObject([{ terminal: 'completed' }])
    })
  })

  test('a host that adopts leaves what a living host holds', async () => {
    const world = worldOn(medium)
    const first = await world.host({ agent: agent() })
    const one = await first.client()
    const sessionId = await startSession(one)
    await startTurn(one, sessionId, 'ask')
    const { userInputId } = await one.told('userInput/request')
    const after = agent()
    const second = await world.host({ agent: after, adopt: true })
    expect(after.runs).toEqual([])
    expect(second.reported).toEqual([])
    await one.command('userInput/answer', answer(sessionId, userInputId, 'db', 'SQLite'))
    await one.told('turn/completed')
  })

  test('a clean close keeps what a crash keeps', async () => {
    const views: unknown[] = []
    for (const how of ['closed', 'silent']) {
      const world = worldOn(medium)
      const first = await world.host({ agent: agent() })
      const one = await first.client()
      const sessionId = await startSession(one)
      await startTurn(one, sessionId, 'two')
      const { userInputId } = await one.told('userInput/request')
      await one.command('userInput/answer', answer(sessionId, userInputId, 'db', 'SQLite'))
      await one.told('userInput/request', params => params['userInputId'] !== userInputId)
      await startTurn(one, sessionId, 'ask')
      await one.command('session/setApprovalMode', { sessionId, mode: 'onRequest' })
      await one.told('session/approvalModeChanged')
      await goes(first, how)
      const second = await world.host({ clock: afterALease() })
      const two = await second.client()
      const { session, pendingRequests } = await two.call('session/read', { sessionId })
      const view = await viewOf(two, sessionId)
      views.push({
        methods: view.map(({ method }) => method),
        waiting: (pendingRequests as unknown[]).length,
        session: sessionState(session as Frame),
      })
      if (how === 'closed') expect(one.allTold('session/closed')).toMatchObject([{ reason: 'hostShutdown' }])
    }
    const [closed, silent] = views.map(view => withoutIds(view))
    expect(closed).toEqual(silent)
  })

  test.each([
    ['no agent', undefined],
    ['an agent', agent()],
  ])('what agents elsewhere ask is answered on a host with %s', async (_, here) => {
    const world = worldOn(medium)
    const elsewhere = await world.host()
    const { request } = await elsewhere.inbox.open({
      kind: 'questions',
      payload: { questions: [{ id: 'db', question: 'Which store?', options: [{ label: 'SQLite' }] }] },
      session: 'of-another',
      key: 'call-7',
    })
    const waiting = elsewhere.inbox.wait(request.id)
    const host = await world.host(here === undefined ? {} : { agent: here })
    const client = await host.client()
    expect(await client.call('approval/listPending', { sessionId: 'of-another' })).toMatchObject({
      userInputs: [{ userInputId: request.id, toolCallId: 'call-7' }],
    })
    const resumed = await client.command('session/resume', { sessionId: 'of-another' })
    expect(resumed).toMatchObject({
      session: { status: 'idle' },
      pendingRequests: [{ kind: 'userInput', userInputId: request.id }],
    })
    await client.told('userInput/request')
    const ack = await client.command('userInput/answer', answer('of-another', request.id, 'db', 'SQLite'))
    expect(ack).toMatchObject({ status: 'accepted', userInputId: request.id })
    expect((await waiting).settlement).toMatchObject({
      outcome: 'answered',
      answer: { answers: [{ id: 'db', selected: ['SQLite'] }] },
    })
    await client.told('userInput/settled')
    // What comes later is asked as well, and told when it is answered elsewhere.
    const { request: second } = await elsewhere.inbox.open({
      kind: 'questions',
      payload: { questions: [{ id: 'db', question: 'And now?', options: [{ label: 'SQLite' }] }] },
      session: 'of-another',
      key: 'call-8',
    })
    await client.told('userInput/request', ({ userInputId }) => userInputId === second.id)
    await elsewhere.inbox.decide(
      second.id,
      { outcome: 'cancelled', reason: 'never mind' },
      { commandId: 'of-a-page', surface: 'web' },
    )
    expect(
      await client.told('userInput/settled', ({ userInputId }) => userInputId === second.id),
    ).toMatchObject({
      outcome: 'cancelled',
      reason: 'never mind',
    })
    expect(here?.runs ?? []).toEqual([])
  })
})

function at(requirement: unknown): unknown {
  return (requirement as Frame)['sourceIndex']
}

function withoutIds(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replace(/[0-9a-f]{8}-[0-9a-f-]{27}/gu, 'id'))
}

function sessionState({ approvalMode, status }: Frame): Frame {
  return { approvalMode, status }
}
