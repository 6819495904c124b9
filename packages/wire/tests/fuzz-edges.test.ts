import fc from 'fast-check'
import { v7 as uuidv7 } from 'uuid'
import { expect, onTestFinished, test } from 'vitest'
import type { SessionAgent } from '../src/index.ts'
import { METHODS } from '../src/protocol/index.ts'
import type { BareClient, Frame } from './fixtures/bare-client.ts'
import { ask, scriptedAgent } from './fixtures/scripted-agent.ts'
import { connect, openStack, type Stack, type StackOptions } from './fixtures/stack.ts'
import { allowNothingUnhandled } from './fixtures/unhandled.ts'

const LIMIT_BYTES = 64 * 1024

allowNothingUnhandled()

async function host(options: StackOptions = {}): Promise<Stack & { client(): BareClient }> {
  const agent = scriptedAgent({ ask: [ask('db')], long: [ask('db', ['x'.repeat(LIMIT_BYTES), 'y'])] })
  const stack = await openStack({ agent, limits: { frameBytes: LIMIT_BYTES }, ...options })
  onTestFinished(async () => {
    await stack.close()
    expect(stack.reported).toEqual([])
  })
  const client = (): BareClient => {
    const connected = connect(stack, { limitBytes: LIMIT_BYTES })
    onTestFinished(() => {
      connected.close()
      expect(connected.faults).toEqual([])
    })
    return connected
  }
  return { ...stack, client }
}

async function startTurn(client: BareClient, text: string): Promise<string> {
  const { session } = await client.command('session/start', {})
  const { sessionId } = session as { sessionId: string }
  await client.command('turn/start', { sessionId, input: [{ type: 'text', text }] })
  return sessionId
}

/** Sends a frame as it is written, and gives what it is answered with. */
async function exchange(client: BareClient, id: unknown, text: string): Promise<Frame> {
  const from = client.frames.length
  client.sendText(text)
  return client.until(frame => !('method' in frame) && frame['id'] === id, from)
}

const errorOf = (frame: Frame): Frame => (frame['error'] as Frame)['data'] as Frame

