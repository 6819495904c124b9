import { UserQuestionError, UserQuestionService, type UserQuestionProvider } from '@handraise/user-questions'
import { Context } from 'cordis'
import { describe, expect, test } from 'vitest'
import {
  allowNoUnhandledRejection,
  HeldClock,
  HeldProvider,
  listen,
  openHost,
  providerOf,
  refusal,
  SQLITE,
  STORE,
} from './host.ts'

allowNoUnhandledRejection()

/** A plugin that registers `provider` as its own. */
const pluginOf = (provider: UserQuestionProvider) => ({
  name: 'provider',
  inject: ['userQuestions'],
  apply: (ctx: Context): void => void ctx.userQuestions.registerProvider(provider),
})

describe('the events', () => {
  test('tell of an ask before its provider is called, then of its end', async () => {
    const clock = new HeldClock(5)
    const ctx = await openHost({ clock })
    const order: string[] = []
    const told = listen(ctx)
    ctx.on('user-questions/asked', () => void order.push('asked'))
    ctx.on('user-questions/settled', () => void order.push('settled'))
    const agent = { id: 'root' }
    ctx.agents.enter(agent)
    ctx.userQuestions.registerProvider({
      ask: request => {
        order.push('provider')
        expect(request.id).toBe(told.asked[0]?.id)
        return Promise.resolve(SQLITE)
      },
    })
    await ctx.userQuestions.ask({ questions: [STORE], agent, session: 's', key: 'k', timeoutMs: 10 })
    expect(order).toEqual(['asked', 'provider', 'settled'])
    const pending = {
      id: told.asked[0]?.id,
      questions: [STORE],
      askedAt: 5,
      deadlineAt: 15,
      agent,
      session: 's',
      key: 'k',
    }
    expect(told.asked).toEqual([pending])
    expect(told.settled).toEqual([{ ...pending, settledAt: 5, outcome: 'answered', answers: SQLITE.answers }])
  })

  test('carry the reason, the text and what was answered so far', async () => {
    const ctx = await openHost()
    const told = listen(ctx)
    const answers = [{ id: 'db', selected: ['SQLite'] }]
    const errors = [
      new UserQuestionError('ASK_CANCELLED', { reason: 'closed', answers }),
      new UserQuestionError('ASK_CLARIFIED', { text: 'why?' }),
      new UserQuestionError('ASK_UNAVAILABLE', { reason: 'no-rule' }),
    ]
    for (const error of errors) {
      const dispose = ctx.userQuestions.registerProvider({ ask: () => Promise.reject(error) })
      await refusal(ctx.userQuestions.ask({ questions: [STORE] }))
      dispose()
    }
    expect(told.settled).toMatchObject([
      { outcome: 'cancelled', code: 'ASK_CANCELLED', reason: 'closed', answers },
      { outcome: 'clarified', code: 'ASK_CLARIFIED', text: 'why?', answers: [] },
      { outcome: 'unavailable', code: 'ASK_UNAVAILABLE', reason: 'no-rule', answers: [] },
    ])
  })

  test('reach every listener although one throws, rejects or never returns', async () => {
    const ctx = await openHost()
    for (const event of ['user-questions/asked', 'user-questions/settled'] as const) {
      ctx.on(event, () => {
        throw new Error('a listener that throws')
      })
      ctx.on(event, () => Promise.reject(new Error('a listener that rejects')))
      ctx.on(event, () => new Promise(() => {}))
    }
    const told = listen(ctx)
    ctx.userQuestions.registerProvider(providerOf(SQLITE))
    expect(await ctx.userQuestions.ask({ questions: [STORE] })).toEqual(SQLITE)
    expect([told.asked.length, told.settled.length]).toEqual([1, 1])
  })

  test('are not made while nobody listens, nor once a listener has left', async () => {
    const clock = new HeldClock()
    const ctx = await openHost({ clock })
    ctx.userQuestions.registerProvider(providerOf(SQLITE))
    const readsOfAnAsk = async (): Promise<number> => {
      const before = clock.reads
      await ctx.userQuestions.ask({ questions: [STORE] })
      return clock.reads - before
    }
    expect(await readsOfAnAsk()).toBe(1)
    const told: unknown[] = []
    const leave = ctx.on('user-questions/settled', ask => void told.push(ask))
    expect(await readsOfAnAsk()).toBe(2)
    leave()
    expect(await readsOfAnAsk()).toBe(1)
    expect(told).toHaveLength(1)
  })
})

