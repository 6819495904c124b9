import {
  PROVIDER_CODES,
  UserQuestionError,
  type Answer,
  type AskUserQuestionAnswer,
  type Question,
  type UserQuestionProvider,
} from '@handraise/user-questions'
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
} from './host.ts'

allowNoUnhandledRejection()

const NAME: Question = { id: 'name', question: 'What is it called?' }
const CHECKS: Question = {
  id: 'checks',
  question: 'Which checks?',
  multiSelect: true,
  options: [{ label: 'Lint' }, { label: 'Types' }, { label: 'Tests' }],
}

/** Asks a provider that behaves as given, and checks that the end of the ask leaves nothing behind. */
async function askOf(
  ask: () => unknown,
  questions: readonly Question[] = [STORE],
): Promise<{ readonly answer?: AskUserQuestionAnswer; readonly error?: UserQuestionError }> {
  const clock = new HeldClock()
  const ctx = await openHost({ clock })
  const told = listen(ctx)
  ctx.userQuestions.registerProvider({ name: 'odd', ask } as UserQuestionProvider)
  const { signal } = new AbortController()
  const ending = await ctx.userQuestions.ask({ questions, signal, timeoutMs: 1000 }).then(
    answer => ({ answer }),
    (error: unknown) => ({ error: error as UserQuestionError }),
  )
  await settleDown()
  expect(ctx.userQuestions.pending()).toEqual([])
  expect(abortListeners(signal)).toBe(0)
  expect(clock.armed).toBe(0)
  expect(told.asked).toHaveLength(1)
  expect(told.settled).toHaveLength(1)
  return ending
}

describe('a provider that throws', () => {
  const failing: ReadonlyArray<readonly [string, () => unknown, string]> = [
    [
      'at once',
      () => {
        throw new Error('no paper')
      },
      'no paper',
    ],
    ['later', () => Promise.reject(new Error('no paper')), 'no paper'],
    // What is thrown is not always an error.
    ['a text', () => Promise.reject('no paper'), 'no paper'],
    ['nothing', () => Promise.reject(undefined), 'undefined'],
    ['an object', () => Promise.reject({ paper: 0 }), '[object Object]'],
    [
      'an error of the seam that is not its to throw',
      () => Promise.reject(new UserQuestionError('PROVIDER_GONE')),
      new UserQuestionError('PROVIDER_GONE').message,
    ],
  ]
  for (const [what, ask, fault] of failing) {
    test(`${what} fails the ask and is kept as its cause`, async () => {
      const { error } = await askOf(ask)
      expect(error?.code).toBe('PROVIDER_FAILED')
      expect(error?.message).toBe(
        `the question could not be completed: the provider odd failed: ${fault}; nothing was chosen`,
      )
      const thrown: unknown = await Promise.resolve()
        .then(ask)
        .catch((reason: unknown) => reason)
      expect(error?.cause).toEqual(thrown)
    })
  }

  test('what cannot be put into words fails the ask all the same', async () => {
    for (const thrown of [Object.create(null), Symbol('x'), { toString: 'none' }]) {
      const { error } = await askOf(() => Promise.reject(thrown as Error))
      expect(error?.code).toBe('PROVIDER_FAILED')
      expect(error?.cause).toBe(thrown)
    }
  })
})

