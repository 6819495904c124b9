import {
  InboxService,
  MemoryMedium,
  MemoryStore,
  type ListPage,
  type ListQuery,
  type LogPage,
} from '@handraise/inbox'
import * as opentelemetry from '@handraise/telemetry/opentelemetry'
import { UserQuestionError } from '@handraise/user-questions'
import { expect, test } from 'vitest'
import { answering, DB, host, until } from './hosts.ts'
import { recordingSdk } from './recording-sdk.ts'

const ANSWER = { outcome: 'answered', answer: { answers: [{ id: 'db', selected: ['SQLite'] }] } } as const
const payload = { questions: [{ id: 'db', question: 'Which?', options: [{ label: 'SQLite' }] }] }

async function measuredHost(kept?: MemoryMedium) {
  const sdk = recordingSdk()
  const { ctx } = await host(kept)
  const { tracerProvider, meterProvider } = sdk
  const plugin = await ctx.plugin(opentelemetry, { tracerProvider, meterProvider })
  return { ctx, plugin, ...sdk }
}

test('asks are counted as they are made and as they end, with how, and in seconds', async () => {
  const { ctx, read, reader } = await measuredHost()
  const leave = ctx.userQuestions.registerProvider(answering)
  await ctx.userQuestions.ask({ questions: [DB] })
  leave()
  const failing = { name: 'p', ask: () => Promise.reject(new Error('out of paper')) }
  const leaveFailing = ctx.userQuestions.registerProvider(failing)
  await ctx.userQuestions.ask({ questions: [DB] }).catch(() => {})
  leaveFailing()
  const no = new UserQuestionError('ASK_DECLINED', {})
  ctx.userQuestions.registerProvider({ ask: () => Promise.reject(no) })
  await ctx.userQuestions.ask({ questions: [DB] }).catch(() => {})
  const ended = [
    [{ kind: 'questions', outcome: 'answered' }, 1],
    [{ kind: 'questions', outcome: 'failed', 'error.type': 'PROVIDER_FAILED' }, 1],
    [{ kind: 'questions', outcome: 'declined' }, 1],
  ]
  expect(await read('handraise.ask.asked')).toEqual([[{ kind: 'questions' }, 3]])
  expect(await read('handraise.ask.settled')).toEqual(ended)
  expect(await read('handraise.ask.duration')).toEqual(ended)
  const { resourceMetrics } = await reader.collect()
  const units = resourceMetrics.scopeMetrics.flatMap(({ metrics }) =>
    metrics.map(({ descriptor: { name, unit } }) => [name, unit]),
  )
  expect(Object.fromEntries(units)).toMatchObject({
    'handraise.ask.asked': '{ask}',
    'handraise.ask.settled': '{ask}',
    'handraise.ask.duration': 's',
    'handraise.request.pending': '{request}',
    'handraise.request.oldest.age': 's',
  })
})

test('without an inbox, what waits is what the seam has in flight', async () => {
  const { ctx, read } = await measuredHost()
  expect(await read('handraise.request.pending')).toEqual([[{ kind: 'questions' }, 0]])
  expect(await read('handraise.request.oldest.age')).toEqual([[{}, 0]])
  ctx.userQuestions.registerProvider({ ask: () => new Promise(() => {}) })
  ctx.userQuestions.ask({ questions: [DB] }).catch(() => {})
  expect(await read('handraise.request.pending')).toEqual([[{ kind: 'questions' }, 1]])
})

test('with an inbox, what waits in it is measured, that from before included', async () => {
  const medium = new MemoryMedium()
  const before = await host(medium)
  const openedAt = Date.now() - 60_000
  const { request } = await before.ctx.inbox.core.open({ kind: 'questions', payload, key: 'old', openedAt })
  const { ctx, read } = await measuredHost(medium)
  const { core } = ctx.inbox
  await core.open({ kind: 'questions', payload, key: 'new' })
  expect(await read('handraise.request.pending')).toEqual([[{ kind: 'questions' }, 2]])
  expect((await read('handraise.request.oldest.age'))[0]?.[1]).toBeGreaterThanOrEqual(60)
  await core.decide(request.id, ANSWER, { commandId: 'c', surface: 'web' })
  expect(await read('handraise.request.pending')).toEqual([[{ kind: 'questions' }, 1]])
  expect((await read('handraise.request.oldest.age'))[0]?.[1]).toBeLessThan(60)
  const how = { kind: 'questions', outcome: 'answered', surface: 'web' }
  expect(await read('handraise.request.opened')).toEqual([[{ kind: 'questions' }, 1]])
  expect(await read('handraise.request.settled')).toEqual([[how, 1]])
  expect(await read('handraise.request.duration')).toEqual([[how, 1]])
})

