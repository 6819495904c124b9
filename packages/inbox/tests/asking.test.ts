import {
  InboxService,
  MemoryMedium,
  MemoryStore,
  type InboxRequest,
  type SettledRequest,
} from '@handraise/inbox'
import { UserQuestionService } from '@handraise/user-questions'
import { Context } from 'cordis'
import { describe, expect, test } from 'vitest'
import { DB, ManualClock, manualProvider, settled, startHost } from './host.ts'

const questions = [DB]
const answered = (label: string) => ({ answers: [{ id: 'db', selected: [label] }] })
const byWeb = (commandId = 'c1') => ({ commandId, surface: 'web' })

function recordingSurface(viewers = 1) {
  const opened: InboxRequest[] = []
  const closed: SettledRequest[] = []
  return {
    name: 'web',
    opened: (request: InboxRequest) => void opened.push(request),
    settled: (request: SettledRequest) => void closed.push(request),
    viewers: () => viewers,
    seen: opened,
    closed,
  }
}

describe('a question asked through the inbox', () => {
  test('is answered by whichever provider is first, and the others are told who', async () => {
    const { ctx } = await startHost()
    const [terminal, phone] = [manualProvider('terminal'), manualProvider('phone')]
    ctx.userQuestions.registerProvider(terminal)
    ctx.userQuestions.registerProvider(phone)
    const asking = ctx.userQuestions.ask({ questions })
    await settled()
    phone.shown[0]?.answer('SQLite')
    expect(await asking).toEqual(answered('SQLite'))
    const { signal } = terminal.shown[0]!.request
    expect(signal.aborted).toBe(true)
    expect(String(signal.reason.details.reason)).toBe('answered by phone')
    terminal.shown[0]?.answer('Postgres')
    await settled()
    expect(ctx.userQuestions.pending()).toEqual([])
  })

  test('is shown by providers registered before the inbox was mounted', async () => {
    const ctx = new Context()
    await ctx.plugin(UserQuestionService)
    const provider = manualProvider('terminal')
    ctx.userQuestions.registerProvider(provider)
    const fiber = await ctx.plugin(InboxService)
    const asking = ctx.userQuestions.ask({ questions })
    await settled()
    expect((await ctx.inbox.core.list({ state: 'pending' })).requests).toHaveLength(1)
    provider.shown[0]?.answer('SQLite')
    expect(await asking).toEqual(answered('SQLite'))
    await fiber.dispose()
    const direct = ctx.userQuestions.ask({ questions })
    await settled()
    provider.shown[1]?.answer('Postgres')
    expect(await direct).toEqual(answered('Postgres'))
  })

  test('is shown on a surface, and answered there by id', async () => {
    const { ctx, inbox } = await startHost()
    const surface = recordingSurface()
    await ctx.inbox.attachSurface(surface)
    const asking = ctx.userQuestions.ask({ questions })
    await settled()
    const { request, repeated } = await inbox.decide(
      surface.seen[0]!.id,
      { outcome: 'answered', answer: answered('SQLite') },
      byWeb(),
    )
    expect(await asking).toEqual(answered('SQLite'))
    expect(repeated).toBe(false)
    expect(request.settlement).toMatchObject({
      outcome: 'answered',
      surface: 'web',
      commandId: 'c1',
      by: 'user',
    })
    expect(surface.closed.map(({ id }) => id)).toEqual([request.id])
  })

  test('is given to a surface that is attached later, once', async () => {
    const { ctx } = await startHost()
    void ctx.userQuestions.ask({ questions }).catch(() => {})
    await settled()
    const surface = recordingSurface()
    await ctx.inbox.attachSurface(surface)
    await settled()
    expect(surface.seen).toHaveLength(1)
  })

  test('survives a surface that throws, which is reported', async () => {
    const { ctx, reported } = await startHost()
    const fault = new Error('no paper')
    const surface = {
      ...recordingSurface(),
      opened: () => {
        throw fault
      },
    }
    await ctx.inbox.attachSurface(surface)
    const provider = manualProvider('terminal')
    ctx.userQuestions.registerProvider(provider)
    const asking = ctx.userQuestions.ask({ questions })
    await settled()
    provider.shown[0]?.answer('SQLite')
    expect(await asking).toEqual(answered('SQLite'))
    expect(reported).toContain(fault)
  })

  test('is answered by a child signal only once when two surfaces race', async () => {
    const { ctx, inbox } = await startHost()
    const asking = ctx.userQuestions.ask({ questions })
    await settled()
    const id = (await inbox.list({ state: 'pending' })).requests[0]!.id
    const results = await Promise.allSettled([
      inbox.decide(
        id,
        { outcome: 'answered', answer: answered('Postgres') },
        { commandId: 'a', surface: 'A' },
      ),
      inbox.decide(id, { outcome: 'answered', answer: answered('SQLite') }, { commandId: 'b', surface: 'B' }),
    ])
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    const lost = results.find(result => result.status === 'rejected')!
    expect(lost.reason).toMatchObject({
      code: 'ALREADY_SETTLED',
      details: { request: { settlement: { commandId: 'a' } } },
    })
    expect(await asking).toEqual(answered('Postgres'))
  })

  test.each([
    [{ outcome: 'declined', reason: 'no' } as const, { code: 'ASK_DECLINED' }],
    [{ outcome: 'cancelled', reason: 'later', answer: { answers: [] } } as const, { code: 'ASK_CANCELLED' }],
    [
      { outcome: 'clarified', text: 'which is faster?' } as const,
      { code: 'ASK_CLARIFIED', details: { text: 'which is faster?' } },
    ],
    [{ outcome: 'interrupted' } as const, { code: 'ASK_INTERRUPTED' }],
  ])('ends for the asker as it was settled: %j', async (decision, error) => {
    const { ctx, inbox } = await startHost()
    const asking = ctx.userQuestions.ask({ questions })
    const ended = expect(asking).rejects.toMatchObject(error)
    await settled()
    await inbox.decide((await inbox.list({ state: 'pending' })).requests[0]!.id, decision, byWeb())
    await ended
  })
})

