import { asking, DATABASE, TEXT } from './agents.ts'
import { host, type Peer } from './wired.ts'

interface Started {
  readonly session: { readonly sessionId: string; readonly status: string }
  readonly viewCursor: string
}

export async function start(peer: Peer, params: object = {}): Promise<Started> {
  return (await peer.call('session/start', { commandId: peer.commandId(), ...params })) as unknown as Started
}

export async function waiting() {
  const hosted = await host({ agent: asking(DATABASE) })
  const one = await hosted.peer().start()
  const { session } = await start(one, { workspaceRoot: '/srv/proj' })
  const { sessionId } = session
  await one.call('turn/start', { sessionId, commandId: one.commandId(), input: TEXT })
  const asked = await one.told('userInput/request')
  return { ...hosted, one, sessionId, asked, other: await hosted.peer().start() }
}

export async function answered() {
  const scene = await waiting()
  const { one, sessionId, asked } = scene
  const answers = [{ questionId: 'db', selectedLabel: 'SQLite' }]
  await one.call('userInput/answer', {
    sessionId,
    commandId: one.commandId(),
    userInputId: asked['userInputId'],
    answers,
  })
  await one.told('turn/completed')
  return scene
}
