import * as toolAskUser from '@handraise/tool-ask-user'
import { ToolService } from '@handraise/tools'
import { UserQuestionService } from '@handraise/user-questions'
import { Context } from 'cordis'
import { expect, test } from 'vitest'
import { openHost, skipAll } from './host.ts'

const ARGS = { questions: [{ id: 'a', question: 'A?' }] }

test('disposing the plugin takes the tool away', async () => {
  const { ctx, tool, call, asked } = await openHost(skipAll)
  expect(ctx.tools.get('ask_user_question')).toBeDefined()
  await tool.dispose()
  expect(ctx.tools.get('ask_user_question')).toBeUndefined()
  expect(await call(ARGS)).toMatchObject({ error: { code: 'UNKNOWN_TOOL' } })
  expect(asked).toEqual([])
})

test('the tool is offered once both the seam and the tools are there', async () => {
  const ctx = new Context()
  const fiber = ctx.plugin(toolAskUser)
  await ctx.plugin(ToolService)
  expect(ctx.tools.schemas()).toEqual([])
  await ctx.plugin(UserQuestionService)
  await fiber
  expect(ctx.tools.schemas().map(({ name }) => name)).toEqual(['ask_user_question'])
})

test('the tool goes away with the seam', async () => {
  const ctx = new Context()
  await ctx.plugin(ToolService)
  const seam = await ctx.plugin(UserQuestionService)
  await ctx.plugin(toolAskUser)
  expect(ctx.tools.get('ask_user_question')).toBeDefined()
  await seam.dispose()
  expect(ctx.tools.get('ask_user_question')).toBeUndefined()
})

test('a call in flight ends when the host shuts down', async () => {
  const { ctx, call } = await openHost(() => new Promise(() => {}))
  const calling = call(ARGS)
  await Promise.resolve()
  await ctx.fiber.dispose()
  expect(await calling).toMatchObject({ isError: true, error: { code: 'PROVIDER_GONE' } })
})

test('in an isolated context the tool asks that context alone', async () => {
  const { ctx, asked } = await openHost(skipAll)
  const child = ctx.isolate('userQuestions').isolate('tools')
  await child.plugin(UserQuestionService)
  await child.plugin(ToolService)
  await child.plugin(toolAskUser)
  child.userQuestions.registerProvider({
    ask: () => Promise.resolve({ answers: [{ id: 'a', selected: [], custom: 'from the child' }] }),
  })
  const { signal } = new AbortController()
  const result = await child.tools.execute({
    name: 'ask_user_question',
    arguments: ARGS,
    callId: 'c',
    signal,
  })
  expect(result.content).toBe('{"answers":[{"id":"a","selected":[],"custom":"from the child"}]}')
  expect(asked).toEqual([])
})
