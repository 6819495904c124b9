import { describe, expect, test } from 'vitest'
import { WireProtocolError } from '../src/client/protocol-error.ts'
import { WireError } from '../src/protocol/index.ts'
import { connected, settled, type Connected, type Frame } from './client-peer.ts'

const UUID_V7 = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/
const CANCEL = { sessionId: 's-1', userInputId: 'u-1' }
const COMMAND_ID = '018f6a2b-3333-7abc-8def-00000000d002'

const idOf = ({ params }: Frame): unknown => params?.['commandId']

const ack = (commandId: unknown, more: object = {}): object => ({
  commandId,
  status: 'accepted',
  userInputId: 'u-1',
  ...more,
})

/** Sends a command and answers it. */
async function done({ client, host }: Connected, reply: object, params = CANCEL): Promise<unknown> {
  const commanding = client.command('userInput/cancel', params, { commandId: COMMAND_ID })
  host.answer(await host.next(), reply)
  return commanding
}

describe('a command', () => {
  test('has an id of its own, a UUIDv7, and resolves with its acknowledgement', async () => {
    const { client, host } = await connected()
    const first = client.command('userInput/cancel', { ...CANCEL, reason: 'no' })
    const second = client.command('userInput/cancel', CANCEL)
    const frames = [await host.next(), await host.next()]
    const ids = frames.map(idOf)
    expect(frames[0]).toMatchObject({
      method: 'userInput/cancel',
      params: { ...CANCEL, reason: 'no', commandId: expect.stringMatching(UUID_V7) },
    })
    expect(new Set(ids).size).toBe(2)
    frames.forEach((frame, index) => host.answer(frame, ack(ids[index])))
    expect(await first).toEqual(ack(ids[0]))
    expect(await second).toEqual(ack(ids[1]))
  })

  test('takes an id from outside, and a method that is not known', async () => {
    const { client, host } = await connected()
    const commanding = client.command('goal/set', { objective: 'x' }, { commandId: COMMAND_ID })
    const frame = await host.next()
    expect(frame).toMatchObject({ method: 'goal/set', params: { objective: 'x', commandId: COMMAND_ID } })
    host.answer(frame, { commandId: COMMAND_ID, turnId: 't' })
    expect(await commanding).toEqual({ commandId: COMMAND_ID, turnId: 't' })
  })

  test.each([
    [-32_001, 'overloaded'],
    [-32_031, 'backpressured'],
  ])('is sent again under the same id after %i %s, with longer delays', async (code, kind) => {
    const { client, host, clock } = await connected({ random: () => 0.5 })
    const commanding = client.command('userInput/cancel', CANCEL, { maxAttempts: 8 })
    const frames: Frame[] = []
    const delays: number[] = []
    for (let attempt = 1; attempt < 8; attempt += 1) {
      frames.push(await host.next())
      host.refuse(frames.at(-1)!, code, kind)
      await settled()
      expect(clock.waiting).toHaveLength(1)
      delays.push(clock.waiting[0]!)
      clock.advance(clock.waiting[0]! - 1)
      await settled()
      clock.advance(1)
    }
    const last = await host.next()
    host.answer(last, ack(idOf(last)))
    await commanding
    expect(delays).toEqual([25, 50, 100, 200, 400, 800, 1_000])
    expect(new Set([...frames, last].map(idOf)).size).toBe(1)
    expect(new Set([...frames, last].map(({ id }) => id)).size).toBe(8)
    expect(clock.waiting).toEqual([])
  })

  test('is sent three times at most, unless said otherwise', async () => {
    for (const [maxAttempts, expected] of [
      [undefined, 3],
      [1, 1],
    ] as const) {
      const { client, host, clock } = await connected()
      const commanding = client
        .command('userInput/cancel', CANCEL, { maxAttempts })
        .catch((error: unknown) => error)
      for (let attempt = 1; attempt <= expected; attempt += 1) {
        host.refuse(await host.next(), -32_001, 'overloaded')
        await settled()
        clock.advance(2_000)
      }
      expect(await commanding).toMatchObject({ kind: 'overloaded' })
    }
  })

  test.each([
    [-32_030, 'commandRejected', {}],
    [-32_603, 'internal', { retryable: true }],
    [-32_001, 'backpressured', {}],
    [-32_031, 'overloaded', {}],
    [-32_001, 'overloaded', { retryable: false }],
  ])('is not sent again after %i %s %o', async (code, kind, data) => {
    const { client, host, clock } = await connected()
    const commanding = client.command('userInput/cancel', CANCEL).catch((error: unknown) => error)
    host.refuse(await host.next(), code, kind, data)
    const error = await commanding
    expect(WireError.isInstance(error)).toBe(true)
    expect(error).toMatchObject({ code, kind })
    expect(clock.waiting).toEqual([])
  })

  test('ends its wait for room with its signal, or with the channel, and leaves no timer', async () => {
    for (const end of ['signal', 'channel'] as const) {
      const { client, host, clock } = await connected()
      const controller = new AbortController()
      const commanding = client
        .command('userInput/cancel', CANCEL, { commandId: COMMAND_ID, signal: controller.signal })
        .catch((error: unknown) => error)
      host.refuse(await host.next(), -32_001, 'overloaded')
      await settled()
      expect(clock.waiting).toHaveLength(1)
      if (end === 'signal') controller.abort(new Error('enough'))
      else host.close()
      expect(await commanding).toMatchObject(
        end === 'signal' ? { message: 'enough' } : { name: 'WireConnectionError', commandId: COMMAND_ID },
      )
      expect(clock.waiting).toEqual([])
    }
  })
})

