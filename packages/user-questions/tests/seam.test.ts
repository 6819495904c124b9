import type { AgentLike, AskUserQuestionRequest, Question } from '@handraise/user-questions'
import { UserQuestionError, UserQuestionService } from '@handraise/user-questions'
import * as fc from 'fast-check'
import { Context } from 'cordis'
import { describe, expect, test } from 'vitest'
import {
  allowNoUnhandledRejection,
  HeldProvider,
  listen,
  openHost,
  providerOf,
  refusal,
  SQLITE,
  STORE,
} from './host.ts'

allowNoUnhandledRejection()

const PLAN: Question = {
  id: 'plan',
  question: 'Go?',
  detail: 'The plan',
  options: [{ label: 'Approve' }, { label: 'Refuse' }],
  intent: { kind: 'plan-review', approve: 'Approve' },
}

/** Asks what must be refused, and checks that neither the provider nor a listener heard of it. */
async function refused(
  request: AskUserQuestionRequest,
  agents: (ctx: Context) => AgentLike | undefined = () => undefined,
): Promise<{ readonly code: string; readonly message: string }> {
  const ctx = await openHost()
  const provider = providerOf(SQLITE)
  ctx.userQuestions.registerProvider(provider)
  const told = listen(ctx)
  const agent = agents(ctx)
  const error = await refusal(
    ctx.userQuestions.ask({ ...request, ...(agent === undefined ? {} : { agent }) }),
  )
  expect(provider.requests).toEqual([])
  expect(told).toEqual({ asked: [], settled: [] })
  expect(ctx.userQuestions.pending()).toEqual([])
  expect(error).toBeInstanceOf(UserQuestionError)
  expect(error.name).toBe('UserQuestionError')
  return { code: error.code, message: error.message }
}

const enterChild = (ctx: Context): AgentLike => {
  const root = { id: 'root' }
  const child = { id: 'child', delegationDepth: 0 }
  ctx.agents.enter(root)
  ctx.agents.enter(child, root)
  return child
}

