import { Inbox, MemoryMedium, MemoryStore, type InboxSurface, type LogPage } from '@handraise/inbox'
import { expect, test } from 'vitest'
import { DB, ManualClock, manualProvider, settled, startHost } from './host.ts'

const questions = [DB]
const answered = (label: string) => ({ answers: [{ id: 'db', selected: [label] }] })
const decision = { outcome: 'answered', answer: answered('SQLite') } as const
const byWeb = { commandId: 'c1', surface: 'web' }
const open = { kind: 'questions', payload: { questions: [{ id: 'db', question: 'Which store?' }] } }

const quietSurface = (more: Partial<InboxSurface> = {}): InboxSurface => ({
  name: 'web',
  viewers: () => 1,
  opened: () => {},
  settled: () => {},
  ...more,
})

test('two hosts in one process on one store leave each other’s requests alone', async () => {
  const medium = new MemoryMedium()
  const first = new Inbox({ store: new MemoryStore(medium) })
  await first.start()
  const { request } = await first.open(open)
  const second = new Inbox({ store: new MemoryStore(medium) })
  await second.start()
  expect((await first.get(request.id)).settlement).toBeUndefined()
  await Promise.all([first.close(), second.close()])
})

test('an asker that aborts leaves the request to whoever else waits in this process', async () => {
  const { ctx, inbox } = await startHost()
  const leaving = new AbortController()
  const left = expect(
    ctx.userQuestions.ask({ questions, key: 'k', signal: leaving.signal }),
  ).rejects.toMatchObject({ code: 'ASK_ABORTED' })
  await settled()
  const { id } = (await inbox.list({ state: 'pending' })).requests[0]!
  const waiting = inbox.wait(id)
  leaving.abort()
  await left
  await settled()
  await inbox.decide(id, decision, byWeb)
  expect((await waiting).settlement.outcome).toBe('answered')
})

test('an asker that aborts leaves the request to another process that joined it', async () => {
  const medium = new MemoryMedium()
  const [first, second] = [await startHost(medium), await startHost(medium)]
  const leaving = new AbortController()
  const left = expect(
    first.ctx.userQuestions.ask({ questions, key: 'k', signal: leaving.signal }),
  ).rejects.toMatchObject({ code: 'ASK_ABORTED' })
  await settled()
  const staying = second.ctx.userQuestions.ask({ questions, key: 'k' })
  await settled()
  leaving.abort()
  await left
  await settled()
  const { id } = (await second.inbox.list({ state: 'pending' })).requests[0]!
  await first.inbox.decide(id, decision, byWeb)
  expect(await staying).toEqual(answered('SQLite'))
})

test('an agent alone with its keyed request withdraws it by aborting', async () => {
  const { ctx, inbox } = await startHost()
  const leaving = new AbortController()
  const left = expect(
    ctx.userQuestions.ask({ questions, key: 'k', signal: leaving.signal }),
  ).rejects.toMatchObject({ code: 'ASK_ABORTED' })
  await settled()
  leaving.abort()
  await left
  await settled()
  expect((await inbox.list({ state: 'settled' })).requests).toMatchObject([
    { settlement: { outcome: 'aborted' } },
  ])
})

test('an answer reaches who waits although the log cannot be read just then', async () => {
  class Flaky extends MemoryStore {
    failing = 0
    override async since(cursor: string, limit?: number): Promise<LogPage> {
      if (this.failing-- > 0) throw new Error('the disk is busy')
      return super.since(cursor, limit)
    }
  }
  const medium = new MemoryMedium()
  const store = new Flaky(medium)
  const reported: unknown[] = []
  const inbox = new Inbox({ store, report: error => reported.push(error) })
  await inbox.start()
  const elsewhere = new Inbox({ store: new MemoryStore(medium) })
  await elsewhere.start()
  for (const decide of [inbox, elsewhere]) {
    const { request } = await inbox.open({ ...open, key: `by ${decide === inbox ? 'itself' : 'another'}` })
    const waiting = inbox.wait(request.id)
    store.failing = 2
    await decide.decide(request.id, { outcome: 'declined' }, byWeb)
    expect((await waiting).settlement.outcome).toBe('declined')
  }
  expect(reported).not.toEqual([])
  await Promise.all([inbox.close(), elsewhere.close()])
})

test('an agent that comes back is given its answer although nobody looks any more', async () => {
  const { ctx } = await startHost(new MemoryMedium(), { viewer: 'require' })
  const provider = manualProvider('terminal')
  const leave = ctx.userQuestions.registerProvider(provider)
  const asking = ctx.userQuestions.ask({ questions, key: 'k' })
  await settled()
  provider.shown[0]?.answer('SQLite')
  await asking
  leave()
  expect(await ctx.userQuestions.ask({ questions, key: 'k' })).toEqual(answered('SQLite'))
})

