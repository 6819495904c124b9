import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pauses } from '@handraise/mcp'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioClientTransportV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as StreamableHTTPClientTransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport as TransportV1 } from '@modelcontextprotocol/sdk/shared/transport.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { bothEras, listen } from './conformance/both-eras.ts'
import { dropServer } from './pause-drop-server.ts'
import { accept, CANCEL, DECLINE, textOf, type Reply } from './pause-scene.ts'
import { bundle } from './provider-fixture-bundle.ts'

const SQLITE = createRequire(import.meta.resolve('@handraise/inbox-sqlite')).resolve('better-sqlite3')

let program: Awaited<ReturnType<typeof bundle>>
beforeAll(async () => void (program = await bundle('pause-fixture-server')), 60_000)
afterAll(() => program.remove())

type Mode = 'auto' | 'legacy' | { readonly pin: string }

/** Where a server is, for a client of either generation to connect to. */
interface Place {
  readonly transport: () => StdioClientTransport | StreamableHTTPClientTransport
  readonly transportV1: () => TransportV1
  readonly effects: () => string[]
}

function stdioPlace(): Place {
  const directory = mkdtempSync(join(tmpdir(), 'handraise-pause-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const file = join(directory, 'inbox.db')
  const server = { command: process.execPath, args: [program.file, file, SQLITE] }
  return {
    transport: () => new StdioClientTransport(server),
    transportV1: () => new StdioClientTransportV1(server),
    effects: () =>
      existsSync(`${file}.effects`) ? readFileSync(`${file}.effects`, 'utf8').trim().split('\n') : [],
  }
}

async function httpPlace(): Promise<Place> {
  const effects: string[] = []
  const { url, close } = await listen(bothEras(dropServer(new Pauses(), line => effects.push(line))))
  onTestFinished(close)
  return {
    transport: () => new StreamableHTTPClientTransport(url),
    transportV1: () => new StreamableHTTPClientTransportV1(url),
    effects: () => effects,
  }
}

type Call = (args: Record<string, unknown>) => Promise<unknown>

async function connectV2(place: Place, mode: Mode, replies: Reply[]): Promise<Call> {
  const client = new Client(
    { name: 'client', version: '1' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode } },
  )
  client.setRequestHandler('elicitation/create', () => replies.shift() ?? CANCEL)
  onTestFinished(() => client.close())
  await client.connect(place.transport())
  return args => client.callTool({ name: 'drop_table', arguments: args })
}

async function connectV1(place: Place, replies: Reply[]): Promise<Call> {
  const client = new ClientV1({ name: 'client', version: '1' }, { capabilities: { elicitation: {} } })
  client.setRequestHandler(ElicitRequestSchema, () => replies.shift() ?? CANCEL)
  onTestFinished(() => client.close())
  await client.connect(place.transportV1())
  return args => client.callTool({ name: 'drop_table', arguments: args })
}

describe.each([
  ['standard streams', stdioPlace],
  ['HTTP', httpPlace],
])('over %s', (_, placeOf) => {
  test.each([
    ['2.4, which finds out', (place: Place, replies: Reply[]) => connectV2(place, 'auto', replies)],
    [
      '2.4, of 2026 alone',
      (place: Place, replies: Reply[]) => connectV2(place, { pin: '2026-07-28' }, replies),
    ],
    ['2.4, as it is by default', (place: Place, replies: Reply[]) => connectV2(place, 'legacy', replies)],
    ['1.32', connectV1],
  ])('the official client %s asks its person, and goes on with the answer', async (_name, connectTo) => {
    const place = await placeOf()
    const call = await connectTo(place, [accept(true), DECLINE, accept('perhaps'), accept(true)])
    expect(textOf(await call({ table: 'a' }))).toBe('dropped a')
    const declined = await call({ table: 'b' })
    expect(declined).toMatchObject({ isError: true })
    expect(textOf(declined)).toContain('"Drop b?" was declined in the client')
    expect(textOf(await call({ table: 'c' }))).toBe('dropped c')
    expect(place.effects()).toEqual(['dropped a', 'dropped c'])
  })

  test('two clients are asked at the same time, each for itself', async () => {
    const place = await placeOf()
    const [one, other] = await Promise.all([
      connectV2(place, { pin: '2026-07-28' }, [accept(true)]),
      connectV1(place, [DECLINE]),
    ])
    const [dropped, declined] = await Promise.all([one({ table: 'one' }), other({ table: 'other' })])
    expect(textOf(dropped)).toBe('dropped one')
    expect(declined).toMatchObject({ isError: true })
    expect(place.effects()).toEqual(['dropped one'])
  })
})