const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`

test('each method refuses parameters that are none of its own', async () => {
  const client = await (await host()).client().start()
  for (const method of Object.keys(METHODS)) {
    if (method === 'initialize') continue
    for (const params of ['{}', '{"commandId":1}', `{"commandId":"${uuidv7()}"}`, '{"sessionId":{}}']) {
      const startsWithAny = method === 'session/start' && params.includes('-')
      const answer = await exchange(
        client,
        1,
        `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`,
      )
      if (startsWithAny) expect(answer).toHaveProperty('result')
      else expect([method, params, errorOf(answer)['kind']]).toEqual([method, params, 'invalidParams'])
    }
    for (const params of ['null', '[]', '"text"', '7', 'true']) {
      const answer = await exchange(
        client,
        1,
        `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`,
      )
      expect([method, params, errorOf(answer)['kind']]).toEqual([method, params, 'invalidRequest'])
    }
  }
})

test.each([501, 5_000, 15_000])('a frame that is nested %i deep is refused', async levels => {
  const client = await (await host()).client().start()
  for (const method of ['session/start', 'session/read', 'turn/start', 'no/such']) {
    const params = `{"commandId":"${uuidv7()}","sessionId":"s","more":${deep(levels)}}`
    const answer = await exchange(
      client,
      'deep',
      `{"jsonrpc":"2.0","id":"deep","method":"${method}","params":${params}}`,
    )
    expect(errorOf(answer)['kind']).toBe('invalidRequest')
  }
  client.sendText(`{"jsonrpc":"2.0","method":"userInput/engaged","params":${deep(levels)}}`)
  client.sendText(`{"jsonrpc":"2.0","id":1,"result":${deep(levels)}}`)
  expect((await client.fails('session/read', { sessionId: 's' })).data.kind).toBe('sessionNotFound')
})

test('brackets within texts are not nested', async () => {
  const client = await (await host()).client().start()
  const { data } = await client.fails('session/read', { sessionId: `\\"${'[{'.repeat(600)}"\\` })
  expect(data.kind).toBe('sessionNotFound')
})

test('an error that would be longer than a frame is told in short', async () => {
  const client = await (await host()).client().start()
  const almost = LIMIT_BYTES - 200
  const method = await exchange(
    client,
    1,
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: '\\'.repeat(almost / 2) }),
  )
  expect(errorOf(method)).toEqual({ kind: 'methodNotFound' })
  const session = await client.fails('session/read', { sessionId: 'x'.repeat(almost) })
  expect(session.data).toEqual({ kind: 'sessionNotFound' })
  const id = 'x'.repeat(LIMIT_BYTES - 60)
  const nameless = await exchange(client, null, JSON.stringify({ jsonrpc: '2.0', id, method: 'no/such' }))
  expect(errorOf(nameless)).toEqual({ kind: 'methodNotFound' })
  const { session: started } = await client.command('session/start', { sessionId: 'still-here' })
  expect(started).toMatchObject({ sessionId: 'still-here' })
})

test('what is inherited from a member named __proto__ is no parameter', async () => {
  const client = await (await host()).client().start()
  await client.command('session/start', { sessionId: 'mine' })
  const inherited = '"__proto__":{"sessionId":"mine","id":"p","method":"session/read"}'
  const params = await exchange(
    client,
    'p',
    `{"jsonrpc":"2.0","id":"p","method":"session/read","params":{${inherited}}}`,
  )
  expect(errorOf(params)['kind']).toBe('invalidParams')
  const frame = await exchange(client, 'p', `{"jsonrpc":"2.0","id":"p",${inherited}}`)
  expect(errorOf(frame)['kind']).toBe('invalidRequest')
})

test('nobody is asked before the handshake is over', async () => {
  const { client: connectOne } = await host()
  const one = await connectOne().start()
  const sessionId = await startTurn(one, 'ask')
  const asked = await one.told('userInput/request')
  const two = connectOne()
  await two.call('initialize', { clientInfo: { name: 'two', version: '1' } })
  await two.command('session/resume', { sessionId })
  await two.call('session/read', { sessionId })
  expect(two.frames.filter(frame => 'method' in frame)).toEqual([])
  two.send({ method: 'initialized' })
  expect(await two.told('userInput/request')).toEqual(asked)
})

test('what was answered before the handshake was over is not asked any more', async () => {
  const { client: connectOne } = await host()
  const one = await connectOne().start()
  const sessionId = await startTurn(one, 'ask')
  const { userInputId } = await one.told('userInput/request')
  const two = connectOne()
  await two.call('initialize', { clientInfo: { name: 'two', version: '1' } })
  await two.command('session/resume', { sessionId })
  await one.command('userInput/answer', {
    sessionId,
    userInputId,
    answers: [{ questionId: 'db', selectedLabel: 'SQLite' }],
  })
  await one.told('turn/completed')
  two.send({ method: 'initialized' })
  await two.told('turn/completed')
  expect(two.allTold('userInput/request')).toEqual([])
  expect(two.allTold('userInput/settled')).toHaveLength(1)
})

test('a question that is longer than a frame leaves its clients connected', async () => {
  const { client: connectOne, inbox } = await host()
  const one = await connectOne().start()
  const sessionId = await startTurn(one, 'long')
  const two = await connectOne().start()
  await two.command('session/resume', { sessionId, excludeItems: true })
  const page = await two.call('view/page', { sessionId, limit: 1 })
  const [, cursor] = [page['events'], page['nextCursor']]
  const rest = await two.fails('view/page', { sessionId, limit: 10, cursor: `v:${sessionId}:2` })
  expect([typeof cursor, rest.data]).toEqual([
    'string',
    { kind: 'pageEventTooLarge', viewCursor: `v:${sessionId}:3` },
  ])
  expect((await two.fails('session/read', { sessionId })).data.kind).toBe('outputResultTooLarge')
  // It can be answered all the same, by who knows of it.
  const { requests } = await inbox.list({ state: 'pending', session: sessionId })
  const answers = [{ questionId: 'db', selectedLabel: 'y' }]
  await two.command('userInput/answer', { sessionId, userInputId: requests[0]?.id, answers })
  await two.told('turn/completed')
  expect(two.allTold('view/gap').length).toBeGreaterThan(0)
})

test('more requests at once than are taken are each answered, once', async () => {
  let goOn = (): void => {}
  const gate = new Promise<object>(resolve => {
    goOn = () => resolve({})
  })
  const slow: SessionAgent = { run() {}, request: () => gate }
  const { client: connectOne } = await host({ agent: slow, limits: { requestsInFlight: 8 } })
  const client = await connectOne().start()
  const ids = Array.from({ length: 2_000 }, (_, index) => index)
  const answers = ids.map(id => client.request('model/list', {}, id))
  const refused = await Promise.all(answers.slice(8))
  expect(new Set(refused.map(answer => errorOf(answer)['kind']))).toEqual(new Set(['overloaded']))
  goOn()
  for (const answer of await Promise.all(answers.slice(0, 8))) expect(answer).toMatchObject({ result: {} })
  expect(client.frames.filter(({ id }) => typeof id === 'number')).toHaveLength(ids.length)
})

test('a command id that was used is refused for anything else', async () => {
  const { client: connectOne, inbox } = await host()
  const client = await connectOne().start()
  const sessionId = await startTurn(client, 'ask')
  const { userInputId } = await client.told('userInput/request')
  const used = uuidv7()
  const asked = { commandId: used, sessionId, userInputId }
  const refused = await client.fails('userInput/answer', { ...asked, answers: [] })
  expect(refused.data.kind).toBe('userInputAnswerInvalid')
  const answers = [{ questionId: 'db', selectedLabel: 'SQLite' }]
  for (const [method, params] of Object.entries({
    'userInput/answer': { answers },
    'userInput/cancel': {},
    'userInput/clarify': { clarification: { format: 'text', content: 'why?' } },
    'turn/start': { input: [{ type: 'text', text: 'quiet' }] },
    'turn/interrupt': {},
    'session/start': {},
    'session/setApprovalMode': { mode: 'allowAll' },
  })) {
    const { data } = await client.fails(method, { ...asked, ...params })
    expect(data).toMatchObject({ kind: 'commandRejected', reason: 'command_id_conflict', commandId: used })
  }
  // The very same is refused as it was.
  expect(await client.fails('userInput/answer', { ...asked, answers: [] })).toEqual(refused)
  expect((await inbox.get(String(userInputId))).settlement).toBeUndefined()
  await client.command('userInput/answer', { sessionId, userInputId, answers })
  await client.told('turn/completed')
})

test('a handshake in whatever order is answered as the protocol says', async () => {
  const { client: connectOne } = await host()
  const step = fc.constantFrom('initialize', 'initialize badly', 'initialized', 'session/start', 'no/such')
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12, size: 'max' }), async steps => {
      const client = connectOne()
      let initialized = false
      let ready = false
      let started = 0
      for (const each of steps) {
        const clientInfo =
          each === 'initialize' ? { name: 'again', version: '1' } : { name: 'Not So', version: '1' }
        switch (each) {
          case 'initialized':
            client.send({ method: 'initialized' })
            ready = initialized
            break
          case 'initialize':
          case 'initialize badly': {
            const answer = await client.request('initialize', { clientInfo })
            const good = each === 'initialize' && !initialized
            const kind = initialized ? 'alreadyInitialized' : 'invalidParams'
            if (good) initialized = true
            else expect(errorOf(answer)['kind']).toBe(kind)
            expect('result' in answer).toBe(good)
            break
          }
          default: {
            const answer = await client.request(each, { commandId: uuidv7() })
            const kind = 'error' in answer ? errorOf(answer)['kind'] : 'result'
            const known = each === 'session/start' ? 'result' : 'methodNotFound'
            expect(kind).toBe(initialized ? known : 'notInitialized')
            if (ready && kind === 'result') started += 1
          }
        }
      }
      expect(client.allTold('session/started')).toHaveLength(started)
      client.close()
    }),
    { numRuns: 60, seed: 20_260_101 },
  )
})