describe('a command', () => {
  async function pending() {
    const host = await startHost()
    void host.ctx.userQuestions.ask({ questions }).catch(() => {})
    await settled()
    return { ...host, id: (await host.inbox.list({ state: 'pending' })).requests[0]!.id }
  }

  test('that answers what was not offered is refused, and leaves the request pending', async () => {
    const { inbox, id } = await pending()
    await expect(
      inbox.decide(id, { outcome: 'answered', answer: answered('MySQL') }, byWeb()),
    ).rejects.toMatchObject({
      code: 'BAD_ANSWER',
    })
    expect((await inbox.get(id)).settlement).toBeUndefined()
  })

  test('sent twice gets the same receipt, and with another body is a conflict', async () => {
    const { inbox, id } = await pending()
    const decision = { outcome: 'answered', answer: answered('SQLite') } as const
    const first = await inbox.decide(id, decision, byWeb())
    const second = await inbox.decide(id, decision, byWeb())
    expect(second).toEqual({ request: first.request, repeated: true })
    await expect(
      inbox.decide(id, { outcome: 'answered', answer: answered('Postgres') }, byWeb()),
    ).rejects.toMatchObject({ code: 'COMMAND_CONFLICT' })
  })

  test('for a settled request is told who settled it', async () => {
    const { inbox, id } = await pending()
    await inbox.decide(id, { outcome: 'declined' }, byWeb('first'))
    await expect(inbox.decide(id, { outcome: 'cancelled' }, byWeb('second'))).rejects.toMatchObject({
      code: 'ALREADY_SETTLED',
      details: { request: { settlement: { outcome: 'declined', commandId: 'first', surface: 'web' } } },
    })
  })

  test('for an unknown request is refused', async () => {
    const { inbox } = await startHost()
    await expect(inbox.decide('nope', { outcome: 'declined' }, byWeb())).rejects.toMatchObject({
      code: 'UNKNOWN_REQUEST',
    })
  })
})