describe('a request that cannot be asked', () => {
  test('is refused when its signal is aborted already', async () => {
    expect(await refused({ questions: [STORE], signal: AbortSignal.abort('stop') })).toEqual({
      code: 'ASK_ABORTED',
      message: 'ask_user_question was aborted before the user answered',
    })
  })

  test('keeps the reason of the abort as the cause', async () => {
    const ctx = await openHost()
    const error = await refusal(
      ctx.userQuestions.ask({ questions: [STORE], signal: AbortSignal.abort('stop') }),
    )
    expect(error.cause).toBe('stop')
  })

  test('is refused without questions', async () => {
    expect(await refused({ questions: [] })).toEqual({
      code: 'EMPTY_QUESTIONS',
      message: 'ask_user_question requires at least one question',
    })
  })

  test('is refused when its questions are missing altogether', async () => {
    for (const questions of [undefined, null]) {
      expect(await refused({ questions } as never)).toMatchObject({ code: 'EMPTY_QUESTIONS' })
    }
  })

  const NOT_LIVE = {
    code: 'CALLER_NOT_LIVE',
    message: 'human interaction requires the exact live calling agent when an agent is supplied',
  }

  test('is refused from an agent nobody registered', async () => {
    expect(await refused({ questions: [STORE], agent: { id: 'stranger' } })).toEqual(NOT_LIVE)
  })

  test('is refused from another object with the id of a live agent', async () => {
    const twin = (ctx: Context): AgentLike => {
      ctx.agents.enter({ id: 'root' })
      return { id: 'root' }
    }
    expect(await refused({ questions: [STORE] }, twin)).toEqual(NOT_LIVE)
  })

  test('is refused from an agent that has left', async () => {
    const left = (ctx: Context): AgentLike => {
      const agent = { id: 'root' }
      ctx.agents.enter(agent)()
      return agent
    }
    expect(await refused({ questions: [STORE] }, left)).toEqual(NOT_LIVE)
  })

  test('is refused with an agent where no registry is mounted', async () => {
    const ctx = new Context()
    await ctx.plugin(UserQuestionService)
    const provider = providerOf(SQLITE)
    ctx.userQuestions.registerProvider(provider)
    const error = await refusal(ctx.userQuestions.ask({ questions: [STORE], agent: { id: 'root' } }))
    expect({ code: error.code, message: error.message }).toEqual(NOT_LIVE)
    expect(provider.requests).toEqual([])
  })

  test('is refused from a child that a live agent owns', async () => {
    expect(await refused({ questions: [STORE] }, enterChild)).toEqual({
      code: 'DELEGATED_CALLER',
      message:
        "human interaction is unavailable while the calling agent is owned by another live agent; include the unresolved question or decision in the child agent's final result",
    })
  })

  test('is refused from a child at any depth', async () => {
    const grandchild = (ctx: Context): AgentLike => {
      const agent = { id: 'grandchild' }
      ctx.agents.enter(agent, enterChild(ctx))
      return agent
    }
    expect(await refused({ questions: [STORE] }, grandchild)).toMatchObject({ code: 'DELEGATED_CALLER' })
  })

  test('is refused when an intent approves a label that is not offered', async () => {
    const intent = { kind: 'plan-review', approve: 'Yes' } as const
    const message =
      'question plan declares intent plan-review whose approve label "Yes" is none of its options'
    expect(await refused({ questions: [STORE, { ...PLAN, intent }] })).toEqual({
      code: 'BAD_INTENT',
      message,
    })
    const { options: _, ...optionless } = { ...PLAN, intent }
    expect(await refused({ questions: [optionless] })).toEqual({ code: 'BAD_INTENT', message })
  })

  test('is refused when an intent reviews nothing', async () => {
    const message = 'question plan declares intent plan-review without the detail it reviews'
    const { detail: _, ...undetailed } = PLAN
    expect(await refused({ questions: [undetailed] })).toEqual({ code: 'BAD_INTENT', message })
    expect(await refused({ questions: [{ ...PLAN, detail: ' \n' }] })).toEqual({
      code: 'BAD_INTENT',
      message,
    })
  })

  test('is refused when malformed, with every fault named', async () => {
    const questions = [
      { id: ' ', question: 'Go?' },
      { ...STORE, question: '', options: [{ label: 'Yes' }, { label: ' ' }, { label: 'yes ' }] },
      STORE,
    ]
    expect(await refused({ questions })).toEqual({
      code: 'BAD_QUESTIONS',
      message:
        'the questions cannot be asked: questions[0].id: must not be blank; questions[1].question: must not be blank; ' +
        'questions[1].options[1].label: must not be blank; questions[1].options[2].label: "yes " cannot be told apart ' +
        'from "Yes"; give each option its own label; questions[2].id: "db" is used twice',
    })
  })

  test('is refused with a deadline that is no time', async () => {
    for (const [timeoutMs, got] of [
      [0, '0'],
      [-1, '-1'],
      [NaN, 'NaN'],
      [Infinity, 'Infinity'],
      ['5', 'string'],
    ] as const) {
      expect(await refused({ questions: [STORE], timeoutMs: timeoutMs as number })).toEqual({
        code: 'BAD_QUESTIONS',
        message: `the questions cannot be asked: timeoutMs: expected a number of milliseconds above 0, got ${got}`,
      })
    }
  })

  test('is refused when a field is of another type than it should be', async () => {
    const odd = {
      questions: [{ ...STORE, header: 7, multiSelect: 'yes', options: [{ label: 'A', description: 1 }] }],
      session: 1,
      key: {},
    }
    const error = await (await openHost()).userQuestions.ask(odd as never).catch((thrown: unknown) => thrown)
    expect((error as UserQuestionError<'BAD_QUESTIONS'>).details.issues.map(({ path }) => path)).toEqual([
      'questions[0].header',
      'questions[0].multiSelect',
      'questions[0].options[0].description',
      'session',
      'key',
    ])
  })

  test('is refused when it is nothing at all, or holds itself', async () => {
    const ctx = await openHost()
    ctx.userQuestions.registerProvider({ ask: () => expect.fail('the provider was called') })
    const circular: Record<string, unknown> = { ...STORE }
    circular.preview = circular
    const unreadable = Object.defineProperty({}, 'questions', {
      get() {
        throw new Error('no')
      },
    })
    const requests = [
      undefined,
      null,
      7,
      { questions: [circular] },
      unreadable,
      { questions: [STORE], signal: {} },
    ]
    const sparse: unknown[] = []
    sparse[1] = STORE
    for (const request of [...requests, { questions: sparse }]) {
      await expect(ctx.userQuestions.ask(request as never)).rejects.toMatchObject({ code: 'BAD_QUESTIONS' })
    }
  })

  test('is refused without a provider', async () => {
    const ctx = await openHost()
    const told = listen(ctx)
    const error = await refusal(ctx.userQuestions.ask({ questions: [STORE] }))
    expect(error.code).toBe('NO_PROVIDER')
    expect(error.message).toBe('no user-questions provider is registered')
    expect(told).toEqual({ asked: [], settled: [] })
  })

  test('never throws into its caller, whatever it holds', async () => {
    const ctx = await openHost()
    const provider = new HeldProvider()
    ctx.userQuestions.registerProvider(provider)
    const part = fc.oneof(fc.anything(), fc.constantFrom('', 'x', 0, null, [], {}, [null], [{ label: 7 }]))
    const question = fc.record(
      {
        id: part,
        question: part,
        options: part,
        detail: part,
        default: part,
        multiSelect: part,
        minSelections: part,
        intent: fc.oneof(part, fc.record({ kind: part, approve: part })),
      },
      { requiredKeys: [] },
    )
    const questions = fc.oneof(fc.anything(), fc.array(fc.oneof(part, question)))
    await fc.assert(
      fc.asyncProperty(
        questions,
        fc.oneof(fc.constant(undefined), fc.anything()),
        async (asked, timeoutMs) => {
          const before = provider.requests.length
          const controller = new AbortController()
          const asking = ctx.userQuestions.ask({
            questions: asked,
            timeoutMs,
            signal: controller.signal,
          } as never)
          controller.abort()
          const { code } = await refusal(asking)
          const reached = provider.requests.length > before
          const refusals = ['EMPTY_QUESTIONS', 'BAD_INTENT', 'BAD_QUESTIONS']
          expect(reached ? ['ASK_ABORTED'] : refusals).toContain(code)
        },
      ),
      { numRuns: 500 },
    )
  })
})

