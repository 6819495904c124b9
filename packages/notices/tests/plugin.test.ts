import { InboxService, MemoryMedium, MemoryStore } from '@handraise/inbox'
import * as notices from '@handraise/notices'
import { UserQuestionService, type UserQuestionProvider } from '@handraise/user-questions'
import { Context } from 'cordis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { FakeTerminal } from './fake-terminal.ts'
import { aWhile, DB, recorder, until } from './told.ts'

const answering: UserQuestionProvider = {
  name: 'answering',
  ask: async ({ questions }) => ({ answers: questions.map(({ id }) => ({ id, selected: [] })) }),
}

async function host(medium?: MemoryMedium) {
  const ctx = new Context()
  const reported: unknown[] = []
  ctx.logger.exporter({ export: message => void reported.push(...message.args) })
  await ctx.plugin(UserQuestionService)
  const inbox =
    medium === undefined ? undefined : await ctx.plugin(InboxService, { store: new MemoryStore(medium) })
  onTestFinished(() => ctx.fiber.dispose())
  return { ctx, inbox, reported }
}

describe('without an inbox', () => {
  test('it is told once for each ask, before the provider is called', async () => {
    const { ctx } = await host()
    const bell = new FakeTerminal()
    const { command, told } = await recorder()
    await ctx.plugin(notices, { bell, command })
    let rungAtAsk: string | undefined
    ctx.userQuestions.registerProvider({
      ask(request) {
        rungAtAsk = bell.written
        return answering.ask(request)
      },
    })
    const second = { id: 'why', question: 'Why?' }
    await ctx.userQuestions.ask({ questions: [DB, second], session: 's', timeoutMs: 60_000 })
    expect(rungAtAsk).toBe('\u0007')
    await until(async () => expect(await told()).toHaveLength(1))
    const [notice] = await told()
    expect(notice).toEqual({
      event: 'opened',
      id: expect.any(String),
      kind: 'questions',
      session: 's',
      count: 2,
      headers: ['Database'],
      openedAt: expect.any(Number),
      deadline: expect.any(Number),
    })
  })

  test('an ask that is refused is not told', async () => {
    const { ctx } = await host()
    const bell = new FakeTerminal()
    await ctx.plugin(notices, { bell })
    await expect(ctx.userQuestions.ask({ questions: [] })).rejects.toThrow('at least one')
    expect(bell.written).toBe('')
  })

  test('texts are told where that is configured', async () => {
    const { ctx } = await host()
    const { command, told } = await recorder()
    await ctx.plugin(notices, { command, text: true })
    ctx.userQuestions.registerProvider(answering)
    await ctx.userQuestions.ask({ questions: [DB] })
    await until(async () => expect(await told()).toHaveLength(1))
    expect((await told())[0]?.questions).toEqual([
      { question: 'Which database?', header: 'Database', options: ['Postgres', 'SQLite'] },
    ])
  })
})

describe('with an inbox', () => {
  test('it is told once, however many clients come later', async () => {
    const { ctx } = await host(new MemoryMedium())
    const bell = new FakeTerminal()
    const { command, told } = await recorder()
    await ctx.plugin(notices, { bell, command })
    const asking = ctx.userQuestions.ask({ questions: [DB], key: 'k' })
    await until(async () => expect(await told()).toHaveLength(1))
    const surface = { name: 'late', viewers: () => 1, opened() {}, settled() {} }
    await ctx.inbox.attachSurface(surface)
    await ctx.inbox.attachSurface({ ...surface })
    // The same again joins the one that is pending.
    const again = ctx.userQuestions.ask({ questions: [DB], key: 'k' })
    await aWhile()
    expect([await told(), bell.written]).toMatchObject([[{ count: 1, headers: ['Database'] }], '\u0007'])
    ctx.userQuestions.registerProvider(answering)
    expect(await asking).toEqual(await again)
  })

  test('what is pending at boot is not told again', async () => {
    const medium = new MemoryMedium()
    const first = await host(medium)
    first.ctx.userQuestions.ask({ questions: [DB], key: 'k' }).catch(() => {})
    await until(async () =>
      expect((await first.ctx.inbox.core.list({ state: 'pending' })).requests).toHaveLength(1),
    )
    await first.inbox?.dispose()
    const { ctx } = await host(medium)
    const bell = new FakeTerminal()
    const { command, told } = await recorder()
    await ctx.plugin(notices, { bell, command })
    ctx.userQuestions.ask({ questions: [DB], key: 'k' }).catch(() => {})
    await aWhile()
    expect([await told(), bell.written]).toEqual([[], ''])
  })

  test('one that is mounted later is followed from then on, and the seam no more', async () => {
    const { ctx } = await host()
    const bell = new FakeTerminal()
    const { command, told } = await recorder()
    await ctx.plugin(notices, { bell, command })
    await ctx.plugin(InboxService)
    await aWhile()
    ctx.userQuestions.ask({ questions: [DB] }).catch(() => {})
    await until(async () => expect(await told()).toHaveLength(1))
    await aWhile()
    expect([(await told()).length, bell.written]).toEqual([1, '\u0007'])
  })

  test('the claim of a request is forgotten when it is settled', async () => {
    const { ctx } = await host(new MemoryMedium())
    const { command, told } = await recorder()
    await ctx.plugin(notices, { command })
    const { core } = ctx.inbox
    ctx.userQuestions.ask({ questions: [DB] }).catch(() => {})
    await until(async () => expect(await told()).toHaveLength(1))
    expect(await core.store.records('notices')).toHaveLength(1)
    await core.decide((await told())[0]!.id, { outcome: 'declined' }, { commandId: 'c', surface: 'web' })
    await until(async () => expect(await core.store.records('notices')).toEqual([]))
  })

  test('a claim that was left by a process that is gone is forgotten at the next start', async () => {
    const medium = new MemoryMedium()
    const store = new MemoryStore(medium)
    await store.writeRecords([{ namespace: 'notices', key: 'gone/0', value: true }])
    const { ctx } = await host(medium)
    await ctx.plugin(notices, { bell: new FakeTerminal() })
    expect(await store.records('notices')).toEqual([])
  })

  test('disposing the plugin ends the telling, and nothing else', async () => {
    const { ctx } = await host(new MemoryMedium())
    const bell = new FakeTerminal()
    const fiber = await ctx.plugin(notices, { bell })
    await fiber.dispose()
    ctx.userQuestions.registerProvider(answering)
    await ctx.userQuestions.ask({ questions: [DB] })
    expect(bell.written).toBe('')
  })
})

describe('followOpenings', () => {
  test('tells a host without the plugin, and contains what it throws', async () => {
    const { ctx, reported } = await host(new MemoryMedium())
    const heard: unknown[] = []
    const stop = await notices.followOpenings(ctx.inbox.core, notice => {
      heard.push(notice.headers)
      throw new Error('cannot tell')
    })
    ctx.userQuestions.registerProvider(answering)
    await ctx.userQuestions.ask({ questions: [DB] })
    stop()
    await ctx.userQuestions.ask({ questions: [DB] })
    expect(heard).toEqual([['Database']])
    expect(reported).toMatchObject([{ message: 'cannot tell' }])
  })

  test('counts nothing in a kind that is not known here', async () => {
    const { ctx } = await host(new MemoryMedium())
    const heard: unknown[] = []
    await notices.followOpenings(ctx.inbox.core, ({ kind, count }) => heard.push([kind, count]))
    await ctx.inbox.core.open({ kind: 'odd', payload: {} })
    expect(heard).toEqual([['odd', 0]])
  })
})