describe('an agent that comes back with the same key', () => {
  const keyed = { questions, session: 's1', key: 'call-1' }

  test('gets the answer that was given while it was away', async () => {
    const medium = new MemoryMedium()
    const first = await startHost(medium)
    const gone = expect(first.ctx.userQuestions.ask(keyed)).rejects.toMatchObject({ code: 'PROVIDER_GONE' })
    await settled()
    const { id } = (await first.inbox.list({ state: 'pending' })).requests[0]!
    await first.ctx.fiber.dispose()
    await gone

    const away = await startHost(medium)
    expect((await away.inbox.list({ state: 'pending' })).requests.map(request => request.id)).toEqual([id])
    await away.inbox.decide(id, { outcome: 'answered', answer: answered('SQLite') }, byWeb())
    await away.ctx.fiber.dispose()

    const back = await startHost(medium)
    const provider = manualProvider('terminal')
    back.ctx.userQuestions.registerProvider(provider)
    expect(await back.ctx.userQuestions.ask(keyed)).toEqual(answered('SQLite'))
    expect(provider.shown).toEqual([])
  })

  test('joins the request that is pending, under the same id', async () => {
    const medium = new MemoryMedium()
    const first = await startHost(medium)
    first.ctx.userQuestions.ask(keyed).catch(() => {})
    await settled()
    await first.ctx.fiber.dispose()
    const back = await startHost(medium)
    const asking = back.ctx.userQuestions.ask(keyed)
    await settled()
    const { requests } = await back.inbox.list({ state: 'pending' })
    expect(requests).toHaveLength(1)
    await back.inbox.decide(requests[0]!.id, { outcome: 'answered', answer: answered('SQLite') }, byWeb())
    expect(await asking).toEqual(answered('SQLite'))
  })

  test('is refused when it asks something else under that key', async () => {
    const { ctx } = await startHost()
    ctx.userQuestions.ask(keyed).catch(() => {})
    await settled()
    await expect(
      ctx.userQuestions.ask({ ...keyed, questions: [{ ...DB, question: 'Which cache?' }] }),
    ).rejects.toMatchObject({ code: 'KEY_CONFLICT' })
  })

  test('asks twice at once and is shown one card, answered to both', async () => {
    const { ctx } = await startHost()
    const provider = manualProvider('terminal')
    ctx.userQuestions.registerProvider(provider)
    const asks = [ctx.userQuestions.ask(keyed), ctx.userQuestions.ask(keyed)]
    await settled()
    expect(provider.shown).toHaveLength(1)
    provider.shown[0]?.answer('SQLite')
    expect(await Promise.all(asks)).toEqual([answered('SQLite'), answered('SQLite')])
  })

  test('keeps the request for the other joiner when one of them aborts', async () => {
    const { ctx, inbox } = await startHost()
    const leaving = new AbortController()
    const left = expect(ctx.userQuestions.ask({ ...keyed, signal: leaving.signal })).rejects.toMatchObject({
      code: 'ASK_ABORTED',
    })
    const staying = ctx.userQuestions.ask(keyed)
    await settled()
    leaving.abort()
    await left
    const [request] = (await inbox.list({ state: 'pending' })).requests
    await inbox.decide(request!.id, { outcome: 'answered', answer: answered('SQLite') }, byWeb())
    expect(await staying).toEqual(answered('SQLite'))
  })
})

