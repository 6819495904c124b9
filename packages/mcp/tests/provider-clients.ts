import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport as InMemoryTransportV1 } from '@modelcontextprotocol/sdk/inMemory.js'
import { ElicitRequestSchema, type ElicitResult } from '@modelcontextprotocol/sdk/types.js'
import { Client } from '@modelcontextprotocol/client'
import { InMemoryTransport, McpServer, type Transport } from '@modelcontextprotocol/server'
import type { Form } from '@handraise/elicitation'
import { onTestFinished } from 'vitest'

/** What a client does with a form; `signal` aborts when the server takes it down. */
export type Screen = (form: Form, signal: AbortSignal) => unknown

export interface ClientOptions {
  readonly capabilities?: object | undefined
  readonly name?: string | undefined
}

const FORMS = { elicitation: { form: {} } }

/** The official client, with a screen; without one it has no handler for forms. */
export function clientV2(
  screen?: Screen,
  { capabilities = FORMS, name = 'client' }: ClientOptions = {},
): Client {
  const client = new Client({ name, version: '1.0.0' }, { capabilities })
  if (screen !== undefined) {
    client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) => {
      return (await screen(params as Form, mcpReq.signal)) as ElicitResult
    })
  }
  return client
}

/** The official client of the first generation. */
export function clientV1(
  screen?: Screen,
  { capabilities = FORMS, name = 'client' }: ClientOptions = {},
): ClientV1 {
  const client = new ClientV1({ name, version: '1.0.0' }, { capabilities })
  if (screen !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, async ({ params }, { signal }) => {
      return (await screen(params as unknown as Form, signal)) as ElicitResult
    })
  }
  return client
}

/** A server with `client` at its other end. */
export async function serverOf(client: Client | ClientV1): Promise<McpServer> {
  const server = new McpServer({ name: 'agent', version: '1.0.0' })
  if (client instanceof Client) {
    const [theirs, ours] = InMemoryTransport.createLinkedPair()
    await Promise.all([server.connect(ours), client.connect(theirs)])
  } else {
    const [theirs, ours] = InMemoryTransportV1.createLinkedPair()
    await Promise.all([server.connect(ours as unknown as Transport), client.connect(theirs)])
  }
  return server
}

/** The same, closed when the test is over. */
export async function serverFor(client: Client | ClientV1): Promise<McpServer> {
  const server = await serverOf(client)
  onTestFinished(() => server.close())
  return server
}
