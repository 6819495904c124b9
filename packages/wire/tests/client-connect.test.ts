import { describe, expect, onTestFinished, test } from 'vitest'
import { connect } from '../src/client/connect.ts'
import { WireConnectionError } from '../src/client/connection-error.ts'
import { WireProtocolError } from '../src/client/protocol-error.ts'
import type { WireEvent } from '../src/client/event.ts'
import { WireError } from '../src/protocol/index.ts'
import { HandClock } from './client-clock.ts'
import { FINGERPRINT, INITIALIZE_RESULT, wired } from './client-peer.ts'

const clientInfo = { name: 'test_client', version: '1.0.0', title: 'A test' }

/** The error with which a promise rejects. */
async function failure(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    () => expect.unreachable('it did not fail'),
    (error: Error) => error,
  )
}

describe('the handshake', () => {
  test('sends initialize, and initialized when it was answered', async () => {
    const { near, host } = wired()
    const connecting = connect(near, { clientInfo, capabilities: { userInputDialogs: true } })
    const initialize = await host.next()
    expect(initialize).toEqual({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { clientInfo, capabilities: { userInputDialogs: true } },
    })
    host.answer(initialize, { ...INITIALIZE_RESULT, more: 1 })
    expect(await host.next()).toEqual({ jsonrpc: '2.0', method: 'initialized' })
    const client = await connecting
    onTestFinished(() => client.close())
    expect(client.initializeResult).toMatchObject({ serverInfo: { name: 'scripted' }, more: 1 })
    expect(client.fingerprintWarning).toBeUndefined()
  })

  test('warns of another fingerprint than the one expected, and goes on', async () => {
    for (const [expectedFingerprint, warning] of [
      [FINGERPRINT, undefined],
      ['sha256:other', { expected: 'sha256:other', actual: FINGERPRINT }],
    ] as const) {
      const { near, host } = wired()
      const [client] = await Promise.all([
        connect(near, { clientInfo, expectedFingerprint }),
        host.shakeHands(),
      ])
      onTestFinished(() => client.close())
      expect(client.fingerprintWarning).toEqual(warning)
    }
  })

  test('lets the handlers hear what comes right behind the answer', async () => {
    const { near, host } = wired()
    const events: WireEvent[] = []
    const asked: string[] = []
    const connecting = connect(near, {
      clientInfo,
      onEvent: event => void events.push(event),
      onRequest: ({ method }) => void asked.push(method),
    })
    const initialize = await host.next()
    const lines = [
      { id: initialize.id, result: INITIALIZE_RESULT },
      { method: 'later/event', params: { n: 1 }, emittedAtMs: 5 },
      { id: 1, method: 'other/request' },
    ]
    for (const line of lines) host.send(line)
    await host.expect('initialized')
    expect(await host.next()).toMatchObject({ id: 1, error: { code: -32_601 } })
    const client = await connecting
    onTestFinished(() => client.close())
    expect(events).toEqual([{ known: false, method: 'later/event', params: { n: 1 }, emittedAtMs: 5 }])
    expect(asked).toEqual([])
  })

  test('fails with what the host says, and ends the channel', async () => {
    const { near, host } = wired()
    const connecting = failure(connect(near, { clientInfo }))
    host.refuse(await host.next(), -32_602, 'invalidParams', { reason: 'name' })
    const error = await connecting
    expect(WireError.isInstance(error)).toBe(true)
    expect(error).toMatchObject({ kind: 'invalidParams', code: -32_602, data: { reason: 'name' } })
    await host.ended()
  })

  test('fails where the answer is not that of the protocol, and ends the channel', async () => {
    const { near, host } = wired()
    const connecting = failure(connect(near, { clientInfo }))
    const { schema: _, ...without } = INITIALIZE_RESULT
    host.answer(await host.next(), without)
    expect(WireProtocolError.isInstance(await connecting)).toBe(true)
    await host.ended()
  })

  test('fails where the host ends before it answers', async () => {
    const { near, host } = wired()
    const connecting = failure(connect(near, { clientInfo }))
    await host.next()
    host.close()
    const error = await connecting
    expect(WireConnectionError.isInstance(error)).toBe(true)
    expect(error.message).toBe('no connection to the host: the host ended it')
  })

  test('fails where the host does not answer in time, and leaves no timer', async () => {
    const clock = new HandClock()
    const { near, host } = wired()
    const connecting = failure(connect(near, { clientInfo, clock }))
    await host.next()
    expect(clock.waiting).toEqual([30_000])
    clock.advance(30_000)
    expect((await connecting).message).toContain('the host did not answer within 30000 ms')
    await host.ended()
    expect(clock.waiting).toEqual([])
  })

  test('leaves no timer where it succeeds', async () => {
    const clock = new HandClock()
    const { near, host } = wired()
    const [client] = await Promise.all([connect(near, { clientInfo, clock }), host.shakeHands()])
    onTestFinished(() => client.close())
    expect(clock.waiting).toEqual([])
  })
})
