import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { InboxService } from '@handraise/inbox'
import * as web from '@handraise/provider-web'
import { UserQuestionService } from '@handraise/user-questions'
import { Context } from 'cordis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { send, serve, stream, TOKEN, until } from './served.ts'

const auth = { authorization: `Bearer ${TOKEN}` }
const websocket = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
}
const ACCEPT = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'

interface Taken {
  readonly request: IncomingMessage
  readonly socket: Duplex
  readonly head: Buffer
}

/** Accepts, and sends back what comes until the other side ends. */
function echo() {
  const taken: Taken[] = []
  const handler: web.UpgradeHandler = (request, socket, head) => {
    taken.push({ request, socket, head })
    socket.write(ACCEPT)
    socket.write(head)
    socket.pipe(socket)
  }
  return { taken, handler }
}

type Outcome =
  | { readonly taken: true; readonly socket: Duplex }
  | {
      readonly taken: false
      readonly status: number
      readonly headers: IncomingHttpHeaders
      // oxlint-disable-next-line typescript/no-explicit-any -- what is expected of it is what the tests say
      readonly json: any
    }

function upgrade(url: string, path: string, headers: Record<string, string> = {}): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(new URL(path, url), { headers: { ...websocket, ...headers }, agent: false })
    sent.on('error', reject)
    sent.on('upgrade', (_, socket) => {
      socket.on('error', () => {})
      onTestFinished(() => void socket.destroy())
      resolve({ taken: true, socket })
    })
    sent.on('response', response => {
      let text = ''
      response.on('error', reject)
      response.on('data', (chunk: Buffer) => (text += chunk.toString()))
      response.on('end', () => {
        const { statusCode: status = 0, headers: told } = response
        resolve({ taken: false, status, headers: told, json: JSON.parse(text) as unknown })
      })
    })
    sent.end()
  })
}

async function upgraded(url: string, path = '/wire'): Promise<Duplex> {
  const outcome = await upgrade(url, path, auth)
  if (!outcome.taken) throw new Error(`refused: ${outcome.json.code}`)
  return outcome.socket
}

/** A connection on which the test writes by itself, and never ends its own side. */
async function raw(port: number) {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  let text = ''
  const ended = once(socket, 'end')
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  await once(socket, 'connect')
  return {
    socket,
    /** All that came, once the server has ended its side. */
    all: async () => {
      await ended
      return text
    },
    /** All that came, once that includes what is looked for. */
    reads: async (sought: string) => {
      while (!text.includes(sought)) await once(socket, 'data')
      return text
    },
  }
}

function requestText(path: string, headers: Record<string, string> | readonly string[]): string {
  const given = Array.isArray(headers) ? headers : Object.entries(headers).map(pair => pair.join(': '))
  const own = Object.entries(websocket).map(pair => pair.join(': '))
  return [`GET ${path} HTTP/1.1`, ...own, ...given, '', ''].join('\r\n')
}

/** The server's own ends of the connections made from now on. */
function serverSockets(): Socket[] {
  const sockets: Socket[] = []
  const see = (message: unknown): void => void sockets.push((message as { socket: Socket }).socket)
  subscribe('net.server.socket', see)
  onTestFinished(() => void unsubscribe('net.server.socket', see))
  return sockets
}

async function closed(socket: Duplex | undefined): Promise<void> {
  if (socket === undefined) throw new Error('there is no such socket')
  if (!socket.closed) await once(socket, 'close')
}

