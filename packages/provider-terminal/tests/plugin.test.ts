import { UserQuestionService } from '@handraise/user-questions'
import { Context } from 'cordis'
import { expect, test } from 'vitest'
import * as terminal from '../src/index.ts'
import { FakeInput, FakeOutput } from './fake-terminal.ts'

test('the plugin registers the provider until it is disposed', async () => {
  const ctx = new Context()
  await ctx.plugin(UserQuestionService)
  const output = Object.assign(new FakeOutput(), { isTTY: false })
  const fiber = await ctx.plugin(terminal, { input: new FakeInput(), output, env: {} })
  expect(ctx.userQuestions.provider()?.name).toBe('terminal')
  await expect(ctx.userQuestions.ask({ questions: [{ id: 'a', question: 'Go?' }] })).rejects.toMatchObject({
    code: 'ASK_UNAVAILABLE',
  })
  await fiber.dispose()
  expect(ctx.userQuestions.provider()).toBeUndefined()
})
