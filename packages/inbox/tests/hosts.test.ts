import { expect, test } from 'vitest'
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
