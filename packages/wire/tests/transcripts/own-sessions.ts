import { MemoryMedium, MemoryStore } from '@handraise/inbox'
import { answer, asks, calls, DATABASE, decide, echoes, type Asked } from './own-scene.ts'
import type { Client, OwnScenario } from './recorder.ts'
import { another, stage, told, type Hosted } from './scenario.ts'
import type { SessionAgent } from '../../src/index.ts'

const set = async () => ({ hosted: await stage({ agent: echoes }) })

/** A session of another client in which a question waits, and a turn behind it. */
async function setWaiting() {
  const hosted = await stage({ agent: asks(DATABASE) })
  await seed(hosted, 'userInput/request')
  return { hosted }
}

async function seed(hosted: Hosted, until: string): Promise<void> {
  const peer = await another(hosted)
  const sessionId = 'workshop'
  const turn = (n: number, text: string) => ({
    sessionId,
    commandId: `019b7760-aaaa-7000-8000-00000000000${n}`,
    input: [{ type: 'text', text }],
  })
  await peer.call('session/start', { sessionId, commandId: peer.commandId(), workspaceRoot: '/srv/proj' })
  await peer.call('turn/start', turn(1, 'Set up the service'))
  await peer.told(until)
  await peer.call('turn/start', turn(2, 'Write it up'))
  peer.close()
}

/** A host that goes down while somebody is asked, and the one that comes after it. */
async function setTakeover(agent: SessionAgent, until: string) {
  const medium = new MemoryMedium()
  const before = await stage({ agent, store: new MemoryStore(medium) })
  const peer = await another(before)
  const sessionId = 'workshop'
  await peer.call('session/start', { sessionId, commandId: peer.commandId(), workspaceRoot: '/srv/proj' })
  const commandId = '019b7760-aaaa-7000-8000-000000000001'
  await peer.call('turn/start', {
    sessionId,
    commandId,
    input: [{ type: 'text', text: 'Set up the service' }],
  })
  await peer.told(until)
  await before.close()
  return { hosted: await stage({ agent, store: new MemoryStore(medium) }) }
}

async function resume(client: Client, more: object = {}): Promise<void> {
  await client.start()
  await client.call('session/resume', { sessionId: 'workshop', commandId: client.commandId(), ...more })
}

/** Answers what was asked of a client that came later, and waits for the end of both turns. */
async function finish(client: Client): Promise<void> {
  const asked = (await client.asked('userInput/request')) as unknown as Asked
  await answer(client, asked, { questionId: 'db', selectedLabel: 'SQLite' })
  await client.told('turn/completed')
  await client.told('turn/completed')
}

