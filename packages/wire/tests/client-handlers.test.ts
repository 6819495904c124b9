import { describe, expect, test } from 'vitest'
import { WireError } from '../src/protocol/index.ts'
import { connected, settled } from './client-peer.ts'
import { approval, userInput } from './client-prompts.ts'

describe('what the host asks to be shown', () => {
  test('is handed to the handler, whose value is the receipt', async () => {
    const asked: unknown[] = []
    const { client, host } = await connected()
    client.onRequest(request => {
      asked.push(request)
      return request.method === 'approval/request' ? { shownAt: 'left' } : undefined
    })
    host.send({ id: 17, method: 'userInput/request', params: userInput('u-1') })
    host.send({ id: 18, method: 'approval/request', params: { ...approval('a-1'), more: 1 } })
    expect(await host.next()).toEqual({ jsonrpc: '2.0', id: 17, result: {} })
    expect(await host.next()).toEqual({ jsonrpc: '2.0', id: 18, result: { shownAt: 'left' } })
    expect(asked).toEqual([
      { method: 'userInput/request', params: userInput('u-1') },
      { method: 'approval/request', params: { ...approval('a-1'), more: 1 } },
    ])
  })

  test('is answered with methodNotFound while nothing handles it', async () => {
    const { client, host } = await connected()
    const missing = {
      id: 17,
      error: { code: -32_601, data: { kind: 'methodNotFound', retryable: false } },
    }
    host.send({ id: 17, method: 'userInput/request', params: userInput('u-1') })
    expect(await host.next()).toMatchObject(missing)
    const stop = client.onRequest(() => {})
    stop()
    host.send({ id: 17, method: 'userInput/request', params: userInput('u-1') })
    expect(await host.next()).toMatchObject(missing)
  })

  test('goes to the last handler, which the one before does not take away', async () => {
    const { client, host } = await connected()
    const stop = client.onRequest(() => ({ by: 'first' }))
    client.onRequest(() => ({ by: 'second' }))
    stop()
    host.send({ id: 1, method: 'userInput/request', params: userInput('u-1') })
    expect(await host.next()).toMatchObject({ result: { by: 'second' } })
  })

  test('is answered as each is ready, and does not hold up what comes behind', async () => {
    const { client, host } = await connected()
    let show = (): void => {}
    client.onRequest(({ method }) => {
      if (method === 'approval/request') return {}
      return new Promise(resolve => (show = () => resolve({ slow: true })))
    })
    host.send({ id: 1, method: 'userInput/request', params: userInput('u-1') })
    host.send({ id: 2, method: 'approval/request', params: approval('a-1') })
    expect(await host.next()).toMatchObject({ id: 2 })
    show()
    expect(await host.next()).toEqual({ jsonrpc: '2.0', id: 1, result: { slow: true } })
  })

  test.each([
    [
      'throws',
      () => {
        throw new Error('no window')
      },
    ],
    ['rejects', () => Promise.reject(new Error('no window'))],
  ])('is answered with internal where the handler %s, which is reported', async (_, handler) => {
    const { client, host, errors } = await connected()
    client.onRequest(handler)
    host.send({ id: 1, method: 'userInput/request', params: userInput('u-1') })
    const { error } = await host.next()
    expect(error).toMatchObject({ code: -32_603, data: { kind: 'internal' } })
    expect(JSON.stringify(error)).not.toContain('no window')
    expect(errors).toMatchObject([{ message: 'no window' }])
  })

  test('is answered with the WireError that the handler throws', async () => {
    const { client, host, errors } = await connected()
    client.onRequest(() => {
      throw new WireError('capabilityRequired', 'no dialogs here', { capability: 'dialogs' })
    })
    host.send({ id: 1, method: 'userInput/request', params: userInput('u-1') })
    expect(await host.next()).toMatchObject({
      error: {
        code: -32_010,
        message: 'no dialogs here',
        data: { kind: 'capabilityRequired', capability: 'dialogs' },
      },
    })
    expect(errors).toEqual([])
  })

  test.each([
    ['no object', 'shown'],
    ['an array', []],
    ['a circle', circle()],
    ['no JSON', { n: 1n }],
  ])('is answered with internal where the receipt is %s', async (_, receipt) => {
    const { client, host } = await connected()
    client.onRequest(() => receipt as never)
    host.send({ id: 1, method: 'userInput/request', params: userInput('u-1') })
    expect(await host.next()).toMatchObject({ id: 1, error: { code: -32_603 } })
  })

  test('is answered with invalidParams where it is of another shape, and reported', async () => {
    const asked: unknown[] = []
    const { host, errors } = await connected({ onRequest: request => void asked.push(request) })
    host.send({ id: 1, method: 'userInput/request', params: { sessionId: 's-1' } })
    expect(await host.next()).toMatchObject({ id: 1, error: { code: -32_602 } })
    expect(asked).toEqual([])
    expect(errors).toHaveLength(1)
  })

  test('is answered with inputTooLarge where it was too long to be read, and reported', async () => {
    const { host, errors } = await connected({}, 1000)
    const long = { ...userInput('u-1'), more: 'x'.repeat(1000) }
    host.send({ id: 1, method: 'userInput/request', params: long })
    expect(await host.next()).toMatchObject({ id: 1, error: { code: -32_002 } })
    expect(errors).toHaveLength(1)
  })

  test('is heard by those who watch, who answer nothing', async () => {
    const watched: string[] = []
    const { client, host, errors } = await connected({ onRequest: () => ({ by: 'handler' }) })
    client.watchRequests(() => {
      throw new Error('not mine')
    })
    const stop = client.watchRequests(({ method }) => void watched.push(method))
    host.send({ id: 1, method: 'userInput/request', params: userInput('u-1') })
    expect(await host.next()).toMatchObject({ result: { by: 'handler' } })
    stop()
    host.send({ id: 2, method: 'userInput/request', params: userInput('u-1') })
    await host.next()
    expect(watched).toEqual(['userInput/request'])
    expect(errors).toMatchObject([{ message: 'not mine' }, { message: 'not mine' }])
  })

  test('is not answered any more when the channel has ended, and that is no fault', async () => {
    let show = (): void => {}
    const { client, host, errors } = await connected({
      onRequest: () => new Promise(resolve => (show = () => resolve())),
    })
    host.send({ id: 1, method: 'userInput/request', params: userInput('u-1') })
    await settled()
    host.close()
    await client.closed
    show()
    await settled()
    expect(errors).toEqual([])
  })
})

function circle(): object {
  const self: Record<string, unknown> = {}
  self['self'] = self
  return self
}
