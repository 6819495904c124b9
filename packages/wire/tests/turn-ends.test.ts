import { v7 as uuidv7 } from 'uuid'
import { describe, expect, test } from 'vitest'
import type { AgentTurn, SessionAgent } from '../src/index.ts'
import type { BareClient, Frame } from './fixtures/bare-client.ts'
import { closedGate } from './fixtures/gate.ts'
import { ask, shell, write, type ScriptedCall } from './fixtures/scripted-agent.ts'
import { answer, decide, startSession, startTurn, viewOf } from './fixtures/session-commands.ts'
import { allowNothingUnhandled } from './fixtures/unhandled.ts'
import { afterALease, goes, requestsOf, worldOn, type Host } from './fixtures/world.ts'

allowNothingUnhandled()

const CALLS: Readonly<Record<string, ScriptedCall>> = {
  'a question': ask('db'),
  'an approval': write('a.txt'),
  'an approval of several stages': shell('make build && make install'),
}

const STAGED = 'an approval of several stages'
const DATABASE = [{ id: 'db', question: 'Which?', options: [{ label: 'Postgres' }, { label: 'SQLite' }] }]

/** An agent that makes one call, and one that goes on with its turn as it is told. */
function agents(call: ScriptedCall, goOn: (turn: AgentTurn, call: () => Promise<unknown>) => unknown) {
  const make = (turn: AgentTurn) => () => turn.callTool({ callId: `${turn.turnId}/1`, ...call })
  const first: SessionAgent = { run: async turn => void (await make(turn)()) }
  const second: SessionAgent = { run: async turn => void (await goOn(turn, make(turn))) }
  return { first, second }
}

const asked = (client: BareClient): Promise<Frame> =>
  client
    .until(({ method }) => method === 'userInput/request' || method === 'approval/request')
    .then(({ params }) => params as Frame)

interface Left {
  readonly host: Host
  readonly client: BareClient
  readonly sessionId: string
  readonly turnId: string
  readonly request: Frame
}

/** A turn that waits on a person, and goes on at another host. */
async function left(
  what: string,
  how: string,
  goOn: (turn: AgentTurn, call: () => Promise<unknown>) => unknown,
): Promise<Left> {
  const call = CALLS[what] ?? expect.fail(what)
  const world = worldOn('memory')
  const { first, second } = agents(call, goOn)
  const before = await world.host({ agent: first })
  const one = await before.client()
  const sessionId = await startSession(one)
  const turnId = await startTurn(one, sessionId)
  await asked(one)
  await goes(before, how)
  const host = await world.host({ agent: second, clock: afterALease() })
  const client = await host.client()
  await client.command('session/resume', { sessionId })
  return { host, client, sessionId, turnId, request: await asked(client) }
}

/** Nothing waits any more, nothing can be decided, and no rule was made. */
async function expectOver(
  { host, client, sessionId, request }: Omit<Left, 'turnId'>,
  reason: string,
): Promise<void> {
  const pending = await host.inbox.list({ state: 'pending', session: sessionId })
  expect(pending.requests).toEqual([])
  expect(await requestsOf(host, sessionId)).toMatchObject([{ settlement: { outcome: 'aborted', reason } }])
  const view = await viewOf(client, sessionId)
  const ends = view.slice(-3).map(({ method }) => method)
  const isQuestion = 'userInputId' in request
  expect(ends).toEqual([
    isQuestion ? 'userInput/settled' : 'approval/resolved',
    'item/completed',
    'turn/completed',
  ])
  expect(view.at(-3)?.params).toMatchObject(
    isQuestion ? { outcome: 'aborted', reason } : { decision: 'aborted', policyResult: 'deny' },
  )
  expect(view.at(-2)?.params).toMatchObject({ item: { kind: 'toolCall', status: 'cancelled' } })
  expect(await client.call('session/read', { sessionId })).toMatchObject({
    session: { status: 'idle' },
    pendingRequests: [],
  })
  expect(await client.call('approval/listPending', { sessionId })).toEqual({ approvals: [], userInputs: [] })
  const late = isQuestion
    ? client.fails('userInput/answer', {
        commandId: uuidv7(),
        ...answer(sessionId, request['userInputId'], 'db', 'SQLite'),
      })
    : client.fails('approval/decide', {
        commandId: uuidv7(),
        ...decide(sessionId, request, 'allow_session'),
      })
  const kind = isQuestion ? 'userInputAlreadySettled' : 'approvalAlreadyResolved'
  expect((await late).data.kind).toBe(kind)
  expect(await host.ctx.userApprovals.rules(sessionId)).toEqual([])
  expect(client.allTold('turn/completed')).toHaveLength(1)
}

