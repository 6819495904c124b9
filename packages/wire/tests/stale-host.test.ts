import { defineTool } from '@handraise/tools'
import { v7 as uuidv7 } from 'uuid'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import type { AgentTurn, SessionAgent } from '../src/index.ts'
import type { BareClient, Frame } from './fixtures/bare-client.ts'
import { closedGate } from './fixtures/gate.ts'
import { ask, scriptedAgent } from './fixtures/scripted-agent.ts'
import { answer, startSession, startTurn, viewOf } from './fixtures/session-commands.ts'
import { allowNothingUnhandled } from './fixtures/unhandled.ts'
import { afterALease, worldOn } from './fixtures/world.ts'

allowNothingUnhandled()

/** A session whose turn waits at a host that does not know yet that another one has taken it over. */
async function takenOver() {
  const world = worldOn('memory')
  const agent = () => ({ ...scriptedAgent({ ask: [ask('db')] }), steer: () => {} })
  const old = await world.host({ agent: agent() })
  const one = await old.client()
  const sessionId = await startSession(one)
  const turnId = await startTurn(one, sessionId, 'ask')
  const { userInputId } = await one.told('userInput/request')
  old.stalled.stall()
  const next = await world.host({ agent: agent(), clock: afterALease() })
  const two = await next.client()
  await two.command('session/resume', { sessionId })
  await two.told('userInput/request')
  old.stalled.wakeUp()
  return { old, next, one, two, sessionId, turnId, userInputId }
}

const responses = ({ frames }: BareClient, to: unknown): Frame[] =>
  frames.filter(frame => frame['id'] === to && !('method' in frame))

const TEXT = [{ type: 'text', text: 'ask' }]