describe('an upgrade', () => {
  test('with the token reaches the handler of its path', async () => {
    const [wire, other] = [echo(), echo()]
    const { url, reported } = await serve({ upgrades: { '/wire': wire.handler, '/other': other.handler } })
    const socket = await upgraded(url, '/wire?resume=1')
    socket.end('hello')
    expect(String(await once(socket, 'data'))).toBe('hello')
    await closed(socket)
    expect([wire.taken.length, other.taken.length]).toEqual([1, 0])
    expect(wire.taken[0]?.request.url).toBe('/wire?resume=1')
    expect(reported).toEqual([])
  })

  test.each([
    `handraise.token.${TOKEN}`,
    `handraise.wire, handraise.token.${TOKEN}`,
    `handraise.token.${TOKEN},handraise.wire`,
  ])('may bring the token as a browser can: %s', async offered => {
    const { taken, handler } = echo()
    const { url } = await serve({ upgrades: { '/wire': handler } })
    const outcome = await upgrade(url, '/wire', { 'sec-websocket-protocol': offered })
    expect(outcome.taken).toBe(true)
    expect(taken).toHaveLength(1)
  })

  test('brings along what its client sent right after it', async () => {
    const { taken, handler } = echo()
    const { server } = await serve({ upgrades: { '/wire': handler } })
    const { socket, reads } = await raw(server.port)
    socket.write(`${requestText('/wire', { host: 'localhost', ...auth })}early`)
    expect(await reads('early')).toBe(`${ACCEPT}early`)
    expect(String(taken[0]?.head)).toBe('early')
  })

  test('may come from a page of the server itself, or of an allowed origin', async () => {
    const { taken, handler } = echo()
    const { url } = await serve({ upgrades: { '/wire': handler }, allowedOrigins: ['https://desk.example'] })
    for (const origin of [new URL(url).origin, 'https://desk.example'])
      expect((await upgrade(url, '/wire', { ...auth, origin })).taken).toBe(true)
    expect(taken).toHaveLength(2)
  })

  test('may be silent for as long as its handler lets it', async () => {
    const sockets = serverSockets()
    const { url } = await serve({ upgrades: { '/wire': echo().handler } })
    await upgraded(url)
    expect(sockets.map(({ timeout }) => timeout)).toEqual([0])
  })

  test('leaves requests as they were, and is no viewer', async () => {
    const { url, call, server } = await serve({ upgrades: { '/wire': echo().handler } })
    await upgraded(url)
    expect(server.viewers()).toBe(0)
    expect((await call('GET', '/api/requests')).status).toBe(200)
    expect((await call('GET', '/wire')).json.code).toBe('NOT_FOUND')
    await (await stream(url)).next()
    expect(server.viewers()).toBe(1)
  })
})

