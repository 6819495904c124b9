import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { ndjsonChannel, type AgentTurn, type SessionAgent } from '../src/index.ts'
import { BareClient } from './fixtures/bare-client.ts'
import { collectGarbage } from './fixtures/garbage.ts'
import { ManualClock } from './fixtures/manual-clock.ts'
import { startSession, startTurn } from './fixtures/session-commands.ts'
import { connect, openStack, type Stack, type StackOptions } from './fixtures/stack.ts'
import { allowNothingUnhandled } from './fixtures/unhandled.ts'
import { serveWebSockets } from './fixtures/web-sockets.ts'
import { pipe } from './pipe.ts'

allowNothingUnhandled()

// What is written to the place for temporary files is seen.
const place = mkdtempSync(join(tmpdir(), 'handraise-leaks-'))
beforeAll(() => {
  vi.stubEnv('TMPDIR', place)
  return () => {
    vi.unstubAllEnvs()
    rmSync(place, { recursive: true })
  }
})

/** Asks where it is told to, and otherwise says one thing. */
function chattyAgent(): SessionAgent & { readonly turns: Array<WeakRef<AgentTurn>> } {
  const turns: Array<WeakRef<AgentTurn>> = []
  return {
    turns,
    async run(turn) {
      turns.push(new WeakRef(turn))
      if (turn.input[0]?.text !== 'ask') return turn.say('x'.repeat(1_000))
      const questions = [{ id: 'db', question: 'Which?', options: [{ label: 'One' }, { label: 'Two' }] }]
      await turn.callTool({ callId: turn.turnId, name: 'ask_user_question', arguments: { questions } })
    },
    request: method => (method === 'agent/never' ? new Promise(() => {}) : undefined),
  }
}

interface Host extends Stack {
  readonly clock: ManualClock
}

async function host(options: StackOptions = {}): Promise<Host> {
  const clock = new ManualClock()
  const stack = await openStack({ clock, ...options })
  onTestFinished(async () => {
    await passUntil(clock, stack.close())
    expect(stack.reported).toEqual([])
  })
  return { ...stack, clock }
}

/** Moves time on until something has come about. */
async function passUntil<Value>(clock: ManualClock, wait: Promise<Value>): Promise<Value> {
  let done = false
  const ended = wait.finally(() => {
    done = true
  })
  while (!done) {
    await new Promise(resolve => setImmediate(resolve))
    // Less than a lease is renewed in, so that nothing of the inbox counts as gone.
    clock.pass(1_000)
  }
  return ended
}

/** How far a client comes before it is gone. */
const STAGES: ReadonlyArray<(client: BareClient) => Promise<unknown> | void> = [
  () => {},
  client => client.sendText('{"jsonrpc":"2.0","id":1,"meth'),
  client => void client.request('initialize', {}).catch(() => {}),
  client => client.start(),
  async client => startSession(await client.start()),
  async client => {
    const sessionId = await startSession(await client.start())
    await startTurn(client, sessionId, 'say')
    for (let index = 0; index < 20; index += 1) client.request('session/read', { sessionId }).catch(() => {})
  },
  async client => {
    const sessionId = await startSession(await client.start())
    client.pause()
    for (let index = 0; index < 1_500; index += 1)
      client.send({ id: index, method: 'session/read', params: { sessionId } })
  },
  async client => {
    await client.start()
    client.request('agent/never').catch(() => {})
    await client.fails('no/such')
  },
]

test('connections that end at any time leave nothing behind', async () => {
  const { ctx, clock } = await host({ agent: chattyAgent() })
  const armed = clock.armed
  const listeners = listenersOfProcess()
  const channels: Array<WeakRef<object>> = []
  const comeAndGo = async (stage: (client: BareClient) => Promise<unknown> | void): Promise<void> => {
    const [mine, theirs] = pipe({ highWaterMark: 1_000 })
    const channel = ndjsonChannel(theirs)
    channels.push(new WeakRef(channel))
    const served = ctx.wire.serve(channel)
    const client = new BareClient(ndjsonChannel(mine))
    await stage(client)
    client.close()
    await passUntil(clock, served)
  }
  for (let round = 0; round < 10; round += 1) await Promise.all(STAGES.map(comeAndGo))
  await collectGarbage()
  expect(channels.filter(channel => channel.deref() !== undefined)).toEqual([])
  expect(clock.armed).toBe(armed)
  expect(listenersOfProcess()).toEqual(listeners)
})