interface Scene {
  readonly ctx: Context
  request: { questions: Question[]; agent?: AgentLike; signal?: AbortSignal }
  provided: boolean
}

/** The rows of the check order, each with what breaks it. */
const ROWS: ReadonlyArray<{
  readonly code: string
  readonly fault: string
  readonly apply: (scene: Scene) => void
}> = [
  {
    code: 'ASK_ABORTED',
    fault: 'an aborted signal',
    apply: ({ request }) => (request.signal = AbortSignal.abort()),
  },
  { code: 'EMPTY_QUESTIONS', fault: 'an empty batch', apply: ({ request }) => (request.questions = []) },
  {
    code: 'CALLER_NOT_LIVE',
    fault: 'a caller that is not live',
    apply: ({ request }) => (request.agent = { ...(request.agent ?? { id: 'stranger' }) }),
  },
  {
    code: 'DELEGATED_CALLER',
    fault: 'an owned caller',
    apply: ({ ctx, request }) => (request.agent = enterChild(ctx)),
  },
  {
    code: 'BAD_INTENT',
    fault: 'a broken intent',
    apply: ({ request }) => request.questions.push({ ...PLAN, detail: '' }),
  },
  {
    code: 'BAD_QUESTIONS',
    fault: 'a malformed question',
    apply: ({ request }) => request.questions.unshift({ id: '', question: '' }),
  },
  { code: 'NO_PROVIDER', fault: 'a missing provider', apply: scene => (scene.provided = false) },
]

