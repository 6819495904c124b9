import { MemoryMedium, MemoryStore } from '@handraise/inbox'
import { v7 as uuidv7 } from 'uuid'
import { describe, expect, onTestFinished, test } from 'vitest'
import { failingStore, writesView, type StoreCall } from './fixtures/failing-store.ts'
import { ask, scriptedAgent, write } from './fixtures/scripted-agent.ts'
import { answer, startSession, startTurn, viewOf } from './fixtures/session-commands.ts'
import { connect, openStack, type StackOptions } from './fixtures/stack.ts'
import { allowNothingUnhandled } from './fixtures/unhandled.ts'
import type { Clock } from '@handraise/user-questions'

allowNothingUnhandled()

/** Real time, in which nobody waits for long. */
const impatient: Clock = {
  now: () => Date.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs < 5_000 ? delayMs / 100 : delayMs)
    return () => clearTimeout(timer)
  },
}

async function scene(options: Omit<StackOptions, 'store' | 'clock'> = {}) {
  const medium = new MemoryMedium()
  let fails = (_: StoreCall): boolean => false
  const failed: StoreCall[] = []
  const store = failingStore(new MemoryStore(medium), call => {
    const does = fails(call)
    if (does) failed.push(call)
    return does
  })
  const agent = scriptedAgent({ ask: [ask('db')], write: [write('a')] })
  const stack = await openStack({ agent, store, clock: impatient, ...options })
  onTestFinished(() => {
    fails = () => false
    return stack.close()
  })
  const client = connect(stack)
  onTestFinished(() => client.close())
  await client.start()
  const sessionId = await startSession(client)
  const from = (holds: (call: StoreCall) => boolean, times = Infinity): void => {
    failed.length = 0
    fails = call => failed.length < times && holds(call)
  }
  const ownerOf = async (): Promise<unknown> => {
    const record = await new MemoryStore(medium).record('wire-sessions', sessionId)
    return (record?.value as { owner?: string } | undefined)?.owner
  }
  return { stack, client, sessionId, medium, from, failed, agent, ownerOf }
}

const read = ({ name, given, when }: StoreCall): boolean =>
  name === 'record' && given[0] === 'wire-sessions' && when === 'before'

describe('a store that fails for a moment', () => {
  test.each([
    ['a read', read],
    ['a write, before it was done', call => writesView(call) && call.when === 'before'],
    ['a write, after it was done', call => writesView(call) && call.when === 'after'],
  ] satisfies Array<[string, (call: StoreCall) => boolean]>)(
    'with %s loses nothing, and the session is kept',
    async (_, holds) => {
      const { stack, client, sessionId, from, failed } = await scene()
      for (const text of ['ask', 'write']) {
        const before = client.frames.length
        from(holds, 1)
        const turnId = await startTurn(client, sessionId, text)
        const { method, params } = await client.until(
          frame => /(?:userInput|approval)\/request$/u.test(String(frame['method'])),
          before,
        )
        expect(failed).toHaveLength(1)
        from(holds, 1)
        const asked = params as Record<string, unknown>
        if (method === 'userInput/request')
          await client.command('userInput/answer', answer(sessionId, asked['userInputId'], 'db', 'SQLite'))
        else await client.command('turn/interrupt', { sessionId })
        await client.told('turn/completed', params_ => params_['turnId'] === turnId)
        expect(failed).toHaveLength(1)
      }
      expect(client.allTold('session/closed')).toEqual([])
      expect(client.frames.filter(frame => 'error' in frame)).toEqual([])
      expect(client.faults).toEqual([])
      const methods = (await viewOf(client, sessionId)).map(({ method }) => method)
      expect(methods.filter(method => method === 'turn/started')).toHaveLength(2)
      expect(methods.filter(method => method === 'userInput/settled')).toHaveLength(1)
      // It was told of all the same.
      expect(stack.reported.length).toBeGreaterThan(0)
    },
  )
})

