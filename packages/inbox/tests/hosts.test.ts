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