describe('of two faults at once', () => {
  ROWS.forEach((earlier, index) => {
    for (const later of ROWS.slice(index + 1)) {
      test(`${earlier.fault} is named before ${later.fault}`, async () => {
        const scene: Scene = { ctx: await openHost(), request: { questions: [STORE] }, provided: true }
        later.apply(scene)
        earlier.apply(scene)
        const provider = providerOf(SQLITE)
        if (scene.provided) scene.ctx.userQuestions.registerProvider(provider)
        expect((await refusal(scene.ctx.userQuestions.ask(scene.request))).code).toBe(earlier.code)
        expect(provider.requests).toEqual([])
        expect(scene.ctx.userQuestions.pending()).toEqual([])
      })
    }
  })
})

describe('a request in order', () => {
  test('reaches the provider, whose answer comes back', async () => {
    const ctx = await openHost()
    const provider = providerOf(SQLITE)
    ctx.userQuestions.registerProvider(provider)
    expect(await ctx.userQuestions.ask({ questions: [STORE] })).toEqual(SQLITE)
    expect(provider.requests).toHaveLength(1)
    expect(provider.requests[0]?.questions).toEqual([STORE])
  })

  test('passes a valid intent on untouched in a mixed batch', async () => {
    const ctx = await openHost()
    const provider = providerOf({
      answers: [
        { id: 'db', selected: [] },
        { id: 'plan', selected: ['Approve'] },
      ],
    })
    ctx.userQuestions.registerProvider(provider)
    await ctx.userQuestions.ask({ questions: [STORE, PLAN] })
    expect(provider.requests[0]?.questions).toEqual([STORE, PLAN])
  })

  test('is let through from a root, whatever its history', async () => {
    const ctx = await openHost()
    const provider = providerOf(SQLITE)
    ctx.userQuestions.registerProvider(provider)
    const agent = { id: 'resumed', session: { header: { delegationDepth: 1 } } }
    ctx.agents.enter(agent)
    await ctx.userQuestions.ask({ questions: [STORE], agent })
    expect(provider.requests[0]?.agent).toBe(agent)
  })

  test('is let through from a child whose owner has left', async () => {
    const ctx = await openHost()
    ctx.userQuestions.registerProvider(providerOf(SQLITE))
    const owner = { id: 'owner' }
    const agent = { id: 'child' }
    const leave = ctx.agents.enter(owner)
    ctx.agents.enter(agent, owner)
    expect((await refusal(ctx.userQuestions.ask({ questions: [STORE], agent }))).code).toBe(
      'DELEGATED_CALLER',
    )
    leave()
    expect(await ctx.userQuestions.ask({ questions: [STORE], agent })).toEqual(SQLITE)
  })

  test('hands the session and the key on', async () => {
    const ctx = await openHost()
    const provider = providerOf(SQLITE)
    ctx.userQuestions.registerProvider(provider)
    await ctx.userQuestions.ask({ questions: [STORE], session: 's', key: 'call' })
    expect(provider.requests[0]).toMatchObject({ session: 's', key: 'call' })
  })

  test('gives each of several asks at once its own answer', async () => {
    const ctx = await openHost()
    const provider = new HeldProvider()
    ctx.userQuestions.registerProvider(provider)
    const asking = ['a', 'b', 'c'].map(id =>
      ctx.userQuestions.ask({ questions: [{ id, question: `${id}?` }] }),
    )
    expect(ctx.userQuestions.pending().map(({ questions }) => questions[0]?.id)).toEqual(['a', 'b', 'c'])
    expect(new Set(provider.requests.map(({ id }) => id)).size).toBe(3)
    for (const index of [2, 0, 1]) {
      const id = provider.requests[index]?.questions[0]?.id
      provider.answer({ answers: [{ id, selected: [], custom: `for ${id}` }] }, index)
    }
    expect((await Promise.all(asking)).map(({ answers }) => answers)).toEqual(
      ['a', 'b', 'c'].map(id => [{ id, selected: [], custom: `for ${id}` }]),
    )
    expect(ctx.userQuestions.pending()).toEqual([])
  })

  test('keeps apart questions that read the same under different ids', async () => {
    const ctx = await openHost()
    const answers = [
      { id: '__proto__', selected: [], custom: 'one' },
      { id: 'constructor', selected: [], custom: 'two' },
    ]
    ctx.userQuestions.registerProvider(providerOf({ answers }))
    const same = { header: 'Name', question: 'Which name?' }
    const questions = [
      { id: '__proto__', ...same },
      { id: 'constructor', ...same },
    ]
    expect(await ctx.userQuestions.ask({ questions })).toEqual({ answers })
    expect(({} as { custom?: unknown }).custom).toBeUndefined()
  })
})

