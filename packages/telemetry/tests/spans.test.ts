import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { MemoryMedium, MemoryStore } from '@handraise/inbox'
import * as opentelemetry from '@handraise/telemetry/opentelemetry'
import { UserApprovalService } from '@handraise/user-approvals'
import { UserQuestionError, type ProviderRequest } from '@handraise/user-questions'
import { describe, expect, test } from 'vitest'
import { answering, DB, host, until } from './hosts.ts'
import { recordingSdk, secondsOf } from './recording-sdk.ts'

const command = (surface = 'web') => ({ commandId: crypto.randomUUID(), surface })
const ANSWER = { outcome: 'answered', answer: { answers: [{ id: 'db', selected: ['SQLite'] }] } } as const

async function tracedHost(kept?: MemoryMedium | MemoryStore) {
  const sdk = recordingSdk()
  const { ctx, reported } = await host(kept)
  const { tracerProvider, meterProvider } = sdk
  const plugin = await ctx.plugin(opentelemetry, { tracerProvider, meterProvider })
  return { ctx, reported, plugin, ...sdk }
}

/** A provider that ends with what it is told to, when it is told. */
function held() {
  const asked: ProviderRequest[] = []
  let end = (_: Error | undefined): void => {}
  return {
    name: 'held',
    asked,
    end: (error?: Error) => end(error),
    ask: (request: ProviderRequest) =>
      new Promise<{ answers: { id: string; selected: string[] }[] }>((resolve, reject) => {
        asked.push(request)
        end = error =>
          error === undefined ? resolve({ answers: [{ id: 'db', selected: ['SQLite'] }] }) : reject(error)
      }),
  }
}

describe('an ask', () => {
  test('is a child of the span that was active where it was made', async () => {
    const { ctx, tracerProvider, spans } = await tracedHost()
    ctx.userQuestions.registerProvider(answering)
    const turn = tracerProvider.getTracer('agent').startSpan('turn')
    await context.with(trace.setSpan(context.active(), turn), () =>
      ctx.userQuestions.ask({ questions: [DB] }),
    )
    const [ask] = spans('handraise.ask')
    const { spanId, traceId } = turn.spanContext()
    expect(ask?.parentSpanContext?.spanId).toBe(spanId)
    for (const name of ['handraise.wait', 'handraise.settle']) {
      const [inside] = spans(name)
      expect(inside?.parentSpanContext?.spanId).toBe(ask?.spanContext().spanId)
      expect(inside?.spanContext().traceId).toBe(traceId)
    }
  })

  test('says how it ended and by whom, and nothing that was asked or answered', async () => {
    const { ctx, all, spans } = await tracedHost()
    const provider = held()
    ctx.userQuestions.registerProvider(provider)
    const asking = ctx.userQuestions.ask({ questions: [DB], session: 's', key: 'k' })
    expect(all()).toEqual([])
    provider.end()
    await asking
    const [ask] = spans('handraise.ask')
    expect(ask).toMatchObject({ kind: SpanKind.INTERNAL, status: { code: SpanStatusCode.UNSET } })
    expect(ask?.attributes).toEqual({
      'handraise.kind': 'questions',
      'handraise.request.id': provider.asked[0]?.id,
      'handraise.question.count': 1,
      'handraise.key.present': true,
      'handraise.provider': 'held',
      'handraise.session.id': 's',
      'handraise.outcome': 'answered',
      'handraise.by': 'user',
      'handraise.surface': 'held',
    })
    const said = JSON.stringify(
      all().map(({ name, attributes, status, events }) => [name, attributes, status, events]),
    )
    for (const text of [DB.question, DB.header, 'SQLite', 'Postgres']) expect(said).not.toContain(text)
  })

  test.each([
    ['declined', new UserQuestionError('ASK_DECLINED', { reason: 'my secret' }), 'user'],
    ['cancelled', new UserQuestionError('ASK_CANCELLED', {}), 'user'],
    ['clarified', new UserQuestionError('ASK_CLARIFIED', { text: 'my secret' }), 'user'],
    ['timedOut', new UserQuestionError('ASK_TIMED_OUT', {}), undefined],
  ])('that a person refuses or lets pass is no error: %s', async (outcome, error, by) => {
    const { ctx, all, spans } = await tracedHost()
    ctx.userQuestions.registerProvider({ name: 'p', ask: () => Promise.reject(error) })
    await ctx.userQuestions.ask({ questions: [DB] }).catch(() => {})
    const [ask] = spans('handraise.ask')
    expect(ask?.status.code).toBe(SpanStatusCode.UNSET)
    expect([ask?.attributes['handraise.outcome'], ask?.attributes['handraise.by']]).toEqual([outcome, by])
    expect(JSON.stringify(all().map(({ attributes, status }) => [attributes, status]))).not.toContain(
      'my secret',
    )
  })

  test.each([
    ['PROVIDER_FAILED', () => Promise.reject(new Error('my secret'))],
    ['BAD_ANSWER', async () => ({ answers: [] })],
    [
      'ASK_UNAVAILABLE',
      () => Promise.reject(new UserQuestionError('ASK_UNAVAILABLE', { reason: 'undeliverable' })),
    ],
  ])('that comes to nothing by a fault is one, with its code: %s', async (code, ask) => {
    const { ctx, all, spans } = await tracedHost()
    ctx.userQuestions.registerProvider({ name: 'p', ask })
    await ctx.userQuestions.ask({ questions: [DB] }).catch(() => {})
    const [span] = spans('handraise.ask')
    expect(span).toMatchObject({
      status: { code: SpanStatusCode.ERROR, message: code },
      attributes: { 'error.type': code },
    })
    expect(spans('handraise.wait')).toHaveLength(1)
    expect(spans('handraise.settle')).toEqual([])
    expect(JSON.stringify(all().map(({ attributes, status }) => [attributes, status]))).not.toContain(
      'my secret',
    )
  })

  test('that is refused before anybody is asked has no span', async () => {
    const { ctx, all } = await tracedHost()
    await ctx.userQuestions.ask({ questions: [] }).catch(() => {})
    expect(all()).toEqual([])
  })
})