describe.each(Object.keys(CALLS))('a turn that was left by its host while %s of it waits', what => {
  describe.each(['closed', 'silent'])('and whose host is %s', how => {
    test('takes it back when it is interrupted, before the next host has made the call again', async () => {
      const scene = await left(
        what,
        how,
        turn => new Promise(resolve => turn.signal.addEventListener('abort', resolve)),
      )
      await scene.client.command('turn/interrupt', { sessionId: scene.sessionId, turnId: scene.turnId })
      expect(await scene.client.told('turn/completed')).toMatchObject({ terminal: 'cancelled' })
      await expectOver(scene, 'interrupted by the client')
    })

    test('takes it back when it is interrupted, after the call was made again', async () => {
      const made = closedGate()
      const scene = await left(what, how, (_, call) => {
        const calling = call()
        made.open()
        return calling
      })
      await made.passed
      await scene.client.command('turn/interrupt', { sessionId: scene.sessionId, turnId: scene.turnId })
      expect(await scene.client.told('turn/completed')).toMatchObject({ terminal: 'cancelled' })
      await expectOver(scene, 'interrupted by the client')
    })

    test('takes it back when its agent returns', async () => {
      const gate = closedGate()
      const scene = await left(what, how, () => gate.passed)
      gate.open()
      expect(await scene.client.told('turn/completed')).toMatchObject({ terminal: 'completed' })
      await expectOver(scene, 'the turn has ended')
    })

    test('takes it back when its agent fails', async () => {
      const gate = closedGate()
      const scene = await left(what, how, () => gate.passed)
      gate.fail(new Error('no more'))
      expect(await scene.client.told('turn/completed')).toMatchObject({
        terminal: 'failed',
        reason: 'no more',
      })
      await expectOver(scene, 'the turn has ended')
    })
  })

  test('and ends on its own host while the call is open takes it back as well', async () => {
    const world = worldOn('memory')
    const gate = closedGate()
    const call = CALLS[what] ?? expect.fail(what)
    const { second } = agents(call, (_, make) => {
      make().catch(() => {})
      return gate.passed
    })
    const host = await world.host({ agent: second })
    const client = await host.client()
    const sessionId = await startSession(client)
    await startTurn(client, sessionId)
    const request = await asked(client)
    gate.open()
    await client.told('turn/completed')
    await expectOver({ host, client, sessionId, request }, 'the turn has ended')
  })
})

test('a stage that was allowed before the turn ends is told with the approval that was taken back', async () => {
  const { client, sessionId, request, host } = await left(STAGED, 'closed', turn =>
    turn.callTool({ callId: `${turn.turnId}/1`, ...(CALLS[STAGED] ?? expect.fail()) }),
  )
  await client.command('approval/decide', decide(sessionId, request, 'allow_once'))
  const next = await client.told('approval/request', ({ currentRequirementId }) => {
    return (currentRequirementId as Frame)['sourceIndex'] === 1
  })
  await client.command('turn/interrupt', { sessionId })
  await client.told('turn/completed')
  expect(client.allTold('approval/resolved')).toMatchObject([
    { approvalId: request['approvalId'], decision: 'aborted', policyResult: 'deny' },
  ])
  const late = { commandId: uuidv7(), ...decide(sessionId, next, 'allow_session') }
  expect((await client.fails('approval/decide', late)).data.kind).toBe('approvalAlreadyResolved')
  expect((await host.inbox.list({ state: 'pending', session: sessionId })).requests).toEqual([])
})

describe('what another process asks in a session', () => {
  test.each(['closed', 'silent'])('waits on when a turn ends that its host left (%s)', async how => {
    const { host, client, sessionId } = await left('a question', how, turn => {
      return new Promise(resolve => turn.signal.addEventListener('abort', resolve))
    })
    const { request } = await host.inbox.open({
      kind: 'questions',
      payload: { questions: DATABASE },
      session: sessionId,
    })
    await client.told('userInput/request', ({ userInputId }) => userInputId === request.id)
    await client.command('turn/interrupt', { sessionId })
    await client.told('turn/completed')
    expect(await client.call('approval/listPending', { sessionId })).toMatchObject({
      userInputs: [{ userInputId: request.id }],
    })
    await client.command('userInput/answer', answer(sessionId, request.id, 'db', 'SQLite'))
    expect(
      await client.told('userInput/settled', ({ userInputId }) => userInputId === request.id),
    ).toMatchObject({ outcome: 'answered' })
  })

  test('has its item ended once, with its answer, though a turn ended in between', async () => {
    const { host, client, sessionId } = await left('a question', 'closed', turn => {
      return new Promise(resolve => turn.signal.addEventListener('abort', resolve))
    })
    const { request } = await host.inbox.open({
      kind: 'questions',
      payload: { questions: DATABASE },
      session: sessionId,
    })
    const { itemId } = await client.told('userInput/request', ({ userInputId }) => userInputId === request.id)
    await client.command('turn/interrupt', { sessionId })
    await client.told('turn/completed')
    await client.command('userInput/answer', answer(sessionId, request.id, 'db', 'SQLite'))
    await client.told('userInput/settled', ({ userInputId }) => userInputId === request.id)
    await client.call('approval/listPending', { sessionId })
    const view = await viewOf(client, sessionId)
    const ends = view.flatMap(({ method, params }) =>
      method === 'item/completed' && (params['item'] as Frame)['itemId'] === itemId ? [params['item']] : [],
    )
    expect(ends).toMatchObject([{ status: 'completed', visibleOutput: 'SQLite' }])
  })
})

test.each(Object.keys(CALLS))(
  '%s that its host could not record any more is taken back with the turn that asked',
  async what => {
    const world = worldOn('memory')
    const { first, second } = agents(CALLS[what] ?? expect.fail(what), turn => {
      return new Promise(resolve => turn.signal.addEventListener('abort', resolve))
    })
    const before = await world.host({ agent: first })
    const one = await before.client()
    const sessionId = await startSession(one)
    before.stalled.stallBefore(writes => /(?:userInput|approval)\/requested/u.test(JSON.stringify(writes)))
    await startTurn(one, sessionId)
    const elsewhere = await world.host()
    await expect.poll(async () => (await requestsOf(elsewhere, sessionId)).length).toBe(1)
    const host = await world.host({ agent: second, clock: afterALease() })
    const client = await host.client()
    await client.command('session/resume', { sessionId })
    await asked(client)
    await client.command('turn/interrupt', { sessionId })
    await client.told('turn/completed')
    expect((await host.inbox.list({ state: 'pending', session: sessionId })).requests).toEqual([])
  },
)
