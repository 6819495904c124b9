import { describe, expect, test } from 'vitest'
import { asking, DATABASE, TEXT } from './agents.ts'
import { host, type Peer } from './wired.ts'

const clientInfo = { name: 'test_client', version: '1' }

async function started(peer: Peer): Promise<string> {
  const { session } = (await peer.call('session/start', { commandId: peer.commandId() })) as {
    session: { sessionId: string }
  }
  return session.sessionId
}

describe('the handshake', () => {
  test('tells who the host is, with a fingerprint of its own shapes', async () => {
    const { peer } = await host({ home: '/srv/handraise/inbox.db' })
    expect(await peer().call('initialize', { clientInfo })).toEqual({
      serverInfo: { name: 'handraise', version: expect.any(String) },
      userAgent: expect.stringMatching(/^handraise\//u),
      museHome: '/srv/handraise/inbox.db',
      platformFamily: expect.any(String),
      platformOs: expect.any(String),
      schema: { version: 1, fingerprint: expect.stringMatching(/^sha256:[0-9a-f]{64}$/u) },
      grantedCapabilities: [],
      experimentalApi: false,
      sessionDurability: 'durable',
    })
  })

  test('says when sessions end with the process', async () => {
    const { peer } = await host({ durable: false })
    expect(await peer().call('initialize', { clientInfo })).toMatchObject({ sessionDurability: 'ephemeral' })
  })

  test.each(['session/start', 'userInput/answer', 'no/such'])('comes before %s', async method => {
    const { peer } = await host()
    expect(await peer().fails(method, {})).toMatchObject({ code: -32_600, data: { kind: 'notInitialized' } })
  })

  test('is done once', async () => {
    const { peer } = await host()
    const one = await peer().start()
    expect(await one.fails('initialize', { clientInfo })).toMatchObject({
      code: -32_600,
      data: { kind: 'alreadyInitialized' },
    })
  })

  test.each([{ name: 'Has Blanks', version: '1' }, { name: 'ok' }, undefined])(
    'is refused for the client %o, and may be tried again',
    async wrong => {
      const { peer } = await host()
      const one = peer()
      expect(await one.fails('initialize', { clientInfo: wrong })).toMatchObject({ code: -32_602 })
      await one.call('initialize', { clientInfo })
    },
  )

  test('grants what is there and leaves out what is not', async () => {
    const { peer } = await host()
    const capabilities = { requestedCapabilities: ['userShell', 'sessionListStream', 'newer'] }
    expect(await peer().call('initialize', { clientInfo, capabilities })).toMatchObject({
      grantedCapabilities: ['sessionListStream'],
    })
  })

  test('sends nothing of its own accord until the client has said that it is ready', async () => {
    const { peer } = await host({ agent: asking(DATABASE) })
    const one = peer()
    await one.call('initialize', { clientInfo })
    const sessionId = await started(one)
    await one.call('turn/start', { sessionId, commandId: one.commandId(), input: TEXT })
    const other = await peer().start()
    await other.call('session/resume', { sessionId, commandId: other.commandId() })
    await other.told('userInput/request')
    expect(one.methodsTold()).toEqual([])
    one.send({ method: 'initialized' })
    await one.told('userInput/request')
  })
})

describe('what a client opts out of', () => {
  test('is not sent to it, but for what is protected', async () => {
    const { peer } = await host({ agent: asking(DATABASE) })
    const optOutNotificationMethods = [
      'turn/started',
      'item/completed',
      'userInput/settled',
      'userInput/request',
    ]
    const one = await peer().start({ optOutNotificationMethods })
    const sessionId = await started(one)
    await one.call('turn/start', { sessionId, commandId: one.commandId(), input: TEXT })
    const { userInputId } = await one.told('userInput/request')
    const answers = [{ questionId: 'db', selectedLabel: 'SQLite' }]
    await one.call('userInput/answer', { sessionId, userInputId, commandId: one.commandId(), answers })
    await one.told('turn/completed')
    expect(one.methodsTold()).toEqual([
      'session/started',
      'item/started',
      'userInput/requested',
      'userInput/request',
      'userInput/settled',
      'turn/completed',
    ])
  })
})

describe('a client that asked to hear of all sessions', () => {
  test('is told of those others start, and when they wait for a person', async () => {
    const { peer } = await host({ agent: asking(DATABASE) })
    const lists = await peer().start({ requestedCapabilities: ['sessionListStream'] })
    const one = await peer().start()
    const sessionId = await started(one)
    expect(await lists.told('session/started')).toMatchObject({ session: { sessionId } })
    await one.call('turn/start', { sessionId, commandId: one.commandId(), input: TEXT })
    const waits = await lists.until(
      ({ method, params }) => method === 'session/statusChanged' && 'attention' in (params as object),
    )
    expect(waits['params']).toMatchObject({ sessionId, status: 'running', attention: ['inputPending'] })
    expect(one.methodsTold()).not.toContain('session/statusChanged')
  })
})

describe('a frame', () => {
  test.each([
    ['that is not JSON', '{"jsonrpc":', -32_700, 'parseError', null],
    ['that is a batch', '[]', -32_600, 'invalidRequest', null],
    ['of another version', '{"jsonrpc":"1.0","id":7,"method":"x"}', -32_600, 'invalidRequest', 7],
    [
      'with parameters in a list',
      '{"jsonrpc":"2.0","id":"a","method":"x","params":[]}',
      -32_600,
      'invalidRequest',
      'a',
    ],
    ['with the id null', '{"jsonrpc":"2.0","id":null,"method":"x"}', -32_600, 'invalidRequest', null],
    [
      'with an id that is an object',
      '{"jsonrpc":"2.0","id":{},"method":"x"}',
      -32_600,
      'invalidRequest',
      null,
    ],
    ['that is neither request nor response', '{"jsonrpc":"2.0","id":3}', -32_600, 'invalidRequest', 3],
  ])('%s is refused, and the connection lives', async (_, text, code, kind, id) => {
    const { peer } = await host()
    const one = await peer().start()
    const from = one.frames.length
    one.sendRaw(text)
    expect(await one.until(frame => 'error' in frame, from)).toMatchObject({
      id,
      error: { code, data: { kind } },
    })
    expect(await one.fails('no/such')).toMatchObject({ code: -32_601, data: { kind: 'methodNotFound' } })
  })

  test.each([1, '1', 0, -7])('with the id %j is answered with the same', async id => {
    const { peer } = await host()
    const answer = await peer().request('initialize', { clientInfo }, id)
    expect(answer['id']).toBe(id)
  })

  test('for a capability that is not granted says which', async () => {
    const { peer } = await host()
    const one = await peer().start()
    expect(await one.fails('userShell/run', {})).toMatchObject({
      code: -32_010,
      data: { kind: 'capabilityRequired', capability: 'userShell' },
    })
    const config = { mcpServers: {} }
    expect(await one.fails('session/start', { commandId: one.commandId(), config })).toMatchObject({
      code: -32_010,
      data: { capability: 'sessionMcp' },
    })
  })
})
