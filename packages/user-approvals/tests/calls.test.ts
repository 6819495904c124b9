import { MemoryMedium } from '@handraise/inbox'
import { isAllowed, type ApprovalRequest } from '@handraise/user-approvals'
import { expect, test } from 'vitest'
import { startHost } from './host.ts'

const CALL = { session: 's1', callId: 'call-1' }
const write = (path: string): Partial<ApprovalRequest> => ({
  ...CALL,
  toolName: 'write_file',
  subject: { kind: 'tool', toolName: 'write_file', input: { path } },
})

test('a call that is asked for again waits for the same approval, and gets the same decision', async () => {
  const { request, waiting, decide } = await startHost()
  const first = request(CALL)
  const { id } = await waiting()
  const second = request(CALL)
  expect((await waiting()).id).toBe(id)
  await decide('allow_once')
  const outcomes = await Promise.all([first, second])
  expect(outcomes.map(isAllowed)).toEqual([true, true])
  expect(outcomes[0]?.approvalId).toBe(outcomes[1]?.approvalId)
})

test('what is allowed has its effect once, however often the call is resumed', async () => {
  const { ctx, request, decide } = await startHost()
  const outcome = request(CALL)
  await decide('allow_once')
  const claims = await Promise.all(
    [await outcome, await request(CALL), await request(CALL)].map(each => ctx.userApprovals.redeem(each)),
  )
  expect(claims.filter(Boolean)).toHaveLength(1)
})

test('an approval of one input is none of another', async () => {
  const { request, decide, waiting } = await startHost()
  const first = request(write('/tmp/a'))
  await decide('allow_once')
  expect(isAllowed(await first)).toBe(true)
  const other = request(write('/etc/a'))
  expect((await waiting()).payload.subject).toMatchObject({ input: { path: '/etc/a' } })
  await decide('deny')
  expect(await other).toMatchObject({ policyResult: 'deny' })
  expect(isAllowed(await request(write('/tmp/a')))).toBe(true)
})

test('the same input in another order is the same', async () => {
  const { request, decide } = await startHost()
  const ask = (input: { [name: string]: string }) =>
    request({ ...CALL, subject: { kind: 'tool', toolName: 't', input } })
  const first = ask({ a: '1', b: '2' })
  await decide('allow_once')
  await first
  expect(isAllowed(await ask({ b: '2', a: '1' }))).toBe(true)
})

test('an approval outlives the host, is undecided still, and is decided for the call that comes back', async () => {
  const medium = new MemoryMedium()
  const before = await startHost({ medium })
  const left = before.request(CALL)
  const { id, payload } = await before.waiting()
  await before.fiber.dispose()
  expect(await left).toMatchObject({ outcome: 'unavailable' })

  const after = await startHost({ medium })
  expect(await after.waiting()).toEqual({ id, payload })
  await after.decide('allow_once')
  const resumed = await after.request(CALL)
  expect(resumed).toMatchObject({ policyResult: 'allow', resolvedBy: 'user', approvalId: payload.approvalId })
  expect(await after.ctx.userApprovals.redeem(resumed)).toBe(true)
  await after.fiber.dispose()

  const later = await startHost({ medium })
  const again = await later.request(CALL)
  expect(isAllowed(again)).toBe(true)
  expect(await later.ctx.userApprovals.redeem(again)).toBe(false)
})

test('a pipeline goes on at the stage where it was left', async () => {
  const medium = new MemoryMedium()
  const piped: Partial<ApprovalRequest> = {
    ...CALL,
    subject: { kind: 'shell', command: 'git log | head -3', cwd: '/tmp' },
  }
  const before = await startHost({ medium })
  const left = before.request(piped)
  await before.decide('allow_once')
  await expect.poll(async () => (await before.waiting()).payload.requirement.index).toBe(1)
  await before.fiber.dispose()
  await left
  const after = await startHost({ medium })
  const resumed = after.request(piped)
  expect((await after.waiting()).payload.requirement).toEqual({ index: 1, total: 2 })
  await after.decide('allow_once')
  expect(await resumed).toMatchObject({ policyResult: 'allow', requirements: [{ index: 0 }, { index: 1 }] })
})

test('a caller that runs out of patience leaves the approval open, and finds the decision later', async () => {
  const { request, waiting, decide } = await startHost()
  expect(await request({ ...CALL, patienceMs: 10 })).toMatchObject({ outcome: 'pending' })
  const { id } = await waiting()
  expect(await request({ ...CALL, patienceMs: 10 })).toMatchObject({ outcome: 'pending' })
  expect((await waiting()).id).toBe(id)
  await decide('deny_feedback', 'not today')
  expect(await request({ ...CALL, patienceMs: 10 })).toMatchObject({
    policyResult: 'deny',
    feedback: 'not today',
  })
})

test('without a call nobody could come back, so patience is refused', async () => {
  const { request, inbox } = await startHost()
  await expect(request({ patienceMs: 10 })).rejects.toThrow('patienceMs: needs a callId')
  expect((await inbox.list({ state: 'pending' })).requests).toEqual([])
})

test('two processes that ask for one call at once open one approval', async () => {
  const medium = new MemoryMedium()
  const hosts = await Promise.all([startHost({ medium }), startHost({ medium })])
  const outcomes = hosts.map(host => host.request(CALL))
  await new Promise(resolve => setTimeout(resolve, 50))
  await hosts[0]?.decide('allow_once')
  const decided = await Promise.all(outcomes)
  expect(decided.map(isAllowed)).toEqual([true, true])
  const claims = await Promise.all(hosts.map((host, index) => host.ctx.userApprovals.redeem(decided[index]!)))
  expect(claims.filter(Boolean)).toHaveLength(1)
})

test('an approval that waits longer than anything is kept is still found by its call', async () => {
  const medium = new MemoryMedium()
  let now = Date.now()
  const clock = { now: () => now, after: () => () => {} }
  const before = await startHost({ medium, inbox: { clock } })
  const left = before.request(CALL)
  const { id } = await before.waiting()
  await before.fiber.dispose()
  await left
  now += 31 * 24 * 60 * 60 * 1000
  const after = await startHost({ medium, inbox: { clock } })
  const resumed = after.request(CALL)
  expect((await after.waiting()).id).toBe(id)
  await after.decide('allow_once')
  expect(isAllowed(await resumed)).toBe(true)
})
