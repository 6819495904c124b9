import { Inbox } from '@handraise/inbox'
import { openPostgresStore } from '@handraise/inbox-postgres'
import { systemClock, type Clock } from '@handraise/user-questions'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { DatabaseClock } from '../src/database-clock.ts'
import { makeSchema } from './harness.ts'
import { opening, settling } from './samples.ts'

const TEN_MINUTES = 600_000

let place: Awaited<ReturnType<typeof makeSchema>>
const inboxes: Inbox[] = []

beforeEach(async () => {
  place = await makeSchema()
})
afterEach(async () => {
  await Promise.all(inboxes.splice(0).map(inbox => inbox.close()))
  await place.remove()
})

/** A host whose clock is so far ahead. */
async function startHost(aheadMs: number): Promise<{ inbox: Inbox; now: () => number }> {
  const now = (): number => Date.now() + aheadMs
  const clock: Clock = { now, after: (ms, run) => systemClock.after(ms, run) }
  const { url, schema } = place
  const store = await openPostgresStore({ url, schema, now, pollMs: 50 })
  const inbox = new Inbox({ store, clock })
  await inbox.start()
  inboxes.push(inbox)
  return { inbox, now }
}

const question = { kind: 'sample', payload: 'Which one?' }

test.each([
  ['ahead', TEN_MINUTES],
  ['behind', -TEN_MINUTES],
])('a host whose clock is ten minutes %s settles nothing early, and nothing late', async (_, aheadMs) => {
  const right = await startHost(0)
  const far = await right.inbox.open({ ...question, key: 'far', deadlineAt: right.now() + 60_000 })
  const wrong = await startHost(aheadMs)
  const late = await right.inbox.open({ ...question, key: 'late', deadlineAt: right.now() + 300 })
  const own = await wrong.inbox.open({ ...question, key: 'own', deadlineAt: wrong.now() + 300 })
  const ownFar = await wrong.inbox.open({ ...question, key: 'own far', deadlineAt: wrong.now() + 60_000 })
  for (const { inbox } of [right, wrong]) {
    for (const { request } of [late, own])
      expect((await inbox.wait(request.id)).settlement.outcome).toBe('timedOut')
    for (const { request } of [far, ownFar]) expect((await inbox.get(request.id)).settlement).toBeUndefined()
  }
  // Each shows what is left by its own clock.
  const left = (await wrong.inbox.get(far.request.id)).deadlineAt ?? 0
  expect(left - wrong.now()).toBeGreaterThan(30_000)
  expect(left - wrong.now()).toBeLessThan(61_000)
  expect((await wrong.inbox.get(ownFar.request.id)).deadlineAt).toBe(ownFar.request.deadlineAt)
})

test.each([
  ['ahead', TEN_MINUTES],
  ['behind', -TEN_MINUTES],
])(
  'a host whose clock is ten minutes %s takes nobody for gone, and is taken by nobody',
  async (_, aheadMs) => {
    const right = await startHost(0)
    const wrong = await startHost(aheadMs)
    const asked = await Promise.all([right, wrong].map(({ inbox }) => inbox.open(question)))
    const third = await startHost(0)
    for (const { inbox } of [right, wrong, third])
      expect(await inbox.goneHosts([right.inbox.hostId, wrong.inbox.hostId])).toEqual([])
    for (const { request } of asked) expect((await third.inbox.get(request.id)).settlement).toBeUndefined()
  },
)

test.each([
  ['ahead', 40],
  ['behind', -40],
])('a host whose clock is forty days %s forgets nothing early, and is not forgotten', async (_, days) => {
  const right = await startHost(0)
  const wrong = await startHost(days * 86_400_000)
  const settled: string[] = []
  for (const [index, { inbox }] of [right, wrong].entries()) {
    const { request } = await inbox.open({ ...question, key: `of ${index}` })
    await inbox.decide(request.id, { outcome: 'declined' }, { commandId: `c${index}`, surface: 'web' })
    settled.push(request.id)
  }
  // Each forgets what is old when it starts.
  const later = [await startHost(0), await startHost(days * 86_400_000)]
  for (const { inbox } of later)
    for (const id of settled)
      expect(await inbox.get(id)).toMatchObject({ settlement: { outcome: 'declined' } })
})

test('a host whose clock is put right meanwhile meets its deadlines in time', async () => {
  let aheadMs = -TEN_MINUTES
  const now = (): number => Date.now() + aheadMs
  const clock: Clock = { now, after: (ms, run) => systemClock.after(ms, run) }
  const { url, schema } = place
  const inbox = new Inbox({
    store: await openPostgresStore({ url, schema, now, pollMs: 20 }),
    clock,
    leaseMs: 300,
  })
  await inbox.start()
  inboxes.push(inbox)
  // What it waits for is told by the clock as it was, and comes before all that is told by the one that is right.
  await inbox.open({ ...question, key: 'far', deadlineAt: now() + TEN_MINUTES / 2 })
  aheadMs = 0
  await vi.waitFor(() => expect(Math.abs(inbox.store.now!() - Date.now())).toBeLessThan(1_000))
  const { request } = await inbox.open({ ...question, key: 'near', deadlineAt: now() + 200 })
  expect((await inbox.wait(request.id)).settlement.outcome).toBe('timedOut')
})

