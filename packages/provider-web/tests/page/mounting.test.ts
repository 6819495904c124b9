import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { createInboxApp, pageUrl } from '@handraise/provider-web'
import { expect, onTestFinished, test } from 'vitest'
import { openPage, readCard, useChromium } from './browser.ts'
import { DB, servePage } from './served-page.ts'

useChromium()

/** A host's own server, with pages of its own and the inbox under a path. */
async function host(basePath: string) {
  const inbox = await servePage()
  const { token } = inbox.served.server
  const app = createInboxApp({ inbox: inbox.served.inbox, token, basePath })
  const answer = getRequestListener(
    request =>
      new URL(request.url).pathname.startsWith(basePath)
        ? app.fetch(request)
        : new Response('<title>The host</title>', { headers: { 'content-type': 'text/html' } }),
    { overrideGlobalObjects: false },
  )
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    app.close()
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return { inbox, token, origin: `http://127.0.0.1:${port}` }
}

test('a host mounts the page under a path of its own server, and all of it works there', async () => {
  const { inbox, token, origin } = await host('/tools/inbox')
  const id = await inbox.ask([DB])
  const asked: string[] = []
  const page = await openPage('about:blank')
  page.on('request', request => asked.push(new URL(request.url()).pathname))
  await page.goto(pageUrl({ url: `${origin}/tools/inbox`, token }))
  await readCard(page, 'Which store?')
  await page.keyboard.press('2')
  await page.keyboard.press('Enter')
  expect((await inbox.ending(id)).answer).toEqual({ answers: [{ id: 'db', selected: ['SQLite'] }] })
  expect(asked.filter(path => !path.startsWith('/tools/inbox/'))).toEqual([])
  await page.goto(`${origin}/`)
  expect(await page.title()).toBe('The host')
})

test('the address without its last slash leads there, token and all', async () => {
  const { inbox, token, origin } = await host('/inbox')
  await inbox.ask([DB])
  const page = await openPage(`${origin}/inbox#token=${token}`)
  await readCard(page, 'Which store?')
  expect(page.url()).toBe(`${origin}/inbox/`)
})

test('two of them on one server keep their drafts and settings apart', async () => {
  const { inbox, token, origin } = await host('/a')
  const app = createInboxApp({ inbox: inbox.served.inbox, token, basePath: '/b' })
  onTestFinished(() => app.close())
  await inbox.ask([{ id: 'name', question: 'Name?' }])
  const first = await openPage(pageUrl({ url: `${origin}/a`, token }))
  await readCard(first, 'Name?')
  await first.getByRole('textbox', { name: 'Your answer' }).fill('ledger')
  const keys = await first.evaluate(() => Object.keys(localStorage))
  expect(keys.every(key => key.startsWith('handraise:/a/:'))).toBe(true)
})

test('a server that is told to serves the API without the page', async () => {
  const inbox = await servePage({ page: false })
  expect((await inbox.served.call('GET', '/')).status).toBe(404)
  expect((await inbox.served.call('GET', '/api/requests')).status).toBe(200)
})

test('no file of the page is found by another name than its own', async () => {
  const inbox = await servePage()
  for (const path of [
    '/page/../index.html',
    '/page/%2e%2e/index.html',
    '/page/..%2f..%2fpackage.json',
    '/page/',
    '/page/constructor',
    '/index.html',
  ])
    expect((await inbox.served.call('GET', path)).status, path).toBe(404)
})
