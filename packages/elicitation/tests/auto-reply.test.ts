import type { Clock, Question } from '@handraise/user-questions/types'
import { describe, expect, test } from 'vitest'
import { AUTO_REPLY_MS, takesPerson, timeReply, toForm, withoutDefaults } from '../src/index.ts'

/** A clock whose time of day stands still, or jumps, while its timers run on. */
function timers(timeOfDay = () => 0) {
  const running = new Map<() => void, number>()
  const clock: Clock = {
    now: timeOfDay,
    after(delayMs, run) {
      running.set(run, delayMs)
      return () => void running.delete(run)
    },
  }
  const pass = (ms: number): void => {
    for (const [run, delayMs] of running) if (delayMs <= ms) run()
  }
  return { clock, running, pass }
}

describe('a reply', () => {
  test('is too fast until the time is over, and not from then on', async () => {
    for (const [tookMs, isTooFast] of [
      [AUTO_REPLY_MS - 1, true],
      [AUTO_REPLY_MS, false],
    ] as const) {
      const { clock, running, pass } = timers()
      const show = async (): Promise<string> => {
        pass(tookMs)
        return 'yes'
      }
      const timed = await timeReply(show, { autoReplyMs: AUTO_REPLY_MS, clock })
      expect(timed).toEqual({ reply: 'yes', isTooFast })
      expect(running.size).toBe(0)
    }
  })

  test('is no slower when the time of day is set meanwhile', async () => {
    let timeOfDay = 0
    const { clock } = timers(() => (timeOfDay += 3_600_000))
    expect(await timeReply(async () => 1, { autoReplyMs: 300, clock })).toEqual({ reply: 1, isTooFast: true })
  })

  test('is never too fast where no time is set, and no timer runs', async () => {
    const { clock, running } = timers()
    const show = async (): Promise<number> => running.size
    expect(await timeReply(show, { autoReplyMs: 0, clock })).toEqual({ reply: 0, isTooFast: false })
  })

  test('that fails leaves no timer', async () => {
    const { clock, running } = timers()
    const gone = new Error('gone')
    await expect(timeReply(() => Promise.reject(gone), { autoReplyMs: 300, clock })).rejects.toBe(gone)
    expect(running.size).toBe(0)
  })

  test('takes a person to accept or to decline', () => {
    expect(['accept', 'decline', 'cancel', 'later'].filter(takesPerson)).toEqual(['accept', 'decline'])
  })
})

test('a form without defaults is the same with every field empty', () => {
  const options = [{ label: 'Postgres' }, { label: 'SQLite' }]
  const question = { id: 'db', question: 'Which store?', options }
  const questions: Question[] = [
    { ...question, default: { selected: ['Postgres'] } },
    { ...question, id: 'all', multiSelect: true, default: { selected: ['SQLite'], custom: 'both' } },
  ]
  const empty = toForm(
    questions.map(({ default: _, ...each }) => each),
    { optionDescriptions: 'folded' },
  )
  const form = toForm(questions, { optionDescriptions: 'folded' })
  expect(JSON.stringify(form)).toContain('"default"')
  expect(withoutDefaults(form)).toEqual(empty)
  expect(JSON.stringify(form)).toContain('"default"')
})
