import { v7 as uuidv7 } from 'uuid'
import { expect, onTestFinished, test } from 'vitest'
import type { AgentTurn, SessionAgent } from '../src/index.ts'
import { paramsOf, type BareClient, type BareClientOptions, type Frame } from './fixtures/bare-client.ts'
import { heapAfterCollection } from './fixtures/garbage.ts'
import { ManualClock } from './fixtures/manual-clock.ts'
import { startSession, startTurn } from './fixtures/session-commands.ts'
import { connect, openStack, type Stack, type StackOptions } from './fixtures/stack.ts'
import { allowNothingUnhandled } from './fixtures/unhandled.ts'
import { serveWebSockets } from './fixtures/web-sockets.ts'
import type { PipeOptions } from './pipe.ts'

/** Longer than a frame may take to be read by a client that is not slow. */
const STALL_MS = 1_500
const MIB = 1024 * 1024

allowNothingUnhandled()

type Connect = (options?: PipeOptions & BareClientOptions) => BareClient

interface Host extends Stack {
  readonly clock: ManualClock
  readonly connect: Connect
}

async function host(run: (turn: AgentTurn) => Promise<void>, options: StackOptions = {}): Promise<Host> {
  const clock = new ManualClock()
  const agent: SessionAgent = { run }
  const stack = await openStack({ agent, clock, ...options })
  onTestFinished(async () => {
    await stack.close()
    expect(stack.reported).toEqual([])
  })
  const connectOne: Connect = given => {
    const client = connect(stack, given)
    onTestFinished(() => {
      client.close()
      expect(client.faults).toEqual([])
    })
    return client
  }
  return { ...stack, clock, connect: connectOne }
}

async function ask(turn: AgentTurn, id: string): Promise<void> {
  const questions = [{ id, question: `Which ${id}?`, options: [{ label: 'One' }, { label: 'Two' }] }]
  await turn.callTool({ callId: id, name: 'ask_user_question', arguments: { questions } })
}

const answer = (sessionId: string, { userInputId, questions }: Frame): Frame => ({
  sessionId,
  userInputId,
  answers: [{ questionId: (questions as Frame[])[0]?.['id'], selectedLabel: 'One' }],
})

const cursorOf = (frame: Frame): string => String(paramsOf(frame)['viewCursor'])

/** The durable events a client was told of, by their cursors, in the order in which they came. */
function eventsTold(client: BareClient, sessionId: string): string[] {
  return client.frames
    .filter(frame => 'sourceRange' in paramsOf(frame) && !('id' in frame))
    .filter(frame => paramsOf(frame)['sessionId'] === sessionId)
    .map(cursorOf)
}

/** All events of a view, page by page. */
async function allEvents(client: BareClient, sessionId: string, limit = 1_000): Promise<string[]> {
  const cursors: string[] = []
  for (let cursor: unknown = `v:${sessionId}:0`; cursor !== null;) {
    const { events, nextCursor } = await client.call('view/page', { sessionId, limit, cursor })
    cursors.push(...(events as Frame[]).map(cursorOf))
    cursor = nextCursor
  }
  return cursors
}

test('a client that does not read is moved ahead, and the gap is what it was not told', async () => {
  const settled = 40
  const { connect: connectOne, clock } = await host(
    async turn => {
      for (let index = 0; index < settled; index += 1) {
        await turn.say('x'.repeat(200))
        await turn.say('y'.repeat(200))
        await ask(turn, `q${index}`)
      }
    },
    { limits: { lagEvents: 5 } },
  )
  const fast = await connectOne().start()
  const sessionId = await startSession(fast)
  const slow = await connectOne({ highWaterMark: 1_000 }).start()
  await slow.command('session/resume', { sessionId })
  slow.pause()
  await startTurn(fast, sessionId)
  for (let index = 0, from = 0; index < settled; index += 1) {
    const asked = await fast.until(frame => frame['method'] === 'userInput/request', from)
    from = fast.frames.indexOf(asked) + 1
    await fast.command('userInput/answer', answer(sessionId, paramsOf(asked)))
  }
  await fast.told('turn/completed')
  clock.pass(STALL_MS)
  slow.read()
  await slow.told('turn/completed')
  // Whatever else would be told of is told by now.
  await slow.call('session/read', { sessionId, excludeItems: true })
  const whole = await allEvents(fast, sessionId)
  const told = eventsTold(slow, sessionId)
  const gaps = slow.allTold('view/gap')
  expect(gaps.length).toBeGreaterThan(0)
  expect(told.length).toBeLessThan(whole.length)
  expect(slow.allTold('userInput/settled')).toHaveLength(settled)
  // In order, and each once.
  expect(told).toEqual(whole.filter(cursor => told.includes(cursor)))
  const filled = [...told]
  for (const { after, next } of gaps) {
    const page = await slow.call('view/page', { sessionId, cursor: after, limit: 1_000 })
    const between = (page['events'] as Frame[]).map(cursorOf)
    const end = between.indexOf(String(next))
    expect(end).toBeGreaterThan(0)
    filled.push(...between.slice(0, end))
  }
  expect(filled.toSorted(byPlace)).toEqual(whole)
})

