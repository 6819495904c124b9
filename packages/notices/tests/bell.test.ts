import * as notices from '@handraise/notices'
import { UserQuestionService } from '@handraise/user-questions'
import { Context } from 'cordis'
import { expect, onTestFinished, test } from 'vitest'
import { FakeTerminal } from './fake-terminal.ts'
import { DB } from './told.ts'

async function host(bell: FakeTerminal) {
  const ctx = new Context()
  await ctx.plugin(UserQuestionService)
  await ctx.plugin(notices, { bell })
  onTestFinished(() => ctx.fiber.dispose())
  ctx.userQuestions.registerProvider({
    ask: async ({ questions }) => ({ answers: questions.map(({ id }) => ({ id, selected: [] })) }),
  })
  return () => ctx.userQuestions.ask({ questions: [DB] })
}

test('several that open at once ring once, and a later one rings again', async () => {
  const bell = new FakeTerminal()
  const ask = await host(bell)
  await Promise.all([ask(), ask(), ask()])
  expect(bell.written).toBe('\u0007')
  await new Promise(resolve => setTimeout(resolve, 250))
  await ask()
  expect(bell.written).toBe('\u0007\u0007')
  await new Promise(resolve => setImmediate(resolve))
  expect(bell.listenerCount('error')).toBe(0)
})

test('nothing is written where there is no terminal', async () => {
  const bell = Object.assign(new FakeTerminal(), { isTTY: false })
  await (
    await host(bell)
  )()
  expect(bell.written).toBe('')
})

test('a terminal that is gone changes nothing', async () => {
  const bell = Object.assign(new FakeTerminal(), { failing: true })
  const ask = await host(bell)
  expect((await ask()).answers).toHaveLength(1)
  await new Promise(resolve => setImmediate(resolve))
})
