import { UserQuestionService } from '@handraise/user-questions'
import { Context } from 'cordis'
import { expect, test } from 'vitest'
import * as acp from '../src/index.ts'
import { held, STORE } from './asking.ts'
import { connected, FORMS } from './editor.ts'

test('the plugin registers the provider, and takes down what it shows when it is disposed', async () => {
  const [up, down] = [held<void>(), held<void>()]
  const { ours } = connected({
    form(_, signal) {
      up.resolve()
      signal.addEventListener('abort', () => down.resolve())
      return new Promise(() => {})
    },
  })
  const ctx = new Context()
  await ctx.plugin(UserQuestionService)
  const fiber = await ctx.plugin(acp, { client: ours.client, sessionId: 'session-1', capabilities: FORMS })
  expect(ctx.userQuestions.provider()?.name).toBe('acp')
  const asking = ctx.userQuestions.ask({ questions: [STORE] }).catch((error: unknown) => error)
  await up.promise
  await fiber.dispose()
  expect(await asking).toMatchObject({ code: 'PROVIDER_GONE' })
  await down.promise
  expect(ctx.userQuestions.provider()).toBeUndefined()
})
