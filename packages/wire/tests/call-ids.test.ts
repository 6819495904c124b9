import { defineTool, type ToolResult } from '@handraise/tools'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { AgentTurn } from '../src/index.ts'
import type { Frame } from './fixtures/bare-client.ts'
import { closedGate } from './fixtures/gate.ts'
import { answer, startSession, startTurn, viewOf } from './fixtures/session-commands.ts'
import { allowNothingUnhandled } from './fixtures/unhandled.ts'
import { goes, worldOn, type World } from './fixtures/world.ts'

allowNothingUnhandled()

const CONFLICT = { isError: true, error: { code: 'CALL_CONFLICT' } }
const DATABASE = [{ id: 'db', question: 'Which?', options: [{ label: 'Postgres' }, { label: 'SQLite' }] }]

async function scene(run: (turn: AgentTurn) => Promise<void>, world: World = worldOn('memory')) {
  const paid: string[] = []
  const host = await world.host({ agent: { run } })
  host.ctx.tools.register(
    defineTool({
      name: 'pay',
      description: 'Pays.',
      parameters: z.object({ to: z.string() }),
      async execute({ to }) {
        paid.push(to)
        await new Promise(resolve => setImmediate(resolve))
        return `paid ${to}`
      },
      render: text => text,
    }),
  )
  const client = await host.client()
  return { host, client, paid }
}

const pay = (turn: AgentTurn, callId: string, to: string): Promise<ToolResult> =>
  turn.callTool({ callId, name: 'pay', arguments: { to } })

describe('an id of a call', () => {
  test.each([
    ['other arguments', { name: 'pay', arguments: { to: 'Bo' } }],
    ['another tool', { name: 'write_file', arguments: { path: 'a' } }],
    ['another tool that asks', { name: 'ask_user_question', arguments: { questions: DATABASE } }],
  ])('that was used before is not that of %s', async (_, other) => {
    const results: ToolResult[] = []
    const { host, client, paid } = await scene(async turn => {
      const first = pay(turn, 'call-1', 'Al')
      // While the first one runs, and when it has ended.
      results.push(await turn.callTool({ callId: 'call-1', ...other }))
      await first
      results.push(await turn.callTool({ callId: 'call-1', ...other }))
      results.push(await pay(turn, 'call-1', 'Al'))
    })
    const sessionId = await startSession(client)
    await startTurn(client, sessionId)
    await client.told('turn/completed')
    expect(results).toMatchObject([CONFLICT, CONFLICT, { isError: false, content: 'paid Al' }])
    expect(paid).toEqual(['Al'])
    expect((await viewOf(client, sessionId)).map(({ method }) => method)).toEqual([
      'turn/started',
      'item/completed',
      'item/started',
      'item/completed',
      'turn/completed',
    ])
    expect((await host.inbox.list({ state: 'pending', session: sessionId })).requests).toEqual([])
  })

  test('that an earlier turn used is not that of the same call in another', async () => {
    const results: ToolResult[] = []
    const { client, host } = await scene(async turn => {
      const call = { callId: 'call-1', name: 'ask_user_question', arguments: { questions: DATABASE } }
      results.push(await turn.callTool(call))
    })
    const sessionId = await startSession(client)
    await startTurn(client, sessionId)
    const { userInputId } = await client.told('userInput/request')
    await client.command('userInput/answer', answer(sessionId, userInputId, 'db', 'SQLite'))
    await client.told('turn/completed')
    const second = await startTurn(client, sessionId)
    await client.told('turn/completed', ({ turnId }) => turnId === second)
    expect(results).toMatchObject([{ isError: false }, CONFLICT])
    expect(client.allTold('userInput/request')).toHaveLength(1)
    expect((await host.inbox.list({ state: 'settled', session: sessionId })).requests).toHaveLength(1)
  })

  test('that is used twice at once runs its call once, and both have its result', async () => {
    let results: ToolResult[] = []
    const { client, paid } = await scene(async turn => {
      results = await Promise.all([pay(turn, 'call-1', 'Al'), pay(turn, 'call-1', 'Al')])
    })
    const sessionId = await startSession(client)
    await startTurn(client, sessionId)
    await client.told('turn/completed')
    expect(results).toMatchObject([{ content: 'paid Al' }, { content: 'paid Al' }])
    expect(paid).toEqual(['Al'])
    expect(client.allTold('item/started')).toHaveLength(1)
  })

  test('may be any text', async () => {
    const ids = ['a\0b', 'a\0c', '__proto__', 'constructor', ' ', 'ä/#?']
    const results: ToolResult[] = []
    const { client, paid } = await scene(async turn => {
      for (const id of [...ids, ...ids]) results.push(await pay(turn, id, id))
    })
    const sessionId = await startSession(client)
    await startTurn(client, sessionId)
    await client.told('turn/completed')
    expect(results.map(({ content }) => content)).toEqual([...ids, ...ids].map(id => `paid ${id}`))
    expect(paid).toEqual(ids)
  })
})

