import * as web from '@handraise/provider-web'
import { InboxService, type InboxSurface } from '@handraise/inbox'
import { UserQuestionService } from '@handraise/user-questions'
import { Context } from 'cordis'
import { expect, onTestFinished, test } from 'vitest'
import { answered, DB, send, stream, until } from './served.ts'

async function host(viewer: 'wait' | 'require' = 'wait') {
  const ctx = new Context()
  await ctx.plugin(UserQuestionService)
  const inbox = await ctx.plugin(InboxService, { viewer })
  onTestFinished(() => void inbox.dispose())
  return { ctx, inbox }
}

test('the plugin serves the inbox of its host, until it is disposed', async () => {
  const { ctx } = await host()
  let server: web.InboxServer | undefined
  const fiber = await ctx.plugin(web, { onListening: started => (server = started) })
  const client = new web.InboxClient(server!)
  const asking = ctx.userQuestions.ask({ questions: [DB] })
  await until(async () => (await client.list()).requests.length === 1)
  const [request] = (await client.list()).requests
  await client.answer(request!.id, '2')
  expect(await asking).toEqual(answered('SQLite'))
  await fiber.dispose()
  await expect(client.list()).rejects.toMatchObject({ code: 'UNREACHABLE' })
})

test('the plugin waits for an inbox, and leaves with it', async () => {
  const ctx = new Context()
  await ctx.plugin(UserQuestionService)
  const started: web.InboxServer[] = []
  void ctx.plugin(web, { onListening: server => void started.push(server) })
  const inbox = await ctx.plugin(InboxService)
  await until(() => started.length === 1)
  const { url, token } = started[0]!
  const headers = { authorization: `Bearer ${token}` }
  expect((await send(url, 'GET', '/api/requests', { headers })).status).toBe(200)
  await inbox.dispose()
  await until(
    async () => (await send(url, 'GET', '/api/requests', { headers }).catch(() => undefined)) === undefined,
  )
})

test('an open event stream is a viewer, and without one nobody can be asked', async () => {
  const { ctx } = await host('require')
  let server: web.InboxServer | undefined
  await ctx.plugin(web, { onListening: started => (server = started) })
  const { url, token } = server!
  await expect(ctx.userQuestions.ask({ questions: [DB] })).rejects.toMatchObject({
    code: 'ASK_UNAVAILABLE',
    details: { reason: 'no-capable-client' },
  })
  const view = await stream(url, { token })
  await view.next()
  const asking = ctx.userQuestions.ask({ questions: [DB] })
  const shown = await view.next()
  await new web.InboxClient({ url, token }).answer(shown?.data.request.id, '1')
  expect(await asking).toEqual(answered('Postgres'))
})

test('a server that cannot start fails the plugin, and leaves the inbox as it was', async () => {
  const { ctx } = await host()
  const fiber = ctx.plugin(web, { host: '0.0.0.0' })
  await expect(fiber).rejects.toMatchObject({ code: 'REMOTE_NOT_ALLOWED' })
  expect((await ctx.inbox.core.list({ state: 'pending' })).requests).toEqual([])
})

test('an app is mounted in a server of the host under a path, and shown as a surface', async () => {
  const { ctx } = await host()
  const token = 'a-token-of-the-host'
  const app = web.createInboxApp({ inbox: ctx.inbox.core, token, basePath: '/inbox/' })
  const surface: InboxSurface = web.webSurface(app)
  const detach = await ctx.inbox.attachSurface(surface)
  const call = (path: string, init: RequestInit = {}) =>
    app.fetch(
      new Request(`http://127.0.0.1:4100${path}`, { ...init, headers: { authorization: `Bearer ${token}` } }),
    )
  expect((await call('/inbox/api/requests')).status).toBe(200)
  expect((await call('/api/requests')).status).toBe(404)
  const events = await call('/inbox/api/events')
  expect([surface.name, surface.viewers()]).toEqual(['web', 1])
  const document = (await (await call('/inbox/api/openapi.json')).json()) as { servers: unknown }
  expect(document.servers).toEqual([{ url: '/inbox' }])
  app.close()
  expect(surface.viewers()).toBe(0)
  expect(await events.text()).toContain('event: snapshot')
  detach()
})
