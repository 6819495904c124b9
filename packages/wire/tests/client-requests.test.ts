import { describe, expect, expectTypeOf, test, vi } from 'vitest'
import { WireConnectionError } from '../src/client/connection-error.ts'
import { WireProtocolError } from '../src/client/protocol-error.ts'
import {
  WireError,
  type ApprovalListPendingResult,
  type ApprovalRequestParams,
  type UserInputAnswerResult,
  type UserInputSettledParams,
} from '../src/protocol/index.ts'
import type { WireClient } from '../src/client/wire-client.ts'
import { connected, settled } from './client-peer.ts'

const NOTHING = { approvals: [], userInputs: [] }

describe('a request', () => {
  test('resolves with its result, whatever the order of the answers', async () => {
    const { client, host, errors } = await connected()
    const first = client.request('approval/listPending', { sessionId: 's-1' })
    const second = client.request('other/thing')
    const frames = [await host.next(), await host.next()]
    expect(frames).toEqual([
      { jsonrpc: '2.0', id: 2, method: 'approval/listPending', params: { sessionId: 's-1' } },
      { jsonrpc: '2.0', id: 3, method: 'other/thing' },
    ])
    host.answer(frames[1]!, { other: true })
    host.answer(frames[0]!, { ...NOTHING, more: 1 })
    expect(await first).toEqual({ ...NOTHING, more: 1 })
    expect(await second).toEqual({ other: true })
    expect(errors).toEqual([])
  })

  test('rejects with the error of the host, of whatever kind', async () => {
    const { client, host } = await connected()
    const asking = client.request('view/page', { sessionId: 's-1', limit: 10 })
    host.refuse(await host.next(), -32_099, 'ofTheFuture', { retryable: true, more: 1, resolution: 5 })
    const error = await asking.catch((thrown: unknown) => thrown)
    expect(WireError.isInstance(error)).toBe(true)
    expect(error).toMatchObject({ kind: 'ofTheFuture', code: -32_099, message: 'it is ofTheFuture' })
  })

  test.each([
    ['has both a result and an error', { result: {}, error: { code: 1, message: '', data: { kind: 'x' } } }],
    ['has neither a result nor an error', {}],
    ['has a result that is no object', { result: [] }],
    ['has a result that is null', { result: null }],
    ['has an error without a kind', { error: { code: -32_603, message: 'no' } }],
    ['has an error whose code is no integer', { error: { code: 1.5, message: '', data: { kind: 'x' } } }],
    ['has a result of another shape', { result: { approvals: [] } }],
  ])('rejects where its answer %s', async (_, answer) => {
    const { client, host } = await connected()
    const asking = client.request('approval/listPending', { sessionId: 's-1' })
    const { id } = await host.next()
    host.send({ id, ...answer })
    const error = await asking.catch((thrown: unknown) => thrown)
    expect(WireProtocolError.isInstance(error)).toBe(true)
    const next = client.request('other/thing')
    host.answer(await host.next())
    expect(await next).toEqual({})
  })

  test('rejects where its answer was too long to be read', async () => {
    const { client, host, errors } = await connected({}, 1000)
    const asking = client.request('other/thing')
    host.answer(await host.next(), { text: 'x'.repeat(1000) })
    await expect(asking).rejects.toSatisfy(WireProtocolError.isInstance)
    expect(errors).toEqual([])
  })

  test('rejects, and is not sent, where it is over the limit', async () => {
    const { client, host } = await connected()
    const text = 'x'.repeat(10 * 1024 * 1024)
    await expect(client.request('other/thing', { text })).rejects.toBeInstanceOf(RangeError)
    void client.request('next/thing').catch(() => {})
    await host.expect('next/thing')
  })

  test('rejects with the reason of its signal, and its late answer is no fault', async () => {
    const { client, host, errors } = await connected()
    const controller = new AbortController()
    const asking = client.request('other/thing', {}, { signal: controller.signal })
    const asked = await host.next()
    controller.abort(new Error('enough'))
    await expect(asking).rejects.toThrow('enough')
    host.answer(asked)
    host.answer(asked)
    const next = client.request('next/thing', {}, { signal: AbortSignal.timeout(60_000) })
    host.answer(await host.next())
    await next
    expect(errors).toMatchObject([{ message: 'nothing was asked under the id 2' }])
  })

  test('leaves nothing on its signal', async () => {
    const { client, host } = await connected()
    const { signal } = new AbortController()
    const [added, removed] = [vi.spyOn(signal, 'addEventListener'), vi.spyOn(signal, 'removeEventListener')]
    const asking = client.request('other/thing', {}, { signal })
    host.answer(await host.next())
    await asking
    const failing = client.request('other/thing', {}, { signal })
    host.refuse(await host.next(), -32_603, 'internal')
    await failing.catch(() => {})
    expect(added).toHaveBeenCalledTimes(2)
    expect(removed.mock.calls).toEqual(added.mock.calls)
  })

  test('is not sent where its signal was aborted before', async () => {
    const { client, host } = await connected()
    const asking = client.request('other/thing', {}, { signal: AbortSignal.abort(new Error('no')) })
    await expect(asking).rejects.toThrow('no')
    void client.request('next/thing').catch(() => {})
    await host.expect('next/thing')
  })
})

