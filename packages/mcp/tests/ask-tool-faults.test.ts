import { InboxService, MemoryStore, StoreError } from '@handraise/inbox'
import { UserQuestionService, type UserQuestionProvider } from '@handraise/user-questions'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { InMemoryTransport } from '@modelcontextprotocol/server'
import { Context } from 'cordis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { mcpEndpoint, McpService } from '../src/index.ts'
import {
  ANSWERED,
  ask,
  chooses,
  codeOf,
  decide,
  ERAS,
  HeldClock,
  join,
  nobody,
  offer,
  onePending,
  pendingIn,
  settle,
  textOf,
} from './offer-scene.ts'

const RECOMMENDED = [
  { id: 'db', question: 'Which store?', options: [{ label: 'Postgres (Recommended)' }, { label: 'SQLite' }] },
]

/** What is told of a question holds no answer to it. */
function expectNoAnswer(result: Awaited<ReturnType<typeof ask>>): void {
  expect(result.structuredContent?.answers).toBeUndefined()
  expect(textOf(result)).not.toMatch(/"answers"|Postgres|SQLite/u)
}

describe.each(ERAS)('a call of a client of %s', era => {
  test('is told what it can do when the database is away, and nothing of the database', async () => {
    class Away extends MemoryStore {
      away = false
      override async open(...given: Parameters<MemoryStore['open']>): ReturnType<MemoryStore['open']> {
        if (this.away) throw secret()
        return super.open(...given)
      }
      override async get(...given: Parameters<MemoryStore['get']>): ReturnType<MemoryStore['get']> {
        if (this.away) throw secret()
        return super.get(...given)
      }
      override async record(...given: Parameters<MemoryStore['record']>): ReturnType<MemoryStore['record']> {
        if (this.away) throw secret()
        return super.record(...given)
      }
    }
    const secret = (): StoreError =>
      new StoreError('DATABASE_UNREACHABLE', { message: 'connect ECONNREFUSED 10.1.2.3:5432' })
    const store = new Away()
    const client = await join(await offer({}, { store }), era)
    store.away = true
    const result = await ask(client, { questions: RECOMMENDED })
    store.away = false
    expect(result.isError).toBe(true)
    expect(textOf(result)).toContain('the database of this inbox cannot be reached just now')
    expect(JSON.stringify(result)).toContain('DATABASE_UNREACHABLE')
    expect(JSON.stringify(result)).not.toContain('10.1.2.3')
  })

  test('claims no answer when a surface says that it was answered and has none', async () => {
    const host = await offer()
    const empty: UserQuestionProvider = { name: 'empty', ask: async () => ({ answers: [] }) }
    host.ctx.userQuestions.registerProvider(empty)
    const result = await ask(await join(host, era), { questions: RECOMMENDED })
    expect(codeOf(result)).toBe('BAD_ANSWER')
    expect(textOf(result)).toContain('question "db" has no entry')
    expectNoAnswer(result)
  })

  test('takes no recommendation for the choice of somebody who is silent', async () => {
    const clock = new HeldClock()
    const host = await offer({}, { clock })
    const client = await join(host, era)
    const asking = ask(client, { questions: RECOMMENDED })
    const request_id = await onePending(host.inbox)
    await clock.pass(50_000)
    const first = await asking
    expect(first.structuredContent).toEqual({ status: 'waiting', request_id })
    expectNoAnswer(first)
    // However long nobody answers: a question from here has no deadline.
    await clock.pass(3_600_000)
    const later = ask(client, { request_id })
    await clock.pass(50_000)
    expectNoAnswer(await later)
    expect(await pendingIn(host.inbox)).toEqual([request_id])
  })

  test('asks its question once, whoever comes, goes and asks for it again', async () => {
    const host = await offer()
    const changes: string[] = []
    onTestFinished(
      await host.inbox.follow({ entry: ({ change }) => void changes.push(change), lost: () => {} }),
    )
    const call = { callId: 'call-1' }
    const shown = nobody()
    const first = await join(host, era, { screen: shown.screen })
    ask(first, undefined, call).catch(() => {})
    await shown.up
    const id = await onePending(host.inbox)
    await first.close()
    const [second, third] = [await join(host, era), await join(host, era)]
    const goingOn = [ask(second, { request_id: id }), ask(third, undefined, call)]
    await settle()
    await decide(host.inbox, id)
    expect((await Promise.all(goingOn)).map(textOf)).toEqual([ANSWERED, ANSWERED])
    await expect.poll(() => changes).toEqual(['opened', 'settled'])
  })

  test('leaves no clock running when its client is gone', async () => {
    const clock = new HeldClock()
    const host = await offer({}, { clock })
    await settle()
    const before = clock.armed
    const client = await join(host, era)
    ask(client).catch(() => {})
    await onePending(host.inbox)
    await settle()
    expect(clock.armed).toBeGreaterThan(before)
    await client.close()
    await expect.poll(() => clock.armed).toBe(before)
  })

  test('whose form nobody was shown says that nobody answered, and where they can', async () => {
    const clock = new HeldClock()
    const page = 'http://127.0.0.1:4100/'
    const host = await offer({ autoDeclineMs: 300, page: () => page }, { clock })
    const client = await join(host, era, { screen: () => ({ action: 'decline' }) })
    const asking = ask(client)
    const request_id = await onePending(host.inbox)
    await clock.pass(50_000)
    const result = await asking
    expect(result.structuredContent).toEqual({ status: 'waiting', request_id, page })
    expect(textOf(result)).toContain('The user has not answered yet')
    expect(textOf(result)).not.toMatch(/declined|dismissed/u)
  })

  test('survives that the tool is loaded anew beside the same inbox', async () => {
    const ctx = new Context()
    await ctx.plugin(UserQuestionService)
    const store = await ctx.plugin(InboxService)
    onTestFinished(() => store.dispose())
    const inbox = ctx.inbox.core
    const before = await ctx.plugin(McpService, { autoDeclineMs: 0 })
    const dispose = async (): Promise<void> => {}
    const asking = ask(await join({ ctx, inbox, dispose }, era))
    const id = await onePending(inbox)
    await before.dispose()
    expect((await asking).structuredContent).toEqual({ status: 'waiting', request_id: id })
    expect(await pendingIn(inbox)).toEqual([id])
    const after = await ctx.plugin(McpService, { autoDeclineMs: 0 })
    onTestFinished(() => after.dispose())
    const goingOn = ask(await join({ ctx, inbox, dispose }, era), { request_id: id })
    await settle()
    await decide(inbox, id)
    expect(textOf(await goingOn)).toBe(ANSWERED)
  })
})

