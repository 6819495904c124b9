import type { Question } from '@handraise/user-questions'
import { describe, expect, test } from 'vitest'
import {
  allowNoUnhandledRejection,
  HeldClock,
  HeldProvider,
  listen,
  openHost,
  providerOf,
  refusal,
  SQLITE,
  STORE,
} from './host.ts'

allowNoUnhandledRejection()

const NAME: Question = { id: 'name', question: 'What is it called?' }
const CHECKS: Question = {
  id: 'checks',
  question: 'Which checks?',
  multiSelect: true,
  options: [{ label: 'Lint' }, { label: 'Types' }, { label: 'Tests' }],
}

describe('a deadline', () => {
  test('is none unless one is asked for', async () => {
    for (const timeoutMs of [undefined, null as unknown as undefined]) {
      const clock = new HeldClock()
      const ctx = await openHost({ clock, timeoutBounds: { minMs: 5, maxMs: 10 } })
      const provider = new HeldProvider()
      ctx.userQuestions.registerProvider(provider)
      const asking = ctx.userQuestions.ask({ questions: [STORE], timeoutMs })
      expect(clock.armed).toBe(0)
      expect(provider.requests[0]?.deadlineAt).toBeUndefined()
      clock.pass(1e12)
      provider.answer(SQLITE)
      expect(await asking).toEqual(SQLITE)
    }
  })

  test('that passes ends the ask and invents no answer', async () => {
    const clock = new HeldClock(0)
    const ctx = await openHost({ clock })
    const told = listen(ctx)
    const provider = new HeldProvider()
    ctx.userQuestions.registerProvider(provider)
    const options = [{ label: 'Postgres (Recommended)' }, { label: 'SQLite' }]
    const asking = ctx.userQuestions.ask({ questions: [{ ...STORE, options }], timeoutMs: 60_000 })
    const { signal } = provider.requests[0] ?? {}
    clock.pass(59_999)
    expect(ctx.userQuestions.pending()).toHaveLength(1)
    clock.pass(1)
    const error = await refusal(asking)
    expect(error.code).toBe('ASK_TIMED_OUT')
    expect(error.message).toBe('nobody answered within 60000 ms; nothing was chosen, do not assume an answer')
    expect(error.message).not.toContain('Postgres')
    expect(signal?.reason).toBe(error)
    expect(told.settled).toMatchObject([
      { outcome: 'timedOut', code: 'ASK_TIMED_OUT', answers: [], settledAt: 60_000 },
    ])
    expect(clock.armed).toBe(0)
  })

  test('resolves with the defaults when every question names one', async () => {
    const clock = new HeldClock()
    const ctx = await openHost({ clock })
    const told = listen(ctx)
    const provider = new HeldProvider()
    ctx.userQuestions.registerProvider(provider)
    const questions = [
      { ...STORE, default: { selected: ['SQLite'] } },
      { ...CHECKS, default: { selected: ['Tests', 'Lint'], custom: 'docs' } },
    ]
    const asking = ctx.userQuestions.ask({ questions, timeoutMs: 10 })
    const { signal } = provider.requests[0] ?? {}
    clock.pass(10)
    const answers = [
      { id: 'db', selected: ['SQLite'], by: 'default' },
      { id: 'checks', selected: ['Lint', 'Tests'], custom: 'docs', by: 'default' },
    ]
    expect(await asking).toEqual({ answers })
    expect(told.settled).toMatchObject([{ outcome: 'timedOut', answers }])
    expect(told.settled[0]).not.toHaveProperty('code')
    expect(signal?.reason).toMatchObject({ code: 'ASK_TIMED_OUT' })
    expect(clock.armed).toBe(0)
    expect(ctx.userQuestions.pending()).toEqual([])
  })

  test('uses no default when one question has none', async () => {
    const clock = new HeldClock()
    const ctx = await openHost({ clock })
    ctx.userQuestions.registerProvider(new HeldProvider())
    const questions = [{ ...STORE, default: { selected: ['SQLite'] } }, NAME]
    const asking = ctx.userQuestions.ask({ questions, timeoutMs: 10 })
    clock.pass(10)
    expect((await refusal(asking)).code).toBe('ASK_TIMED_OUT')
  })

  test('refuses a default that is not offered before anybody is asked', async () => {
    const ctx = await openHost()
    const provider = providerOf(SQLITE)
    ctx.userQuestions.registerProvider(provider)
    const questions = [{ ...STORE, default: { selected: ['MySQL'] } }]
    const error = await refusal(ctx.userQuestions.ask({ questions, timeoutMs: 10 }))
    expect(error).toMatchObject({
      code: 'BAD_QUESTIONS',
      details: { issues: [{ path: 'questions[0].default.selected' }] },
    })
    expect(provider.requests).toEqual([])
  })

  test('is disarmed by a person who begins to answer', async () => {
    const clock = new HeldClock(0)
    const ctx = await openHost({ clock })
    const provider = new HeldProvider()
    ctx.userQuestions.registerProvider(provider)
    const asking = ctx.userQuestions.ask({ questions: [STORE], timeoutMs: 60_000 })
    expect(ctx.userQuestions.pending()[0]?.deadlineAt).toBe(60_000)
    clock.pass(55_000)
    provider.requests[0]?.engaged()
    provider.requests[0]?.engaged()
    expect(clock.armed).toBe(0)
    expect(ctx.userQuestions.pending()[0]).not.toHaveProperty('deadlineAt')
    clock.pass(45_000)
    expect(ctx.userQuestions.pending()).toHaveLength(1)
    provider.answer(SQLITE)
    expect(await asking).toEqual(SQLITE)
    provider.requests[0]?.engaged()
  })

  test('of another ask goes on when a person begins to answer one', async () => {
    const clock = new HeldClock()
    const ctx = await openHost({ clock })
    const provider = new HeldProvider()
    ctx.userQuestions.registerProvider(provider)
    const engaged = ctx.userQuestions.ask({ questions: [STORE], timeoutMs: 10 })
    const idle = ctx.userQuestions.ask({ questions: [STORE], timeoutMs: 10 })
    provider.requests[0]?.engaged()
    clock.pass(10)
    expect((await refusal(idle)).code).toBe('ASK_TIMED_OUT')
    provider.answer(SQLITE, 0)
    expect(await engaged).toEqual(SQLITE)
  })

  test('is held within the bounds of the host, and told as held', async () => {
    const clock = new HeldClock(0)
    const ctx = await openHost({ clock, timeoutBounds: { minMs: 30_000, maxMs: 3_600_000 } })
    const told = listen(ctx)
    const provider = new HeldProvider()
    ctx.userQuestions.registerProvider(provider)
    const asking = [5000, 90_000, 10_000_000].map(timeoutMs =>
      refusal(ctx.userQuestions.ask({ questions: [STORE], timeoutMs })),
    )
    const deadlines = [30_000, 90_000, 3_600_000]
    expect(told.asked.map(({ deadlineAt }) => deadlineAt)).toEqual(deadlines)
    expect(provider.requests.map(({ deadlineAt }) => deadlineAt)).toEqual(deadlines)
    expect(ctx.userQuestions.pending().map(({ deadlineAt }) => deadlineAt)).toEqual(deadlines)
    clock.pass(3_600_000)
    const timeouts = (await Promise.all(asking)).map(
      ({ details }) => (details as { timeoutMs?: number }).timeoutMs,
    )
    expect(timeouts).toEqual(deadlines)
  })

  test('is as long as asked for where the host sets no bounds', async () => {
    const clock = new HeldClock(0)
    const ctx = await openHost({ clock })
    const provider = new HeldProvider()
    ctx.userQuestions.registerProvider(provider)
    const asking = refusal(ctx.userQuestions.ask({ questions: [STORE], timeoutMs: 0.5 }))
    expect(provider.requests[0]?.deadlineAt).toBe(0.5)
    clock.pass(1)
    expect((await asking).code).toBe('ASK_TIMED_OUT')
  })
})
