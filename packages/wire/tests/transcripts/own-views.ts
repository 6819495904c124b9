import { onTestFinished } from 'vitest'
import { agent, echoes } from './own-scene.ts'
import type { Client, OwnScenario } from './recorder.ts'
import { another, scenarioClock, stage } from './scenario.ts'

const set = async () => ({ hosted: await stage({ agent: echoes }) })

interface Page {
  readonly nextCursor: string | null
  readonly events: ReadonlyArray<{ readonly params: { readonly viewCursor: string } }>
}

/** A session with the eight events of two turns. */
async function twoTurns(client: Client): Promise<string> {
  await client.start()
  const sessionId = await client.session()
  for (const text of ['First', 'Second']) {
    await client.turn(sessionId, text)
    await client.told('turn/completed')
  }
  return sessionId
}

async function pages(client: Client, direction: string): Promise<void> {
  const sessionId = await twoTurns(client)
  for (let cursor: string | null | undefined; cursor !== null;) {
    const from = cursor === undefined ? {} : { cursor }
    const page = await client.call('view/page', { sessionId, limit: 3, direction, ...from })
    cursor = (page as unknown as Page).nextCursor
  }
}

/** Twelve events, of which the client reads the fifth slowly. */
async function setGap() {
  const clock = scenarioClock()
  const stallMs = 1_000
  let goOn = (): void => {}
  const over = new Promise<void>(resolve => (goOn = resolve))
  onTestFinished(() => goOn())
  const talks = agent(async turn => {
    for (let n = 3; n <= 12; n += 1) await turn.say(`event ${n}`)
    await over
  })
  const hosted = await stage({ agent: talks, clock, limits: { stallMs, lagEvents: 4 } })
  const peer = await another(hosted)
  const sessionId = 'workshop'
  await peer.call('session/start', { sessionId, commandId: peer.commandId() })
  const commandId = '019b7760-aaaa-7000-8000-000000000001'
  await peer.call('turn/start', { sessionId, commandId, input: [{ type: 'text', text: 'Talk' }] })
  await peer.until(frame => JSON.stringify(frame).includes('event 12'))
  const onWay = (frame: string): void => {
    if (frame.includes('event 5') && frame.includes('emittedAtMs')) clock.advance(stallMs)
  }
  return { hosted, line: { onWay } }
}

/** How views are read. */
export const VIEW_SCENARIOS: readonly OwnScenario[] = [
  {
    name: 'view-paged-forward',
    set,
    script: client => pages(client, 'forward'),
  },
  {
    name: 'view-paged-backward',
    set,
    script: client => pages(client, 'backward'),
  },
  {
    // A client that has left hears nothing, and what it missed when it comes back.
    name: 'view-subscribed',
    async set() {
      const hosted = await stage({ agent: echoes })
      const other = await another(hosted)
      const run = async (): Promise<void> => {
        const sessionId = 'workshop'
        await other.call('session/resume', { sessionId, commandId: other.commandId() })
        const commandId = '019b7760-aaaa-7000-8000-000000000001'
        await other.call('turn/start', { sessionId, commandId, input: [{ type: 'text', text: 'Go on' }] })
        await other.told('turn/completed')
      }
      return { hosted, cues: [{ after: ({ id, result }) => id === 3 && result !== undefined, run }] }
    },
    async script(client) {
      await client.start()
      const sessionId = await client.session({ sessionId: 'workshop' })
      await client.call('view/unsubscribe', { sessionId })
      await client.call('view/unsubscribe', { sessionId })
      const page = (await client.call('view/page', { sessionId, limit: 2 })) as unknown as Page
      await client.call('view/subscribe', { sessionId, after: page.nextCursor })
      await client.told('turn/completed')
      await client.call('view/subscribe', { sessionId })
      await client.turn(sessionId)
      await client.told('turn/completed')
    },
  },
  {
    name: 'view-gap',
    set: setGap,
    async script(client) {
      await client.start()
      const sessionId = 'workshop'
      const { events } = (await client.call('view/page', { sessionId, limit: 4 })) as unknown as Page
      const after = events[3]?.params.viewCursor
      await client.call('view/subscribe', { sessionId, after })
      const gap = (await client.told('view/gap')) as unknown as { after: string }
      await client.until(frame => JSON.stringify(frame).includes('event 12'))
      await client.call('view/page', { sessionId, cursor: gap.after, limit: 4 })
    },
  },
]
