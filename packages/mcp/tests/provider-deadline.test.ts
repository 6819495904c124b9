import { UserQuestionService, type Question } from '@handraise/user-questions'
import { Context } from 'cordis'
import { describe, expect, test } from 'vitest'
import { mcpElicitationProvider } from '../src/provider.ts'
import { HandClock, held } from './provider-asking.ts'
import { clientV1, clientV2, serverFor } from './provider-clients.ts'

const STORE: Question = {
  id: 'db',
  question: 'Which store?',
  options: [{ label: 'Postgres (Recommended)' }, { label: 'SQLite' }],
}

describe.each([
  ['the official client', clientV2],
  ['the official client of the first generation', clientV1],
])('a question with a deadline at %s', (_, clientOf) => {
  /** A seam whose questions are shown to somebody who does nothing before `answers`. */
  async function scene() {
    const clock = new HandClock()
    const [up, down, answers] = [held<void>(), held<void>(), held<unknown>()]
    const client = clientOf((_form, signal) => {
      up.resolve()
      signal.addEventListener('abort', () => down.resolve())
      return answers.promise
    })
    const ctx = new Context()
    const timeoutBounds = { minMs: 30_000, maxMs: 3_600_000 }
    await ctx.plugin(UserQuestionService, { clock, timeoutBounds })
    ctx.userQuestions.registerProvider(mcpElicitationProvider(await serverFor(client), { clock }))
    return { clock, up, down, answers, ask: ctx.userQuestions.ask.bind(ctx.userQuestions) }
  }

  test('ends when nobody answered, with nothing chosen, and its form is taken down', async () => {
    const { clock, up, down, ask } = await scene()
    const asking = ask({ questions: [STORE], timeoutMs: 60_000 }).catch((error: unknown) => error)
    await up.promise
    clock.pass(60_000)
    const ended = await asking
    expect(ended).toMatchObject({ code: 'ASK_TIMED_OUT' })
    expect(String(ended)).toContain('nobody answered within 60000 ms')
    expect(String(ended)).not.toMatch(/Postgres|declined|cancelled/u)
    await down.promise
  })

  test('ends with the answer that was stated for it, and says that no person gave it', async () => {
    const { clock, up, down, ask } = await scene()
    const asking = ask({ questions: [{ ...STORE, default: { selected: ['SQLite'] } }], timeoutMs: 60_000 })
    await up.promise
    clock.pass(60_000)
    expect((await asking).answers).toEqual([{ id: 'db', selected: ['SQLite'], by: 'default' }])
    await down.promise
    const other = ask({ questions: [{ ...STORE, default: { selected: ['MySQL'] } }], timeoutMs: 60_000 })
    await expect(other).rejects.toMatchObject({ code: 'BAD_QUESTIONS' })
  })

  test('waits for exactly as long as the host lets it, and no timer of the protocol counts', async () => {
    const { clock, up, answers, ask } = await scene()
    const asking = ask({ questions: [STORE], timeoutMs: 10_000_000 })
    await up.promise
    clock.pass(3_599_999)
    answers.resolve({ action: 'accept', content: { db: 'SQLite' } })
    expect((await asking).answers).toEqual([{ id: 'db', selected: ['SQLite'] }])
    const short = await scene()
    const soon = short.ask({ questions: [STORE], timeoutMs: 5_000 })
    await short.up.promise
    short.clock.pass(29_999)
    short.answers.resolve({ action: 'accept', content: { db: 'SQLite' } })
    expect((await soon).answers).toEqual([{ id: 'db', selected: ['SQLite'] }])
  })
})
