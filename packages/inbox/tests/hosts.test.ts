import { Inbox, MemoryMedium, MemoryStore } from '@handraise/inbox'
import { systemClock } from '@handraise/user-questions'
import { expect, onTestFinished, test } from 'vitest'
import { ManualClock, startHost } from './host.ts'

test('a host is known by an id of its own, and is gone once it has closed', async () => {
  const one = await startHost()
  const other = await startHost(one.medium)
  const { hostId } = other.inbox
  expect(hostId).not.toBe(one.inbox.hostId)
  expect(await one.inbox.goneHosts([hostId, one.inbox.hostId])).toEqual([])
  await other.fiber.dispose()
  expect(await one.inbox.goneHosts([hostId, one.inbox.hostId])).toEqual([hostId])
  await one.fiber.dispose()
})

test('a host that nobody knows is gone', async () => {
  const { inbox, fiber } = await startHost()
  expect(await inbox.goneHosts(['never-was'])).toEqual(['never-was'])
  await fiber.dispose()
})

test('a host that has been silent for longer than its lease is gone', async () => {
  const clock = new ManualClock()
  const one = await startHost(undefined, { clock, leaseMs: 60_000 })
  const silent = await startHost(one.medium, { clock: new ManualClock(), leaseMs: 1_000 })
  const { hostId } = silent.inbox
  await clock.advance(999)
  expect(await one.inbox.goneHosts([hostId])).toEqual([])
  await clock.advance(1)
  expect(await one.inbox.goneHosts([hostId])).toEqual([hostId])
  await silent.fiber.dispose()
  await one.fiber.dispose()
})

test('a host whose clock is wrong takes nobody who lives for gone, where the store has a clock of its own', async () => {
  const medium = new MemoryMedium()
  const host = async (aheadMs: number) => {
    const store = Object.assign(new MemoryStore(medium), { now: () => Date.now() })
    const inbox = new Inbox({ store, clock: { ...systemClock, now: () => Date.now() + aheadMs } })
    onTestFinished(() => inbox.close())
    await inbox.start()
    return inbox
  }
  const right = await host(0)
  const { request } = await right.open({ kind: 'questions', payload: { questions: [] } })
  const wrong = await host(600_000)
  expect(await wrong.goneHosts([right.hostId])).toEqual([])
  expect(await right.goneHosts([wrong.hostId])).toEqual([])
  expect((await wrong.get(request.id)).settlement).toBeUndefined()
})

test('hosts that could not reach the store for longer than their leases take each other for gone no more than before', async () => {
  const medium = new MemoryMedium()
  const clock = new ManualClock()
  let isAway = false
  const host = async () => {
    const store = new MemoryStore(medium)
    for (const name of ['writeRecords', 'records', 'owners'] as const) {
      const call = store[name].bind(store) as (...given: unknown[]) => Promise<unknown>
      const guarded = (...given: unknown[]) =>
        isAway ? Promise.reject(new Error('the store is away')) : call(...given)
      Object.assign(store, { [name]: guarded })
    }
    const inbox = new Inbox({ store, clock, leaseMs: 15_000 })
    onTestFinished(() => inbox.close())
    await inbox.start()
    return inbox
  }
  const [one, other] = [await host(), await host()]
  const { request } = await other.open({ kind: 'questions', payload: { questions: [] } })
  isAway = true
  for (let second = 0; second < 60; second += 1) await clock.advance(1_000)
  isAway = false
  for (let second = 0; second < 30; second += 1) {
    await clock.advance(1_000)
    expect(await one.goneHosts([other.hostId])).toEqual([])
  }
  expect((await one.get(request.id)).settlement).toBeUndefined()
})

test('a host that was closed while the store was away leaves nobody waiting, and the store closed', async () => {
  const store = new MemoryStore()
  const reported: unknown[] = []
  const inbox = new Inbox({ store, report: error => reported.push(error) })
  await inbox.start()
  const { request } = await inbox.open({ kind: 'questions', payload: { questions: [] } })
  const waiting = inbox.wait(request.id)
  Object.assign(store, { ownedBy: () => Promise.reject(new Error('the store is away')) })
  const closing = inbox.close()
  await expect(waiting).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  await closing
  await expect(store.get(request.id)).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  expect(reported).toHaveLength(1)
})

test('whoever follows has heard of all that was committed before, once it is caught up', async () => {
  const one = await startHost()
  const other = await startHost(one.medium)
  const heard: string[] = []
  await other.inbox.follow({ entry: ({ request }) => void heard.push(request.id), lost() {} })
  await one.inbox.open({ id: 'r', kind: 'questions', payload: { questions: [] }, key: 'k' })
  await other.inbox.caughtUp()
  expect(heard).toEqual(['r'])
  await other.fiber.dispose()
  await one.fiber.dispose()
})
