import { expect, test } from 'vitest'
import { oneAtATime } from '../src/index.ts'

const never = new AbortController().signal

/** A task that runs until it is told to end. */
function task(log: string[], name: string) {
  let end = (): void => {}
  const ended = new Promise<void>(resolve => (end = resolve))
  const run = async (): Promise<string> => {
    log.push(`${name} begins`)
    await ended
    log.push(`${name} ends`)
    return name
  }
  return { run, end }
}

test('runs one after the other, in order', async () => {
  const inTurn = oneAtATime()
  const log: string[] = []
  const [one, two] = [task(log, 'one'), task(log, 'two')]
  const running = [inTurn(never, one.run), inTurn(never, two.run)]
  two.end()
  await Promise.resolve()
  one.end()
  expect(await Promise.all(running)).toEqual(['one', 'two'])
  expect(log).toEqual(['one begins', 'one ends', 'two begins', 'two ends'])
})

test('goes on after a task that fails', async () => {
  const inTurn = oneAtATime()
  const failing = inTurn(never, () => Promise.reject(new Error('broken')))
  const next = inTurn(never, () => Promise.resolve('next'))
  await expect(failing).rejects.toThrow('broken')
  expect(await next).toBe('next')
})

test('leaves out what is aborted before its turn, at once', async () => {
  const inTurn = oneAtATime()
  const log: string[] = []
  const first = task(log, 'first')
  const running = inTurn(never, first.run)
  const controller = new AbortController()
  const leaving = inTurn(controller.signal, task(log, 'left').run)
  const last = inTurn(never, () => Promise.resolve('last'))
  const reason = new Error('no longer needed')
  controller.abort(reason)
  await expect(leaving).rejects.toBe(reason)
  await expect(inTurn(controller.signal, task(log, 'late').run)).rejects.toBe(reason)
  first.end()
  expect([await running, await last]).toEqual(['first', 'last'])
  expect(log).toEqual(['first begins', 'first ends'])
})