describe('through an inbox', () => {
  test('the surface that settled it is known, and how long it waited there', async () => {
    const { ctx, spans } = await tracedHost(new MemoryMedium())
    const asking = ctx.userQuestions.ask({ questions: [DB] })
    const { core } = ctx.inbox
    await until(async () => expect((await core.list({ state: 'pending' })).requests).toHaveLength(1))
    const [request] = (await core.list({ state: 'pending' })).requests
    await core.decide(request!.id, ANSWER, command())
    await asking
    await until(() => expect(spans('handraise.ask')).toHaveLength(1))
    const how = { 'handraise.outcome': 'answered', 'handraise.by': 'user', 'handraise.surface': 'web' }
    for (const name of ['handraise.ask', 'handraise.wait', 'handraise.settle'])
      expect(spans(name)).toMatchObject([{ attributes: how }])
    const [ask, wait] = [spans('handraise.ask')[0]!, spans('handraise.wait')[0]!]
    expect(secondsOf(wait.startTime)).toBeGreaterThanOrEqual(secondsOf(ask.startTime))
    expect(secondsOf(wait.endTime)).toBeLessThanOrEqual(secondsOf(ask.endTime))
  })

  test('what another host opened and this one settles has no span here, and breaks nothing', async () => {
    const medium = new MemoryMedium()
    const other = await host(medium)
    const { ctx, all, reported, read } = await tracedHost(medium)
    const asking = other.ctx.userQuestions.ask({ questions: [DB], key: 'k' })
    await until(async () =>
      expect((await ctx.inbox.core.list({ state: 'pending' })).requests).toHaveLength(1),
    )
    const [request] = (await ctx.inbox.core.list({ state: 'pending' })).requests
    await ctx.inbox.core.decide(request!.id, ANSWER, command())
    await asking
    expect([all(), reported]).toEqual([[], []])
    expect(await read('handraise.request.settled')).toEqual([
      [{ kind: 'questions', outcome: 'answered', surface: 'web' }, 1],
    ])
    expect(await read('handraise.ask.asked')).toEqual([])
  })

  test('an ask that joins what another host has asked waits as well', async () => {
    const medium = new MemoryMedium()
    const other = await host(medium)
    const { ctx, spans } = await tracedHost(medium)
    const first = other.ctx.userQuestions.ask({ questions: [DB], key: 'k', session: 's' })
    await until(async () =>
      expect((await ctx.inbox.core.list({ state: 'pending' })).requests).toHaveLength(1),
    )
    const [request] = (await ctx.inbox.core.list({ state: 'pending' })).requests
    const second = ctx.userQuestions.ask({ questions: [DB], key: 'k', session: 's' })
    await until(() => expect(ctx.inbox.core.waiting(request!.id)).toBe(1))
    await ctx.inbox.core.decide(request!.id, ANSWER, command('terminal'))
    await Promise.all([first, second])
    await until(() => expect(spans('handraise.ask')).toHaveLength(1))
    expect(spans('handraise.wait')).toMatchObject([
      { attributes: { 'handraise.joined': true, 'handraise.surface': 'terminal' } },
    ])
  })

  test('an ask that was answered long ago has waited for nobody', async () => {
    const { ctx, spans } = await tracedHost(new MemoryMedium())
    ctx.userQuestions.registerProvider(answering)
    await ctx.userQuestions.ask({ questions: [DB], key: 'k' })
    await until(() => expect(spans('handraise.ask')).toHaveLength(1))
    await ctx.userQuestions.ask({ questions: [DB], key: 'k' })
    await until(() => expect(spans('handraise.ask')).toHaveLength(2))
    expect(spans('handraise.wait')).toHaveLength(1)
  })

  test.each(['answered', 'declined', 'cancelled'] as const)(
    'whoever joins or asks again tells of the request that is there, and who settled it: %s',
    async outcome => {
      const { ctx, spans } = await tracedHost(new MemoryMedium())
      const { core } = ctx.inbox
      const ask = () => ctx.userQuestions.ask({ questions: [DB], key: 'k' }).catch(() => {})
      const first = ask()
      await until(async () => expect((await core.list({ state: 'pending' })).requests).toHaveLength(1))
      const [request] = (await core.list({ state: 'pending' })).requests
      const second = ask()
      await until(() => expect(core.waiting(request!.id)).toBe(2))
      const decision = outcome === 'answered' ? ANSWER : { outcome }
      await core.decide(request!.id, decision, { ...command(), by: 'policy' })
      await Promise.all([first, second])
      await ask()
      await until(() => expect(spans('handraise.ask')).toHaveLength(3))
      for (const { attributes } of spans('handraise.ask'))
        expect(attributes).toMatchObject({
          'handraise.request.id': request!.id,
          'handraise.outcome': outcome,
          'handraise.by': 'policy',
          'handraise.surface': 'web',
        })
    },
  )

  test('who settled it is left out where that is not known, and so is the request', async () => {
    const medium = new MemoryMedium()
    const before = await host(medium)
    before.ctx.userQuestions.registerProvider(answering)
    await before.ctx.userQuestions.ask({ questions: [DB], key: 'k' })
    const { ctx, spans } = await tracedHost(medium)
    await ctx.userQuestions.ask({ questions: [DB], key: 'k' })
    await until(() => expect(spans('handraise.ask')).toHaveLength(1))
    const attributes = Object.keys(spans('handraise.ask')[0]!.attributes)
    expect(attributes).toContain('handraise.outcome')
    expect(attributes).not.toContain('handraise.by')
    expect(attributes).not.toContain('handraise.request.id')
  })

  test('asks end their spans also where the store cannot be read', async () => {
    const store = new MemoryStore(new MemoryMedium())
    const { ctx, spans } = await tracedHost(store)
    ctx.userQuestions.registerProvider(answering)
    store.since = () => Promise.reject(new Error('away'))
    await ctx.userQuestions.ask({ questions: [DB] })
    await until(() =>
      expect(spans('handraise.ask')).toMatchObject([{ attributes: { 'handraise.outcome': 'answered' } }]),
    )
  })
})