describe('a provider that a plugin registers', () => {
  test('goes with the plugin', async () => {
    const ctx = await openHost()
    const provider = providerOf(SQLITE)
    const fiber = await ctx.plugin(pluginOf(provider))
    expect(await ctx.userQuestions.ask({ questions: [STORE] })).toEqual(SQLITE)
    await fiber.dispose()
    expect((await refusal(ctx.userQuestions.ask({ questions: [STORE] }))).code).toBe('NO_PROVIDER')
    expect(provider.requests).toHaveLength(1)
    await ctx.plugin(pluginOf(provider))
    expect(await ctx.userQuestions.ask({ questions: [STORE] })).toEqual(SQLITE)
  })

  test('makes the plugin fail where there is one already', async () => {
    const ctx = await openHost()
    const first = providerOf(SQLITE)
    await ctx.plugin(pluginOf(first))
    await expect(async () => ctx.plugin(pluginOf(providerOf(SQLITE)))).rejects.toMatchObject({
      code: 'DUPLICATE_PROVIDER',
    })
    expect(ctx.userQuestions.provider()).toBe(first)
  })

  test('waits for the seam when mounted before it', async () => {
    const ctx = new Context()
    const fiber = ctx.plugin(pluginOf(providerOf(SQLITE)))
    await ctx.plugin(UserQuestionService)
    await fiber
    expect(await ctx.userQuestions.ask({ questions: [STORE] })).toEqual(SQLITE)
  })
})

describe('an isolated child context', () => {
  test('has a seam and a provider of its own', async () => {
    const ctx = await openHost()
    const outer = providerOf(SQLITE)
    const inner = providerOf({ answers: [{ id: 'db', selected: ['Postgres'] }] })
    ctx.userQuestions.registerProvider(outer)
    const child = ctx.isolate('userQuestions')
    await child.plugin(UserQuestionService)
    expect((await refusal(child.userQuestions.ask({ questions: [STORE] }))).code).toBe('NO_PROVIDER')
    expect(outer.requests).toEqual([])
    const dispose = child.userQuestions.registerProvider(inner)
    expect((await child.userQuestions.ask({ questions: [STORE] })).answers[0]?.selected).toEqual(['Postgres'])
    expect(outer.requests).toEqual([])
    expect(await ctx.userQuestions.ask({ questions: [STORE] })).toEqual(SQLITE)
    expect([outer.requests.length, inner.requests.length]).toEqual([1, 1])
    dispose()
    expect(ctx.userQuestions.provider()).toBe(outer)
    expect(child.userQuestions.provider()).toBeUndefined()
  })

  test('goes away without touching what the parent has asked', async () => {
    const ctx = await openHost()
    const outer = new HeldProvider()
    ctx.userQuestions.registerProvider(outer)
    const child = ctx.isolate('userQuestions')
    const fiber = await child.plugin(UserQuestionService)
    child.userQuestions.registerProvider(new HeldProvider())
    const ofParent = ctx.userQuestions.ask({ questions: [STORE] })
    const ofChild = refusal(child.userQuestions.ask({ questions: [STORE] }))
    expect(ctx.userQuestions.pending()).toHaveLength(1)
    await fiber.dispose()
    expect((await ofChild).code).toBe('PROVIDER_GONE')
    outer.answer(SQLITE)
    expect(await ofParent).toEqual(SQLITE)
  })

  test('knows the agents of the parent unless it isolates them too', async () => {
    const ctx = await openHost()
    const agent = { id: 'root' }
    ctx.agents.enter(agent)
    const shared = ctx.isolate('userQuestions')
    await shared.plugin(UserQuestionService)
    shared.userQuestions.registerProvider(providerOf(SQLITE))
    expect(await shared.userQuestions.ask({ questions: [STORE], agent })).toEqual(SQLITE)
    const apart = ctx.isolate('userQuestions').isolate('agents')
    await apart.plugin(UserQuestionService)
    apart.userQuestions.registerProvider(providerOf(SQLITE))
    expect((await refusal(apart.userQuestions.ask({ questions: [STORE], agent }))).code).toBe(
      'CALLER_NOT_LIVE',
    )
  })
})
