import { connect } from 'node:net'
import { MemoryMedium, MemoryStore, StoreError } from '@handraise/inbox'
import { describe, expect, onTestFinished, test } from 'vitest'
import { DB, send, serve, stream, TOKEN, until } from './served.ts'

describe('an event stream', () => {
  test('begins with all that is pending and the cursor, then tells what happens', async () => {
    const { url, ask, client } = await serve()
    const [a, b] = [await ask(), await ask([DB], { timeoutMs: 60_000 })]
    const events = await stream(url)
    expect(events.response.headers.get('content-type')).toContain('text/event-stream')
    const snapshot = await events.next()
    expect(snapshot).toMatchObject({ event: 'snapshot', data: { done: true } })
    expect(snapshot?.id).toBe(snapshot?.data.cursor)
    expect(snapshot?.data.requests.map(({ id }: { id: string }) => id)).toEqual([a, b])
    const c = await ask()
    await client.engaged(b)
    await client.answer(a, 'SQLite', { surface: 'phone' })
    const told = [await events.next(), await events.next(), await events.next()]
    expect(told.map(event => [event?.event, event?.data.request.id])).toEqual([
      ['opened', c],
      ['engaged', b],
      ['settled', a],
    ])
    expect(told[2]?.data.request.settlement).toMatchObject({ outcome: 'answered', surface: 'phone' })
    expect(new Set([snapshot, ...told].map(event => event?.id)).size).toBe(4)
  })

  test('tells the other views that one of them answered', async () => {
    const { url, ask, client } = await serve()
    const id = await ask()
    const views = await Promise.all([stream(url), stream(url)])
    for (const view of views) await view.next()
    await client.answer(id, 'SQLite')
    for (const view of views)
      expect(await view.next()).toMatchObject({ event: 'settled', data: { request: { id } } })
  })

  test.each(['header', 'query'])('resumes after the last event received, by %s', async by => {
    const { url, ask, client } = await serve()
    const before = await stream(url)
    await before.next()
    await ask()
    const last = await before.next()
    before.close()
    const [b, c] = [await ask(), await ask()]
    await client.answer(c, 'SQLite')
    const after = await stream(
      url,
      by === 'header'
        ? { headers: { 'last-event-id': last!.id! } }
        : { query: `?cursor=${encodeURIComponent(last!.id!)}` },
    )
    const told = [await after.next(), await after.next(), await after.next()]
    expect(told.map(event => [event?.event, event?.data.request.id])).toEqual([
      ['opened', b],
      ['opened', c],
      ['settled', c],
    ])
    const d = await ask()
    expect(await after.next()).toMatchObject({ event: 'opened', data: { request: { id: d } } })
  })

  test('begins anew where the cursor is not known any more', async () => {
    const { url, ask, client } = await serve()
    const [open, settled] = [await ask(), await ask()]
    await client.answer(settled, 'SQLite')
    const events = await stream(url, { headers: { 'last-event-id': 'another-store.3' } })
    expect(await events.next()).toEqual({ event: 'reset', id: '', data: {} })
    const snapshot = await events.next()
    expect(snapshot).toMatchObject({ event: 'snapshot', data: { done: true } })
    expect(snapshot?.data.requests.map(({ id }: { id: string }) => id)).toEqual([open])
    const next = await ask()
    expect(await events.next()).toMatchObject({ event: 'opened', data: { request: { id: next } } })
  })

  test('begins anew when the log is lost while it is open', async () => {
    const medium = new MemoryMedium()
    const { url, ask } = await serve({ inbox: { store: new MemoryStore(medium) } })
    const id = await ask()
    const events = await stream(url)
    await events.next()
    // As when another process pruned what this one had not read.
    medium.position += 10
    medium.prunedThrough = medium.position
    medium.log = []
    for (const wake of medium.watchers) wake()
    expect(await events.next()).toMatchObject({ event: 'reset' })
    expect(await events.next()).toMatchObject({ event: 'snapshot', data: { requests: [{ id }], done: true } })
    const next = await ask()
    expect(await events.next()).toMatchObject({ event: 'opened', data: { request: { id: next } } })
    expect(
      await Promise.race([events.next(), new Promise(resolve => setTimeout(resolve, 50))]),
    ).toBeUndefined()
  })

  test('gives a long snapshot in parts, the last one marked', async () => {
    const { url, inbox, ask, server } = await serve()
    const detail = 'x'.repeat(50_000)
    for (let count = 0; count < 20; count += 1)
      await inbox.open({
        kind: 'questions',
        payload: { questions: [{ ...(DB as { id: string; question: string }), detail }] },
      })
    const events = await stream(url)
    const seen: string[] = []
    let parts = 0
    for (let done = false; !done; parts += 1) {
      const part = await events.next()
      expect(part?.event).toBe('snapshot')
      seen.push(...part!.data.requests.map(({ id }: { id: string }) => id))
      done = part!.data.done
      expect(part?.id === undefined).toBe(!done)
    }
    expect(parts).toBeGreaterThan(5)
    expect(new Set(seen).size).toBe(20)
    const next = await ask()
    expect(await events.next()).toMatchObject({ event: 'opened', data: { request: { id: next } } })
    expect(server.viewers()).toBe(1)
  })

  test('misses nothing of what happens while its snapshot is read', async () => {
    const { url, ask, client } = await serve()
    const ids = await Promise.all(Array.from({ length: 30 }, () => ask()))
    const opening = Array.from({ length: 10 }, () => stream(url))
    const late = Promise.all(Array.from({ length: 30 }, () => ask()))
    const settled = Promise.all(ids.map(id => client.answer(id, 'SQLite')))
    const views = await Promise.all(opening)
    const [lateIds] = await Promise.all([late, settled])
    await Promise.all(
      views.map(async view => {
        const open = new Set<string>()
        while (open.size !== 30 || !lateIds.every(id => open.has(id))) {
          const event = await view.next()
          if (event?.event === 'snapshot') for (const { id } of event.data.requests) open.add(id)
          else if (event?.event === 'settled') open.delete(event.data.request.id)
          else if (event?.data.request.settlement === undefined) open.add(event?.data.request.id)
        }
      }),
    )
  })

  test('shows that it lives while nothing happens', async () => {
    const { url } = await serve({ heartbeatMs: 20 })
    const events = await stream(url)
    await events.next()
    expect(await events.next()).toEqual({ comment: 'still here' })
    expect(await events.next()).toEqual({ comment: 'still here' })
  })

  test('is counted while it is open, and freed when the client leaves', async () => {
    const { url, server, ask, inbox } = await serve()
    const views = await Promise.all([stream(url), stream(url), stream(url)])
    expect(server.viewers()).toBe(3)
    views[0]?.close()
    await until(() => server.viewers() === 2)
    views[1]?.close()
    views[2]?.close()
    await until(() => server.viewers() === 0)
    const id = await ask()
    expect((await inbox.get(id)).settlement).toBeUndefined()
  })

  test('whose client leaves takes no request with it', async () => {
    const { url, server, ask } = await serve()
    const first = await stream(url)
    await first.next()
    const id = await ask()
    await first.next()
    first.close()
    await until(() => server.viewers() === 0)
    const second = await stream(url)
    expect((await second.next())?.data.requests.map((request: { id: string }) => request.id)).toEqual([id])
  })

  test('is refused beyond the number that is taken, until one ends', async () => {
    const { url, server, call } = await serve({ maxStreams: 2 })
    const [first] = await Promise.all([stream(url), stream(url)])
    const { status, json, headers } = await call('GET', '/api/events')
    expect([status, json.code, headers['retry-after']]).toEqual([503, 'TOO_MANY_STREAMS', '5'])
    first?.close()
    await until(() => server.viewers() === 1)
    expect((await (await stream(url)).next())?.event).toBe('snapshot')
  })

  test('that is not read is cut off, and holds up nobody else', async () => {
    const { url, server, inbox } = await serve({ maxBufferBytes: 64 * 1024 })
    const socket = connect(server.port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    socket.pause()
    socket.write(`GET /api/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`)
    const reader = await stream(url)
    await reader.next()
    await until(() => server.viewers() === 2)
    const payload = { questions: [{ id: 'a', question: '?', detail: 'x'.repeat(90_000) }] }
    let opened = 0
    while (server.viewers() === 2 && opened < 500) {
      await inbox.open({ kind: 'questions', payload })
      opened += 1
      expect((await reader.next())?.event).toBe('opened')
    }
    expect(server.viewers()).toBe(1)
    expect(opened).toBeLessThan(500)
    await inbox.open({ kind: 'questions', payload })
    expect((await reader.next())?.event).toBe('opened')
  })

  test('resumed from far behind is read in its own time, whole', async () => {
    const { url, inbox } = await serve({ maxBufferBytes: 64 * 1024 })
    const cursor = await inbox.store.end()
    const payload = { questions: [{ id: 'a', question: '?', detail: 'x'.repeat(2_000) }] }
    const opened = await Promise.all(
      Array.from({ length: 500 }, () => inbox.open({ kind: 'questions', payload })),
    )
    const events = await stream(url, { headers: { 'last-event-id': cursor } })
    await new Promise(resolve => setTimeout(resolve, 50))
    const ids: string[] = []
    while (ids.length < 500) ids.push((await events.next())!.data.request.id)
    expect(ids).toEqual(opened.map(({ request }) => request.id))
  })

  test('ends when the server does', async () => {
    const { url, server } = await serve()
    const events = await stream(url)
    await events.next()
    const begun = performance.now()
    await server.close()
    expect(performance.now() - begun).toBeLessThan(500)
    expect(await events.next()).toBeUndefined()
    expect(server.viewers()).toBe(0)
  })

  test('by a cursor that is no cursor is refused', async () => {
    const { url } = await serve()
    const headers = { authorization: `Bearer ${TOKEN}` }
    expect((await send(url, 'GET', `/api/events?cursor=${'x'.repeat(201)}`, { headers })).status).toBe(400)
    expect((await send(url, 'GET', '/api/events?since=3', { headers })).status).toBe(400)
  })
})

test('a stream that cannot be read is refused with a code, and one that cannot be read on says so before it ends', async () => {
  class Away extends MemoryStore {
    readsLeft = 0
    override async end(): Promise<string> {
      if (this.readsLeft === 0) throw new StoreError('DATABASE_UNREACHABLE')
      return super.end()
    }
    override async since(...given: Parameters<MemoryStore['since']>): ReturnType<MemoryStore['since']> {
      if (this.readsLeft < 2) throw new StoreError('DATABASE_UNREACHABLE')
      return super.since(...given)
    }
  }
  const store = new Away()
  store.readsLeft = 2
  const { url, server, client } = await serve({ inbox: { store } })
  store.readsLeft = 0
  const headers = { authorization: `Bearer ${TOKEN}` }
  for (const query of ['', '?cursor=a.1'])
    expect(await send(url, 'GET', `/api/events${query}`, { headers })).toMatchObject({
      status: 503,
      json: { code: 'DATABASE_UNREACHABLE' },
    })
  expect(server.viewers()).toBe(0)
  store.readsLeft = 1
  const events = await stream(url)
  expect((await events.next())?.event).toBe('snapshot')
  expect(await events.next()).toMatchObject({ event: 'failed', data: { code: 'DATABASE_UNREACHABLE' } })
  expect(await events.next()).toBeUndefined()
  const told: string[] = []
  for await (const { type } of client.events(undefined, { reconnect: false })) told.push(type)
  expect(told).toEqual(['snapshot'])
})

test('a thousand event streams all see a settlement', async () => {
  const { url, server, ask, client } = await serve()
  const id = await ask()
  const views = await Promise.all(Array.from({ length: 1_000 }, () => stream(url)))
  for (const view of views) expect((await view.next())?.event).toBe('snapshot')
  expect(server.viewers()).toBe(1_000)
  await client.answer(id, 'SQLite')
  const told = await Promise.all(views.map(view => view.next()))
  expect(told.filter(event => event?.event === 'settled' && event.data.request.id === id)).toHaveLength(1_000)
})