describe('a provider that gives', () => {
  const bad: ReadonlyArray<readonly [string, unknown, string]> = [
    ['nothing', undefined, 'Invalid input: expected object, received undefined'],
    ['a text', 'SQLite', 'Invalid input: expected object, received string'],
    ['no list of answers', {}, 'answers: Invalid input: expected array, received undefined'],
    [
      'an empty success',
      { answers: [] },
      'answers: question "db" has no entry; a skip is { id, selected: [] }',
    ],
    [
      'an answer without labels',
      { answers: [{ id: 'db' }] },
      'answers[0].selected: Invalid input: expected array, received undefined',
    ],
    [
      'a label that was not offered',
      { answers: [{ id: 'db', selected: ['MySQL'] }] },
      'answers[0].selected: "MySQL" was not offered; offered: "Postgres", "SQLite"',
    ],
    [
      'two labels for one choice',
      { answers: [{ id: 'db', selected: ['SQLite', 'Postgres'] }] },
      'answers[0].selected: holds more than one label for a single-select question',
    ],
    [
      'an answer to something else',
      {
        answers: [
          { id: 'x', selected: [] },
          { id: 'db', selected: [] },
        ],
      },
      'answers[0].id: "x" was not asked',
    ],
  ]
  for (const [what, value, fault] of bad) {
    test(`${what} has given a bad answer, which is named`, async () => {
      const message = `the question could not be completed: the provider odd gave an answer that does not fit: ${fault}; nothing was chosen`
      for (const ask of [() => value, () => Promise.resolve(value)]) {
        const { answer, error } = await askOf(ask)
        expect(answer).toBeUndefined()
        expect(error?.code).toBe('BAD_ANSWER')
        expect(error?.message).toBe(message)
      }
    })
  }

  test('an answer without a promise is taken at its word', async () => {
    expect((await askOf(() => SQLITE)).answer).toEqual(SQLITE)
  })

  // Named by a variable: an object that only happens to have `then` is what is tested.
  const having = (name: string, value: unknown): object => ({ [name]: value })

  test('anything that can be awaited is awaited', async () => {
    const thenable = having('then', (resolve: (value: unknown) => void) => setTimeout(resolve, 0, SQLITE))
    expect((await askOf(() => thenable)).answer).toEqual(SQLITE)
  })

  test('something that throws when it is looked at fails the ask', async () => {
    const doNotLook = (): never => {
      throw new Error('do not look')
    }
    const hostile = (name: string): object => Object.defineProperty({}, name, { get: doNotLook })
    const asks = [
      () => hostile('then'),
      () => having('then', doNotLook),
      () => Promise.resolve(hostile('answers')),
    ]
    for (const ask of asks) {
      const { error } = await askOf(ask)
      expect(error?.code).toBe('PROVIDER_FAILED')
      expect(error?.message).toContain('do not look')
    }
  })

  test('answers in another order gets them back in order', async () => {
    const { answer } = await askOf(
      () => ({
        answers: [
          { id: 'checks', selected: ['Tests', 'Lint'], custom: ' ' },
          { id: 'db', selected: ['SQLite'], note: '' },
        ],
      }),
      [STORE, CHECKS],
    )
    expect(answer).toEqual({
      answers: [
        { id: 'db', selected: ['SQLite'] },
        { id: 'checks', selected: ['Lint', 'Tests'] },
      ],
    })
  })

  test('a skip beside an answer gets both back', async () => {
    const answers = [
      { id: 'db', selected: ['SQLite'] },
      { id: 'checks', selected: [] },
    ]
    expect((await askOf(() => ({ answers }), [STORE, CHECKS])).answer).toEqual({ answers })
  })
})

describe('a provider that ends the ask itself', () => {
  const details = {
    ASK_CANCELLED: { reason: 'closed', answers: [{ id: 'db', selected: ['SQLite'] }] },
    ASK_DECLINED: { reason: 'not now' },
    ASK_CLARIFIED: { text: 'wait, explain the difference first' },
    ASK_INTERRUPTED: { reason: 'stop', answers: [{ id: 'db', selected: ['SQLite'] }] },
    ASK_TIMED_OUT: { timeoutMs: 5 },
    ASK_UNAVAILABLE: { reason: 'not-interactive', advice: 'use --answers' },
  } as const
  for (const code of PROVIDER_CODES) {
    test(`by ${code} is passed on as it is`, async () => {
      const thrown = new UserQuestionError(code, details[code])
      for (const ask of [
        () => Promise.reject(thrown),
        () => {
          throw thrown
        },
      ]) {
        expect((await askOf(ask)).error).toBe(thrown)
      }
    })
  }

  test('is understood from another copy of the package', async () => {
    const foreign = Object.assign(new Error('the user declined'), {
      code: 'ASK_DECLINED',
      details: {},
      [Symbol.for('handraise.UserQuestionError')]: true,
    })
    expect((await askOf(() => Promise.reject(foreign))).error).toBe(foreign)
  })

  for (const code of ['ASK_CANCELLED', 'ASK_INTERRUPTED'] as const) {
    test(`by ${code} keeps only the answers that fit`, async () => {
      const answers: Answer[] = [
        { id: 'checks', selected: ['Tests', 'Lint'], custom: ' ' },
        { id: 'db', selected: ['MySQL'] },
        { id: 'gone', selected: [] },
      ]
      const thrown = new UserQuestionError(code, { reason: 'closed', answers })
      const { error } = await askOf(() => Promise.reject(thrown), [STORE, CHECKS, NAME])
      expect(error?.code).toBe(code)
      expect(error?.details).toEqual({
        reason: 'closed',
        answers: [{ id: 'checks', selected: ['Lint', 'Tests'] }],
      })
      expect(error?.message).toContain(
        'with 1 answered so far: [{"id":"checks","selected":["Lint","Tests"]}]',
      )
      expect(error?.message).not.toContain('MySQL')
    })

    test(`by ${code} survives answers that are nonsense`, async () => {
      for (const answers of [[null], [{ id: 'db' }], [{ id: 'db', selected: 'SQLite' }], 'SQLite']) {
        const thrown = new UserQuestionError(code, { answers: answers as never })
        const { error } = await askOf(() => Promise.reject(thrown))
        expect(error?.code).toBe(code)
        expect(error?.details).toEqual({ answers: [] })
      }
    })

    test(`by ${code} puts the answers it keeps in order`, async () => {
      const answers = [
        { id: 'checks', selected: ['Tests', 'Lint'] },
        { id: 'db', selected: ['SQLite'] },
      ]
      const { error } = await askOf(
        () => Promise.reject(new UserQuestionError(code, { answers })),
        [STORE, CHECKS],
      )
      expect(error?.details).toEqual({
        answers: [
          { id: 'db', selected: ['SQLite'] },
          { id: 'checks', selected: ['Lint', 'Tests'] },
        ],
      })
    })
  }
})