/** How sessions are started, resumed, read and taken over. */
export const SESSION_SCENARIOS: readonly OwnScenario[] = [
  {
    name: 'session-started-and-read',
    set,
    async script(client) {
      await client.start()
      const sessionId = await client.session({
        sessionId: 'workshop',
        workspaceRoots: ['/srv/proj', '/srv/docs'],
        modelId: 'small-1',
        providerId: 'elsewhere',
        approvalMode: 'onRequest',
      })
      await client.call('session/read', { sessionId })
      await client.turn(sessionId, 'Go on', { displayText: 'Go on, please' })
      await client.told('turn/completed')
      await client.call('session/read', { sessionId })
      await client.call('session/read', { sessionId, excludeItems: true })
    },
  },
  {
    name: 'session-resumed-inline',
    set: setWaiting,
    async script(client) {
      await resume(client)
      await finish(client)
    },
  },
  {
    name: 'session-resumed-snapshot',
    set: setWaiting,
    async script(client) {
      await resume(client, { history: 'snapshot' })
      await finish(client)
    },
  },
  {
    name: 'session-resumed-excluded',
    set: setWaiting,
    async script(client) {
      await resume(client, { excludeItems: true })
      await finish(client)
    },
  },
  {
    // From behind the start of the turn: what was asked since is told first, and then asked.
    name: 'session-resumed-cursor',
    set: setWaiting,
    async script(client) {
      await client.start()
      const sessionId = 'workshop'
      const { events } = (await client.call('view/page', { sessionId, limit: 1 })) as {
        readonly events: ReadonlyArray<{ readonly params: { readonly viewCursor: string } }>
      }
      const cursor = events[0]?.params.viewCursor
      await client.call('session/resume', { sessionId, commandId: client.commandId(), cursor })
      await finish(client)
    },
  },
  {
    name: 'session-taken-over',
    set: () => setTakeover(asks(DATABASE), 'userInput/request'),
    async script(client) {
      await resume(client, { history: 'snapshot' })
      const asked = (await client.asked('userInput/request')) as unknown as Asked
      await answer(client, asked, { questionId: 'db', selectedLabel: 'Postgres' })
      await client.told('turn/completed')
    },
  },
  {
    name: 'session-taken-over-with-approval',
    set: () => setTakeover(calls(['call-1', 'write_file', { path: 'notes.md' }]), 'approval/request'),
    async script(client) {
      await resume(client)
      await decide(client, (await client.asked('approval/request')) as unknown as Asked, 'allow_once')
      await client.told('turn/completed')
      await client.call('session/read', { sessionId: 'workshop', excludeItems: true })
    },
  },
  {
    // Nothing has happened there yet: the snapshot comes along instead.
    name: 'session-resumed-cursor-ahead',
    set: setWaiting,
    async script(client) {
      await resume(client, { cursor: 'v:workshop:70' })
      await finish(client)
    },
  },
  {
    // Who only looks is told what waits, and asked nothing.
    name: 'session-held-by-nobody',
    set: () => setTakeover(asks(DATABASE), 'userInput/request'),
    async script(client) {
      await client.start()
      const sessionId = 'workshop'
      await client.call('session/read', { sessionId })
      await client.call('approval/listPending', { sessionId })
      await client.call('view/page', { sessionId, limit: 10 })
    },
  },
  {
    // A client that hears of all sessions, and looks into none.
    name: 'session-list-stream',
    async set() {
      const hosted = await stage({ agent: asks(DATABASE) })
      const other = await another(hosted)
      const sessionId = 'workshop'
      const start = () => other.call('session/start', { sessionId, commandId: other.commandId() })
      const input = [{ type: 'text', text: 'Go on' }]
      const turn = () => other.call('turn/start', { sessionId, commandId: other.commandId(), input })
      const cancel = async () => {
        const { userInputId } = await other.told('userInput/request')
        await other.call('userInput/cancel', { sessionId, userInputId, commandId: other.commandId() })
      }
      const waits = (frame: object) => JSON.stringify(frame).includes('inputPending')
      const cues = [
        { after: ({ method }: { method?: unknown }) => method === 'initialized', run: start },
        { after: told('session/started'), run: turn },
        { after: waits, run: cancel },
      ]
      return { hosted, cues: cues.map(({ after, run }) => ({ after, run: async () => void (await run()) })) }
    },
    async script(client) {
      await client.start({ requestedCapabilities: ['sessionListStream', 'userShell'] })
      await client.told('session/started')
      await client.until(({ params }) => (params as { status?: string } | undefined)?.status === 'idle')
    },
  },
  {
    // What is protected cannot be left out.
    name: 'session-notifications-left-out',
    set: async () => ({ hosted: await stage({ agent: asks(DATABASE) }) }),
    async script(client) {
      const leftOut = ['item/started', 'item/completed', 'userInput/requested', 'userInput/settled']
      await client.start({ optOutNotificationMethods: leftOut })
      await client.turn(await client.session())
      const asked = (await client.asked('userInput/request')) as unknown as Asked
      await answer(client, asked, { questionId: 'db', selectedLabel: 'Postgres' })
      await client.told('turn/completed')
    },
  },
  {
    name: 'session-closed-by-shutdown',
    async set() {
      const hosted = await stage({ agent: asks(DATABASE) })
      const cues = [{ after: told('userInput/request'), run: () => hosted.close() }]
      return { hosted, cues, ends: true }
    },
    async script(client) {
      await client.start()
      await client.turn(await client.session())
      await client.told('userInput/request')
      await client.told('session/closed')
    },
  },
]
