import { UserQuestionService, type SeamInbox, type UserQuestionProvider } from '@handraise/user-questions'
import { Context } from 'cordis'
import { expect, test } from 'vitest'
import { SQLITE, STORE } from './host.ts'

const questions = [STORE]

function answering(name: string): UserQuestionProvider & { asked: number } {
  return {
    name,
    asked: 0,
    async ask() {
      this.asked += 1
      return SQLITE
    },
  }
}

function holdingInbox(): SeamInbox & { readonly providers: UserQuestionProvider[] } {
  const providers: UserQuestionProvider[] = []
  return {
    name: 'inbox',
    providers,
    ask: () => new Promise(() => {}),
    registerProvider(provider) {
      providers.push(provider)
      return () => void providers.splice(providers.indexOf(provider), 1)
    },
  }
}

async function openSeam() {
  const ctx = new Context()
  await ctx.plugin(UserQuestionService)
  return ctx
}

test('an inbox takes the providers there already, and those that come', async () => {
  const ctx = await openSeam()
  const [first, second] = [answering('first'), answering('second')]
  ctx.userQuestions.registerProvider(first)
  const inbox = holdingInbox()
  ctx.userQuestions.attach(inbox)
  const leave = ctx.userQuestions.registerProvider(second)
  expect(inbox.providers).toEqual([first, second])
  expect(ctx.userQuestions.provider()?.name).toBe('inbox')
  leave()
  expect(inbox.providers).toEqual([first])
})

test('detached, the first provider is asked again and the others wait in order', async () => {
  const ctx = await openSeam()
  const detach = ctx.userQuestions.attach(holdingInbox())
  const [first, second] = [answering('first'), answering('second')]
  const leaveFirst = ctx.userQuestions.registerProvider(first)
  ctx.userQuestions.registerProvider(second)
  detach()
  await ctx.userQuestions.ask({ questions })
  expect([first.asked, second.asked]).toEqual([1, 0])
  leaveFirst()
  await ctx.userQuestions.ask({ questions })
  expect([first.asked, second.asked]).toEqual([1, 1])
  expect(() => ctx.userQuestions.registerProvider(answering('third'))).toThrow('already registered')
})

test('what the inbox was asked ends when it is detached', async () => {
  const ctx = await openSeam()
  const detach = ctx.userQuestions.attach(holdingInbox())
  const ended = expect(ctx.userQuestions.ask({ questions })).rejects.toMatchObject({ code: 'PROVIDER_GONE' })
  detach()
  await ended
  expect(ctx.userQuestions.pending()).toEqual([])
})

test('a second inbox is refused, and the first stays', async () => {
  const ctx = await openSeam()
  const first = holdingInbox()
  ctx.userQuestions.attach(first)
  expect(() => ctx.userQuestions.attach(holdingInbox())).toThrow('already registered')
  expect(ctx.userQuestions.provider()).toBe(first)
})