describe('what a call gave', () => {
  test('is had by a later turn, also on another host', async () => {
    const world = worldOn('memory')
    const given: unknown[] = []
    const run = async (turn: AgentTurn): Promise<void> => {
      given.push(await turn.resultOf('call-1'), await turn.resultOf('call-2'))
      if (given.length > 2) return
      await pay(turn, 'call-1', 'Al')
      await turn.callTool({ callId: 'call-2', name: 'no_such_tool', arguments: {} })
    }
    const first = await scene(run, world)
    const sessionId = await startSession(first.client)
    await startTurn(first.client, sessionId)
    await first.client.told('turn/completed')
    await startTurn(first.client, sessionId)
    await expect.poll(() => given.length).toBe(4)
    await goes(first.host, 'closed')
    const second = await scene(run, world)
    await second.client.command('session/resume', { sessionId })
    await startTurn(second.client, sessionId)
    await second.client.told('turn/completed')
    const paid = { isError: false, value: 'paid Al', content: 'paid Al' }
    const failed = { isError: true, error: { code: 'UNKNOWN_TOOL' } }
    expect(given).toMatchObject([undefined, undefined, paid, failed, paid, failed])
  })

  test('is not there before the call has ended', async () => {
    const gate = closedGate()
    const given: unknown[] = []
    const { host, client } = await scene(async turn => {
      const waiting = turn.callTool({ callId: 'call-1', name: 'wait', arguments: {} })
      given.push(await turn.resultOf('call-1'))
      gate.open()
      await waiting
      given.push(await turn.resultOf('call-1'))
    })
    host.ctx.tools.register(
      defineTool({
        name: 'wait',
        description: 'Waits.',
        parameters: z.object({}),
        execute: () => gate.passed.then(() => ({ waited: true })),
      }),
    )
    const sessionId = await startSession(client)
    await startTurn(client, sessionId)
    await client.told('turn/completed')
    expect(given).toMatchObject([undefined, { isError: false, value: { waited: true } }])
  })
})

test('a call that waits on a person is joined, and not confused with another, by the next host', async () => {
  const world = worldOn('memory')
  const results: ToolResult[] = []
  const ask = (questions: object[]) => ({
    callId: 'call-1',
    name: 'ask_user_question',
    arguments: { questions },
  })
  const first = await scene(async turn => void (await turn.callTool(ask(DATABASE))), world)
  const sessionId = await startSession(first.client)
  await startTurn(first.client, sessionId)
  const asked: Frame = await first.client.told('userInput/request')
  await goes(first.host, 'closed')
  const second = await scene(async turn => {
    results.push(await turn.callTool(ask([{ ...DATABASE[0], question: 'Which one?' }])))
    results.push(await turn.callTool(ask(DATABASE)))
  }, world)
  await second.client.command('session/resume', { sessionId })
  expect(await second.client.told('userInput/request')).toEqual(asked)
  await second.client.command('userInput/answer', answer(sessionId, asked['userInputId'], 'db', 'SQLite'))
  await second.client.told('turn/completed')
  expect(results).toMatchObject([CONFLICT, { isError: false }])
  expect(second.client.allTold('userInput/requested')).toEqual([])
})
