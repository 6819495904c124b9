import { v7 as uuidv7 } from 'uuid'
import { describe, expect, test } from 'vitest'
import { ask, scriptedAgent, write } from './fixtures/scripted-agent.ts'
import { answer, decide, eventsOf, startSession, startTurn, viewOf } from './fixtures/session-commands.ts'
import { allowNothingUnhandled } from './fixtures/unhandled.ts'
import { afterALease, MEDIA, worldOn } from './fixtures/world.ts'

allowNothingUnhandled()

const agent = () =>
  scriptedAgent({
    ask: [ask('db')],
    two: [ask('db'), ask('cache', ['Redis', 'None'])],
    write: [write('a.txt')],
  })

const POSTGRES = '{"answers":[{"id":"db","selected":["Postgres"]}]}'

describe.each(MEDIA)('on %s', medium => {
  test('a host that was taken over while it was stalled records nothing more', async () => {
    const world = worldOn(medium)
    const [before, after] = [agent(), agent()]
    const first = await world.host({ agent: before })
    const one = await first.client()
    const sessionId = await startSession(one)
    await startTurn(one, sessionId, 'two')
    const { userInputId } = await one.told('userInput/request')
    first.stalled.stall()
    const second = await world.host({ agent: after, clock: afterALease() })
    const two = await second.client()
    await two.command('session/resume', { sessionId })
    await two.command('userInput/answer', answer(sessionId, userInputId, 'db', 'SQLite'))
    const next = await two.told('userInput/request', params => params['userInputId'] !== userInputId)
    first.stalled.wakeUp()
    expect(await one.told('session/closed')).toMatchObject({ sessionId })
    const refused = await one.fails('userInput/answer', {
      commandId: uuidv7(),
      ...answer(sessionId, next['userInputId'], 'cache', 'None'),
    })
    expect(refused.data.kind).toBe('sessionNotLoaded')
    expect((await one.fails('session/resume', { sessionId, commandId: uuidv7() })).data.kind).toBe(
      'sessionInUse',
    )
    expect(before.runs).toMatchObject([{ results: [], turn: { signal: { aborted: true } } }])
    await two.command('userInput/answer', answer(sessionId, next['userInputId'], 'cache', 'Redis'))
    await two.told('turn/completed')
    expect(two.allTold('session/closed')).toEqual([])
    const view = await viewOf(two, sessionId)
    expect(eventsOf(view, 'userInput/settled')).toHaveLength(2)
    expect(eventsOf(view, 'item/completed')).toHaveLength(5)
    expect(eventsOf(view, 'turn/completed')).toMatchObject([{ terminal: 'completed' }])
  })

  test('a host that was taken over finds out with the next it would record', async () => {
    const world = worldOn(medium)
    const [before, after] = [agent(), agent()]
    const first = await world.host({ agent: before })
    const one = await first.client()
    const sessionId = await startSession(one)
    await startTurn(one, sessionId, 'ask')
    const { userInputId } = await one.told('userInput/request')
    first.stalled.stall()
    const second = await world.host({ agent: after, clock: afterALease() })
    const two = await second.client()
    // It has recorded nothing yet: what was asked is asked already.
    await two.command('session/resume', { sessionId })
    await two.told('userInput/request')
    first.stalled.wakeUp()
    const ack = await one.request('userInput/answer', {
      commandId: uuidv7(),
      ...answer(sessionId, userInputId, 'db', 'Postgres'),
    })
    // Wherever it is answered, it is answered.
    expect(ack).toMatchObject({ result: { status: 'accepted' } })
    await one.told('session/closed')
    expect(before.runs).toMatchObject([{ results: [], turn: { signal: { aborted: true } } }])
    expect(await two.told('turn/completed')).toMatchObject({ terminal: 'completed' })
    expect(two.allTold('session/closed')).toEqual([])
    expect(after.runs.map(({ results }) => results)).toEqual([[POSTGRES]])
  })

  test('a host that was taken over does not do what was allowed afterwards', async () => {
    const world = worldOn(medium)
    const done: Record<string, string[]> = { before: [], after: [] }
    const first = await world.host({ agent: agent(), effect: line => void done['before']?.push(line) })
    const one = await first.client()
    const sessionId = await startSession(one)
    await startTurn(one, sessionId, 'write')
    const asked = await one.told('approval/request')
    first.stalled.stall()
    const second = await world.host({
      agent: agent(),
      clock: afterALease(),
      effect: line => void done['after']?.push(line),
    })
    const two = await second.client()
    await two.command('session/resume', { sessionId })
    first.stalled.wakeUp()
    // It finds out before anybody decides.
    await one.request('session/setApprovalMode', { sessionId, commandId: uuidv7(), mode: 'onRequest' })
    await one.told('session/closed')
    await two.command('approval/decide', decide(sessionId, asked, 'allow_once'))
    await two.told('turn/completed')
    expect(done).toEqual({ before: [], after: ['wrote a.txt'] })
  })

  test('a host whose lease ran out keeps a session that nobody has taken', async () => {
    const world = worldOn(medium)
    const first = await world.host({ agent: agent() })
    const one = await first.client()
    const sessionId = await startSession(one)
    await startTurn(one, sessionId, 'ask')
    const { userInputId } = await one.told('userInput/request')
    first.stalled.stall()
    await world.host({ agent: agent(), clock: afterALease() })
    first.stalled.wakeUp()
    await one.command('userInput/answer', answer(sessionId, userInputId, 'db', 'SQLite'))
    await one.told('turn/completed')
    expect(one.allTold('session/closed')).toEqual([])
  })
})