describe('the end of the channel', () => {
  test('rejects all that is pending, says what may be done, and resolves closed', async () => {
    const { client, host, errors } = await connected()
    const asking = client.request('other/thing')
    const commanding = client.command('userInput/cancel', { sessionId: 's-1', userInputId: 'u-1' })
    await host.next()
    const sent = await host.next()
    host.close()
    const asked = await asking.catch((thrown: unknown) => thrown)
    const commanded = await commanding.catch((thrown: unknown) => thrown)
    expect(WireConnectionError.isInstance(asked) && WireConnectionError.isInstance(commanded)).toBe(true)
    expect(asked).not.toHaveProperty('code')
    expect(asked).toMatchObject({ commandId: undefined, message: expect.stringContaining('ask again') })
    expect(commanded).toMatchObject({
      commandId: sent.params?.['commandId'],
      message: expect.stringContaining('send the same command under the same id'),
    })
    await client.closed
    expect(client.ended.aborted).toBe(true)
    await expect(client.request('other/thing')).rejects.toSatisfy(WireConnectionError.isInstance)
    await expect(
      client.notify('userInput/engaged', { sessionId: 's-1', userInputId: 'u-1' }),
    ).rejects.toSatisfy(WireConnectionError.isInstance)
    expect(errors).toEqual([])
  })

  test('is brought about by close, once', async () => {
    const { client, host } = await connected()
    const asking = client.request('other/thing')
    await host.next()
    client.close()
    client.close()
    await expect(asking).rejects.toThrow('this client closed it')
    await client.closed
    await host.ended()
  })
})

describe('a frame against the protocol', () => {
  test.each([
    ['not JSON', 'hello'],
    ['an array', '[]'],
    ['null', 'null'],
    ['of another version', '{"jsonrpc":"1.0","method":"x","params":{}}'],
    ['an answer to nothing', '{"jsonrpc":"2.0","id":99,"result":{}}'],
    ['an answer whose id is of another type', '{"jsonrpc":"2.0","id":"2","result":{}}'],
    [
      'an error without an id',
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?","data":{"kind":"parseError"}}}',
    ],
    ['without a method and an id', '{"jsonrpc":"2.0","result":{}}'],
    ['a method that is no text', '{"jsonrpc":"2.0","method":1,"params":{}}'],
    [
      'a request with a text for an id',
      '{"jsonrpc":"2.0","id":"a","method":"userInput/request","params":{}}',
    ],
    ['a request with the id 0', '{"jsonrpc":"2.0","id":0,"method":"userInput/request","params":{}}'],
    ['a request with a negative id', '{"jsonrpc":"2.0","id":-1,"method":"userInput/request","params":{}}'],
    [
      'a request with a fraction for an id',
      '{"jsonrpc":"2.0","id":1.5,"method":"userInput/request","params":{}}',
    ],
    ['a request with null for an id', '{"jsonrpc":"2.0","id":null,"method":"userInput/request","params":{}}'],
    ['both asking and answering', '{"jsonrpc":"2.0","id":2,"method":"x","result":{}}'],
    [
      'a known event of another shape',
      '{"jsonrpc":"2.0","method":"view/gap","params":{"sessionId":"s"},"emittedAtMs":1}',
    ],
  ])('is reported, answered by nothing, and harms nobody: %s', async (_, text) => {
    const heard: unknown[] = []
    const { client, host, errors } = await connected({ onEvent: event => void heard.push(event) })
    const asking = client.request('other/thing')
    const asked = await host.next()
    host.sendText(text)
    host.answer(asked)
    expect(await asking).toEqual({})
    expect(errors).toHaveLength(1)
    expect(WireProtocolError.isInstance(errors[0])).toBe(true)
    expect(heard).toEqual([])
    void client.request('next/thing').catch(() => {})
    await host.expect('next/thing')
  })

  test('is reported to a handler that may throw', async () => {
    const { client, host } = await connected({
      onProtocolError() {
        throw new Error('not you too')
      },
    })
    host.sendText('hello')
    const asking = client.request('other/thing')
    host.answer(await host.next())
    expect(await asking).toEqual({})
  })
})

