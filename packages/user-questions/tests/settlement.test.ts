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

async function takeOff(last: 'provider' | 'agents' = 'provider'): Promise<Flight> {
  const root = new Context()
  const clock = new HeldClock()
  const provider = new HeldProvider()
  const fibers: Partial<Record<'app' | 'seam' | 'agents' | 'provider', Fiber>> = {}
  fibers.app = await root.plugin({
    name: 'app',
    async apply(ctx: Context) {
      fibers.seam = await ctx.plugin(UserQuestionService, { clock })
      if (last === 'provider') fibers.agents = await ctx.plugin(AgentRegistry)
      fibers.provider = await ctx.plugin(pluginOf(provider))
      fibers.agents ??= await ctx.plugin(AgentRegistry)
    },
  })
  const agent = { id: 'root' }
  const leave = root.agents.enter(agent)
  const told = listen(root)
  const controller = new AbortController()
  const { userQuestions } = root
  const asking = userQuestions.ask({
    questions: [STORE],
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
      expect(answer).toEqual(code === undefined ? SQLITE : undefined)
      expect(error?.code).toBe(code)
      expect(signal?.aborted).toBe(withdrawn)
      expect(signal?.reason).toBe(withdrawn ? error : undefined)

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
      const heard = when === 'the host shuts down' ? [] : [{ ...told.asked[0], outcome }]
      expect(told.settled).toMatchObject(heard)
      expect(told.settled.map(settled => settled.code)).toEqual(heard.map(() => code))
    })
  }

  test('when the host shuts down, whichever part of it goes first', async () => {
    for (const last of ['provider', 'agents'] as const) {
      for (const top of ['app', 'root'] as const) {
        const flight = await takeOff(last)
        const ended = refusal(flight.asking)
        await (top === 'root' ? flight.root.fiber : flight.fibers.app).dispose()
        expect((await ended).code).toBe('PROVIDER_GONE')
        expect(flight.pending()).toEqual([])
      }
    }
  })

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
