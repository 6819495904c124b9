import { describe, expect, test } from 'vitest'
import { asking, calling, DATABASE, TEXT } from './agents.ts'
import { answered, start, waiting } from './session-scene.ts'
import { host } from './wired.ts'

describe('turns', () => {
  test('wait for the one before, and run one after the other', async () => {
    const { one, sessionId, asked } = await waiting()
    const second = one.commandId()
    expect(
      await one.call('turn/start', { sessionId, commandId: second, input: TEXT, ifBusy: 'queue' }),
    ).toEqual({
      commandId: second,
      status: 'accepted',
      turnId: second,
      startedNewTurn: false,
      disposition: 'queued',
    })
    const answers = [{ questionId: 'db', selectedLabel: 'SQLite' }]
    await one.call('userInput/answer', {
      sessionId,
      userInputId: asked['userInputId'],
      commandId: one.commandId(),
      answers,
    })
    const next = await one.until(
      ({ method, params }) => method === 'turn/started' && (params as { turnId: string }).turnId === second,
    )
    expect(one.frames.indexOf(next)).toBeGreaterThan(
      one.frames.findIndex(({ method }) => method === 'turn/completed'),
    )
  })

  test('that wait may be taken back', async () => {
    const { one, sessionId } = await waiting()
    const second = one.commandId()
    await one.call('turn/start', { sessionId, commandId: second, input: TEXT })
    await one.call('turn/cancel', { sessionId, commandId: one.commandId(), turnId: second })
    expect(await one.told('turn/completed')).toMatchObject({ turnId: second, terminal: 'cancelled' })
  })

  test('make way for the one that replaces them', async () => {
    const { one, sessionId } = await waiting()
    const second = one.commandId()
    expect(
      await one.call('turn/start', { sessionId, commandId: second, input: TEXT, ifBusy: 'replace' }),
    ).toMatchObject({
      startedNewTurn: true,
      disposition: 'started',
    })
    expect(await one.told('turn/completed')).toMatchObject({
      terminal: 'cancelled',
      reason: 'replaced by another turn',
    })
    expect(await one.told('userInput/settled')).toMatchObject({ outcome: 'aborted' })
    await one.until(
      ({ method, params }) => method === 'turn/started' && (params as { turnId: string }).turnId === second,
    )
  })

  test('take input while they run, where their agent does', async () => {
    const steered: unknown[] = []
    const agent = {
      ...asking(DATABASE),
      steer: (turnId: string, input: unknown) => void steered.push(turnId, input),
    }
    const { peer } = await host({ agent })
    const one = await peer().start()
    const { session } = await start(one)
    const { sessionId } = session
    const first = one.commandId()
    await one.call('turn/start', { sessionId, commandId: first, input: TEXT })
    await one.told('userInput/request')
    expect(
      await one.call('turn/start', { sessionId, commandId: one.commandId(), input: TEXT, ifBusy: 'steer' }),
    ).toMatchObject({
      turnId: first,
      startedNewTurn: false,
      disposition: 'steered',
    })
    expect(steered).toEqual([first, TEXT])
  })

  test('beyond what may wait are told to come back', async () => {
    const { peer } = await host({ agent: asking(DATABASE), limits: { queuedTurns: 1 } })
    const one = await peer().start()
    const { session } = await start(one)
    const { sessionId } = session
    const begin = () => ({ sessionId, commandId: one.commandId(), input: TEXT })
    await one.call('turn/start', begin())
    await one.told('userInput/request')
    const waits = begin()
    await one.call('turn/start', waits)
    const more = begin()
    expect(await one.fails('turn/start', more)).toMatchObject({
      code: -32_031,
      data: { kind: 'backpressured', capacity: 1 },
    })
    await one.call('turn/cancel', { sessionId, commandId: one.commandId(), turnId: waits.commandId })
    await one.call('turn/start', more)
  })

  test('that there are none of cannot be stopped', async () => {
    const { one, sessionId } = await answered()
    const commandId = one.commandId()
    expect(await one.fails('turn/interrupt', { sessionId, commandId })).toMatchObject({
      code: -32_030,
      data: { kind: 'commandRejected', commandId, reason: 'missing_run' },
    })
  })

  test('that their agent fails are told as failed, with why', async () => {
    const agent = {
      run() {
        throw new Error('the model is away')
      },
    }
    const { peer } = await host({ agent })
    const one = await peer().start()
    const { session } = await start(one)
    await one.call('turn/start', { sessionId: session.sessionId, commandId: one.commandId(), input: TEXT })
    expect(await one.told('turn/completed')).toMatchObject({
      terminal: 'failed',
      error: { kind: 'environmentError', message: 'the model is away', retryable: false },
    })
  })

  test('that run a tool that is not there show why it failed', async () => {
    const { peer } = await host({ agent: calling(['no_such_tool', {}]) })
    const one = await peer().start()
    const { session } = await start(one)
    await one.call('turn/start', { sessionId: session.sessionId, commandId: one.commandId(), input: TEXT })
    const ended = await one.until(({ params }) => JSON.stringify(params ?? {}).includes('"failed"'))
    expect(ended).toMatchObject({
      method: 'item/completed',
      params: { item: { status: 'failed', failureReason: expect.stringContaining('no_such_tool') } },
    })
    expect(await one.told('turn/completed')).toMatchObject({ terminal: 'completed' })
  })
})
