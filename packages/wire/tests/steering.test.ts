import { defineTool } from '@handraise/tools'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { SessionAgent } from '../src/index.ts'
import type { BareClient, Frame } from './fixtures/bare-client.ts'
import { closedGate } from './fixtures/gate.ts'
import { answer, startSession, startTurn, viewOf } from './fixtures/session-commands.ts'
import { allowNothingUnhandled } from './fixtures/unhandled.ts'
import { afterALease, goes, worldOn } from './fixtures/world.ts'

allowNothingUnhandled()

const QUESTIONS = [{ id: 'db', question: 'Which?', options: [{ label: 'Postgres' }, { label: 'SQLite' }] }]

interface Seen {
  readonly resumed: boolean
  readonly input: string | undefined
  readonly texts: readonly unknown[]
}

/** An agent that asks one question, and takes what it is steered by as it is told to. */
function asker(steer?: SessionAgent['steer']): SessionAgent & { readonly seen: Seen[] } {
  const seen: Seen[] = []
  return {
    seen,
    async run({ resumed, input, items, turnId, callTool }) {
      const texts = items.flatMap(({ kind, text }) => (kind === 'userMessage' ? [text] : []))
      seen.push({ resumed, input: input[0]?.text, texts })
      await callTool({
        callId: `${turnId}/1`,
        name: 'ask_user_question',
        arguments: { questions: QUESTIONS },
      })
    },
    ...(steer === undefined ? {} : { steer }),
  }
}

const steering = (client: BareClient, sessionId: string, text: string): Promise<Frame> =>
  client.command('turn/start', { sessionId, input: [{ type: 'text', text }], ifBusy: 'steer' })

describe('an agent that cannot take what it is steered by', () => {
  test.each([
    [
      'throws',
      () => {
        throw new Error('no room')
      },
    ],
    ['rejects', () => Promise.reject(new Error('no room'))],
    ['rejects later', () => new Promise<void>((_, reject) => setImmediate(reject, new Error('no room')))],
  ])('and %s is reported, and its turn goes on', async (_, steer) => {
    const host = await worldOn('memory').host({ agent: asker(steer) })
    const client = await host.client()
    const sessionId = await startSession(client)
    const turnId = await startTurn(client, sessionId)
    const { userInputId } = await client.told('userInput/request')
    expect(await steering(client, sessionId, 'more')).toMatchObject({ disposition: 'steered', turnId })
    await expect.poll(() => host.reported.map(String)).toEqual(['Error: no room'])
    await client.command('userInput/answer', answer(sessionId, userInputId, 'db', 'SQLite'))
    expect(await client.told('turn/completed')).toMatchObject({ turnId, terminal: 'completed' })
    expect(client.frames.filter(frame => 'error' in frame)).toEqual([])
  })
})

describe('what a turn is steered by', () => {
  test('is an item of it, marked, behind the ack', async () => {
    const host = await worldOn('memory').host({ agent: asker(() => {}) })
    const client = await host.client()
    const sessionId = await startSession(client)
    const turnId = await startTurn(client, sessionId)
    await client.told('userInput/request')
    const from = client.frames.length
    const { commandId } = await steering(client, sessionId, 'more')
    const told = await client.told('item/completed', () => true, from)
    expect(told['item']).toMatchObject({
      kind: 'userMessage',
      turnId,
      text: 'more',
      steered: true,
      commandId,
    })
    const [first, second] = client.frames.slice(from)
    expect(first).toHaveProperty('result')
    expect(second).toMatchObject({ method: 'item/completed' })
    expect(JSON.stringify(await client.call('session/read', { sessionId }))).toContain('"steered":true')
  })

  test('is recorded with its ack, and once, however often it is sent', async () => {
    const given: unknown[] = []
    const host = await worldOn('memory').host({ agent: asker((_, input) => void given.push(input)) })
    const client = await host.client()
    const sessionId = await startSession(client)
    await startTurn(client, sessionId)
    await client.told('userInput/request')
    const command = { sessionId, input: [{ type: 'text', text: 'more' }], ifBusy: 'steer' }
    const ack = await client.command('turn/start', command)
    expect(await client.command('turn/start', { ...command, commandId: ack['commandId'] })).toEqual(ack)
    const view = JSON.stringify(await viewOf(client, sessionId))
    expect(view.split('"steered":true')).toHaveLength(2)
    expect(given).toHaveLength(1)
  })

  test.each(['closed', 'silent'])(
    'is seen by the run that goes on with it when its host is %s',
    async how => {
      const world = worldOn('memory')
      const [before, after] = [asker(() => {}), asker(() => {})]
      const first = await world.host({ agent: before })
      const one = await first.client()
      const sessionId = await startSession(one)
      await startTurn(one, sessionId, 'first')
      await one.told('userInput/request')
      await steering(one, sessionId, 'more')
      await goes(first, how)
      const second = await world.host({ agent: after, clock: afterALease() })
      const two = await second.client()
      const resumed = await two.command('session/resume', { sessionId })
      expect(JSON.stringify(resumed)).toContain('more')
      await two.told('userInput/request')
      await expect.poll(() => after.seen.length).toBe(1)
      expect(after.seen).toEqual([{ resumed: true, input: 'first', texts: ['first', 'more'] }])
    },
  )

  test('waits for a turn of its own while the running one is being stopped', async () => {
    const gate = closedGate()
    const steered: unknown[] = []
    const seen: unknown[] = []
    const agent: SessionAgent = {
      async run({ turnId, input, callTool }) {
        seen.push(input[0]?.text)
        if (seen.length === 1) await callTool({ callId: `${turnId}/1`, name: 'stubborn', arguments: {} })
      },
      steer: (_, input) => void steered.push(input),
    }
    const host = await worldOn('memory').host({ agent })
    host.ctx.tools.register(
      defineTool({
        name: 'stubborn',
        description: 'Takes its time.',
        parameters: z.object({}),
        execute: () => gate.passed.then(() => 'done'),
      }),
    )
    const client = await host.client()
    const sessionId = await startSession(client)
    const turnId = await startTurn(client, sessionId, 'first')
    await client.told('item/started')
    await client.command('turn/interrupt', { sessionId, turnId })
    const ack = await steering(client, sessionId, 'important')
    expect(ack).toMatchObject({ disposition: 'queued', startedNewTurn: false, turnId: ack['commandId'] })
    gate.open()
    await client.told('turn/completed', params => params['turnId'] === ack['turnId'])
    expect(steered).toEqual([])
    expect(seen).toEqual(['first', 'important'])
  })
})
