import type { SessionAgent } from '../../src/index.ts'
import { agent, calls, echoes, textOf } from './own-scene.ts'
import type { OwnScenario } from './recorder.ts'
import { stage, type Cue } from './scenario.ts'

/** An agent that says what it was told, once it may. */
function waits() {
  let goOn = (): void => {}
  const free = new Promise<void>(resolve => (goOn = resolve))
  const steered: string[] = []
  const waiting = agent(
    async turn => {
      const stopped = new Promise<never>((_, reject) =>
        turn.signal.addEventListener('abort', () => reject(turn.signal.reason as Error)),
      )
      await Promise.race([free, stopped])
      await turn.say([textOf(turn), ...steered.splice(0)].join(', then: '))
    },
    { steer: (_, input) => void steered.push(textOf({ input })) },
  )
  return { goOn, waiting }
}

/** The turn that runs may go on after this answer. */
async function setWaiting(after: Cue['after'] | undefined, steers = true) {
  const { goOn, waiting } = waits()
  const { steer: _, ...deaf } = waiting
  const hosted = await stage({ agent: steers ? waiting : deaf })
  return { hosted, cues: after === undefined ? [] : [{ after, run: goOn }] }
}

const disposed =
  (disposition: string): Cue['after'] =>
  ({ result }) =>
    (result as { readonly disposition?: string } | undefined)?.disposition === disposition

/** How turns are started, steered, stopped, and how they end. */
export const TURN_SCENARIOS: readonly OwnScenario[] = [
  {
    // One that waits can be taken out again.
    name: 'turn-queued',
    set: () => setWaiting(({ method, params }) => method === 'turn/completed' && 'reason' in Object(params)),
    async script(client) {
      await client.start()
      const sessionId = await client.session()
      await client.turn(sessionId, 'First')
      await client.told('item/completed')
      await client.turn(sessionId, 'Second', { ifBusy: 'queue' })
      const { turnId } = await client.turn(sessionId, 'Third')
      await client.call('turn/cancel', { sessionId, commandId: client.commandId(), turnId })
      await client.told('turn/completed')
      await client.told('turn/completed')
      await client.told('turn/completed')
    },
  },
  {
    name: 'turn-steered',
    set: () => setWaiting(disposed('steered')),
    async script(client) {
      await client.start()
      const sessionId = await client.session()
      await client.turn(sessionId, 'First')
      await client.told('item/completed')
      await client.turn(sessionId, 'Mind the tests', { ifBusy: 'steer' })
      await client.told('turn/completed')
    },
  },
  {
    // The agent takes no input into a running turn: it waits.
    name: 'turn-steered-in-vain',
    set: () => setWaiting(disposed('queued'), false),
    async script(client) {
      await client.start()
      const sessionId = await client.session()
      await client.turn(sessionId, 'First')
      await client.told('item/completed')
      await client.turn(sessionId, 'Mind the tests', { ifBusy: 'steer' })
      await client.told('turn/completed')
      await client.told('turn/completed')
    },
  },
  {
    name: 'turn-replaced',
    set: () => setWaiting(({ method }) => method === 'turn/completed'),
    async script(client) {
      await client.start()
      const sessionId = await client.session()
      await client.turn(sessionId, 'First')
      await client.told('item/completed')
      await client.turn(sessionId, 'Something else', { ifBusy: 'replace' })
      await client.told('turn/completed')
      await client.told('turn/completed')
    },
  },
  {
    name: 'turn-interrupted',
    set: () => setWaiting(undefined),
    async script(client) {
      await client.start()
      const sessionId = await client.session()
      const { turnId } = await client.turn(sessionId)
      await client.told('item/completed')
      await client.call('turn/interrupt', { sessionId, commandId: client.commandId(), turnId })
      await client.told('turn/completed')
    },
  },
  {
    name: 'turn-cancelled',
    set: () => setWaiting(undefined),
    async script(client) {
      await client.start()
      const sessionId = await client.session()
      await client.turn(sessionId)
      await client.told('item/completed')
      await client.call('turn/cancel', { sessionId, commandId: client.commandId() })
      await client.told('turn/completed')
    },
  },
  {
    // The next one begins behind the end of the one that was stopped.
    name: 'turn-interrupted-before-another',
    set: () => setWaiting(({ method }) => method === 'turn/completed'),
    async script(client) {
      await client.start()
      const sessionId = await client.session()
      await client.turn(sessionId, 'First')
      await client.told('item/completed')
      await client.turn(sessionId, 'Second')
      await client.call('turn/interrupt', { sessionId, commandId: client.commandId() })
      await client.told('turn/completed')
      await client.told('turn/completed')
    },
  },
  {
    // A launch that was called off ends the turn once, and as cancelled.
    name: 'turn-interrupted-before-its-start',
    async set() {
      const prepare: SessionAgent['prepare'] = ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
      return { hosted: await stage({ agent: agent(() => {}, { prepare }) }) }
    },
    async script(client) {
      await client.start()
      const sessionId = await client.session()
      await client.turn(sessionId)
      await client.call('turn/interrupt', { sessionId, commandId: client.commandId() })
      await client.told('turn/completed')
    },
  },
  {
    name: 'turn-streamed',
    async set() {
      const streams = agent(async turn => {
        const message = turn.stream()
        for (const piece of ['It is ', 'all ', 'done.']) message.delta(piece)
        await message.end()
        return { usage: { inputTokens: 120, outputTokens: 9, cachedTokens: 0, reasoningTokens: 0 } }
      })
      return { hosted: await stage({ agent: streams }) }
    },
    async script(client) {
      await client.start()
      await client.turn(await client.session())
      await client.told('turn/completed')
    },
  },
  {
    name: 'turn-failed',
    async set() {
      const fails = agent(() => Promise.reject(new Error('the model is not there')))
      return { hosted: await stage({ agent: fails }) }
    },
    async script(client) {
      await client.start()
      await client.turn(await client.session())
      await client.told('turn/completed')
    },
  },
  {
    name: 'turn-with-failed-call',
    set: async () => ({ hosted: await stage({ agent: calls(['call-1', 'no_such_tool', {}]) }) }),
    async script(client) {
      await client.start()
      await client.turn(await client.session())
      await client.told('turn/completed')
    },
  },
  {
    // A second session on the same line: each has its own view.
    name: 'turn-in-two-sessions',
    set: async () => ({ hosted: await stage({ agent: echoes }) }),
    async script(client) {
      await client.start()
      const one = await client.session()
      const other = await client.session()
      await client.turn(one, 'First')
      await client.told('turn/completed')
      await client.turn(other, 'Second')
      await client.told('turn/completed')
    },
  },
]
