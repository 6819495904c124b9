import { expect, onTestFinished, test } from 'vitest'
import type { SessionAgent } from '../src/index.ts'
import { heapAfterCollection } from './fixtures/garbage.ts'
import { startSession, startTurn } from './fixtures/session-commands.ts'
import { connect, openStack } from './fixtures/stack.ts'
import { allowNothingUnhandled } from './fixtures/unhandled.ts'

allowNothingUnhandled()

const MIB = 1024 * 1024
/** What may wait for one client, in UTF-16 units, each of which is a byte here. */
const MOST_WAITING = 16 * MIB

test.each([
  ['one after the other', true],
  ['all at once', false],
])(
  'a client that asks %s and does not read is told to come back, and is not what memory fills with',
  async (_, apart) => {
    const requests = 20
    const agent: SessionAgent = {
      async run(turn) {
        for (let index = 0; index < 30; index += 1) await turn.say('x'.repeat(100_000))
      },
    }
    const stack = await openStack({ agent })
    onTestFinished(() => stack.close())
    const one = connect(stack)
    onTestFinished(() => one.close())
    await one.start()
    const sessionId = await startSession(one)
    await startTurn(one, sessionId)
    await one.told('turn/completed')
    one.frames.length = 0
    const mute = connect(stack)
    onTestFinished(() => mute.close())
    await mute.start()
    mute.pause()
    const { length } = JSON.stringify(await one.call('session/read', { sessionId }))
    one.frames.length = 0
    const before = await heapAfterCollection()
    const answers: Array<Promise<object>> = []
    for (let id = 0; id < requests; id += 1) {
      answers.push(mute.request('session/read', { sessionId }, id))
      if (apart) await one.call('session/read', { sessionId, excludeItems: true })
    }
    for (let turn = 0; turn < 50; turn += 1) await one.call('session/read', { sessionId, excludeItems: true })
    const grown = (await heapAfterCollection()) - before
    mute.read()
    const kinds = (await Promise.all(answers)).map(answer =>
      'error' in answer ? (answer as { error: { data: { kind: string } } }).error.data.kind : 'result',
    )
    expect(grown).toBeLessThan(MOST_WAITING + 4 * length)
    expect(new Set(kinds)).toEqual(new Set(['result', 'overloaded']))
    // Who reads is answered again.
    expect(await mute.call('session/read', { sessionId })).toHaveProperty('session')
  },
)
