import { AgentRegistry } from '@handraise/agents'
import { autoProvider } from '@handraise/provider-auto'
import { Context } from 'cordis'
import * as handraise from 'handraise'
import { expect, test } from 'vitest'

test('one line mounts a stack that answers the tool', async () => {
  const ctx = new Context()
  await ctx.plugin(handraise, { provider: autoProvider({ policy: 'first' }) })
  const result = await ctx.tools.execute({
    callId: '1',
    name: 'ask_user_question',
    arguments: { questions: [{ question: 'Go?', options: ['Yes'] }] },
    signal: new AbortController().signal,
  })
  expect(result).toMatchObject({
    isError: false,
    content: '{"answers":[{"id":"q1","selected":["Yes"],"by":"policy"}]}',
  })
})

test('what the host has mounted already is used', async () => {
  const ctx = new Context()
  await ctx.plugin(AgentRegistry)
  const agent = { id: 'root' }
  ctx.agents.enter(agent)
  await ctx.plugin(handraise, { provider: null })
  await expect(
    ctx.userQuestions.ask({ questions: [{ id: 'a', question: 'A?' }], agent }),
  ).rejects.toMatchObject({
    code: 'NO_PROVIDER',
  })
})

test('disposing the preset takes the whole stack down', async () => {
  const ctx = new Context()
  const fiber = await ctx.plugin(handraise, { provider: null })
  await fiber.dispose()
  expect(['userQuestions', 'agents', 'tools'].filter(name => ctx.get(name) !== undefined)).toEqual([])
})