describe('a host that was taken over, and does not know yet', () => {
  test.each([
    ['turn/interrupt', (turnId: string) => ({ turnId })],
    ['turn/cancel', (turnId: string) => ({ turnId })],
    ['turn/start', () => ({ input: TEXT })],
    ['turn/start', () => ({ input: TEXT, ifBusy: 'replace' })],
    ['turn/start', () => ({ input: TEXT, ifBusy: 'steer' })],
    ['session/setApprovalMode', () => ({ mode: 'allowAll' })],
    // Which is what it is set to.
    ['session/setApprovalMode', () => ({ mode: 'promptUnmatched' })],
  ] as const)('does not take %s (%#), which the next one takes', async (method, paramsOf) => {
    const { old, next, one, two, sessionId, turnId, userInputId } = await takenOver()
    const command = { sessionId, commandId: uuidv7(), ...paramsOf(turnId) }
    const before = await viewOf(two, sessionId)
    const refused = await one.request(method, command, 'stale')
    expect(refused).toMatchObject({ error: { data: { kind: 'sessionInUse' } } })
    expect(await one.told('session/closed')).toMatchObject({ sessionId, reason: 'takenOver' })
    // Nothing came of it: neither there, nor where the session is.
    expect(await viewOf(two, sessionId)).toEqual(before)
    expect(await next.ctx.userApprovals.mode(sessionId)).toBe('promptUnmatched')
    expect(await old.ctx.userApprovals.mode(sessionId)).toBe('promptUnmatched')
    expect(two.allTold('session/approvalModeChanged')).toEqual([])
    expect(await two.call('approval/listPending', { sessionId })).toMatchObject({
      userInputs: [{ userInputId }],
    })
    expect(await two.request(method, command)).toMatchObject({ result: { status: 'accepted' } })
    await one.call('session/read', { sessionId, excludeItems: true })
    expect(responses(one, 'stale')).toEqual([refused])
  })

  test('says that the session was taken over, to all who look at it', async () => {
    const { old, one, two, sessionId, userInputId } = await takenOver()
    const other = await old.client()
    await other.command('session/resume', { sessionId })
    await one.request('turn/interrupt', { sessionId, commandId: uuidv7() })
    for (const client of [one, other])
      expect(await client.told('session/closed')).toMatchObject({ sessionId, reason: 'takenOver' })
    expect((await one.fails('view/subscribe', { sessionId })).data.kind).toBe('sessionNotLoaded')
    await two.command('userInput/answer', answer(sessionId, userInputId, 'db', 'SQLite'))
    expect(await two.told('turn/completed')).toMatchObject({ terminal: 'completed' })
    expect(two.allTold('session/closed')).toEqual([])
  })

  test.each([
    ['the turn', true],
    ['no turn', false],
  ])('does not refuse for ever a command that names %s, of which it has not heard', async (_, names) => {
    const world = worldOn('memory')
    const agent: SessionAgent = {
      run: ({ signal }) => new Promise(resolve => signal.addEventListener('abort', () => resolve())),
    }
    const old = await world.host({ agent })
    const one = await old.client()
    const sessionId = await startSession(one)
    old.stalled.stall()
    const next = await world.host({ agent, clock: afterALease() })
    const two = await next.client()
    await two.command('session/resume', { sessionId })
    const turnId = await startTurn(two, sessionId)
    await two.told('turn/started')
    old.stalled.wakeUp()
    const command = { sessionId, commandId: uuidv7(), ...(names ? { turnId } : {}) }
    expect(await one.request('turn/interrupt', command)).toHaveProperty('error')
    expect(await two.request('turn/interrupt', command)).toMatchObject({ result: { status: 'accepted' } })
    expect(await two.told('turn/completed')).toMatchObject({ turnId, terminal: 'cancelled' })
  })

  test('does not run a tool that needs no permission', async () => {
    const world = worldOn('memory')
    const done: string[] = []
    const gates = { old: closedGate(), next: closedGate() }
    const hostOf = async (who: 'old' | 'next') => {
      const agent: SessionAgent = {
        async run(turn: AgentTurn) {
          await gates[who].passed
          await turn.callTool({ callId: `${turn.turnId}/1`, name: 'pay', arguments: {} })
          done.push(`${who} went on`)
        },
      }
      const host = await world.host({ agent, ...(who === 'next' ? { clock: afterALease() } : {}) })
      host.ctx.tools.register(
        defineTool({
          name: 'pay',
          description: 'Pays.',
          parameters: z.object({}),
          execute: () => {
            done.push(`${who} pays`)
            return 'paid'
          },
        }),
      )
      onTestFinished(() => gates[who].open())
      return host
    }
    const old = await hostOf('old')
    const one = await old.client()
    const sessionId = await startSession(one)
    await startTurn(one, sessionId)
    await one.told('turn/started')
    old.stalled.stall()
    const next = await hostOf('next')
    const two = await next.client()
    await two.command('session/resume', { sessionId })
    old.stalled.wakeUp()
    gates.old.open()
    await one.told('session/closed')
    expect(done).toEqual([])
    gates.next.open()
    await two.told('turn/completed')
    expect(done).toEqual(['next pays', 'next went on'])
    expect(two.allTold('item/started')).toHaveLength(1)
  })
})

describe('a session that this host does not hold', () => {
  test('is listed without the window that a person has taken off a question', async () => {
    const world = worldOn('memory')
    const [holder, other] = [await world.host(), await world.host()]
    const payload = { questions: [{ id: 'go', question: 'Go?' }] }
    const deadlineAt = holder.inbox.clock.now() + 60_000
    const { request } = await holder.inbox.open({
      kind: 'questions',
      payload,
      session: 'elsewhere',
      deadlineAt,
    })
    const [one, two] = [await holder.client(), await other.client()]
    await one.command('session/resume', { sessionId: 'elsewhere' })
    const list = () => two.call('approval/listPending', { sessionId: 'elsewhere' })
    expect(await list()).toMatchObject({
      userInputs: [{ userInputId: request.id, autoResolutionMs: 60_000 }],
    })
    one.send({ method: 'userInput/engaged', params: { sessionId: 'elsewhere', userInputId: request.id } })
    await expect.poll(async () => (await holder.inbox.get(request.id)).deadlineAt).toBeUndefined()
    const { userInputs } = await list()
    expect(userInputs).toMatchObject([{ userInputId: request.id }])
    expect((userInputs as Frame[])[0]).not.toHaveProperty('autoResolutionMs')
  })
})
