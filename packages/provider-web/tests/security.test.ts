import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { DB, send, serve, stream, TOKEN } from './served.ts'

const auth = { authorization: `Bearer ${TOKEN}` }
const json = { ...auth, 'content-type': 'application/json' }
const body = JSON.stringify({ questions: [DB] })

describe('the token', () => {
  test.each([
    ['missing', {}],
    ['wrong', { authorization: `Bearer ${TOKEN}x` }],
    ['a part of it', { authorization: `Bearer ${TOKEN.slice(0, -1)}` }],
    ['under another scheme', { authorization: `Basic ${Buffer.from(`user:${TOKEN}`).toString('base64')}` }],
    ['bare', { authorization: TOKEN }],
    ['in a cookie', { cookie: `token=${TOKEN}; authorization=Bearer ${TOKEN}` }],
  ])('that is %s lets nobody in', async (_, headers) => {
    const { url, client } = await serve()
    for (const [method, path] of [
      ['GET', '/api/requests'],
      ['POST', '/api/requests'],
      ['GET', '/api/events'],
      ['GET', '/api/openapi.json'],
      ['GET', '/api/nothing'],
    ] as const) {
      const reply = await send(url, method, path, {
        headers: { 'content-type': 'application/json', ...headers },
        body: method === 'POST' ? body : undefined,
      })
      expect([path, reply.status, reply.json.code]).toEqual([path, 401, 'UNAUTHORIZED'])
      expect(reply.headers['www-authenticate']).toBe('Bearer')
    }
    expect((await client.list()).requests).toEqual([])
  })

  test.each([`token=${TOKEN}`, `access_token=${TOKEN}`, `authorization=Bearer%20${TOKEN}`])(
    'in the query lets nobody in: %s',
    async query => {
      const { url } = await serve()
      expect((await send(url, 'GET', `/api/requests?${query}`)).status).toBe(401)
      expect((await send(url, 'GET', `/api/events?${query}`)).status).toBe(401)
    },
  )

  test('must be hard to guess', async () => {
    await expect(serve({ token: 'short' })).rejects.toThrow('at least 16 characters')
  })
})

describe('a page of another site', () => {
  test.each([
    'evil.example',
    'evil.example:4100',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '127.0.0.1.nip.io',
    '192.168.1.5',
    '0.0.0.0',
    '[::ffff:7f00:1]',
  ])('cannot reach the server under the name %s', async host => {
    const { url, client } = await serve()
    const reply = await send(url, 'POST', '/api/requests', { headers: { ...json, host }, body })
    expect([reply.status, reply.json.code]).toEqual([403, 'FORBIDDEN_HOST'])
    expect((await client.list()).requests).toEqual([])
  })

  test.each(['localhost', '127.0.0.1:1', '[::1]:4100', 'LOCALHOST:80'])(
    'is not what asks for the server as %s',
    async host => {
      const { url } = await serve()
      expect((await send(url, 'GET', '/api/requests', { headers: { ...auth, host } })).status).toBe(200)
    },
  )

  test.each([['desk.example:8443'], ['desk.example']])('may be let in by its name: %s', async allowed => {
    const { url } = await serve({ allowedHosts: [allowed] })
    const headers = { ...auth, host: 'desk.example:8443' }
    expect((await send(url, 'GET', '/api/requests', { headers })).status).toBe(200)
    const other = { ...auth, host: 'other.example:8443' }
    expect((await send(url, 'GET', '/api/requests', { headers: other })).status).toBe(403)
  })

  test.each(['http://evil.example', 'null', 'http://127.0.0.1:1', 'http://localhost', ''])(
    'is refused by its origin, even with the token: %j',
    async origin => {
      const { url, client } = await serve()
      const reply = await send(url, 'POST', '/api/requests', { headers: { ...json, origin }, body })
      expect([reply.status, reply.json.code]).toEqual([403, 'FORBIDDEN_ORIGIN'])
      expect((await client.list()).requests).toEqual([])
    },
  )

  test('is told apart from a page of the server itself, and of an allowed origin', async () => {
    const { url } = await serve({ allowedOrigins: ['https://desk.example/'] })
    for (const origin of [new URL(url).origin, 'https://desk.example']) {
      expect((await send(url, 'GET', '/api/requests', { headers: { ...auth, origin } })).status).toBe(200)
    }
  })

  test('gets no answer to its preflight, and no CORS header ever', async () => {
    const { url } = await serve({ allowedOrigins: ['https://desk.example'] })
    const preflight = {
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization',
    }
    const refused = await send(url, 'OPTIONS', '/api/requests', {
      headers: { origin: 'http://evil.example', ...preflight },
    })
    expect(refused.status).toBe(403)
    const granted = await send(url, 'GET', '/api/requests', {
      headers: { ...auth, origin: 'https://desk.example' },
    })
    for (const { headers } of [refused, granted])
      expect(Object.keys(headers).filter(name => name.startsWith('access-control'))).toEqual([])
  })
})

