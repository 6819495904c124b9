import * as providerAuto from '@handraise/provider-auto'
import { UserQuestionService } from '@handraise/user-questions'
import { Context } from 'cordis'
import { expect, test } from 'vitest'

test('mounting the plugin answers asks, disposing it ends that', async () => {
  const ctx = new Context()
  await ctx.plugin(UserQuestionService)
  const fiber = await ctx.plugin(providerAuto, { policy: 'first' })
  const questions = [{ id: 'go', question: 'Go?', options: [{ label: 'Yes' }] }]
  expect((await ctx.userQuestions.ask({ questions })).answers[0]?.selected).toEqual(['Yes'])
  await fiber.dispose()
  await expect(ctx.userQuestions.ask({ questions })).rejects.toMatchObject({ code: 'NO_PROVIDER' })
})
