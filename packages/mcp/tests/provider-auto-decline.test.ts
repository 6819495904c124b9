import { InboxService, type ViewerPolicy } from '@handraise/inbox'
import { UserQuestionService, type UserQuestionProvider } from '@handraise/user-questions'
import { Context } from 'cordis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { mcpElicitationProvider, type McpElicitationOptions } from '../src/provider.ts'
import { HandClock, requestOf, STORE } from './provider-asking.ts'
import { clientV2, serverFor, type ClientOptions } from './provider-clients.ts'

/** A provider whose client replies so after that many milliseconds. */
async function replying(
  reply: object,
  afterMs: number,
  { name, ...options }: McpElicitationOptions & ClientOptions = {},
): Promise<UserQuestionProvider> {
  const clock = new HandClock()
  const screen = (): object => {
    clock.pass(afterMs)
    return reply
  }
  const server = await serverFor(clientV2(screen, { name }))
  return mcpElicitationProvider(server, { clock, ...options })
}

const DECLINE = { action: 'decline' }
const unavailable = { code: 'ASK_UNAVAILABLE', details: { reason: 'no-capable-client' } }

describe('a form that no person accepted', () => {
  const chosen = { action: 'accept', content: { db: 'Postgres' } }
  const answers = [{ id: 'db', selected: ['Postgres'] }]

  test.each([
    [{ action: 'accept', content: { db: 'Postgres' } }],
    [{ action: 'accept', content: { db: 'MySQL' } }],
    [{ action: 'accept', content: { db: '' } }],
    [{ action: 'accept', content: {} }],
    [{ action: 'accept' }],
  ])('is one that came back faster than a person can: %j', async reply => {
    await expect((await replying(reply, 299)).ask(requestOf())).rejects.toMatchObject(unavailable)
  })

  test('is told by the time that is configured', async () => {
    expect(await (await replying(chosen, 300)).ask(requestOf())).toEqual({ answers })
    const slow = await replying(chosen, 900, { autoDeclineMs: 1_000 })
    await expect(slow.ask(requestOf())).rejects.toMatchObject(unavailable)
    const off = await replying(chosen, 0, { autoDeclineMs: 0 })
    expect(await off.ask(requestOf())).toEqual({ answers })
  })

  test('decides no approval, no guarded question and no plan', async () => {
    const intent = { kind: 'plan-review', approve: 'Postgres' } as const
    for (const reply of [chosen, DECLINE]) {
      for (const more of [{ guarded: true }, { intent }]) {
        const provider = await replying(reply, 5)
        const asking = provider.ask({ ...requestOf([{ ...STORE, ...more }]), kind: 'approval' })
        await expect(asking).rejects.toMatchObject(unavailable)
      }
    }
  })

  test('is told in each round anew', async () => {
    const clock = new HandClock()
    const replies = [{ action: 'accept', content: { db: 'MySQL' } }, chosen]
    const screen = (): object | undefined => {
      if (replies.length === 2) clock.pass(2_000)
      return replies.shift()
    }
    const provider = mcpElicitationProvider(await serverFor(clientV2(screen)), { clock })
    await expect(provider.ask(requestOf())).rejects.toMatchObject(unavailable)
    expect(clock.armed).toBe(0)
  })

  test('is not told of a cancel, which decides nothing', async () => {
    const provider = await replying({ action: 'cancel' }, 0)
    await expect(provider.ask(requestOf())).rejects.toMatchObject({ code: 'ASK_CANCELLED' })
  })
})

describe('a decline that no person made', () => {
  test('is one that came faster than a person can', async () => {
    await expect((await replying(DECLINE, 299)).ask(requestOf())).rejects.toMatchObject(unavailable)
    await expect((await replying(DECLINE, 300)).ask(requestOf())).rejects.toMatchObject({
      code: 'ASK_DECLINED',
    })
  })

  test('is told by the time that is configured', async () => {
    const slow = await replying(DECLINE, 900, { autoDeclineMs: 1_000 })
    await expect(slow.ask(requestOf())).rejects.toMatchObject(unavailable)
    const off = await replying(DECLINE, 0, { autoDeclineMs: 0 })
    await expect(off.ask(requestOf())).rejects.toMatchObject({ code: 'ASK_DECLINED' })
  })

  test('is any of a client that is known to decline by itself', async () => {
    const options = { neverDeclines: ['printer'] }
    const printer = await replying(DECLINE, 5_000, { ...options, name: 'printer' })
    await expect(printer.ask(requestOf())).rejects.toMatchObject(unavailable)
    const other = await replying(DECLINE, 5_000, { ...options, name: 'editor' })
    await expect(other.ask(requestOf())).rejects.toMatchObject({ code: 'ASK_DECLINED' })
  })

  test('is none where an empty form is accepted in a person’s time, which skips the question', async () => {
    const skipped = await replying({ action: 'accept', content: {} }, 2_000)
    expect((await skipped.ask(requestOf())).answers).toEqual([{ id: 'db', selected: [] }])
  })
})

describe('a question the client showed to nobody', () => {
  async function open(viewer: ViewerPolicy, ...providers: UserQuestionProvider[]): Promise<Context> {
    const ctx = new Context()
    await ctx.plugin(UserQuestionService)
    const fiber = await ctx.plugin(InboxService, { viewer })
    onTestFinished(() => fiber.dispose())
    for (const provider of providers) ctx.userQuestions.registerProvider(provider)
    return ctx
  }

  test('is answered on another surface', async () => {
    const elsewhere: UserQuestionProvider = {
      name: 'elsewhere',
      ask: async () => ({ answers: [{ id: 'db', selected: ['Postgres'] }] }),
    }
    const ctx = await open('require', await replying(DECLINE, 0), elsewhere)
    expect(await ctx.userQuestions.ask({ questions: [STORE] })).toEqual({
      answers: [{ id: 'db', selected: ['Postgres'] }],
    })
  })

  test('waits in an inbox that keeps what nobody sees yet', async () => {
    const ctx = await open('wait', await replying(DECLINE, 0))
    const asking = ctx.userQuestions.ask({ questions: [STORE] })
    const { core } = ctx.inbox
    const pending = async () => (await core.list({ state: 'pending' })).requests
    await expect.poll(pending).toHaveLength(1)
    const [request] = await pending()
    const answer = { answers: [{ id: 'db', selected: ['Postgres'] }] }
    await core.decide(
      request?.id ?? '',
      { outcome: 'answered', answer },
      { commandId: 'c1', surface: 'page' },
    )
    expect(await asking).toEqual(answer)
  })

  test('is unavailable where nobody else is there and nobody is waited for', async () => {
    const ctx = await open('require', await replying(DECLINE, 0))
    await expect(ctx.userQuestions.ask({ questions: [STORE] })).rejects.toMatchObject(unavailable)
  })
})