describe('approvals', () => {
  test('that a person decides are asks of their kind, under the caller’s span', async () => {
    const { ctx, tracerProvider, spans, all } = await tracedHost(new MemoryMedium())
    await ctx.plugin(UserApprovalService)
    const turn = tracerProvider.getTracer('agent').startSpan('turn')
    const asking = context.with(trace.setSpan(context.active(), turn), () =>
      ctx.userApprovals.request({
        toolName: 'shell',
        subject: { kind: 'shell', command: 'rm -rf build', cwd: '/' },
      }),
    )
    const { core } = ctx.inbox
    await until(async () => expect((await core.list({ state: 'pending' })).requests).toHaveLength(1))
    const [request] = (await core.list({ state: 'pending' })).requests
    const words = [{ id: 'approval', selected: [], custom: 'my secret' }]
    const denial = core.kindOf(request!)!.fromAnswers(request!.payload, words)
    await core.decide(request!.id, { outcome: 'answered', answer: denial }, command())
    await asking
    await until(() => expect(spans('handraise.ask')).toHaveLength(1))
    const [ask] = spans('handraise.ask')
    expect(ask).toMatchObject({
      status: { code: SpanStatusCode.UNSET },
      parentSpanContext: { spanId: turn.spanContext().spanId },
      attributes: {
        'handraise.kind': 'approval',
        'handraise.outcome': 'denied',
        'handraise.by': 'user',
        'handraise.tool.name': 'shell',
      },
    })
    for (const name of ['handraise.wait', 'handraise.settle'])
      expect(spans(name)).toMatchObject([
        {
          parentSpanContext: { spanId: ask?.spanContext().spanId },
          attributes: { 'handraise.kind': 'approval', 'handraise.surface': 'web' },
        },
      ])
    const said = JSON.stringify(all().map(({ attributes, status }) => [attributes, status]))
    expect([said.includes('my secret'), said.includes('rm -rf')]).toEqual([false, false])
  })

  test('that a mode decides have waited for nobody', async () => {
    const { ctx, spans } = await tracedHost(new MemoryMedium())
    await ctx.plugin(UserApprovalService)
    await ctx.userApprovals.setMode('', 'denyUnmatched')
    await ctx.userApprovals.request({
      toolName: 'remove',
      subject: { kind: 'fileAccess', access: 'delete', path: '/tmp/a' },
    })
    await until(() => expect(spans('handraise.ask')).toHaveLength(1))
    expect(spans('handraise.ask')[0]?.attributes).toMatchObject({
      'handraise.outcome': 'denied',
      'handraise.by': 'policy',
    })
    expect(spans('handraise.wait')).toEqual([])
  })
})

