import { once } from 'node:events'
import { connect } from 'node:net'
import { createInboxApp, type RouteHandler } from '@handraise/provider-web'
import { expect, test, vi } from 'vitest'
import { send, serve, TOKEN, until } from './served.ts'

const auth = { authorization: `Bearer ${TOKEN}` }
const echo: RouteHandler = async request =>
  Response.json({ method: request.method, path: new URL(request.url).pathname, body: await request.text() })

test('a path given to the server is answered by its handler, whatever the method', async () => {
  const { url } = await serve({ routes: { '/echo': echo } })
  const reply = await send(url, 'POST', '/echo?x=1', { headers: auth, body: 'hello' })
  expect(reply.json).toEqual({ method: 'POST', path: '/echo', body: 'hello' })
  expect(reply.headers['x-content-type-options']).toBe('nosniff')
  expect((await send(url, 'DELETE', '/echo', { headers: auth })).json.method).toBe('DELETE')
  expect((await send(url, 'GET', '/echo/below', { headers: auth })).status).toBe(404)
})

test.each([
  [401, 'UNAUTHORIZED', {}],
  [401, 'UNAUTHORIZED', { authorization: `Bearer ${TOKEN}x` }],
  [403, 'FORBIDDEN_HOST', { ...auth, host: 'evil.example' }],
  [403, 'FORBIDDEN_ORIGIN', { ...auth, origin: 'https://evil.example' }],
])('its handler hears nothing of what the guard answers with %s %s', async (status, code, headers) => {
  const handler = vi.fn(echo)
  const { url } = await serve({ routes: { '/echo': handler } })
  const reply = await send(url, 'POST', '/echo', { headers })
  expect([reply.status, reply.json.code]).toEqual([status, code])
  expect(handler).not.toHaveBeenCalled()
})

test('a handler that throws is reported, and its client told no more than that', async () => {
  const fault = new Error('the secret cause')
  const { url, reported } = await serve({ routes: { '/echo': () => Promise.reject(fault) } })
  const reply = await send(url, 'GET', '/echo', { headers: auth })
  expect([reply.status, reply.json.code]).toEqual([500, 'INTERNAL'])
  expect(reply.text).not.toContain('secret')
  expect(reported).toEqual([fault])
})

test('a handler hears that its client is gone', async () => {
  let gone = false
  let begun = false
  const hold: RouteHandler = request => {
    request.signal.addEventListener('abort', () => (gone = true))
    begun = true
    return new Promise(() => {})
  }
  const { url } = await serve({ routes: { '/hold': hold } })
  const abort = new AbortController()
  const sent = fetch(new URL('/hold', url), { headers: auth, signal: abort.signal })
  await until(() => begun)
  abort.abort()
  await expect(sent).rejects.toThrow('aborted')
  await until(() => gone)
})

test('is below where the app is mounted', async () => {
  const { inbox } = await serve()
  const app = createInboxApp({ inbox, token: TOKEN, basePath: '/desk', routes: { '/echo': echo } })
  const ask = (path: string) => app.fetch(new Request(`http://localhost${path}`, { headers: auth }))
  expect((await ask('/desk/echo')).status).toBe(200)
  expect((await ask('/echo')).status).toBe(404)
  app.close()
})

test.each(['echo', '/a?b', '/:any', '/*', '/a b'])('%s is no path', async path => {
  await expect(serve({ routes: { [path]: echo } })).rejects.toThrow(TypeError)
})

test('what the API and the page answer stays theirs', async () => {
  const { url } = await serve({ routes: { '/': echo, '/api/requests': echo } })
  expect((await send(url, 'GET', '/')).headers['content-type']).toContain('text/html')
  expect((await send(url, 'GET', '/api/requests', { headers: auth })).json.requests).toEqual([])
})

test('its handler may think for longer than a connection may be silent', async () => {
  const { url } = await serve({
    silenceMs: 40,
    heartbeatMs: 10,
    routes: {
      '/slow': async () => {
        // Ended for its silence, which began later than that of the request.
        const idle = connect(Number(new URL(url).port), '127.0.0.1')
        await once(idle.resume(), 'close')
        return Response.json({ answered: true })
      },
    },
  })
  const reply = await send(url, 'GET', '/slow', { headers: auth })
  expect(reply.json).toEqual({ answered: true })
})