test('a host whose clock was moved a moment ago settles nothing early', async () => {
  let aheadMs = 0
  const now = (): number => Date.now() + aheadMs
  const { url, schema } = place
  // So that it does not find out.
  const store = await openPostgresStore({ url, schema, now, pollMs: 60_000 })
  for (const id of ['a', 'b']) await store.open(opening(id, { deadlineAt: now() + 60_000 }))
  await store.open(opening('due', { deadlineAt: now() - 1 }))
  aheadMs = TEN_MINUTES
  expect(await store.due(now(), 10)).toEqual(['due'])
  const settle = (id: string): Promise<unknown> => store.settle({ ...settling(id), ifDueAt: now() })
  expect(await settle('a')).toMatchObject({ status: 'notDue' })
  // In one batch as well.
  expect(await Promise.all(['a', 'b', 'due'].map(settle))).toMatchObject([
    { status: 'notDue' },
    { status: 'notDue' },
    { status: 'settled' },
  ])
  await store.close()
})

test('a store prunes by the clock of the database, though hosts are forty days off', async () => {
  const { url, schema } = place
  const aheadMs = 40 * 86_400_000
  const store = await openPostgresStore({ url, schema })
  const ahead = await openPostgresStore({ url, schema, now: () => Date.now() + aheadMs })
  const { settlement, ...command } = settling('a')
  await store.open(opening('a'))
  await store.settle({ ...command, settlement: { ...settlement, settledAt: Date.now() } })
  const behind = await openPostgresStore({ url, schema, now: () => Date.now() - aheadMs })
  await behind.open(opening('b'))
  const settledAt = Date.now() - aheadMs
  expect(await behind.settle({ ...settling('b'), settlement: { ...settlement, settledAt } })).toMatchObject({
    request: { settlement: { settledAt } },
  })
  expect(await store.prune(Date.now() - 60_000)).toBe(0)
  expect(await ahead.prune(Date.now() + aheadMs - 60_000)).toBe(0)
  expect(await ahead.prune(Date.now() + aheadMs + 60_000)).toBe(2)
  await Promise.all([store, ahead, behind].map(each => each.close()))
})

test('a wrong clock is found out though the database is slow to answer', async () => {
  const clock = new DatabaseClock(() => Date.now() + TEN_MINUTES)
  await clock.measure(async () => {
    await new Promise(resolve => {
      setTimeout(resolve, 600)
    })
    return Date.now()
  })
  expect(Math.abs(clock.read() - Date.now())).toBeLessThan(5_000)
})

test('a clock that is put right is followed', async () => {
  const { url, schema } = place
  let aheadMs = TEN_MINUTES
  const now = (): number => Date.now() + aheadMs
  const store = await openPostgresStore({ url, schema, now, pollMs: 20 })
  await store.open(opening('a', { deadlineAt: now() + 60_000 }))
  expect(await store.due(now() + 50_000, 10)).toEqual([])
  aheadMs = 0
  await vi.waitFor(async () =>
    expect(Math.abs(((await store.nextDeadline()) ?? 0) - now() - 60_000)).toBeLessThan(5_000),
  )
  await store.open(opening('b', { deadlineAt: now() - 20_000 }))
  expect(await store.due(now() - 30_000, 10)).toEqual([])
  expect(await store.due(now(), 10)).toEqual(['b'])
  expect(await store.settle({ ...settling('b'), ifDueAt: now() - 30_000 })).toMatchObject({
    status: 'notDue',
  })
  expect(await store.settle({ ...settling('b'), ifDueAt: now() })).toMatchObject({ status: 'settled' })
  await store.close()
})

test.each([
  ['ahead', TEN_MINUTES],
  ['behind', -TEN_MINUTES],
])(
  'a deadline that is given just after a clock that was %s was put right is met in time',
  async (_, wrong) => {
    const { url, schema } = place
    let aheadMs = wrong
    const now = (): number => Date.now() + aheadMs
    const right = await openPostgresStore({ url, schema })
    // So that it does not find out.
    const store = await openPostgresStore({ url, schema, now, pollMs: 60_000 })
    aheadMs = 0
    const deadlineAt = now() + 60_000
    await store.open(opening('alone', { deadlineAt }))
    await Promise.all(['a', 'b'].map(id => store.open(opening(id, { deadlineAt }))))
    const { settlement, ...command } = settling('a')
    await store.settle({ ...command, settlement: { ...settlement, settledAt: now() } })
    for (const id of ['alone', 'b'])
      expect(Math.abs(((await right.get(id))?.deadlineAt ?? 0) - deadlineAt)).toBeLessThan(5_000)
    expect(await store.prune(now() - 60_000)).toBe(0)
    expect(await right.prune(Date.now() - 60_000)).toBe(0)
    expect(await right.prune(Date.now() + 60_000)).toBe(1)
    await Promise.all([store, right].map(each => each.close()))
  },
)
