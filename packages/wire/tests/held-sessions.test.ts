import { MemoryMedium, MemoryStore, type InboxStore } from '@handraise/inbox'
import { v7 as uuidv7 } from 'uuid'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { BareClient, Frame } from './fixtures/bare-client.ts'
import { closedGate } from './fixtures/gate.ts'
import { ask, scriptedAgent } from './fixtures/scripted-agent.ts'
import { answer, startSession, startTurn } from './fixtures/session-commands.ts'
import { connect, openStack } from './fixtures/stack.ts'
import { allowNothingUnhandled } from './fixtures/unhandled.ts'
import { afterALease, goes, worldOn } from './fixtures/world.ts'

allowNothingUnhandled()

const agent = () => scriptedAgent({ ask: [ask('db')] })

const statusOf = async (client: BareClient, sessionId: string): Promise<unknown> => {
  const { session } = await client.call('session/read', { sessionId, excludeItems: true })
  return (session as Frame)['status']
}

/** A session that nobody has opened, on a host that other clients come to. */
async function idle() {
  const world = worldOn('memory')
  const host = await world.host({ agent: agent() })
  const one = await host.client()
  const sessionId = await startSession(one)
  one.close()
  const client = await host.client()
  await expect.poll(() => statusOf(client, sessionId)).toBe('notLoaded')
  return { world, host, client, sessionId }
}

describe('a session that a client would resume', () => {
  test.each([
    ['of another session', 'v:other:1', 'sessionStreamMismatch'],
    ['of none', 'nonsense', 'invalidParams'],
  ])('behind a cursor %s is not held once that client is gone', async (_, cursor, kind) => {
    const { world, host, client, sessionId } = await idle()
    const other = await host.client()
    const refused = await other.fails('session/resume', { sessionId, commandId: uuidv7(), cursor })
    expect(refused.data.kind).toBe(kind)
    other.close()
    await expect.poll(() => statusOf(client, sessionId)).toBe('notLoaded')
    const elsewhere = await (await world.host({ agent: agent() })).client()
    expect(await elsewhere.command('session/resume', { sessionId })).toMatchObject({
      session: { status: 'idle' },
    })
  })

  test('is not held by one that has gone meanwhile', async () => {
    const medium = new MemoryMedium()
    const reading = closedGate()
    const slow = new Set<string>()
    const reads: string[] = []
    const inner = new MemoryStore(medium)
    const store: InboxStore = new Proxy(inner, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name, target)
        if (typeof member !== 'function') return member
        if (name !== 'records') return member.bind(target)
        return async (namespace: string) => {
          if (slow.has(namespace)) {
            reads.push(namespace)
            await reading.passed
          }
          return target.records(namespace)
        }
      },
    })
    const stack = await openStack({ agent: agent(), store })
    onTestFinished(() => {
      reading.open()
      return stack.close()
    })
    const one = await connect(stack).start()
    const ids = [await startSession(one), await startSession(one)]
    one.close()
    const client = connect(stack)
    onTestFinished(() => client.close())
    await client.start()
    for (const id of ids) await expect.poll(() => statusOf(client, id)).toBe('notLoaded')
    const vanishing = connect(stack)
    await vanishing.start()
    for (const id of ids) slow.add(`wire-view/${id}`)
    for (const sessionId of ids)
      vanishing.send({ id: sessionId, method: 'session/resume', params: { sessionId, commandId: uuidv7() } })
    await expect.poll(() => reads.length).toBe(2)
    // Its answer finds nobody, by which the host knows that the client has gone.
    vanishing.send({ id: 'z', method: 'session/read', params: { sessionId: 'nope' } })
    vanishing.close()
    slow.clear()
    for (let turn = 0; turn < 20; turn += 1) await client.request('session/read', { sessionId: 'nope' })
    reading.open()
    await vanishing.served
    for (const id of ids) await expect.poll(() => statusOf(client, id)).toBe('notLoaded')
    const other = await openStack({ agent: agent(), store: new MemoryStore(medium) })
    onTestFinished(() => other.close())
    const elsewhere = connect(other)
    onTestFinished(() => elsewhere.close())
    await elsewhere.start()
    for (const sessionId of ids) await elsewhere.command('session/resume', { sessionId })
  })

  test('and starts, while it goes, is not held either', async () => {
    const { client, host } = await idle()
    const vanishing = await host.client()
    const sessionId = 'short'
    vanishing.send({ id: 1, method: 'session/start', params: { sessionId, commandId: uuidv7() } })
    vanishing.close()
    await expect
      .poll(async () => 'result' in (await client.request('session/read', { sessionId })))
      .toBe(true)
    await expect.poll(() => statusOf(client, sessionId)).toBe('notLoaded')
  })
})