describe('what comes after the end', () => {
  test('of a late answer or a late failure nothing is heard', async () => {
    for (const late of ['answer', 'fail'] as const) {
      const ctx = await openHost()
      const told = listen(ctx)
      const provider = new HeldProvider()
      ctx.userQuestions.registerProvider(provider)
      const controller = new AbortController()
      const asking = ctx.userQuestions.ask({ questions: [STORE], signal: controller.signal })
      controller.abort('enough')
      expect(await refusal(asking)).toMatchObject({ code: 'ASK_ABORTED', cause: 'enough' })
      provider[late](late === 'answer' ? SQLITE : new Error('too late'))
      await settleDown()
      expect(told.settled.map(({ outcome }) => outcome)).toEqual(['aborted'])
    }
  })

  test('an abort after the answer changes nothing', async () => {
    const ctx = await openHost()
    const told = listen(ctx)
    const provider = new HeldProvider()
    ctx.userQuestions.registerProvider(provider)
    const controller = new AbortController()
    const asking = ctx.userQuestions.ask({ questions: [STORE], signal: controller.signal })
    provider.answer(SQLITE)
    await asking
    controller.abort()
    expect(await asking).toEqual(SQLITE)
    expect(provider.requests[0]?.signal.aborted).toBe(false)
    expect(told.settled).toHaveLength(1)
  })
})