describe('a command id', () => {
  test('stands for one thing: with another nothing is sent', async () => {
    const both = await connected()
    await done(both, ack(COMMAND_ID))
    const { client, host } = both
    const other = { ...CANCEL, userInputId: 'u-2' }
    await expect(client.command('userInput/cancel', other, { commandId: COMMAND_ID })).rejects.toBeInstanceOf(
      TypeError,
    )
    const clarification = { format: 'text', content: '?' }
    await expect(
      client.command('userInput/clarify', { ...CANCEL, clarification }, { commandId: COMMAND_ID }),
    ).rejects.toBeInstanceOf(TypeError)
    void client.request('next/thing').catch(() => {})
    await host.expect('next/thing')
  })

  test('may be sent again with the same, in whatever order, and is acknowledged alike', async () => {
    const both = await connected()
    await done(both, ack(COMMAND_ID, { of: { a: 1, b: [1, 2] } }))
    const { sessionId, userInputId } = CANCEL
    const reordered = { userInputId, reason: undefined, sessionId }
    const again = await done(both, { of: { b: [1, 2], a: 1 }, ...ack(COMMAND_ID) }, reordered)
    expect(again).toEqual(ack(COMMAND_ID, { of: { a: 1, b: [1, 2] } }))
  })

  test.each([
    ['another value', ack(COMMAND_ID, { of: [2, 1] })],
    ['a member less', ack(COMMAND_ID)],
  ])('that is acknowledged otherwise than before is against the protocol: %s', async (_, other) => {
    const both = await connected()
    await done(both, ack(COMMAND_ID, { of: [1, 2] }))
    await expect(done(both, other)).rejects.toSatisfy(WireProtocolError.isInstance)
  })

  test('that comes back as another is against the protocol', async () => {
    const both = await connected()
    await expect(done(both, ack('another'))).rejects.toSatisfy(WireProtocolError.isInstance)
    expect(await done(both, ack(COMMAND_ID))).toEqual(ack(COMMAND_ID))
  })

  test('need not come back', async () => {
    const { client, host } = await connected()
    const commanding = client.command('goal/set', {}, { commandId: COMMAND_ID })
    host.answer(await host.next(), { turnId: 't' })
    expect(await commanding).toEqual({ turnId: 't' })
  })

  test('is known among the last thousand', async () => {
    const { client, host } = await connected()
    const send = async (commandId: string, n: number): Promise<void> => {
      const commanding = client.command('goal/set', { n }, { commandId })
      host.answer(await host.next())
      await commanding
    }
    for (let n = 0; n < 1_001; n += 1) await send(`id-${n}`, n)
    await expect(client.command('goal/set', { n: -1 }, { commandId: 'id-1' })).rejects.toBeInstanceOf(
      TypeError,
    )
    await send('id-0', -1)
  })
})

test('engaged is told, and not answered', async () => {
  const { client, host } = await connected()
  await client.notify('userInput/engaged', CANCEL)
  expect(await host.next()).toEqual({ jsonrpc: '2.0', method: 'userInput/engaged', params: CANCEL })
})
