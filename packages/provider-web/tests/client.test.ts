import { MemoryMedium, MemoryStore } from '@handraise/inbox'
import { InboxClient, InboxClientError, type InboxEvent } from '@handraise/provider-web'
import { describe, expect, test } from 'vitest'
import { answered, DB, quietPort, serve, TOKEN } from './served.ts'

const STREAMED = { headers: { 'content-type': 'text/event-stream' } }

async function take(events: AsyncGenerator<InboxEvent, void, void>, count: number): Promise<InboxEvent[]> {
  const taken: InboxEvent[] = []
  while (taken.length < count) {
    const { value, done } = await events.next()
    if (done === true) break
    taken.push(value)
  }
  return taken
}

describe('the client', () => {
  test('opens, lists, waits and answers', async () => {
    const { client } = await serve()
    const { request } = await client.open({ questions: [DB] as never })
    expect((await client.list({ limit: 1 })).requests).toEqual([request])
    const waiting = client.wait(request.id)
    const { repeated } = await client.answer(request.id, 'SQLite')
    expect(repeated).toBe(false)
    expect((await waiting).settlement.answer).toEqual(answered('SQLite'))
  })

  test('names its surface in every decision', async () => {
    const { url, ask } = await serve()
    const client = new InboxClient({ url: url.slice(0, -1), token: TOKEN, surface: 'cli' })
    for (const decide of [
      (id: string) => client.answer(id, 'SQLite'),
      (id: string) => client.decline(id),
      (id: string) => client.clarify(id, 'why?'),
      (id: string) => client.cancel(id),
      (id: string) => client.interrupt(id),
    ]) {
      expect((await decide(await ask())).request.settlement?.surface).toBe('cli')
    }
  })

  test('throws what the server refused, with its code, faults and winner', async () => {
    const { client, ask } = await serve()
    const id = await ask()
    const bad = await client.answer(id, [{ id: 'db', selected: ['MySQL'] }]).catch((error: unknown) => error)
    expect(InboxClientError.isInstance(bad)).toBe(true)
    expect(bad).toMatchObject({ code: 'BAD_ANSWER', status: 422, issues: [{ path: 'answers[0].selected' }] })
    await client.answer(id, 'SQLite', { surface: 'phone' })
    const late = await client.answer(id, 'Postgres').catch((error: unknown) => error)
    expect(late).toMatchObject({ code: 'ALREADY_SETTLED', status: 409, settlement: { surface: 'phone' } })
    expect(String(late)).toContain('answered already, by phone')
  })

  test('tells a server that is not there, and one that is no inbox', async () => {
    const { server, url } = await serve()
    await server.close()
    const gone = new InboxClient({ url, token: TOKEN })
    await expect(gone.list()).rejects.toMatchObject({ code: 'UNREACHABLE', status: 0 })
    await expect(gone.wait('x')).rejects.toMatchObject({ code: 'UNREACHABLE' })
    await expect(gone.events().next()).rejects.toMatchObject({ code: 'UNREACHABLE' })
    const odd = new InboxClient({
      url,
      token: TOKEN,
      fetch: async () => new Response('<html>', { status: 404 }),
    })
    await expect(odd.list()).rejects.toMatchObject({ code: 'BAD_RESPONSE', status: 404 })
    const empty = new InboxClient({ url, token: TOKEN, fetch: async () => new Response('') })
    await expect(empty.list()).rejects.toMatchObject({ code: 'BAD_RESPONSE', status: 200 })
  })

  test('sends a decision again when the connection breaks, and it counts once', async () => {
    const { url, ask, inbox } = await serve()
    let broken = 0
    const client = new InboxClient({
      url,
      token: TOKEN,
      fetch: async (input, init) => {
        const response = await fetch(input, init)
        if (init?.method !== 'POST' || broken > 0) return response
        broken += 1
        throw new TypeError('the receipt was lost')
      },
    })
    const id = await ask()
    expect(await client.answer(id, 'SQLite')).toMatchObject({ repeated: true, request: { id } })
    broken = 0
    await expect(client.open({ questions: [DB] as never })).rejects.toMatchObject({
      code: 'WRITE_UNKNOWN',
      status: 0,
    })
    expect((await inbox.list({ state: 'pending' })).requests).toHaveLength(1)
    broken = 0
    const { joined } = await client.open({ questions: [DB] as never, key: 'k' })
    expect(joined).toBe(true)
  })

  test('does not say that nothing was done when the server goes away during a decision', async () => {
    const { url, ask, client: good } = await serve()
    const id = await ask()
    let sent = 0
    const client = new InboxClient({
      url,
      token: TOKEN,
      fetch: async (input, init) => {
        if (init?.method !== 'POST') return fetch(input, init)
        sent += 1
        if (sent === 1) {
          await fetch(input, init)
          throw new TypeError('fetch failed', {
            cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }),
          })
        }
        throw new TypeError('fetch failed', {
          cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }),
        })
      },
    })
    await expect(client.answer(id, 'SQLite')).rejects.toMatchObject({ code: 'WRITE_UNKNOWN' })
    expect((await good.get(id)).settlement?.outcome).toBe('answered')
    // Never there, so nothing was done.
    await expect(client.answer(id, 'SQLite')).rejects.toMatchObject({ code: 'UNREACHABLE' })
  })

  test('finds a request by any id, whatever characters it has', async () => {
    const { client, inbox } = await serve()
    const { request } = await inbox.open({
      id: 'a/b?c#d%',
      kind: 'questions',
      payload: { questions: [DB] as never },
    })
    expect((await client.get(request.id)).id).toBe('a/b?c#d%')
    expect((await client.answer(request.id, '1')).request.id).toBe('a/b?c#d%')
  })
})