describe('registering a provider', () => {
  test('is refused while another is registered, which stays', async () => {
    const ctx = await openHost()
    const first = providerOf(SQLITE)
    const second = providerOf(SQLITE)
    ctx.userQuestions.registerProvider(first)
    const register = (): unknown => ctx.userQuestions.registerProvider(second)
    expect(register).toThrow(UserQuestionError)
    expect(register).toThrow('a user-questions provider is already registered')
    expect(register).toThrow(expect.objectContaining({ code: 'DUPLICATE_PROVIDER' }))
    expect(ctx.userQuestions.provider()).toBe(first)
    await ctx.userQuestions.ask({ questions: [STORE] })
    expect([first.requests.length, second.requests.length]).toEqual([1, 0])
  })

  test('is undone by the returned function, once and for all', async () => {
    const ctx = await openHost()
    const first = providerOf(SQLITE)
    const second = providerOf(SQLITE)
    const dispose = ctx.userQuestions.registerProvider(first)
    dispose()
    dispose()
    expect(ctx.userQuestions.provider()).toBeUndefined()
    expect((await refusal(ctx.userQuestions.ask({ questions: [STORE] }))).code).toBe('NO_PROVIDER')
    ctx.userQuestions.registerProvider(second)
    dispose()
    expect(ctx.userQuestions.provider()).toBe(second)
    expect(await ctx.userQuestions.ask({ questions: [STORE] })).toEqual(SQLITE)
    expect(first.requests).toEqual([])
  })

  test('leaves what a successor was asked alone when undone again', async () => {
    const ctx = await openHost()
    const dispose = ctx.userQuestions.registerProvider(new HeldProvider())
    dispose()
    const successor = new HeldProvider()
    ctx.userQuestions.registerProvider(successor)
    const asking = ctx.userQuestions.ask({ questions: [STORE] })
    dispose()
    successor.answer(SQLITE)
    expect(await asking).toEqual(SQLITE)
  })

  test('is refused for what cannot be asked, and takes no place', async () => {
    const ctx = await openHost()
    for (const nonsense of [undefined, null, {}, { ask: 'me' }]) {
      expect(() => ctx.userQuestions.registerProvider(nonsense as never)).toThrow(TypeError)
    }
    expect(ctx.userQuestions.provider()).toBeUndefined()
  })

  test('keeps the provider it was given, not a copy', async () => {
    const ctx = await openHost()
    const provider = new HeldProvider()
    ctx.userQuestions.registerProvider(provider)
    expect(ctx.userQuestions.provider()).toBe(provider)
  })
})