describe('a body', () => {
  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=latin1',
    'application/jsonp',
    '',
  ])('of the type %j is refused', async type => {
    const { url } = await serve()
    const headers = { ...auth, ...(type === '' ? {} : { 'content-type': type }) }
    const reply = await send(url, 'POST', '/api/requests', { headers, body })
    expect([reply.status, reply.json.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
  })

  test.each(['', '{', '[1,', 'null', '"text"', '[]', '42', '{"questions":[}'])(
    'that is %j is refused',
    async text => {
      const { url } = await serve()
      const reply = await send(url, 'POST', '/api/requests', { headers: json, body: text })
      expect([reply.status, reply.json.code]).toEqual([400, 'BAD_REQUEST'])
    },
  )

  test('that is not UTF-8 is refused', async () => {
    const { url } = await serve()
    const reply = await send(url, 'POST', '/api/requests', {
      headers: json,
      body: Buffer.from('{"questions":[{"id":"a","question":"\xff"}]}', 'latin1'),
    })
    expect(reply.status).toBe(400)
  })

  test('longer than what is taken is refused by its length alone', async () => {
    const { url } = await serve({ maxBodyBytes: 1_000 })
    const reply = await send(url, 'POST', '/api/requests', { headers: json, body: ' '.repeat(1_001) })
    expect([reply.status, reply.json.code, reply.json.maxBytes]).toEqual([413, 'TOO_LARGE', 1_000])
  })

  test('without a length is refused while it comes, before the end of it', async () => {
    const { server } = await serve({ maxBodyBytes: 64 * 1024 })
    const socket = connect(server.port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    let reply = ''
    socket.on('data', chunk => (reply += chunk.toString()))
    socket.on('error', () => {})
    socket.write(
      `POST /api/requests HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
    )
    const chunk = `2000\r\n${' '.repeat(0x2000)}\r\n`
    for (let sent = 0; sent < 100 && !reply.includes('TOO_LARGE'); sent += 1) {
      if (!socket.destroyed) socket.write(chunk)
      await new Promise(resolve => setTimeout(resolve, 5))
    }
    expect(reply).toContain('413')
    expect(reply).toContain('TOO_LARGE')
  })

  test.each([
    [
      'a text of more than 100,000 characters',
      { questions: [{ ...DB, detail: 'x'.repeat(100_001) }] },
      'questions[0].detail',
    ],
    [
      'more than a thousand options',
      {
        questions: [{ ...DB, options: Array.from({ length: 1_001 }, (_, index) => ({ label: `${index}` })) }],
      },
      'questions[0].options',
    ],
    [
      'more than a hundred questions',
      { questions: Array.from({ length: 101 }, (_, index) => ({ id: `${index}`, question: '?' })) },
      'questions',
    ],
    [
      'a session of more than a thousand characters',
      { questions: [DB], session: 's'.repeat(1_001) },
      'session',
    ],
  ])('with %s is refused by path', async (_, value, path) => {
    const { call } = await serve()
    const reply = await call('POST', '/api/requests', value)
    expect(reply.status).toBe(400)
    expect(reply.json.issues[0].path).toBe(path)
  })

  test('with as much as is taken is taken', async () => {
    const { call } = await serve()
    const options = Array.from({ length: 1_000 }, (_, index) => ({ label: `option ${index}` }))
    const reply = await call('POST', '/api/requests', {
      questions: [{ ...DB, options, detail: 'x'.repeat(100_000) }],
    })
    expect(reply.status).toBe(201)
  })

  test('that nests without end is refused, and answers go on', async () => {
    const { url, call, ask } = await serve()
    const nested = `{"kind":"questions","payload":${'['.repeat(400_000)}${']'.repeat(400_000)}}`
    const reply = await send(url, 'POST', '/api/requests', { headers: json, body: nested })
    expect(reply.status).toBe(400)
    expect(reply.json.issues[0].message).toBe('nests deeper than 32')
    expect(
      (await call('POST', `/api/requests/${await ask()}/answer`, { commandId: 'c', text: '2' })).status,
    ).toBe(200)
  })

  test('full of faults gets a short reply', async () => {
    const { call } = await serve()
    const questions = Array.from({ length: 100 }, () => ({
      id: 7,
      question: 7,
      header: 7,
      options: [{ label: 7 }],
    }))
    const reply = await call('POST', '/api/requests', { questions })
    expect(reply.status).toBe(400)
    expect(reply.json.issues).toHaveLength(100)
  })

  test('with __proto__ in it changes no prototype', async () => {
    const { url } = await serve()
    const text = '{"questions":[{"id":"a","question":"?"}],"__proto__":{"polluted":true}}'
    await send(url, 'POST', '/api/requests', { headers: json, body: text })
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })
})

describe('a path', () => {
  test.each(['x'.repeat(201), '%20', 'a%20b', '%00', '%E2%98%83', '..%5C..'])(
    'with the id %s is refused',
    async id => {
      const { call } = await serve()
      const { status } = await call('GET', `/api/requests/${id}`)
      expect([400, 404]).toContain(status)
    },
  )

  test('that leads nowhere is answered as JSON', async () => {
    const { call } = await serve()
    for (const path of [
      '/nothing',
      '/page/nothing.js',
      '/page/..%2fopenapi.json',
      '/api',
      '/api/requests/a/b/c',
      '/api/../../etc/passwd',
    ]) {
      const { status, json: told } = await call('GET', path)
      expect([path, status, told.code]).toEqual([path, 404, 'NOT_FOUND'])
    }
  })

  test.each([
    ['DELETE', '/api/requests', 'GET, POST'],
    ['PUT', '/api/requests/x', 'GET'],
    ['GET', '/api/requests/x/answer', 'POST'],
    ['POST', '/api/events', 'GET'],
    ['PATCH', '/api/answer', 'POST'],
  ])('takes no %s where there is none: %s', async (method, path, allowed) => {
    const { call } = await serve()
    const { status, json: told, headers } = await call(method, path)
    expect([status, told.code, headers.allow]).toEqual([405, 'METHOD_NOT_ALLOWED', allowed])
  })

  test('asked for its head alone opens no event stream', async () => {
    const { call, server } = await serve()
    expect((await call('HEAD', '/api/events')).status).toBe(405)
    expect(server.viewers()).toBe(0)
  })
})

test('every response, refusals included, tells a browser to do nothing with it', async () => {
  const { url, call } = await serve()
  const events = await stream(url)
  const replies = [
    await call('GET', '/api/requests'),
    await call('GET', '/nothing'),
    await call('PUT', '/api/requests'),
    await send(url, 'GET', '/api/requests'),
    await send(url, 'GET', '/api/requests', { headers: { ...auth, host: 'evil.example' } }),
    { headers: Object.fromEntries(events.response.headers) },
  ]
  for (const { headers } of replies) {
    expect(headers['x-content-type-options']).toBe('nosniff')
    expect(headers['cache-control']).toBe('no-store')
    expect(headers['content-security-policy']).toContain("default-src 'none'")
  }
})

test('a failure inside says nothing of it to the client, and is reported', async () => {
  const { call, inbox, reported } = await serve()
  const fault = new Error('secret path /home/x')
  inbox.list = () => Promise.reject(fault)
  const { status, json: told, text } = await call('GET', '/api/requests')
  expect([status, told.code]).toEqual([500, 'INTERNAL'])
  expect(text).not.toContain('secret')
  expect(reported).toEqual([fault])
})

test('two thousand idle connections do not stop an answer', async () => {
  const { server, client, ask } = await serve()
  const id = await ask()
  const sockets = await Promise.all(
    Array.from(
      { length: 2_000 },
      () =>
        new Promise<Socket>((resolve, reject) => {
          const socket = connect(server.port, '127.0.0.1', () => resolve(socket))
          socket.on('error', reject)
        }),
    ),
  )
  onTestFinished(() => sockets.forEach(socket => socket.destroy()))
  // Half of them have begun a request that never ends.
  for (const socket of sockets.slice(0, 1_000))
    socket.write('POST /api/requests HTTP/1.1\r\nHost: 127.0.0.1\r\n')
  const begun = performance.now()
  await client.answer(id, 'SQLite')
  expect(performance.now() - begun).toBeLessThan(2_000)
})

test('a connection that sends slowly or falls silent is ended in time', async () => {
  const { call } = await serve()
  const seen: Server[] = []
  const see = (message: unknown): void => void seen.push((message as { server: Server }).server)
  subscribe('http.server.request.start', see)
  onTestFinished(() => void unsubscribe('http.server.request.start', see))
  await call('GET', '/api/requests')
  const { headersTimeout, requestTimeout, timeout, keepAliveTimeout } = seen[0]!
  expect([headersTimeout, requestTimeout, timeout]).toEqual([10_000, 30_000, 120_000])
  expect(keepAliveTimeout).toBeGreaterThan(0)
})
