import { AgentRegistry } from '@handraise/agents'
import {
  UserQuestionError,
  UserQuestionService,
  type AskUserQuestionAnswer,
  type PendingAsk,
  type UserQuestionProvider,
} from '@handraise/user-questions'
import { Context, type Fiber } from 'cordis'
import { describe, expect, test } from 'vitest'
import {
  abortListeners,
  allowNoUnhandledRejection,
  HeldClock,
  HeldProvider,
  listen,
  openHost,
  providerOf,
  refusal,
  settleDown,
  SQLITE,
  STORE,
  type Told,
} from './host.ts'

allowNoUnhandledRejection()

/** A plugin that registers `provider` as its own. */
const pluginOf = (provider: UserQuestionProvider) => ({
  name: 'provider',
  inject: ['userQuestions'],
  apply: (ctx: Context): void => void ctx.userQuestions.registerProvider(provider),
})

/** A stack in flight: everything below one plugin, an agent that has asked, and nobody who has answered. */
interface Flight {
  readonly root: Context
  readonly clock: HeldClock
  readonly provider: HeldProvider
  readonly fibers: Readonly<Record<'app' | 'seam' | 'agents' | 'provider', Fiber>>
  readonly leave: () => void
  readonly controller: AbortController
  readonly told: Told
  readonly asking: Promise<AskUserQuestionAnswer>
  readonly pending: () => PendingAsk[]
}

async function takeOff(questions = [STORE]): Promise<Flight> {
  const root = new Context()
  const clock = new HeldClock()
  const provider = new HeldProvider()
  const fibers: Partial<Record<'app' | 'seam' | 'agents' | 'provider', Fiber>> = {}
  fibers.app = await root.plugin({
    name: 'app',
    async apply(ctx: Context) {
      fibers.seam = await ctx.plugin(UserQuestionService, { clock })
      fibers.agents = await ctx.plugin(AgentRegistry)
      fibers.provider = await ctx.plugin(pluginOf(provider))
    },
  })
  const agent = { id: 'root' }
  const leave = root.agents.enter(agent)
  const told = listen(root)
  const controller = new AbortController()
  const { userQuestions } = root
  const asking = userQuestions.ask({
    questions,
    agent,
    signal: controller.signal,
    timeoutMs: 1000,
    session: 's',
    key: 'k',
  })
  expect(provider.requests).toHaveLength(1)
  return {
    root,
    clock,
    provider,
    leave,
    controller,
    told,
    asking,
    fibers: fibers as Flight['fibers'],
    pending: () => userQuestions.pending(),
  }
}

interface Ending {
  readonly when: string
  readonly code: string | undefined
  readonly outcome: string
  /** Whether the provider is told to take the question down. */
  readonly withdrawn: boolean
  readonly end: (flight: Flight) => unknown
}

const gone = { code: 'PROVIDER_GONE', outcome: 'failed', withdrawn: true } as const
const aborted = { code: 'ASK_ABORTED', outcome: 'aborted', withdrawn: true } as const
const ENDINGS: readonly Ending[] = [
  {
    when: 'the person answers',
    code: undefined,
    outcome: 'answered',
    withdrawn: false,
    end: ({ provider }) => provider.answer(SQLITE),
  },
  {
    when: 'the answer is bad',
    code: 'BAD_ANSWER',
    outcome: 'failed',
    withdrawn: true,
    end: ({ provider }) => provider.answer({}),
  },
  {
    when: 'the provider fails',
    code: 'PROVIDER_FAILED',
    outcome: 'failed',
    withdrawn: true,
    end: ({ provider }) => provider.fail(new Error('x')),
  },
  {
    when: 'the person dismisses it',
    code: 'ASK_CANCELLED',
    outcome: 'cancelled',
    withdrawn: true,
    end: ({ provider }) => provider.fail(new UserQuestionError('ASK_CANCELLED')),
  },
  {
    when: 'the person declines',
    code: 'ASK_DECLINED',
    outcome: 'declined',
    withdrawn: true,
    end: ({ provider }) => provider.fail(new UserQuestionError('ASK_DECLINED')),
  },
  {
    when: 'the person writes back',
    code: 'ASK_CLARIFIED',
    outcome: 'clarified',
    withdrawn: true,
    end: ({ provider }) => provider.fail(new UserQuestionError('ASK_CLARIFIED', { text: 'why?' })),
  },
  {
    when: 'the person stops the turn',
    code: 'ASK_INTERRUPTED',
    outcome: 'interrupted',
    withdrawn: true,
    end: ({ provider }) => provider.fail(new UserQuestionError('ASK_INTERRUPTED')),
  },
  {
    when: 'nobody can be asked',
    code: 'ASK_UNAVAILABLE',
    outcome: 'unavailable',
    withdrawn: true,
    end: ({ provider }) =>
      provider.fail(new UserQuestionError('ASK_UNAVAILABLE', { reason: 'undeliverable' })),
  },
  {
    when: 'the deadline passes',
    code: 'ASK_TIMED_OUT',
    outcome: 'timedOut',
    withdrawn: true,
    end: ({ clock }) => clock.pass(1000),
  },
  {
    when: 'the caller aborts, which the provider ignores',
    ...aborted,
    end: ({ controller }) => controller.abort(),
  },
  { when: 'the asking agent leaves', ...aborted, end: ({ leave }) => leave() },
  {
    when: 'the registry of agents is disposed alone',
    ...aborted,
    end: ({ fibers }) => fibers.agents.dispose(),
  },
  { when: 'the plugin of the provider is disposed', ...gone, end: ({ fibers }) => fibers.provider.dispose() },
  { when: 'the plugin of the seam is disposed', ...gone, end: ({ fibers }) => fibers.seam.dispose() },
  { when: 'the plugin above all of them is disposed', ...gone, end: ({ fibers }) => fibers.app.dispose() },
  { when: 'the host shuts down', ...gone, end: ({ root }) => root.fiber.dispose() },
]