describe('an upgrade is refused', () => {
  const offer = (text: string) => ({ 'sec-websocket-protocol': text })
  test.each<[string, string, Record<string, string>, number, string]>([
    ['of a path that nothing takes', '/other', auth, 404, 'NOT_FOUND'],
    ['of a path below one', '/wire/', auth, 404, 'NOT_FOUND'],
    ['of a path of the API', '/api/requests', auth, 404, 'NOT_FOUND'],
    ['of a path every object has', '/constructor', auth, 404, 'NOT_FOUND'],
    ['under a foreign name', '/wire', { ...auth, host: 'evil.example' }, 403, 'FORBIDDEN_HOST'],
    ['under a name like its own', '/wire', { ...auth, host: '127.0.0.1.nip.io' }, 403, 'FORBIDDEN_HOST'],
    ['from a foreign page', '/wire', { ...auth, origin: 'http://evil.example' }, 403, 'FORBIDDEN_ORIGIN'],
    ['from another port', '/wire', { ...auth, origin: 'http://127.0.0.1:1' }, 403, 'FORBIDDEN_ORIGIN'],
    ['from a page of no origin', '/wire', { ...auth, origin: 'null' }, 403, 'FORBIDDEN_ORIGIN'],
    ['without a token', '/wire', {}, 401, 'UNAUTHORIZED'],
    ['with a wrong token', '/wire', { authorization: `Bearer ${TOKEN}x` }, 401, 'UNAUTHORIZED'],
    ['with the token in the query', `/wire?token=${TOKEN}`, {}, 401, 'UNAUTHORIZED'],
    ['with the token in a cookie', '/wire', { cookie: `token=${TOKEN}` }, 401, 'UNAUTHORIZED'],
    ['with the token as a bare subprotocol', '/wire', offer(TOKEN), 401, 'UNAUTHORIZED'],
    ['with a wrong subprotocol', '/wire', offer(`handraise.token.${TOKEN}x`), 401, 'UNAUTHORIZED'],
    ['with half of it', '/wire', offer(`handraise.token.${TOKEN.slice(1)}`), 401, 'UNAUTHORIZED'],
    ['in another case', '/wire', offer(`Handraise.Token.${TOKEN}`), 401, 'UNAUTHORIZED'],
    ['in capitals', '/wire', offer(`handraise.token.${TOKEN.toUpperCase()}`), 401, 'UNAUTHORIZED'],
    [
      'with a wrong header beside the right subprotocol',
      '/wire',
      { authorization: `Bearer ${TOKEN}x`, ...offer(`handraise.token.${TOKEN}`) },
      401,
      'UNAUTHORIZED',
    ],
  ])('%s', async (_, path, headers, status, code) => {
    const sockets = serverSockets()
    const { taken, handler } = echo()
    const { url, reported } = await serve({ upgrades: { '/wire': handler } })
    const outcome = await upgrade(url, path, headers)
    expect(outcome).toMatchObject({ taken: false, status, json: { code, message: expect.any(String) } })
    await Promise.all(sockets.map(closed))
    expect([sockets.length, taken.length, reported]).toEqual([1, 0, []])
  })

  test('in the words and under the headers that requests are', async () => {
    const { url } = await serve({ upgrades: { '/wire': echo().handler } })
    for (const [path, headers] of [
      ['/api/requests', { host: 'evil.example' }],
      ['/api/requests', { ...auth, origin: 'http://evil.example' }],
      ['/api/requests', {}],
    ] as const) {
      const asked = await send(url, 'GET', path, { headers })
      const outcome = await upgrade(url, '/wire', headers)
      if (outcome.taken) throw new Error('it was taken')
      expect(outcome.json).toEqual(asked.json)
      const { connection, date, 'content-length': length, ...rest } = outcome.headers
      const { connection: _, 'transfer-encoding': __, 'content-length': ___, ...others } = asked.headers
      expect({ ...rest, date }).toEqual({ ...others, date: expect.any(String) })
      expect([connection, Number(length)]).toEqual(['close', asked.text.length])
    }
  })

  test.each([
    ['without a name', []],
    ['with a second name', ['Host: 127.0.0.1', 'Host: evil.example']],
    [
      'with a second origin',
      ['Host: 127.0.0.1', 'Origin: https://desk.example', 'Origin: http://evil.example'],
    ],
  ])('when it comes %s', async (_, lines) => {
    const { taken, handler } = echo()
    const { server } = await serve({
      upgrades: { '/wire': handler },
      allowedOrigins: ['https://desk.example'],
    })
    const { socket, all } = await raw(server.port)
    socket.write(requestText('/wire', [...lines, `Authorization: Bearer ${TOKEN}`]))
    expect(await all()).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/u)
    expect(taken).toEqual([])
  })

  test('however much its client sends along, which is read so that it gets the reply', async () => {
    const sockets = serverSockets()
    const { server } = await serve({ upgrades: { '/wire': echo().handler } })
    const { socket, all } = await raw(server.port)
    socket.end(requestText('/wire', { host: 'localhost' }) + 'x'.repeat(200_000))
    expect(await all()).toContain('"code":"UNAUTHORIZED"')
    await closed(sockets[0])
    expect(sockets[0]?.bytesRead).toBeGreaterThan(200_000)
  })

  test('and its socket closed in the end, though its client keeps it open', async () => {
    const sockets = serverSockets()
    const { server } = await serve({ upgrades: { '/wire': echo().handler } })
    const { socket, all } = await raw(server.port)
    socket.write(requestText('/wire', { host: 'localhost' }))
    await all()
    await closed(sockets[0])
  })

  test('by a server that outlives an error of its socket', async () => {
    const sockets = serverSockets()
    const { server, call } = await serve({ upgrades: { '/wire': echo().handler } })
    const { socket, all } = await raw(server.port)
    socket.write(requestText('/wire', { host: 'localhost' }))
    await all()
    expect(sockets[0]?.destroyed).toBe(false)
    sockets[0]?.destroy(new Error('broken'))
    await closed(sockets[0])
    expect((await call('GET', '/api/requests')).status).toBe(200)
  })

  test('when as many are open as are taken, until one of them is closed', async () => {
    const sockets = serverSockets()
    const { taken, handler } = echo()
    const { url, server } = await serve({ upgrades: { '/wire': handler }, maxStreams: 2 })
    // Those that were refused take nobody's place.
    const stays = await raw(server.port)
    stays.socket.write(requestText('/wire', { host: 'localhost' }))
    await stays.all()
    const first = await upgraded(url)
    await upgraded(url)
    const outcome = await upgrade(url, '/wire', auth)
    expect(outcome).toMatchObject({ status: 503, json: { code: 'TOO_MANY_STREAMS', most: 2 } })
    expect(outcome).toMatchObject({ headers: { 'retry-after': '5' } })
    expect(taken).toHaveLength(2)
    first.destroy()
    await closed(sockets[1])
    await upgraded(url)
    expect(taken).toHaveLength(3)
  })
})

