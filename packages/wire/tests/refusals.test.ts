import { defineTool } from '@handraise/tools'
import { v7 as uuidv7 } from 'uuid'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { DATABASE } from './agents.ts'
import type { Frame } from './fixtures/bare-client.ts'
import { ask, scriptedAgent } from './fixtures/scripted-agent.ts'
import { answer, decide, startSession, startTurn } from './fixtures/session-commands.ts'
import { allowNothingUnhandled } from './fixtures/unhandled.ts'
import { worldOn } from './fixtures/world.ts'

allowNothingUnhandled()

async function asked() {
  const host = await worldOn('memory').host({ agent: scriptedAgent({ ask: [ask('db')] }) })
  const client = await host.client()
  const sessionId = await startSession(client)
  const turnId = await startTurn(client, sessionId, 'ask')
  const { userInputId } = await client.told('userInput/request')
  return { host, client, sessionId, turnId, userInputId }
}

describe('what is said instead of an answer is refused', () => {
  test.each([
    ['userInput/cancel', { reason: 'x'.repeat(10_001) }, 'invalidParams', 'reason'],
    ['userInput/cancel', { reason: 'x'.repeat(1_000_000) }, 'invalidParams', 'reason'],
    ['userInput/clarify', { clarification: { format: 'html', content: '<b>' } }, 'invalidParams', 'format'],
    ['userInput/clarify', { clarification: { format: 'markdown', content: 'b' } }, 'invalidParams', 'format'],
    [
      'userInput/clarify',
      { clarification: { format: 'text', content: '' } },
      'userInputAnswerInvalid',
      'blank',
    ],
    [
      'userInput/clarify',
      { clarification: { format: 'text', content: ' \u200b\n' } },
      'userInputAnswerInvalid',
      'blank',
    ],
    [
      'userInput/answer',
      { answers: [{ questionId: 'db', freeText: '\u200b\u2060' }] },
      'userInputAnswerInvalid',
      'blank',
    ],
    [
      'userInput/answer',
      { answers: [{ questionId: 'db', freeText: '' }] },
      'userInputAnswerInvalid',
      'blank',
    ],
    [
      'userInput/interrupt',
      { answers: [{ questionId: 'db', freeText: '\ufeff' }] },
      'userInputAnswerInvalid',
      'blank',
    ],
  ])('by %s (%#), and the question waits on', async (method, params, kind, words) => {
    const { client, sessionId, userInputId } = await asked()
    const refused = await client.fails(method, { sessionId, userInputId, commandId: uuidv7(), ...params })
    expect(refused.data.kind).toBe(kind)
    expect(refused.message).toContain(words)
    expect(refused.message.length).toBeLessThan(1_000)
    expect(client.allTold('userInput/settled')).toEqual([])
    await client.command('userInput/answer', answer(sessionId, userInputId, 'db', 'SQLite'))
    expect(await client.told('userInput/settled')).toMatchObject({ outcome: 'answered' })
  })

  test('beyond what is kept, and taken up to there', async () => {
    const { client, sessionId, userInputId } = await asked()
    const reason = 'x'.repeat(10_000)
    await client.command('userInput/cancel', { sessionId, userInputId, reason })
    expect(await client.told('userInput/settled')).toMatchObject({ outcome: 'cancelled', reason })
    await client.told('turn/completed')
  })
})

describe('an id', () => {
  test('of a command in upper case is refused, and nothing is done', async () => {
    const { client, sessionId, turnId } = await asked()
    const commandId = uuidv7()
    const command = { sessionId, input: [{ type: 'text', text: 'go' }] }
    for (const id of [turnId.toUpperCase(), commandId.toUpperCase()]) {
      const { data } = await client.fails('turn/start', { ...command, commandId: id })
      expect(data.kind).toBe('invalidParams')
    }
    expect((await client.call('session/read', { sessionId }))['session']).toMatchObject({
      activeTurnId: turnId,
    })
    expect(await client.call('turn/start', { ...command, commandId })).toMatchObject({
      disposition: 'queued',
    })
  })

  test.each([
    '\u202ea',
    'a\u200b',
    'a\u2066b',
    'a\u009b2J',
    'a\u0007',
    'a\nb',
    'a\u2028b',
    'a\ufeff',
    'a\u00adb',
    '\ud800',
    ' ',
    'x'.repeat(201),
  ])('of a session that shows nothing of itself in part is refused: %j', async sessionId => {
    const host = await worldOn('memory').host()
    const client = await host.client()
    const { data } = await client.fails('session/start', { sessionId, commandId: uuidv7() })
    expect(data.kind).toBe('invalidParams')
  })

  test.each(['__proto__', 'a:b/c#d', 'Sitzung ä', '会話', 'x'.repeat(200)])(
    'of a session that shows is taken: %j',
    async sessionId => {
      const host = await worldOn('memory').host()
      const client = await host.client()
      expect(await client.command('session/start', { sessionId })).toMatchObject({ session: { sessionId } })
      expect(await client.call('view/page', { sessionId, limit: 1 })).toEqual({
        events: [],
        nextCursor: null,
      })
    },
  )
})

test('a page at a cursor and at an anchor is refused', async () => {
  const { client, sessionId } = await asked()
  const page = { sessionId, limit: 10, cursor: `v:${sessionId}:0` }
  const anchor = await client.request('view/page', {
    ...page,
    cursor: undefined,
    anchor: 'x',
  })
  expect(anchor).toHaveProperty('error')
  const { data, message } = await client.fails('view/page', {
    ...page,
    anchor: 'x',
  })
  expect(data.kind).toBe('invalidParams')
  expect(message).toBe('cursor and anchor exclude each other: send one of them')
})

test('a client that begins to answer never takes the window off an approval', async () => {
  const host = await worldOn('memory').host({
    agent: {
      run: async turn => void (await turn.callTool({ callId: turn.turnId, name: 'act', arguments: {} })),
    },
  })
  const { ctx, inbox } = host
  ctx.tools.register(
    defineTool({
      name: 'act',
      description: 'Acts.',
      parameters: z.object({}),
      permission: () => ({
        timeoutMs: 100_000,
        subject: { kind: 'fileAccess' as const, access: 'write' as const, path: '/srv/x' },
      }),
      execute: () => 'done',
    }),
  )
  const client = await host.client()
  const sessionId = await startSession(client)
  await startTurn(client, sessionId)
  const approval: Frame = await client.told('approval/request')
  const id = String(approval['taskId'])
  // A question of the same session has its own taken off, so that both have been heard.
  const { request } = await inbox.open({
    kind: 'questions',
    payload: { questions: [DATABASE] },
    session: sessionId,
    deadlineAt: inbox.clock.now() + 100_000,
  })
  const { deadlineAt } = await inbox.get(id)
  expect(deadlineAt).toBeDefined()
  for (const userInputId of [id, approval['approvalId'], request.id])
    client.send({ method: 'userInput/engaged', params: { sessionId, userInputId } })
  await expect.poll(async () => (await inbox.get(request.id)).deadlineAt).toBeUndefined()
  expect((await inbox.get(id)).deadlineAt).toBe(deadlineAt)
  await client.command('approval/decide', decide(sessionId, approval, 'deny'))
})