describe('an event', () => {
  const engaged = { sessionId: 's-1', after: 'c-1', next: 'c-2' }

  test('is heard by all, in order, whoever throws', async () => {
    const heard: unknown[] = []
    const { client, host, errors } = await connected()
    client.onEvent(({ method }) => void heard.push(`a ${method}`))
    client.onEvent(() => {
      throw new Error('not mine')
    })
    const stop = client.onEvent(({ method }) => {
      heard.push(`b ${method}`)
      stop()
      client.onEvent(event => void heard.push(`c ${event.method}`))
    })
    host.tell('view/gap', engaged)
    host.tell('some/thing', {})
    await settled()
    expect(heard).toEqual(['a view/gap', 'b view/gap', 'a some/thing', 'c some/thing'])
    expect(errors).toMatchObject([{ message: 'not mine' }, { message: 'not mine' }])
  })

  test('is not heard by one that another has just taken away', async () => {
    const heard: string[] = []
    const { client, host } = await connected()
    const stops: (() => void)[] = []
    client.onEvent(() => {
      heard.push('first')
      for (const stop of stops.splice(0)) stop()
    })
    stops.push(client.onEvent(() => void heard.push('second')))
    host.tell('some/thing', {})
    host.tell('some/thing', {})
    await settled()
    expect(heard).toEqual(['first', 'first'])
  })

  test('without params, or with null or an array, is passed over', async () => {
    const heard: unknown[] = []
    const { host, errors } = await connected({ onEvent: event => void heard.push(event) })
    host.send({ method: 'view/gap', emittedAtMs: 1 })
    host.send({ method: 'view/gap', params: null })
    host.send({ method: 'view/gap', params: [] })
    host.send({ method: 'view/gap', params: engaged, more: 1 })
    await settled()
    expect(heard).toEqual([{ known: true, method: 'view/gap', params: engaged, emittedAtMs: undefined }])
    expect(errors).toEqual([])
  })

  test('of an older host may not say when a prompt was settled', async () => {
    const heard: unknown[] = []
    const { host } = await connected({ onEvent: event => void heard.push(event) })
    const { decidedAt: _, ...older } = SETTLED
    host.tell('userInput/settled', older)
    host.tell('userInput/settled', { ...SETTLED, outcome: 'ofTheFuture' })
    await settled()
    expect(heard).toMatchObject([
      { params: { decidedAt: null } },
      { params: { decidedAt: SETTLED.decidedAt, outcome: 'ofTheFuture' } },
    ])
  })
})

const POINT = { id: 'r-1', sequence: 1 }
const SETTLED: UserInputSettledParams = {
  sessionId: 's-1',
  viewCursor: 'c-1',
  sourceRange: { stream: { kind: 'run', id: 'x' }, first: POINT, last: POINT },
  userInputId: 'u-1',
  outcome: 'answered',
  answers: [],
  clarification: null,
  reason: null,
  decidedByCommandId: null,
  decidedAt: '2026-08-07T18:23:20.100Z',
}

test('the methods are typed', () => {
  // Never run: only the types count.
  const typed = async (client: WireClient): Promise<void> => {
    expectTypeOf(
      await client.request('approval/listPending', { sessionId: 's' }),
    ).toEqualTypeOf<ApprovalListPendingResult>()
    expectTypeOf(await client.request('other/thing')).toEqualTypeOf<Readonly<Record<string, unknown>>>()
    const answers = [{ questionId: 'q', freeText: 'x' }]
    const ack = await client.command('userInput/answer', { sessionId: 's', userInputId: 'u', answers })
    expectTypeOf(ack).toEqualTypeOf<UserInputAnswerResult>()
    // @ts-expect-error: the session is missing.
    await client.request('approval/listPending', {})
    // @ts-expect-error: the answers are missing.
    await client.command('userInput/answer', { sessionId: 's', userInputId: 'u' })
    // @ts-expect-error: it is no command.
    await client.command('approval/listPending', { sessionId: 's' })
    // @ts-expect-error: the handshake is done already.
    await client.notify('initialized', {})
    client.onEvent(event => {
      if (event.known && event.method === 'approval/requested') {
        expectTypeOf(event.params).toEqualTypeOf<ApprovalRequestParams>()
      }
    })
    client.onRequest(request => {
      if (request.method === 'approval/request') {
        expectTypeOf(request.params).toEqualTypeOf<ApprovalRequestParams>()
      }
    })
  }
  expect(typed).toBeTypeOf('function')
})