test('a client that was moved ahead past a question that waits is asked it', async () => {
  const { connect: connectOne, clock } = await host(
    async turn => {
      const asking = ask(turn, 'early')
      for (let index = 0; index < 100; index += 1) await turn.say('x'.repeat(200))
      const permitted = turn.callTool({ callId: 'w', name: 'write_file', arguments: { path: 'a' } })
      for (let index = 0; index < 100; index += 1) await turn.say('x'.repeat(200))
      await turn.say('all is said')
      await Promise.all([asking, permitted])
    },
    { limits: { lagEvents: 5 } },
  )
  const fast = await connectOne().start()
  const sessionId = await startSession(fast)
  const slow = await connectOne({ highWaterMark: 1_000 }).start()
  await slow.command('session/resume', { sessionId })
  slow.pause()
  await startTurn(fast, sessionId)
  await fast.until(frame => JSON.stringify(frame).includes('all is said'))
  clock.pass(STALL_MS)
  slow.read()
  await slow.until(frame => JSON.stringify(frame).includes('all is said'))
  expect(slow.allTold('view/gap').length).toBeGreaterThan(0)
  await slow.told('approval/request')
  const [asked, ...more] = slow.allTold('userInput/request')
  expect(more).toEqual([])
  await slow.command('userInput/answer', answer(sessionId, asked ?? {}))
  await slow.told('userInput/settled')
})

function byPlace(one: string, other: string): number {
  return Number(one.split(':').at(-1)) - Number(other.split(':').at(-1))
}

test('answers to what it asked reach a client that was moved ahead, each once', async () => {
  const { connect: connectOne, clock } = await host(
    async turn => {
      for (let index = 0; index < 300; index += 1) await turn.say('x'.repeat(200))
    },
    { limits: { lagEvents: 0 } },
  )
  const fast = await connectOne().start()
  const sessionId = await startSession(fast)
  const slow = await connectOne({ highWaterMark: 1_000 }).start()
  await slow.command('session/resume', { sessionId })
  slow.pause()
  const answers = Array.from({ length: 50 }, (_, id) => slow.request('session/read', { sessionId }, id))
  await startTurn(fast, sessionId)
  await fast.told('turn/completed')
  clock.pass(STALL_MS)
  slow.read()
  for (const each of await Promise.all(answers)) expect(each).toHaveProperty('result')
  const [gap] = [await slow.told('view/gap')]
  await slow.call('session/read', { sessionId, excludeItems: true })
  expect(slow.frames.filter(({ id }) => typeof id === 'number')).toHaveLength(50)
  expect(gap['next']).toBe(eventsTold(slow, sessionId).at(-1))
})

test('a client that does not read holds up nobody, and is not what memory fills with', async () => {
  const clients = 150
  const messages = 1_500
  const { connect: connectOne } = await host(async turn => {
    for (let index = 0; index < messages; index += 1) await turn.say(`${index} ${'x'.repeat(400)}`)
  })
  const fast = await connectOne().start()
  const sessionId = await startSession(fast)
  const slow = await Promise.all(
    Array.from({ length: clients }, async () => {
      const client = await connectOne({ highWaterMark: 1_000 }).start()
      await client.command('session/resume', { sessionId })
      client.pause()
      return client
    }),
  )
  const before = await heapAfterCollection()
  await startTurn(fast, sessionId)
  await fast.told('turn/completed')
  const grown = (await heapAfterCollection()) - before
  // What each was not told of yet would be some 150 MiB, were it kept for each.
  expect(grown / MIB).toBeLessThan(40)
  expect(slow.map(client => client.frames.length < 20)).not.toContain(false)
})