describe('the request handed to the provider', () => {
  test('is frozen throughout, and the caller keeps its own', async () => {
    const ctx = await openHost()
    const provider = providerOf({ answers: [{ id: 'plan', selected: ['Go'] }] })
    ctx.userQuestions.registerProvider(provider)
    const question = {
      id: 'plan',
      question: 'Go?',
      detail: 'The plan',
      options: [{ label: 'Go', preview: { format: 'text', content: 'all of it' } }, { label: 'Stop' }],
      intent: { kind: 'plan-review' as const, approve: 'Go' },
      default: { selected: ['Stop'] },
    }
    const request = { questions: [question] }
    await ctx.userQuestions.ask(request)
    const handed = provider.requests[0]
    const asked = handed?.questions[0]
    for (const part of [
      handed,
      handed?.questions,
      asked,
      asked?.options,
      asked?.options?.[0],
      asked?.options?.[0]?.preview,
      asked?.intent,
      asked?.default,
      asked?.default?.selected,
    ]) {
      expect(typeof part).toBe('object')
      expect(Object.isFrozen(part)).toBe(true)
    }
    expect(asked).toEqual(question)
    for (const part of [
      request,
      request.questions,
      question,
      question.options,
      question.options[0],
      question.intent,
      question.default,
      question.default.selected,
    ]) {
      expect(Object.isFrozen(part)).toBe(false)
    }
  })

  test('does not change when the caller changes its questions', async () => {
    const ctx = await openHost()
    const provider = new HeldProvider()
    ctx.userQuestions.registerProvider(provider)
    const options = [{ label: 'Postgres' }, { label: 'SQLite' }]
    const asking = ctx.userQuestions.ask({ questions: [{ ...STORE, options }] })
    options.pop()
    provider.answer(SQLITE)
    expect(await asking).toEqual(SQLITE)
  })

  test('leaves the agent and the signal of the caller as they are', async () => {
    const ctx = await openHost()
    ctx.userQuestions.registerProvider(providerOf(SQLITE))
    const agent = { id: 'root' }
    const { signal } = new AbortController()
    ctx.agents.enter(agent)
    await ctx.userQuestions.ask({ questions: [STORE], agent, signal })
    expect(Object.isFrozen(agent)).toBe(false)
    expect(Object.isFrozen(signal)).toBe(false)
  })

  test('makes one signal, its own, when it is first read', async () => {
    const ctx = await openHost()
    const provider = new HeldProvider()
    ctx.userQuestions.registerProvider(provider)
    const { signal } = new AbortController()
    const asking = ctx.userQuestions.ask({ questions: [STORE], signal })
    const request = provider.requests[0]
    expect(Object.getOwnPropertyDescriptor(request, 'signal')).toHaveProperty('get')
    expect(request?.signal).toBeInstanceOf(AbortSignal)
    expect(request?.signal).toBe(request?.signal)
    expect(request?.signal).not.toBe(signal)
    provider.answer(SQLITE)
    await asking
    expect(request?.signal.aborted).toBe(false)
  })

  test('aborts its signal with the error of the ask', async () => {
    const ctx = await openHost()
    const provider = new HeldProvider()
    ctx.userQuestions.registerProvider(provider)
    const controller = new AbortController()
    const asking = ctx.userQuestions.ask({ questions: [STORE], signal: controller.signal })
    const early = provider.requests[0]?.signal
    controller.abort()
    const error = await refusal(asking)
    expect(early?.reason).toBe(error)
    expect(provider.requests[0]?.signal).toBe(early)
  })

  test('aborts a signal that is first read after the end', async () => {
    const clock = new HeldClock()
    const ctx = await openHost({ clock })
    const provider = new HeldProvider()
    const dispose = ctx.userQuestions.registerProvider(provider)
    const timedOut = refusal(ctx.userQuestions.ask({ questions: [STORE], timeoutMs: 10 }))
    const byDefault = ctx.userQuestions.ask({
      questions: [{ ...STORE, default: { selected: [] } }],
      timeoutMs: 10,
    })
    clock.pass(10)
    await byDefault
    const gone = refusal(ctx.userQuestions.ask({ questions: [STORE] }))
    dispose()
    expect(provider.requests[0]?.signal.reason).toBe(await timedOut)
    expect(provider.requests[1]?.signal.reason).toMatchObject({ code: 'ASK_TIMED_OUT' })
    expect(provider.requests[2]?.signal.reason).toBe(await gone)
  })
})

describe('a provider that throws what cannot be read', () => {
  const brand = Symbol.for('handraise.UserQuestionError')
  const bomb = (name: string, on: object = new Error('x')): object =>
    Object.defineProperty(on, name, {
      get() {
        throw new Error('no')
      },
    })
  test.each<[string, () => unknown]>([
    ['an error whose message throws', () => bomb('message')],
    ['an error of the seam without details', () => ({ [brand]: true, code: 'ASK_CANCELLED' })],
    [
      'an error of the seam whose details throw',
      () => bomb('details', { [brand]: true, code: 'ASK_CANCELLED' }),
    ],
    ['a message to the asker without words', () => ({ [brand]: true, code: 'ASK_CLARIFIED', details: {} })],
    [
      'an object that answers nothing',
      () =>
        new Proxy(
          {},
          {
            has: () => {
              throw new Error('no')
            },
          },
        ),
    ],
  ])('fails the ask: %s', async (_, make) => {
    expect((await askOf(() => Promise.reject(make()))).error?.code).toBe('PROVIDER_FAILED')
    expect(
      (
        await askOf(() => {
          throw make()
        })
      ).error?.code,
    ).toBe('PROVIDER_FAILED')
  })
})

test('many asks on one signal listen to it once, and all end with it', async () => {
  const ctx = await openHost()
  ctx.userQuestions.registerProvider({ ask: () => new Promise(() => {}) })
  const controller = new AbortController()
  const asks = Array.from({ length: 50 }, () =>
    ctx.userQuestions.ask({ questions: [STORE], signal: controller.signal }),
  )
  expect(abortListeners(controller.signal)).toBe(1)
  controller.abort()
  const ended = await Promise.all(asks.map(ask => ask.catch((error: UserQuestionError) => error.code)))
  expect(new Set(ended)).toEqual(new Set(['ASK_ABORTED']))
  expect(abortListeners(controller.signal)).toBe(0)
})