test.each(['session/start', 'session/resume'])(
  'a session stays held while the client that opened it by %s is there, though it does not look',
  async method => {
    const { host, client, sessionId: known } = await idle()
    const opening = method === 'session/start' ? {} : { sessionId: known }
    const { session } = await client.command(method, opening)
    const { sessionId } = session as { sessionId: string }
    await client.call('view/unsubscribe', { sessionId })
    const other = await host.client()
    expect(await statusOf(other, sessionId)).toBe('idle')
    const from = client.frames.length
    const turnId = await startTurn(client, sessionId, 'ask')
    await expect
      .poll(async () => (await other.call('approval/listPending', { sessionId }))['userInputs'])
      .toHaveLength(1)
    expect(client.frames.slice(from).filter(frame => 'method' in frame)).toEqual([])
    await client.call('view/subscribe', { sessionId })
    const { userInputId } = await client.told('userInput/request')
    await client.command('userInput/answer', answer(sessionId, userInputId, 'db', 'SQLite'))
    expect(await client.told('turn/completed')).toMatchObject({ turnId, terminal: 'completed' })
    await client.call('view/unsubscribe', { sessionId })
    // One that only looks does not hold it.
    await other.call('view/subscribe', { sessionId })
    expect(await statusOf(other, sessionId)).toBe('idle')
    client.close()
    await expect.poll(() => statusOf(other, sessionId)).toBe('notLoaded')
    expect(await other.told('session/closed')).toMatchObject({ sessionId, reason: 'idle' })
  },
)

describe('a session that is started again under its id', () => {
  test('on another connection subscribes that one, which hears what followed', async () => {
    const host = await worldOn('memory').host({ agent: agent() })
    const one = await host.client()
    const command = { commandId: uuidv7(), approvalMode: 'onRequest' }
    const started = await one.call('session/start', command)
    const { sessionId } = started['session'] as { sessionId: string }
    await startTurn(one, sessionId, 'ask')
    const asked = await one.told('userInput/request')
    one.close()
    const two = await host.client()
    expect(await two.call('session/start', command)).toEqual(started)
    expect(await two.told('turn/started')).toMatchObject({ sessionId })
    expect(await two.told('userInput/request')).toEqual(asked)
    await two.command('userInput/answer', answer(sessionId, asked['userInputId'], 'db', 'SQLite'))
    await two.told('turn/completed')
    const from = two.frames.length
    const turnId = await startTurn(two, sessionId, 'none')
    expect(await two.told('turn/completed', () => true, from)).toMatchObject({ turnId })
    expect(await statusOf(two, sessionId)).toBe('idle')
  })

  test.each(['closed', 'silent'])('after its host is %s, is taken by the next one', async how => {
    const world = worldOn('memory')
    const first = await world.host({ agent: agent() })
    const one = await first.client()
    const command = { commandId: uuidv7() }
    const started = await one.call('session/start', command)
    const { sessionId } = started['session'] as { sessionId: string }
    await startTurn(one, sessionId, 'ask')
    const asked = await one.told('userInput/request')
    await goes(first, how)
    const second = await world.host({ agent: agent(), clock: afterALease() })
    const two = await second.client()
    expect(await two.call('session/start', command)).toEqual(started)
    expect(await two.told('turn/started')).toMatchObject({ sessionId })
    expect(await two.told('userInput/request')).toMatchObject({ userInputId: asked['userInputId'] })
    await two.command('userInput/answer', answer(sessionId, asked['userInputId'], 'db', 'SQLite'))
    await two.told('turn/completed')
    await startTurn(two, sessionId, 'none')
  })

  test('and that another host holds by now is in use', async () => {
    const world = worldOn('memory')
    const [first, second] = [await world.host({ agent: agent() }), await world.host({ agent: agent() })]
    const [one, two] = [await first.client(), await second.client()]
    const command = { commandId: uuidv7() }
    await one.call('session/start', command)
    expect((await two.fails('session/start', command)).data.kind).toBe('sessionInUse')
  })
})
