import { MemoryMedium, MemoryStore } from '@handraise/inbox'
import { expect, test } from 'vitest'
import { asking, calling, DATABASE, TEXT } from './agents.ts'
import { host } from './wired.ts'

const DAY_MS = 24 * 60 * 60 * 1000

/** A clock that is so many milliseconds ahead. */
const ahead = (ms: number) => ({
  now: () => Date.now() + ms,
  after: (delayMs: number, run: () => void) => {
    const timer = setTimeout(run, delayMs)
    return () => clearTimeout(timer)
  },
})

async function sessionWith(agent: ReturnType<typeof calling>, medium: MemoryMedium, until: string) {
  const first = await host({ store: new MemoryStore(medium), agent })
  const one = await first.peer().start()
  const start = { commandId: one.commandId(), sessionId: 'mine' }
  const started = await one.call('session/start', start)
  await one.call('turn/start', { sessionId: 'mine', commandId: one.commandId(), input: TEXT })
  await one.told(until)
  await first.close()
  return { start, started }
}

test('a session in which nothing has happened for long is forgotten, with its view and the commands', async () => {
  const medium = new MemoryMedium()
  const { start } = await sessionWith(calling(), medium, 'turn/completed')
  const { peer } = await host({ store: new MemoryStore(medium), clock: ahead(31 * DAY_MS) })
  const one = await peer().start()
  expect(await one.fails('session/read', { sessionId: 'mine' })).toMatchObject({ code: -32_020 })
  expect(await one.call('session/start', start)).toMatchObject({
    session: { turnCount: 0 },
    viewCursor: 'v:mine:0',
  })
})

test('a session is kept until then, and its commands are answered as they were', async () => {
  const medium = new MemoryMedium()
  const { start, started } = await sessionWith(calling(), medium, 'turn/completed')
  const { peer } = await host({ store: new MemoryStore(medium), clock: ahead(29 * DAY_MS) })
  const one = await peer().start()
  expect(await one.call('session/read', { sessionId: 'mine' })).toMatchObject({ session: { turnCount: 1 } })
  expect(await one.call('session/start', start)).toEqual(started)
})

test('a session whose turn waits on a person is kept, however long that takes', async () => {
  const medium = new MemoryMedium()
  await sessionWith(asking(DATABASE), medium, 'userInput/request')
  const { peer } = await host({ store: new MemoryStore(medium), clock: ahead(400 * DAY_MS) })
  const one = await peer().start()
  expect(await one.call('session/read', { sessionId: 'mine' })).toMatchObject({
    pendingRequests: [{ kind: 'userInput' }],
  })
})
