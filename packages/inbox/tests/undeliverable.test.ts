import { UserQuestionError } from '@handraise/user-questions'
import { expect, test } from 'vitest'
import { DB, manualProvider, settled, startHost } from './host.ts'

const questions = [DB]
const undeliverable = () => new UserQuestionError('ASK_UNAVAILABLE', { reason: 'undeliverable' })
const notThere = () => new UserQuestionError('ASK_UNAVAILABLE', { reason: 'not-interactive' })
const surface = { name: 'web', viewers: () => 0, opened: () => {}, settled: () => {} }

test('a question that could not be delivered ends at once where that was the only route, also where asks wait', async () => {
  const { ctx, inbox } = await startHost()
  const chat = manualProvider('chat')
  ctx.userQuestions.registerProvider(chat)
  const ended = expect(ctx.userQuestions.ask({ questions })).rejects.toMatchObject({
    code: 'ASK_UNAVAILABLE',
    details: { reason: 'undeliverable' },
  })
  await settled()
  chat.shown[0]?.reject(undeliverable())
  await ended
  await settled()
  expect((await inbox.list({ state: 'settled' })).requests).toMatchObject([
    { settlement: { outcome: 'aborted', reason: 'undeliverable' } },
  ])
})

test('a question that could not be delivered goes on by another route, and the failure is reported', async () => {
  const { ctx, reported } = await startHost()
  const [chat, terminal] = [manualProvider('chat'), manualProvider('terminal')]
  ctx.userQuestions.registerProvider(chat)
  ctx.userQuestions.registerProvider(terminal)
  const asking = ctx.userQuestions.ask({ questions })
  await settled()
  chat.shown[0]?.reject(undeliverable())
  await settled()
  expect(reported).toMatchObject([{ code: 'ASK_UNAVAILABLE' }])
  terminal.shown[0]?.answer('SQLite')
  expect(await asking).toEqual({ answers: [{ id: 'db', selected: ['SQLite'] }] })
})

test('a question that could not be delivered waits for who opens a surface that is attached', async () => {
  const { ctx, inbox } = await startHost()
  await ctx.inbox.attachSurface(surface)
  const chat = manualProvider('chat')
  ctx.userQuestions.registerProvider(chat)
  const asking = ctx.userQuestions.ask({ questions })
  await settled()
  chat.shown[0]?.reject(undeliverable())
  await settled()
  const [request] = (await inbox.list({ state: 'pending' })).requests
  const answer = { answers: [{ id: 'db', selected: ['SQLite'] }] }
  await inbox.decide(request!.id, { outcome: 'answered', answer }, { commandId: 'c', surface: 'web' })
  expect(await asking).toEqual(answer)
})

test('a question that a provider cannot show for another reason goes on waiting, where asks wait', async () => {
  const { ctx, inbox } = await startHost()
  const terminal = manualProvider('terminal')
  ctx.userQuestions.registerProvider(terminal)
  void ctx.userQuestions.ask({ questions }).catch(() => {})
  await settled()
  terminal.shown[0]?.reject(notThere())
  await settled()
  expect((await inbox.list({ state: 'pending' })).requests).toHaveLength(1)
})

test('one with a key that could not be delivered ends for the asker, and stays for who asks again', async () => {
  const { ctx, inbox } = await startHost()
  const chat = manualProvider('chat')
  ctx.userQuestions.registerProvider(chat)
  const ended = expect(ctx.userQuestions.ask({ questions, key: 'k' })).rejects.toMatchObject({
    details: { reason: 'undeliverable' },
  })
  await settled()
  chat.shown[0]?.reject(undeliverable())
  await ended
  const again = ctx.userQuestions.ask({ questions, key: 'k' })
  await settled()
  expect((await inbox.list({ state: 'pending' })).requests).toHaveLength(1)
  chat.shown[1]?.answer('SQLite')
  expect(await again).toEqual({ answers: [{ id: 'db', selected: ['SQLite'] }] })
})