test('sockets that are cut off leave nothing behind', async () => {
  const { clock, ...stack } = await host({ agent: chattyAgent() })
  const resources = countResources()
  const armed = clock.armed
  const sockets = await serveWebSockets(stack)
  for (let round = 0; round < 5; round += 1) {
    await Promise.all(
      STAGES.map(async stage => {
        const { client, socket } = await sockets.connect()
        await stage(client)
        socket.terminate()
        await client.ended
      }),
    )
  }
  await passUntil(clock, sockets.stop())
  expect(clock.armed).toBe(armed)
  await collectGarbage()
  expect(grownSince(resources)).toEqual([])
})

test('sessions that nobody looks at any more are let go', async () => {
  const agent = chattyAgent()
  const { clock, ...stack } = await host({ agent })
  const armed = clock.armed
  const sessions: string[] = []
  for (let index = 0; index < 100; index += 1) {
    const client = await connect(stack).start()
    const sessionId = await startSession(client)
    sessions.push(sessionId)
    await startTurn(client, sessionId, index % 2 === 0 ? 'ask' : 'say')
    if (index % 2 === 0) {
      const { userInputId } = await client.told('userInput/request')
      const answers = [{ questionId: 'db', selectedLabel: 'One' }]
      await client.command('userInput/answer', { sessionId, userInputId, answers })
    }
    await client.told('turn/completed')
    client.close()
    await client.served
  }
  const looking = await connect(stack).start()
  for (const sessionId of sessions) {
    const { session } = await looking.call('session/read', { sessionId, excludeItems: true })
    expect(session).toMatchObject({ sessionId, status: 'notLoaded', turnCount: 1 })
  }
  looking.close()
  await looking.served
  await collectGarbage()
  expect(agent.turns).toHaveLength(100)
  expect(agent.turns.filter(turn => turn.deref() !== undefined)).toEqual([])
  expect(clock.armed).toBe(armed)
})

test('a host that is closed in the middle of everything leaves nothing behind', async () => {
  const resources = countResources()
  const agent = chattyAgent()
  const channels: Array<WeakRef<object>> = []
  const clock = new ManualClock()
  const closeInTheMiddle = async (): Promise<void> => {
    const stack = await openStack({ clock, agent })
    const sockets = await serveWebSockets(stack)
    const served: Array<Promise<void>> = []
    for (let index = 0; index < 20; index += 1) {
      const [mine, theirs] = pipe({ highWaterMark: 1_000 })
      const channel = ndjsonChannel(theirs)
      channels.push(new WeakRef(channel))
      served.push(stack.ctx.wire.serve(channel))
      const client = new BareClient(ndjsonChannel(mine))
      const { client: other } = await sockets.connect()
      const sessionId = await startSession(await client.start())
      await startTurn(client, sessionId, 'ask')
      await client.told('userInput/request')
      await (await other.start()).fails('session/resume', { sessionId: 'none', commandId: 'none' })
      await startTurn(client, sessionId, 'say')
      if (index % 3 === 0) client.pause()
      client.request('agent/never').catch(() => {})
    }
    await passUntil(clock, stack.close())
    await passUntil(clock, Promise.all(served))
    await passUntil(clock, sockets.stop())
    expect(stack.reported).toEqual([])
  }
  await closeInTheMiddle()
  await collectGarbage()
  expect(channels.filter(channel => channel.deref() !== undefined)).toEqual([])
  expect(agent.turns.filter(turn => turn.deref() !== undefined)).toEqual([])
  expect(clock.armed).toBe(0)
  expect(grownSince(resources)).toEqual([])
})

test('no file is left behind by all this', () => {
  expect(tmpdir()).toBe(place)
  expect(readdirSync(place)).toEqual([])
})

function listenersOfProcess(): Record<string, number> {
  return Object.fromEntries(process.eventNames().map(name => [String(name), process.listenerCount(name)]))
}

/** What keeps a process running, by its kind. */
function countResources(): Map<string, number> {
  const counts = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts
}

/** The kinds of which there are more now. One or two come and go with the test runner; a leak is of dozens. */
function grownSince(before: ReadonlyMap<string, number>): string[] {
  return [...countResources()].flatMap(([kind, count]) => (count > (before.get(kind) ?? 0) + 2 ? [kind] : []))
}
