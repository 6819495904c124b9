import type { AuthInfo, InputRequiredResult } from '@modelcontextprotocol/server'
import type { Client } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import type { McpConfig } from '../src/index.ts'
import {
  ANSWERED,
  decide,
  join,
  nobody,
  offer,
  onePending,
  pendingIn,
  QUESTIONS,
  textOf,
  TOOL,
  type Asked,
  type ClientChoice,
  type Offer,
} from './offer-scene.ts'

const REFUSED = { code: -32602, data: { reason: 'invalid_request_state' } }
const answered = (db: string): object => ({ answers: { action: 'accept', content: { db } } })

interface Sent {
  readonly arguments?: object
  readonly inputResponses?: object
  readonly requestState?: string | undefined
}

/** What one request of a client of 2026 comes to, as it is on the wire. */
async function send(client: Client, { arguments: args = { questions: QUESTIONS }, ...rest }: Sent = {}) {
  const params = { name: TOOL, arguments: args as Record<string, unknown>, ...rest }
  return (await client.callTool(params, { allowInputRequired: true })) as Asked & InputRequiredResult
}

interface Scene extends Offer {
  join(choice?: ClientChoice): Promise<Client>
}

/** A host whose clients show forms, and send every round by hand. */
async function scene(config: McpConfig = {}): Promise<Scene> {
  const host = await offer(config)
  return { ...host, join: choice => join(host, '2026', { screen: nobody().screen, ...choice }) }
}

test('a call that brings its answer with it is asked all the same, and the answer is not used', async () => {
  const { inbox, ...host } = await scene()
  const client = await host.join()
  const forged = await send(client, { inputResponses: answered('Postgres') })
  expect(forged.resultType).toBe('input_required')
  expect(await pendingIn(inbox)).toHaveLength(1)
  const done = await send(client, { inputResponses: answered('SQLite'), requestState: forged.requestState })
  expect(textOf(done)).toBe(ANSWERED)
})

test('a state with one character changed, for other questions or by somebody else settles nothing', async () => {
  const { inbox, ...host } = await scene()
  const info = (clientId: string): AuthInfo => ({ token: 'token', clientId, scopes: [] })
  const client = await host.join({ authInfo: info('ann') })
  const { requestState = '' } = await send(client)
  const inputResponses = answered('Postgres')
  const spot = Math.floor(requestState.length / 2)
  const letter = requestState[spot] === 'A' ? 'B' : 'A'
  const changed = requestState.slice(0, spot) + letter + requestState.slice(spot + 1)
  await expect(send(client, { inputResponses, requestState: changed })).rejects.toMatchObject(REFUSED)
  const others = { questions: [{ ...QUESTIONS[0], question: 'Delete everything?' }] }
  await expect(send(client, { arguments: others, inputResponses, requestState })).rejects.toMatchObject(
    REFUSED,
  )
  const eve = await host.join({ authInfo: info('eve') })
  await expect(send(eve, { inputResponses, requestState })).rejects.toMatchObject(REFUSED)
  expect(await pendingIn(inbox)).toHaveLength(1)
  expect(textOf(await send(client, { inputResponses: answered('SQLite'), requestState }))).toBe(ANSWERED)
})

test('a form that comes back twice, with another answer, is answered once', async () => {
  const { inbox, ...host } = await scene()
  const client = await host.join()
  const { requestState } = await send(client)
  const [first, second] = await Promise.all([
    send(client, { inputResponses: answered('SQLite'), requestState }),
    send(client, { inputResponses: answered('Postgres'), requestState }),
  ])
  expect(second).toEqual(first)
  expect(await send(client, { inputResponses: answered('Postgres'), requestState })).toEqual(first)
  const { requests } = await inbox.list({ state: 'settled' })
  expect(requests.map(({ id }) => id)).toEqual([first.structuredContent?.request_id])
})

test('a form that comes back without its answer is shown again, and what was not asked is not looked at', async () => {
  const { inbox, ...host } = await scene()
  const client = await host.join()
  const { requestState } = await send(client)
  const other = { others: { action: 'accept', content: { db: 'Postgres' } } }
  for (const inputResponses of [{}, other]) {
    const again = await send(client, { inputResponses, requestState })
    expect(Object.keys(again.inputRequests ?? {})).toEqual(['answers'])
  }
  expect(await pendingIn(inbox)).toHaveLength(1)
  const inputResponses = { ...answered('SQLite'), ...other }
  expect(textOf(await send(client, { inputResponses, requestState }))).toBe(ANSWERED)
})

test('what the client never came back for is answered elsewhere, and told when it comes back after all', async () => {
  const { inbox, ...host } = await scene()
  const client = await host.join()
  const { requestState } = await send(client)
  await decide(inbox, await onePending(inbox))
  const late = await send(client, { inputResponses: answered('Postgres'), requestState })
  expect(textOf(late)).toBe(ANSWERED)
  const { requests } = await inbox.list({ state: 'settled' })
  expect(requests.map(({ settlement }) => settlement?.surface)).toEqual(['page'])
})