describe('a request without a key', () => {
  test('is aborted when its asker aborts, and a late answer is told so', async () => {
    const { ctx, inbox } = await startHost()
    const controller = new AbortController()
    const surface = recordingSurface()
    await ctx.inbox.attachSurface(surface)
    const ended = expect(
      ctx.userQuestions.ask({ questions, signal: controller.signal }),
    ).rejects.toMatchObject({ code: 'ASK_ABORTED' })
    await settled()
    controller.abort()
    await ended
    await settled()
    const { id } = surface.seen[0]!
    expect(surface.closed).toMatchObject([{ id, settlement: { outcome: 'aborted' } }])
    await expect(inbox.decide(id, { outcome: 'declined' }, byWeb())).rejects.toMatchObject({
      code: 'ALREADY_SETTLED',
      details: { request: { settlement: { outcome: 'aborted' } } },
    })
  })

  test('is aborted as orphaned when its host shuts down', async () => {
    const medium = new MemoryMedium()
    const first = await startHost(medium)
    first.ctx.userQuestions.ask({ questions }).catch(() => {})
    await settled()
    await first.ctx.fiber.dispose()
    const { inbox } = await startHost(medium)
    expect((await inbox.list({ state: 'pending' })).requests).toEqual([])
    expect((await inbox.list({ state: 'settled' })).requests).toMatchObject([
      { settlement: { outcome: 'aborted', reason: 'orphaned' } },
    ])
  })

  test('is aborted as orphaned at the next start when its host was killed', async () => {
    const medium = new MemoryMedium()
    const store = new MemoryStore(medium)
    await store.open({
      request: { id: 'r', kind: 'questions', payload: { questions: [] }, session: '', openedAt: 0 },
      digest: 'd',
      owner: 'a process that is gone',
    })
    const { inbox } = await startHost(medium)
    expect((await inbox.get('r')).settlement).toMatchObject({ outcome: 'aborted', reason: 'orphaned' })
  })
})

describe('a deadline', () => {
  test('settles the request when it passes, with nothing chosen', async () => {
    const clock = new ManualClock()
    const { ctx, inbox } = await startHost(new MemoryMedium(), { clock })
    const ended = expect(ctx.userQuestions.ask({ questions, timeoutMs: 60_000 })).rejects.toMatchObject({
      code: 'ASK_TIMED_OUT',
    })
    await settled()
    await clock.advance(60_000)
    await ended
    expect((await inbox.list({ state: 'settled' })).requests).toMatchObject([
      { settlement: { outcome: 'timedOut' } },
    ])
  })

  test('takes the defaults that every question names', async () => {
    const clock = new ManualClock()
    const { ctx } = await startHost(new MemoryMedium(), { clock })
    const asking = ctx.userQuestions.ask({
      questions: [{ ...DB, default: { selected: ['SQLite'] } }],
      timeoutMs: 60_000,
    })
    await settled()
    await clock.advance(60_000)
    expect(await asking).toEqual({ answers: [{ id: 'db', selected: ['SQLite'], by: 'default' }] })
  })

  test('no longer applies once a person began to answer', async () => {
    const clock = new ManualClock()
    const { ctx } = await startHost(new MemoryMedium(), { clock })
    const provider = manualProvider('terminal')
    ctx.userQuestions.registerProvider(provider)
    const asking = ctx.userQuestions.ask({ questions, timeoutMs: 60_000 })
    await settled()
    await clock.advance(55_000)
    provider.shown[0]?.request.engaged()
    await clock.advance(45_000)
    provider.shown[0]?.answer('SQLite')
    expect(await asking).toEqual(answered('SQLite'))
  })

  test('that passed while nothing ran settles the request at the next start', async () => {
    const clock = new ManualClock()
    const medium = new MemoryMedium()
    const first = await startHost(medium, { clock })
    first.ctx.userQuestions.ask({ questions, key: 'k', timeoutMs: 60_000 }).catch(() => {})
    await settled()
    await first.ctx.fiber.dispose()
    await clock.advance(7 * 24 * 60 * 60 * 1000)
    const { inbox, ctx } = await startHost(medium, { clock })
    expect((await inbox.list({ state: 'settled' })).requests).toMatchObject([
      { settlement: { outcome: 'timedOut' } },
    ])
    await expect(ctx.userQuestions.ask({ questions, key: 'k' })).rejects.toMatchObject({
      code: 'ASK_TIMED_OUT',
    })
  })
})