test('a client whose form fails is told at once that nobody was asked, where nobody else is there', async () => {
  const host = await offer({}, { viewer: 'require' })
  const client = await join(host, '2025', {
    screen: () => {
      throw new Error('no screen here')
    },
  })
  const result = await ask(client)
  expect(codeOf(result)).toBe('ASK_UNAVAILABLE')
  expectNoAnswer(result)
  expect(await pendingIn(host.inbox)).toEqual([])
})

test.each([
  [{ action: 'reject' }],
  [{ action: 'accept', content: { db: ['SQLite'], other: { deep: 1 } } }],
  [null],
])('a client of 2025 that replies %j has answered nothing, and the question waits', async reply => {
  const host = await offer()
  const asking = ask(await join(host, '2025', { screen: () => reply }))
  const id = await onePending(host.inbox)
  await settle()
  expect(await pendingIn(host.inbox)).toEqual([id])
  await decide(host.inbox, id)
  expect(textOf(await asking)).toBe(ANSWERED)
})

test('a client of 2025 over HTTP gets the form on the stream of its call, though it opens no other', async () => {
  const host = await offer()
  const endpoint = mcpEndpoint({ build: () => host.ctx.mcp.askServer() })
  onTestFinished(() => endpoint.close())
  const client = new Client({ name: 'client', version: '1' }, { capabilities: { elicitation: { form: {} } } })
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { db: 'SQLite' } }))
  onTestFinished(() => client.close())
  const fetch = async (url: string | URL, init?: RequestInit): Promise<Response> =>
    init?.method === 'GET' ? new Response(null, { status: 405 }) : endpoint.fetch(new Request(url, init))
  await client.connect(new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), { fetch }))
  expect(client.getNegotiatedProtocolVersion()).toBe('2025-11-25')
  expect(textOf(await ask(client))).toBe(ANSWERED)
})

test('a client that declares elicitation without a mode is shown the form', async () => {
  const host = await offer()
  const client = new Client({ name: 'client', version: '1' }, { capabilities: { elicitation: {} } })
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { db: 'SQLite' } }))
  onTestFinished(() => client.close())
  const [near, far] = InMemoryTransport.createLinkedPair()
  await host.ctx.mcp.askServer().connect(far)
  await client.connect(near)
  expect(textOf(await ask(client))).toBe(ANSWERED)
})

test('a client that shows addresses alone is answered in the inbox', async () => {
  const host = await offer()
  const client = new Client({ name: 'client', version: '1' }, { capabilities: { elicitation: { url: {} } } })
  onTestFinished(() => client.close())
  const [near, far] = InMemoryTransport.createLinkedPair()
  await host.ctx.mcp.askServer().connect(far)
  await client.connect(near)
  const asking = ask(client)
  await decide(host.inbox, await onePending(host.inbox))
  expect(textOf(await asking)).toBe(ANSWERED)
})

test('a form that was up while the host went down is shown by the next one, to whoever comes back', async () => {
  const host = await offer()
  const shown = nobody()
  const first = await join(host, '2025', { screen: shown.screen })
  const asking = ask(first)
  await shown.up
  const id = await onePending(host.inbox)
  await first.close()
  await expect(asking).rejects.toThrow('Connection closed')
  // Nobody has its id: it is withdrawn, and is no card that answers nobody.
  await expect.poll(() => pendingIn(host.inbox)).toEqual([])
  const second = await join(host, '2025', { screen: chooses('SQLite') })
  expect(codeOf(await ask(second, { request_id: id }))).toBe('ASK_ABORTED')
  expect(textOf(await ask(second))).toBe(ANSWERED)
})