describe('an ask ends once and leaves nothing behind', () => {
  for (const { when, code, outcome, withdrawn, end } of ENDINGS) {
    test(`when ${when}`, async () => {
      const flight = await takeOff()
      const { asking, provider, controller, clock, told } = flight
      const ended = asking.then(
        answer => ({ answer }),
        (error: unknown) => ({ error }),
      )
      const signal = provider.requests[0]?.signal
      expect(flight.pending()).toHaveLength(1)
      await end(flight)
      const { answer, error } = (await ended) as { answer?: unknown; error?: UserQuestionError }
      if (code === undefined) expect(answer).toEqual(SQLITE)
      else expect(error?.code).toBe(code)
      expect(signal?.aborted).toBe(withdrawn)
      if (withdrawn) expect(signal?.reason).toBe(error)

      provider.answer(SQLITE)
      provider.fail(new Error('late'))
      controller.abort()
      clock.pass(5000)
      await settleDown()
      expect(flight.pending()).toEqual([])
      expect(abortListeners(controller.signal)).toBe(0)
      expect(clock.armed).toBe(0)
      expect(told.asked).toHaveLength(1)
      // A host that is gone tells nobody: its listeners went with it.
      if (when === 'the host shuts down') return
      expect(told.settled).toHaveLength(1)
      expect(told.settled[0]).toMatchObject({ ...told.asked[0], outcome })
      expect(told.settled[0]?.code).toBe(code)
    })
  }

  test('when the agent leaves, that agent alone is concerned', async () => {
    const ctx = await openHost()
    const provider = new HeldProvider()
    ctx.userQuestions.registerProvider(provider)
    const one = { id: 'one' }
    const other = { id: 'other' }
    const leave = ctx.agents.enter(one)
    ctx.agents.enter(other)
    const ofOne = refusal(ctx.userQuestions.ask({ questions: [STORE], agent: one }))
    const ofOther = ctx.userQuestions.ask({ questions: [STORE], agent: other })
    const ofHost = ctx.userQuestions.ask({ questions: [STORE] })
    leave()
    expect(await ofOne).toMatchObject({ code: 'ASK_ABORTED', details: { reason: 'the asking agent left' } })
    provider.answer(SQLITE, 1)
    provider.answer(SQLITE, 2)
    expect(await Promise.all([ofOther, ofHost])).toEqual([SQLITE, SQLITE])
  })

  test('when its provider is unregistered, every ask of it ends', async () => {
    const ctx = await openHost()
    const dispose = ctx.userQuestions.registerProvider(new HeldProvider())
    const asking = [1, 2, 3].map(() => refusal(ctx.userQuestions.ask({ questions: [STORE] })))
    dispose()
    expect((await Promise.all(asking)).map(({ code }) => code)).toEqual(Array(3).fill('PROVIDER_GONE'))
    expect(ctx.userQuestions.pending()).toEqual([])
  })

  test('when a listener of the opening takes the ground away', async () => {
    for (const [code, pull] of [
      ['ASK_ABORTED', (flight: { controller: AbortController }) => flight.controller.abort('no')],
      ['PROVIDER_GONE', (flight: { dispose: () => void }) => flight.dispose()],
      ['ASK_ABORTED', (flight: { leave: () => void }) => flight.leave()],
    ] as const) {
      const ctx = await openHost()
      const provider = new HeldProvider()
      const agent = { id: 'root' }
      const controller = new AbortController()
      const flight = {
        controller,
        leave: ctx.agents.enter(agent),
        dispose: ctx.userQuestions.registerProvider(provider),
      }
      ctx.on('user-questions/asked', () => pull(flight))
      const told = listen(ctx)
      const error = await refusal(
        ctx.userQuestions.ask({ questions: [STORE], agent, signal: controller.signal }),
      )
      expect(error.code).toBe(code)
      expect(provider.requests).toEqual([])
      expect(ctx.userQuestions.pending()).toEqual([])
      expect(abortListeners(controller.signal)).toBe(0)
      expect([told.asked.length, told.settled.length]).toEqual([1, 1])
    }
  })

  test('when a listener of an ending asks again, that ask goes on', async () => {
    const ctx = await openHost()
    const first = new HeldProvider()
    const dispose = ctx.userQuestions.registerProvider(first)
    const next = new HeldProvider()
    let again: Promise<AskUserQuestionAnswer> | undefined
    ctx.on('user-questions/settled', () => {
      if (again !== undefined) return
      ctx.userQuestions.registerProvider(next)
      again = ctx.userQuestions.ask({ questions: [STORE] })
    })
    const asking = refusal(ctx.userQuestions.ask({ questions: [STORE] }))
    dispose()
    expect((await asking).code).toBe('PROVIDER_GONE')
    next.answer(SQLITE)
    expect(await again).toEqual(SQLITE)
  })
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
      ctx.on(event, (() => Promise.reject(new Error('a listener that rejects'))) as () => void)
      ctx.on(event, (() => new Promise(() => {})) as () => void)
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

describe('a registry of agents', () => {
  const agent = { id: 'root' }
  const asks = (ctx: Context): Promise<string> =>
    ctx.userQuestions.ask({ questions: [STORE], agent }).then(
      () => 'answered',
      (error: { code: string }) => error.code,
    )

  async function openBare(): Promise<Context> {
    const ctx = new Context()
    await ctx.plugin(UserQuestionService)
    ctx.userQuestions.registerProvider(providerOf(SQLITE))
    return ctx
  }

  test('is looked up at each ask, so it may come and go', async () => {
    const ctx = await openBare()
    expect(await asks(ctx)).toBe('CALLER_NOT_LIVE')
    const first = await ctx.plugin(AgentRegistry)
    expect(await asks(ctx)).toBe('CALLER_NOT_LIVE')
    ctx.agents.enter(agent)
    expect(await asks(ctx)).toBe('answered')
    await first.dispose()
    expect(await asks(ctx)).toBe('CALLER_NOT_LIVE')
    await ctx.plugin(AgentRegistry)
    expect(await asks(ctx)).toBe('CALLER_NOT_LIVE')
    ctx.agents.enter(agent)
    expect(await asks(ctx)).toBe('answered')
  })

  test('mounted before the seam serves as well', async () => {
    const ctx = new Context()
    await ctx.plugin(AgentRegistry)
    await ctx.plugin(UserQuestionService)
    ctx.userQuestions.registerProvider(providerOf(SQLITE))
    ctx.agents.enter(agent)
    expect(await asks(ctx)).toBe('answered')
  })

  test('of the host fits by its shape alone', async () => {
    const child = { id: 'child' }
    const live = new Map([agent, child].map(each => [each.id, each]))
    const get = (id: string): { id: string } | undefined => live.get(id)
    const registries = [
      { get, roots: () => [agent] },
      { get, isRoot: (each: { id: string }) => each === agent },
      {
        get,
        isRoot: (each: { id: string }) => each === agent,
        roots: () => {
          throw new Error('too dear')
        },
      },
    ]
    for (const registry of registries) {
      const ctx = await openBare()
      ctx.provide('agents', registry as never)
      expect(await asks(ctx)).toBe('answered')
      const ofChild = ctx.userQuestions.ask({ questions: [STORE], agent: child })
      expect((await refusal(ofChild)).code).toBe('DELEGATED_CALLER')
      const ofTwin = ctx.userQuestions.ask({ questions: [STORE], agent: { id: 'root' } })
      expect((await refusal(ofTwin)).code).toBe('CALLER_NOT_LIVE')
    }
  })

  test('of the host may keep its answers in methods that use this', async () => {
    class HostRegistry {
      private readonly live = [agent]
      get(id: string): { id: string } | undefined {
        return this.live.find(each => each.id === id)
      }
      roots(): readonly { id: string }[] {
        return this.live
      }
    }
    const ctx = await openBare()
    ctx.provide('agents', new HostRegistry() as never)
    expect(await asks(ctx)).toBe('answered')
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