describe('a store that fails for good', () => {
  test('has the session given up, and free for another host', async () => {
    const { client, sessionId, from, ownerOf, medium } = await scene()
    await startTurn(client, sessionId, 'ask')
    await client.told('userInput/request')
    expect(await ownerOf()).toBeDefined()
    from(writesView)
    await client.request('session/setApprovalMode', { sessionId, commandId: uuidv7(), mode: 'allowAll' })
    expect(await client.told('session/closed')).toMatchObject({ sessionId, reason: 'storeFailed' })
    await expect.poll(ownerOf).toBeUndefined()
    const other = await openStack({ store: new MemoryStore(medium), clock: impatient })
    onTestFinished(() => other.close())
    const two = connect(other)
    onTestFinished(() => two.close())
    await two.start()
    await two.command('session/resume', { sessionId })
    await two.told('userInput/request')
  })

  test('leaves the mode of a session as it was', async () => {
    const { stack, client, sessionId, from } = await scene()
    const command = { sessionId, commandId: uuidv7(), mode: 'allowAll' }
    from(writesView)
    expect(await client.request('session/setApprovalMode', command)).toMatchObject({
      error: { data: { kind: 'internal' } },
    })
    from(() => false)
    expect(await stack.ctx.userApprovals.mode(sessionId)).toBe('promptUnmatched')
    const resumed = await client.command('session/resume', { sessionId })
    expect(resumed).toMatchObject({ session: { approvalMode: { mode: 'promptUnmatched' } } })
    await startTurn(client, sessionId, 'write')
    await client.told('approval/request')
    expect(client.allTold('session/approvalModeChanged')).toEqual([])
    // The command that failed is done when it is sent again.
    expect(await client.request('session/setApprovalMode', command)).toMatchObject({
      result: { applyOutcome: 'completed' },
    })
    expect(await stack.ctx.userApprovals.mode(sessionId)).toBe('allowAll')
  })

  test.each(['turn/interrupt', 'turn/start'])(
    'answers %s once, whatever fails behind its ack',
    async method => {
      const { client, sessionId, from } = await scene()
      const turnId = await startTurn(client, sessionId, 'ask')
      await client.told('userInput/request')
      const params =
        method === 'turn/interrupt'
          ? { turnId }
          : { input: [{ type: 'text', text: 'write' }], ifBusy: 'replace' }
      const command = { sessionId, commandId: uuidv7(), ...params }
      // The ack is written with the stop, and no event: what follows it fails.
      from(writesView)
      const ack = await client.request(method, command, 'X')
      expect(ack).toMatchObject({ result: { status: 'accepted' } })
      await client.told('session/closed')
      from(() => false)
      await client.command('session/resume', { sessionId })
      // The stop was written down, so the turn is ended all the same.
      expect(await client.told('turn/completed', told => told['turnId'] === turnId)).toMatchObject({
        terminal: 'cancelled',
      })
      expect(await client.request(method, command)).toMatchObject({ result: ack['result'] })
      expect(client.frames.filter(frame => frame['id'] === 'X' && !('method' in frame))).toEqual([ack])
    },
  )

  test('withdraws what a turn asked once it goes on and is interrupted', async () => {
    const { stack, client, sessionId, from } = await scene()
    const turnId = await startTurn(client, sessionId, 'ask')
    const { userInputId } = await client.told('userInput/request')
    from(writesView)
    await client.request('session/setApprovalMode', { sessionId, commandId: uuidv7(), mode: 'onRequest' })
    await client.told('session/closed')
    from(() => false)
    await client.command('session/resume', { sessionId })
    await client.command('turn/interrupt', { sessionId, turnId })
    await client.told('turn/completed')
    expect(client.allTold('userInput/settled')).toMatchObject([{ userInputId, outcome: 'aborted' }])
    expect((await stack.inbox.list({ state: 'pending', session: sessionId })).requests).toEqual([])
  })
})
