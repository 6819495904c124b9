import type { Client } from '@modelcontextprotocol/client'
import type { InputRequiredResult } from '@modelcontextprotocol/server'
import { join, nobody, QUESTIONS, TOOL, type Asked, type Offer } from './offer-scene.ts'

export type Round = Asked & InputRequiredResult

interface Sent {
  readonly questions?: readonly object[]
  readonly reply?: object
  /** What the client carries. */
  readonly from?: Round
  readonly signal?: AbortSignal
}

/** What one request of a client of 2026 comes to, as it is on the wire. */
export async function send(
  client: Client,
  { questions = QUESTIONS, reply, from, signal }: Sent = {},
): Promise<Round> {
  const [name = ''] = Object.keys(from?.inputRequests ?? {})
  const params = {
    name: TOOL,
    arguments: { questions },
    ...(reply === undefined ? {} : { inputResponses: { [name]: reply } }),
    ...(from === undefined ? {} : { requestState: from.requestState }),
  }
  const options = { allowInputRequired: true, ...(signal === undefined ? {} : { signal }) } as const
  return (await client.callTool(params, options)) as Round
}

export const carrying = (host: Offer): Promise<Client> => join(host, '2026', { screen: nobody().screen })
export const DECLINE = { action: 'decline' }
export const CHOICE = { action: 'accept', content: { db: 'SQLite' } }