test('pieces of a message are left out for a client that does not read, and the message is whole', async () => {
  const pieces = 20_000
  const { connect: connectOne } = await host(async turn => {
    const message = turn.stream({ id: 'long' })
    for (let index = 0; index < pieces; index += 1) message.delta(`${index} `)
    await message.end()
  })
  const fast = await connectOne().start()
  const sessionId = await startSession(fast)
  const slow = await connectOne({ highWaterMark: 1_000 }).start()
  await slow.command('session/resume', { sessionId })
  slow.pause()
  await startTurn(fast, sessionId)
  await fast.told('turn/completed')
  slow.read()
  await slow.told('turn/completed')
  expect(slow.allTold('item/delta').length).toBeLessThan(1_000)
  const whole = Array.from({ length: pieces }, (_, index) => `${index} `).join('')
  const items = slow.allTold('item/completed').map(({ item }) => item as Frame)
  expect(items.filter(({ kind }) => kind === 'agentMessage')).toMatchObject([{ text: whole }])
})

test('messages of a mebibyte reach every client whole', async () => {
  const text = 'ä'.repeat(MIB / 2)
  const { connect: connectOne } = await host(async turn => {
    for (let index = 0; index < 4; index += 1) await turn.say(`${index}${text}`)
  })
  const fast = await connectOne().start()
  const sessionId = await startSession(fast)
  const slow = await connectOne({ highWaterMark: 1_000 }).start()
  await slow.command('session/resume', { sessionId })
  slow.pause()
  await startTurn(fast, sessionId)
  await fast.told('turn/completed')
  slow.read()
  await slow.told('turn/completed')
  for (const client of [fast, slow]) {
    const items = client.allTold('item/completed').map(({ item }) => item as Frame)
    const texts = items
      .filter(({ kind }) => kind === 'agentMessage')
      .map(item => item['text'] === `${String(item['text']).charAt(0)}${text}`)
    expect(texts).toEqual([true, true, true, true])
  }
})

test('a view that fits no frame is read page by page, and one event that fits none is named', async () => {
  const frameBytes = 64 * 1024
  const { connect: connectOne } = await host(
    async ({ input, say }) => {
      for (let index = 0; index < 20; index += 1) await say('x'.repeat(8 * 1024))
      if (input[0]?.text === 'too long') await say('y'.repeat(frameBytes))
      await say('the end')
    },
    { limits: { frameBytes } },
  )
  const client = await connectOne({ highWaterMark: 10 * MIB }).start()
  const sessionId = await startSession(client)
  await startTurn(client, sessionId)
  await client.told('turn/completed')
  for (const method of ['session/read', 'session/resume']) {
    const { data } = await client.fails(method, { sessionId, commandId: uuidv7() })
    expect(data).toEqual({ kind: 'outputResultTooLarge', limitBytes: frameBytes })
  }
  expect(await client.call('session/read', { sessionId, excludeItems: true })).toMatchObject({
    history: { mode: 'none', noneReason: 'excluded' },
  })
  expect(await allEvents(client, sessionId)).toEqual(eventsTold(client, sessionId))
  const from = client.frames.length
  await startTurn(client, sessionId, 'too long')
  await client.told('turn/completed', () => true, from)
  const { after, next } = await client.told('view/gap')
  // What is between the two is in the view, and no frame can hold it.
  const { data } = await client.fails('view/page', { sessionId, cursor: after, limit: 10 })
  expect(data['kind']).toBe('pageEventTooLarge')
  const rest = await client.call('view/page', { sessionId, cursor: data['viewCursor'], limit: 10 })
  expect((rest['events'] as Frame[]).map(cursorOf)[0]).toBe(next)
  const back = await client.call('view/page', {
    sessionId,
    cursor: data['viewCursor'],
    limit: 10,
    direction: 'backward',
  })
  expect((back['events'] as Frame[]).map(cursorOf).at(-1)).toBe(after)
})

test('a WebSocket that is not read holds up nobody, and is told what it missed', async () => {
  const { connect: connectOne, ...stack } = await host(async turn => {
    for (let index = 0; index < 400; index += 1) await turn.say(`${index} ${'x'.repeat(20_000)}`)
    await ask(turn, 'last')
  })
  const sockets = await serveWebSockets(stack)
  const { client: slow, socket } = await sockets.connect()
  onTestFinished(() => {
    slow.close()
    return sockets.stop()
  })
  await slow.start()
  const fast = await connectOne().start()
  const sessionId = await startSession(fast)
  await slow.command('session/resume', { sessionId })
  socket.pause()
  await startTurn(fast, sessionId)
  const asked = await fast.told('userInput/request')
  await fast.command('userInput/answer', answer(sessionId, asked))
  await fast.told('turn/completed')
  expect(slow.allTold('userInput/settled')).toEqual([])
  socket.resume()
  await slow.told('userInput/settled')
  await slow.told('turn/completed')
  expect(eventsTold(slow, sessionId)).toEqual(eventsTold(fast, sessionId))
  expect(slow.faults).toEqual([])
})