describe('a question that nobody could see', () => {
  test('ends at once where viewers are required', async () => {
    const { ctx, inbox } = await startHost(new MemoryMedium(), { viewer: 'require' })
    await expect(ctx.userQuestions.ask({ questions })).rejects.toMatchObject({
      code: 'ASK_UNAVAILABLE',
      details: { reason: 'no-capable-client' },
    })
    expect((await inbox.list({ state: 'pending' })).requests).toEqual([])
  })

  test('waits where it may', async () => {
    const { ctx, inbox } = await startHost()
    void ctx.userQuestions.ask({ questions }).catch(() => {})
    await settled()
    expect((await inbox.list({ state: 'pending' })).requests).toHaveLength(1)
  })

  test('ends with the provider’s own word when that is the only route', async () => {
    const { ctx } = await startHost(new MemoryMedium(), { viewer: 'require' })
    const provider = manualProvider('terminal')
    ctx.userQuestions.registerProvider(provider)
    const ended = expect(ctx.userQuestions.ask({ questions })).rejects.toMatchObject({
      code: 'PROVIDER_FAILED',
    })
    await settled()
    provider.shown[0]?.reject(new Error('the screen is gone'))
    await ended
  })

  test('goes on elsewhere when one provider fails', async () => {
    const { ctx, reported } = await startHost()
    const [broken, phone] = [manualProvider('broken'), manualProvider('phone')]
    ctx.userQuestions.registerProvider(broken)
    ctx.userQuestions.registerProvider(phone)
    const asking = ctx.userQuestions.ask({ questions })
    await settled()
    broken.shown[0]?.answer('MySQL')
    await settled()
    phone.shown[0]?.answer('SQLite')
    expect(await asking).toEqual(answered('SQLite'))
    expect(reported).toContainEqual(expect.objectContaining({ code: 'BAD_ANSWER' }))
  })
})

describe('a kind of its own', () => {
  const coin = {
    name: 'coin',
    check: (_: unknown, answer: unknown) =>
      answer === 'heads' || answer === 'tails'
        ? ({ ok: true, answer } as const)
        : ({ ok: false, issues: [{ path: '', message: 'expected heads or tails' }] } as const),
    asQuestions: () => [
      { id: 'side', question: 'Heads or tails?', options: [{ label: 'heads' }, { label: 'tails' }] },
    ],
    fromAnswers: (_: unknown, answers: ReadonlyArray<{ selected: readonly string[] }>) =>
      answers[0]?.selected[0] ?? null,
  }

  test('is listed, and cannot be answered before its owner registers it', async () => {
    const { ctx, inbox } = await startHost()
    const { request } = await inbox.open({ kind: 'coin', payload: null, key: 'k' })
    const decide = () => inbox.decide(request.id, { outcome: 'answered', answer: 'heads' }, byWeb())
    await expect(decide()).rejects.toMatchObject({ code: 'UNKNOWN_KIND' })
    ctx.inbox.registerKind(coin)
    await expect(
      inbox.decide(request.id, { outcome: 'answered', answer: 'edge' }, byWeb()),
    ).rejects.toMatchObject({ code: 'BAD_ANSWER' })
    expect((await decide()).request.settlement.answer).toBe('heads')
  })
})

test('settled requests are forgotten after their time, and the log goes on', async () => {
  const clock = new ManualClock()
  const { inbox } = await startHost(new MemoryMedium(), { clock, retentionMs: 1_000 })
  const { request } = await inbox.open({ kind: 'questions', payload: { questions: [] }, key: 'k' })
  await inbox.decide(request.id, { outcome: 'declined' }, byWeb())
  await clock.advance(2 * 60 * 60 * 1000)
  await expect(inbox.get(request.id)).rejects.toMatchObject({ code: 'UNKNOWN_REQUEST' })
  const again = await inbox.open({ kind: 'questions', payload: { questions: [] }, key: 'k' })
  expect(again.joined).toBe(false)
})

test('a request that cannot be kept is refused, with every fault named', async () => {
  const { inbox } = await startHost()
  const circular: Record<string, unknown> = {}
  circular.self = circular
  const bad = { kind: ' ', payload: circular as never, key: 'a\u0000', session: '\ud800', deadlineAt: NaN }
  const error = await inbox.open(bad).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'BAD_REQUEST' })
  const { issues } = (error as { details: { issues: Array<{ path: string }> } }).details
  expect(issues.map(({ path }) => path)).toEqual(['kind', 'session', 'key', 'deadlineAt', 'payload'])
  expect((await inbox.list({ state: 'pending' })).requests).toEqual([])
})
