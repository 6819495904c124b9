import { expect, test } from 'vitest'
import { startHost } from './host.ts'

test('an agent that is not the exact live instance may not ask', async () => {
  const { ctx, request, inbox } = await startHost()
  const agent = { id: 'root' }
  await expect(request({ agent })).rejects.toMatchObject({ code: 'CALLER_NOT_LIVE' })
  ctx.agents.enter(agent)
  await expect(request({ agent: { id: 'root' } })).rejects.toMatchObject({ code: 'CALLER_NOT_LIVE' })
  expect((await inbox.list({ state: 'pending' })).requests).toEqual([])
})

test('a root asks in its own name', async () => {
  const { ctx, request, pending, decide } = await startHost()
  const agent = { id: 'root' }
  ctx.agents.enter(agent)
  const outcome = request({ agent })
  expect(await pending()).toMatchObject([{ agent: 'root' }])
  await decide('allow_once')
  expect(await outcome).toMatchObject({ policyResult: 'allow' })
})

test('a live child may not ask, at any depth, unless its root takes the approvals of its children', async () => {
  const { ctx, request, pending, decide, inbox } = await startHost()
  const [root, child, grandchild] = ['root', 'child', 'grandchild'].map(id => ({ id }))
  ctx.agents.enter(root!)
  ctx.agents.enter(child!, root)
  ctx.agents.enter(grandchild!, child)
  for (const agent of [child!, grandchild!])
    await expect(request({ agent })).rejects.toMatchObject({ code: 'DELEGATED_CALLER' })
  // The child does not speak for its root.
  const notRoot = ctx.userApprovals.takeFromChildren(child!)
  await expect(request({ agent: grandchild! })).rejects.toMatchObject({ code: 'DELEGATED_CALLER' })
  notRoot()

  const stop = ctx.userApprovals.takeFromChildren(root!)
  const outcome = request({ agent: grandchild! })
  const [asked] = await pending()
  expect(asked).toMatchObject({ agent: 'root', payload: { child: 'grandchild' } })
  expect(inbox.kindOf(asked!)?.asQuestions(asked!.payload)[0]?.detail).toContain('grandchild')
  await decide('allow_once')
  expect(await outcome).toMatchObject({ policyResult: 'allow' })
  stop()
  await expect(request({ agent: grandchild! })).rejects.toMatchObject({ code: 'DELEGATED_CALLER' })
})

test('a child whose owner has left is a root', async () => {
  const { ctx, request, decide } = await startHost()
  const [root, child] = [{ id: 'root' }, { id: 'child' }]
  const leave = ctx.agents.enter(root)
  ctx.agents.enter(child, root)
  leave()
  const outcome = request({ agent: child })
  await decide('allow_once')
  expect(await outcome).toMatchObject({ policyResult: 'allow' })
})