test('whoever waits is told when the inbox closes', async () => {
  const inbox = new Inbox({ store: new MemoryStore() })
  await inbox.start()
  const [keyless, keyed] = [await inbox.open(open), await inbox.open({ ...open, key: 'k' })]
  const [orphaned, closed] = [inbox.wait(keyless.request.id), inbox.wait(keyed.request.id)]
  closed.catch(() => {})
  await inbox.close()
  expect((await orphaned).settlement).toMatchObject({ outcome: 'aborted', reason: 'orphaned' })
  await expect(closed).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  await expect(inbox.wait(keyed.request.id)).rejects.toMatchObject({ code: 'STORE_CLOSED' })
})

test('an answer that the store could not keep at first is kept at the next try', async () => {
  class Full extends MemoryStore {
    failing = 1
    override settle: MemoryStore['settle'] = command => {
      if (this.failing-- > 0) return Promise.reject(new Error('the disk is full'))
      return super.settle(command)
    }
  }
  const { ctx, reported } = await startHost(undefined, { store: new Full() })
  const provider = manualProvider('terminal')
  ctx.userQuestions.registerProvider(provider)
  const asking = ctx.userQuestions.ask({ questions })
  await settled()
  provider.shown[0]?.answer('SQLite')
  expect(await asking).toEqual(answered('SQLite'))
  expect(reported).toContainEqual(expect.objectContaining({ message: 'the disk is full' }))
})

test('a surface that could not be attached is no viewer', async () => {
  class Failing extends MemoryStore {
    failing = false
    override list: MemoryStore['list'] = query =>
      this.failing ? Promise.reject(new Error('no')) : super.list(query)
  }
  const store = new Failing()
  const { ctx } = await startHost(undefined, { store, viewer: 'require' })
  store.failing = true
  await expect(ctx.inbox.attachSurface(quietSurface())).rejects.toThrow('no')
  store.failing = false
  await expect(ctx.userQuestions.ask({ questions })).rejects.toMatchObject({ code: 'ASK_UNAVAILABLE' })
})

test('a surface whose own parts fail is reported and takes nothing with it', async () => {
  const { ctx, inbox, reported } = await startHost(undefined, { viewer: 'require' })
  const failsLater: () => unknown = () => Promise.reject(new Error('later'))
  const broken = quietSurface({
    viewers: () => {
      throw new Error('who knows')
    },
    opened: failsLater,
  })
  await ctx.inbox.attachSurface(broken)
  await ctx.inbox.attachSurface(quietSurface())
  const asking = ctx.userQuestions.ask({ questions })
  await settled()
  await inbox.decide((await inbox.list({ state: 'pending' })).requests[0]!.id, decision, byWeb)
  expect(await asking).toEqual(answered('SQLite'))
  expect(reported.map(error => (error as Error).message)).toEqual(
    expect.arrayContaining(['who knows', 'later']),
  )
})

test('a page that starts nowhere is refused', async () => {
  const { inbox } = await startHost()
  await expect(inbox.list({ state: 'pending', after: 'zzz' })).rejects.toMatchObject({ code: 'BAD_REQUEST' })
})

test('a deadline is met in time by a host whose clock is put right', async () => {
  /** Whose time can be set, and whose timers go on as they were. */
  class SettableClock extends ManualClock {
    offset = -600_000

    override now(): number {
      return super.now() + this.offset
    }
  }
  const clock = new SettableClock()
  const inbox = new Inbox({ store: new MemoryStore(), clock, leaseMs: 3_000 })
  await inbox.start()
  await inbox.open({ ...open, key: 'far', deadlineAt: clock.now() + 300_000 })
  clock.offset = 0
  const { request } = await inbox.open({ ...open, key: 'near', deadlineAt: clock.now() + 2_000 })
  await clock.advance(3_000)
  expect((await inbox.get(request.id)).settlement?.outcome).toBe('timedOut')
  await inbox.close()
})

test('closing does not wait for a store that does not answer, and lets nobody wait', async () => {
  const clock = new ManualClock()
  const store = new MemoryStore()
  const inbox = new Inbox({ store, clock, closeMs: 1_000 })
  await inbox.start()
  const { request } = await inbox.open(open)
  const waiting = expect(inbox.wait(request.id)).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  await settled()
  store.ownedBy = () => new Promise(() => {})
  const closing = inbox.close()
  await clock.advance(1_000)
  await Promise.all([closing, waiting])
})