describe('the events of the client', () => {
  test('begin with what is pending, and go on', async () => {
    const { client, ask } = await serve()
    const id = await ask()
    const events = client.events()
    expect(await take(events, 1)).toMatchObject([{ type: 'snapshot', requests: [{ id }], done: true }])
    await client.answer(id, 'SQLite')
    expect(await take(events, 1)).toMatchObject([{ type: 'settled', request: { id } }])
    await events.return()
  })

  test('go on after a cursor', async () => {
    const { client, ask } = await serve()
    const { cursor } = await client.list()
    const id = await ask()
    const events = client.events(cursor)
    expect(await take(events, 1)).toMatchObject([{ type: 'opened', request: { id } }])
    await events.return()
  })

  test('end when the signal aborts, and free the stream', async () => {
    const { client, server } = await serve()
    const abort = new AbortController()
    const events = client.events(undefined, { signal: abort.signal })
    await take(events, 1)
    const next = events.next()
    abort.abort()
    expect((await next).done).toBe(true)
    while (server.viewers() > 0) await new Promise(resolve => setTimeout(resolve, 5))
  })

  test('go on where they were after the server came back', async () => {
    const medium = new MemoryMedium()
    const first = await serve({ inbox: { store: new MemoryStore(medium) }, port: await quietPort() })
    const events = first.client.events()
    await take(events, 1)
    const id = await first.ask([DB], { key: 'k' })
    expect(await take(events, 1)).toMatchObject([{ type: 'opened', request: { id } }])
    const waiting = first.client.wait(id)
    while (first.inbox.waiting(id) === 0) await new Promise(resolve => setTimeout(resolve, 5))
    await first.server.close()
    await first.fiber.dispose()
    const second = await serve({ inbox: { store: new MemoryStore(medium) }, port: first.server.port })
    await second.client.answer(id, 'SQLite')
    expect(await take(events, 1)).toMatchObject([{ type: 'settled', request: { id } }])
    expect((await waiting).settlement.outcome).toBe('answered')
    await events.return()
  })

  test('tell of a lost cursor, and give a fresh snapshot', async () => {
    const first = await serve({ port: await quietPort() })
    const events = first.client.events()
    await take(events, 1)
    await first.server.close()
    // Another store under the same address.
    const second = await serve({ port: first.server.port })
    const id = await second.ask()
    expect(await take(events, 2)).toMatchObject([
      { type: 'reset' },
      { type: 'snapshot', requests: [{ id }], done: true },
    ])
    await events.return()
  })

  test('forget a snapshot that broke off half-way', async () => {
    const { url } = await serve()
    const part = 'event: snapshot\ndata: {"requests":[{"id":"gone"}],"done":false}\n\n'
    let calls = 0
    const client = new InboxClient({
      url,
      token: TOKEN,
      fetch: (input, init) => {
        calls += 1
        return calls === 1 ? Promise.resolve(new Response(part, STREAMED)) : fetch(input, init)
      },
    })
    const events = client.events()
    expect(await take(events, 3)).toMatchObject([
      { type: 'snapshot', done: false },
      { type: 'reset' },
      { type: 'snapshot', requests: [], done: true },
    ])
    await events.return()
  })

  test('take up a stream that fell silent', async () => {
    const { url, server } = await serve()
    const client = new InboxClient({ url, token: TOKEN, silenceMs: 50 })
    const events = client.events()
    await take(events, 1)
    const next = events.next()
    while (server.viewers() > 0) await new Promise(resolve => setTimeout(resolve, 5))
    while (server.viewers() === 0) await new Promise(resolve => setTimeout(resolve, 5))
    await server.close()
    void next.catch(() => {})
    void events.return()
  })

  test('are read whole, however the bytes are cut', async () => {
    const text =
      ': hello\r\nevent: opened\r\nid: c1\r\ndata: {"request":{"id":"ä🚀"}}\r\n\r\nevent: settled\nid: c2\ndata: {"request":\ndata: {"id":"b"}}\n\n'
    const bytes = new TextEncoder().encode(text)
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte))
        controller.close()
      },
    })
    const client = new InboxClient({
      url: 'http://x/',
      token: TOKEN,
      fetch: async () => new Response(body, STREAMED),
    })
    const events = client.events()
    expect(await take(events, 2)).toEqual([
      { type: 'opened', request: { id: 'ä🚀' }, cursor: 'c1' },
      { type: 'settled', request: { id: 'b' }, cursor: 'c2' },
    ])
    await events.return()
  })

  test('are refused with a wrong token, without trying again', async () => {
    const { url } = await serve()
    const client = new InboxClient({ url, token: `${TOKEN}x` })
    await expect(client.events().next()).rejects.toMatchObject({ code: 'UNAUTHORIZED', status: 401 })
  })
})