test('what waits is measured on after a store that failed while the log was lost', async () => {
  class TroubledStore extends MemoryStore {
    isLost = false
    isAway = false

    override async since(cursor: string, limit?: number): Promise<LogPage> {
      if (!this.isLost) return super.since(cursor, limit)
      this.isLost = false
      return { lost: true }
    }

    override async list(query: ListQuery): Promise<ListPage> {
      if (this.isAway) throw new Error('the database is away')
      return super.list(query)
    }
  }
  const { tracerProvider, meterProvider, read } = recordingSdk()
  const store = new TroubledStore(new MemoryMedium())
  const { ctx, reported } = await host(store)
  await ctx.plugin(opentelemetry, { tracerProvider, meterProvider })
  const { core } = ctx.inbox
  const { request } = await core.open({ kind: 'questions', payload, key: 'first' })
  store.isLost = store.isAway = true
  // Whoever follows is told of the loss, and cannot list.
  await core.caughtUp()
  await until(() => expect(reported).toMatchObject([{ message: 'the database is away' }]))
  await core.open({ kind: 'questions', payload, key: 'meanwhile' })
  store.isAway = false
  await until(async () =>
    expect(await read('handraise.request.pending')).toEqual([[{ kind: 'questions' }, 2]]),
  )
  await core.decide(request.id, ANSWER, { commandId: 'c', surface: 'web' })
  expect(await read('handraise.request.pending')).toEqual([[{ kind: 'questions' }, 1]])
  const how = { kind: 'questions', outcome: 'answered', surface: 'web' }
  expect(await read('handraise.request.settled')).toEqual([[how, 1]])
})

test('what is answered at once is counted, and waits nowhere', async () => {
  const { ctx, read } = await measuredHost(new MemoryMedium())
  ctx.userQuestions.registerProvider(answering)
  await ctx.userQuestions.ask({ questions: [DB] })
  await until(async () =>
    expect(await read('handraise.request.settled')).toEqual([
      [{ kind: 'questions', outcome: 'answered', surface: 'answering' }, 1],
    ]),
  )
  expect(await read('handraise.request.pending')).toEqual([[{ kind: 'questions' }, 0]])
})

test('names that anybody may choose make no more than a few series', async () => {
  const { ctx, read } = await measuredHost(new MemoryMedium())
  const { core } = ctx.inbox
  for (let index = 0; index < 40; index += 1) {
    await core.open({ kind: `odd ${index}`, payload: {} })
    const { request } = await core.open({ kind: 'questions', payload })
    await core.decide(request.id, ANSWER, { commandId: 'c', surface: `client ${index}` })
  }
  expect(await read('handraise.request.opened')).toEqual([
    [{ kind: 'other' }, 40],
    [{ kind: 'questions' }, 40],
  ])
  expect(await read('handraise.request.settled')).toHaveLength(17)
})

test('disposing it ends the measuring', async () => {
  const { ctx, plugin, read } = await measuredHost(new MemoryMedium())
  await ctx.inbox.core.open({ kind: 'questions', payload })
  const before = await read('handraise.request.pending')
  expect(before).toEqual([[{ kind: 'questions' }, 1]])
  await plugin.dispose()
  await ctx.inbox.core.open({ kind: 'questions', payload })
  // What was observed last stays with the SDK.
  expect(await read('handraise.request.pending')).toEqual(before)
  expect(await read('handraise.request.opened')).toEqual(before)
})

test('an inbox that is mounted later is followed from then on', async () => {
  const { ctx, read } = await measuredHost()
  await ctx.plugin(InboxService, { store: new MemoryStore() })
  await ctx.inbox.core.open({ kind: 'questions', payload })
  await until(async () =>
    expect(await read('handraise.request.pending')).toEqual([[{ kind: 'questions' }, 1]]),
  )
})