describe('whatever becomes of telemetry', () => {
  test.each([
    ['the seam alone', undefined],
    ['an inbox', new MemoryMedium()],
  ])('disposing it ends what is open, and says that the host went: %s', async (_, medium) => {
    const { ctx, plugin, spans } = await tracedHost(medium)
    const provider = held()
    ctx.userQuestions.registerProvider(provider)
    const asking = ctx.userQuestions.ask({ questions: [DB] })
    await until(() => expect(provider.asked).toHaveLength(1))
    await plugin.dispose()
    for (const name of ['handraise.ask', 'handraise.wait'])
      expect(spans(name)).toMatchObject([
        {
          status: { code: SpanStatusCode.ERROR, message: expect.stringContaining('the host went') },
          attributes: { 'error.type': 'HOST_GONE' },
        },
      ])
    provider.end()
    await expect(asking).resolves.toBeDefined()
    expect(spans('handraise.ask')).toHaveLength(1)
  })

  test('a tracer that throws disturbs no answer, and is told of', async () => {
    const { ctx, reported } = await host(new MemoryMedium())
    const broken = {
      getTracer: () => ({
        startSpan() {
          throw new Error('no spans today')
        },
        startActiveSpan: () => undefined as never,
      }),
    }
    await ctx.plugin(opentelemetry, { tracerProvider: broken })
    ctx.userQuestions.registerProvider(answering)
    await expect(ctx.userQuestions.ask({ questions: [DB] })).resolves.toMatchObject({
      answers: [{ id: 'db' }],
    })
    expect(reported).toMatchObject([{ message: 'no spans today' }])
  })

  test('an SDK that makes no tracer and no meter is told of, and nothing comes of it', async () => {
    const { ctx, reported } = await host(new MemoryMedium())
    const none = (what: string) => () => {
      throw new Error(`no ${what} today`)
    }
    await ctx.plugin(opentelemetry, {
      tracerProvider: { getTracer: none('tracer') },
      meterProvider: { getMeter: none('meter') },
    })
    ctx.userQuestions.registerProvider(answering)
    await expect(ctx.userQuestions.ask({ questions: [DB] })).resolves.toBeDefined()
    expect(reported).toMatchObject([{ message: 'no tracer today' }, { message: 'no meter today' }])
  })

  test('without an SDK nothing comes of it', async () => {
    const { ctx, reported } = await host(new MemoryMedium())
    await ctx.plugin(opentelemetry)
    ctx.userQuestions.registerProvider(answering)
    await expect(ctx.userQuestions.ask({ questions: [DB] })).resolves.toBeDefined()
    expect(reported).toEqual([])
  })

  test('spans that are not wanted are not made', async () => {
    const sdk = recordingSdk()
    const { ctx } = await host()
    await ctx.plugin(opentelemetry, {
      tracerProvider: sdk.tracerProvider,
      meterProvider: sdk.meterProvider,
      spans: false,
    })
    ctx.userQuestions.registerProvider(answering)
    await ctx.userQuestions.ask({ questions: [DB] })
    expect(sdk.all()).toEqual([])
    expect(await sdk.read('handraise.ask.asked')).toEqual([[{ kind: 'questions' }, 1]])
  })
})
