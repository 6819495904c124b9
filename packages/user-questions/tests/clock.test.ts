import { systemClock } from '@handraise/user-questions'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('the clock tells the time of the system', () => {
  vi.setSystemTime(1234)
  expect(systemClock.now()).toBe(1234)
})

test('the clock calls once, when the time has passed', () => {
  const run = vi.fn()
  systemClock.after(10, run)
  vi.advanceTimersByTime(9)
  expect(run).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1000)
  expect(run).toHaveBeenCalledOnce()
})

test('the clock does not call what was called off', () => {
  const run = vi.fn()
  systemClock.after(10, run)()
  vi.advanceTimersByTime(1000)
  expect(run).not.toHaveBeenCalled()
  expect(vi.getTimerCount()).toBe(0)
})

test('the clock waits longer than a single timer can', () => {
  const longestTimerMs = 2 ** 31 - 1
  const run = vi.fn()
  const calledOff = vi.fn()
  systemClock.after(2 * longestTimerMs + 10, run)
  const callOff = systemClock.after(2 * longestTimerMs + 10, calledOff)
  vi.advanceTimersByTime(2 * longestTimerMs + 9)
  expect(run).not.toHaveBeenCalled()
  callOff()
  vi.advanceTimersByTime(1)
  expect(run).toHaveBeenCalledOnce()
  expect(calledOff).not.toHaveBeenCalled()
  expect(vi.getTimerCount()).toBe(0)
})