describe('a handler', () => {
  const fault = new Error('it cannot')
  test.each<[string, web.UpgradeHandler]>([
    [
      'throws',
      () => {
        throw fault
      },
    ],
    ['rejects', () => Promise.reject(fault)],
  ])('that %s is reported, and its socket destroyed', async (_, handler) => {
    const sockets = serverSockets()
    const { url, reported, call } = await serve({ upgrades: { '/wire': handler }, maxStreams: 1 })
    for (const count of [1, 2]) {
      await expect(upgrade(url, '/wire', auth)).rejects.toMatchObject({ code: 'ECONNRESET' })
      expect(reported).toEqual(Array.from({ length: count }, () => fault))
      await closed(sockets[count - 1])
    }
    expect((await call('GET', '/api/requests')).status).toBe(200)
  })

  test('that does not listen for errors of its socket ends nothing but that', async () => {
    const { url, reported, call } = await serve({
      upgrades: { '/wire': async (_, socket) => void socket.destroy(new Error('broken')) },
    })
    await expect(upgrade(url, '/wire', auth)).rejects.toMatchObject({ code: 'ECONNRESET' })
    expect((await call('GET', '/api/requests')).status).toBe(200)
    expect(reported).toEqual([])
  })

  test.each(['wire', '', '/wire?x', '/a b'])('is not taken for the path %j', async path => {
    await expect(serve({ upgrades: { [path]: echo().handler } })).rejects.toThrow(
      `no upgrade can ask for the path ${JSON.stringify(path)}`,
    )
  })

  test('is told to the plugin as to the server', async () => {
    const ctx = new Context()
    await ctx.plugin(UserQuestionService)
    const inbox = await ctx.plugin(InboxService)
    onTestFinished(() => void inbox.dispose())
    const { taken, handler } = echo()
    let server: web.InboxServer | undefined
    const fiber = await ctx.plugin(web, {
      token: TOKEN,
      upgrades: { '/wire': handler },
      onListening: started => (server = started),
    })
    const socket = await upgraded(server!.url)
    expect(taken).toHaveLength(1)
    socket.resume()
    const gone = closed(socket)
    socket.end()
    await fiber.dispose()
    await gone
  })
})

describe('without handlers', () => {
  test('an upgrade is answered as a request', async () => {
    const { url } = await serve()
    expect(await upgrade(url, '/api/requests', auth)).toMatchObject({ status: 200, json: { requests: [] } })
    expect(await upgrade(url, '/wire', auth)).toMatchObject({ status: 404, json: { code: 'NOT_FOUND' } })
    expect(await upgrade(url, '/api/requests')).toMatchObject({ status: 401, json: { code: 'UNAUTHORIZED' } })
  })
})

describe('closing a server', () => {
  test('waits for upgraded sockets to close by themselves', async () => {
    const { taken, handler } = echo()
    const { url, server } = await serve({ upgrades: { '/wire': handler } })
    const sockets = [await upgraded(url), await upgraded(url)]
    const begun = performance.now()
    const closing = server.close()
    for (const { socket } of taken) socket.end('goodbye')
    const last = sockets.map(async socket => String((await once(socket, 'data'))[0]))
    expect(await Promise.all(last)).toEqual(['goodbye', 'goodbye'])
    for (const socket of sockets) socket.end()
    await closing
    expect(performance.now() - begun).toBeLessThan(900)
  })

  test('refuses new ones meanwhile, and destroys after a second what did not close', async () => {
    const sockets = serverSockets()
    const { taken, handler } = echo()
    const { url, server } = await serve({ upgrades: { '/wire': handler } })
    const stubborn = await upgraded(url)
    const late = await raw(server.port)
    const text = requestText('/wire', { host: 'localhost', ...auth })
    // Begun before the server closes: a connection that has asked for nothing is closed with it.
    late.socket.write(text.slice(0, 20))
    await until(() => sockets[1]?.bytesRead === 20)
    const begun = performance.now()
    const closing = server.close()
    late.socket.write(text.slice(20))
    expect(await late.all()).toMatch(/^HTTP\/1\.1 503 Service Unavailable\r\n.*"code":"STORE_CLOSED"/su)
    expect(taken).toHaveLength(1)
    expect(stubborn.destroyed).toBe(false)
    const ended = closed(stubborn.resume())
    await closing
    await ended
    const took = performance.now() - begun
    expect([took > 900, took < 2_000]).toEqual([true, true])
    expect(taken[0]?.socket.destroyed).toBe(true)
  })

  test('does not wait for a client that was refused', async () => {
    const sockets = serverSockets()
    const { server } = await serve({ upgrades: { '/wire': echo().handler } })
    const { socket, all } = await raw(server.port)
    socket.write(requestText('/wire', { host: 'localhost' }))
    await all()
    const begun = performance.now()
    await server.close()
    expect(performance.now() - begun).toBeLessThan(500)
    expect(sockets[0]?.destroyed).toBe(true)
  })

  test('does not wait for a handler that is not done', async () => {
    const { url, server } = await serve({
      upgrades: {
        '/wire': (_, socket) => {
          socket.end(ACCEPT)
          return new Promise(() => {})
        },
      },
    })
    const socket = await upgraded(url)
    socket.resume().end()
    await closed(socket)
    await server.close()
  })
})
