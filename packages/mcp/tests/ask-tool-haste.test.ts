import { expect, test } from 'vitest'
import { Haste } from '../src/ask-tool-haste.ts'
import { HandClock } from './provider-asking.ts'

test('a form is back too fast until its timer has run, and leaves no timer', () => {
  const clock = new HandClock()
  const haste = new Haste(clock, 300)
  const sent = haste.send()
  clock.pass(299)
  expect(haste.isTooFast(sent)).toBe(true)
  clock.pass(1)
  expect(haste.isTooFast(sent)).toBe(false)
  expect(clock.armed).toBe(0)
  haste.send()
  haste.close()
  expect(clock.armed).toBe(0)
})

test('a form that another process has sent is timed by the time of day', () => {
  const clock = new HandClock()
  const sent = new Haste(clock, 300).send()
  const haste = new Haste(clock, 300)
  clock.pass(299)
  expect(haste.isTooFast(sent)).toBe(true)
  clock.pass(1)
  expect(haste.isTooFast(sent)).toBe(false)
  // The clock of that process is ahead of this one: nobody knows, and a person is not asked to answer in vain.
  expect(haste.isTooFast({ ...sent, sentAt: clock.now() + 60_000 })).toBe(false)
})

test('every form is a person’s where no time is set', () => {
  const clock = new HandClock()
  const haste = new Haste(clock, 0)
  expect(haste.isTooFast(haste.send())).toBe(false)
  expect(clock.armed).toBe(0)
})
