import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { TOKEN_SUBPROTOCOL_PREFIX, WIRE_SUBPROTOCOL, webSocketChannel } from '@handraise/wire/client'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket, type ClientOptions } from 'ws'
import { run } from './run-command.ts'
import { serve, type Served } from './serve-command.ts'
import { commandId, WirePeer } from './wire-peer.ts'

const agent = fileURLToPath(new URL('wire-agent-fixture.mjs', import.meta.url))
const LIMIT_BYTES = 10 * 1024 * 1024
const SESSION = { sessionId: 's1' }

let directory: string
let db: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'handraise-wire-'))
  db = join(directory, 'inbox.db')
})

afterEach(async () => {
  await rm(directory, { recursive: true })
})

function open(url: string, protocols: string[], options: ClientOptions = {}): WebSocket {
  const socket = new WebSocket(url, protocols, options)
  onTestFinished(() => socket.terminate())
  return socket
}

/** A client with the token as a subprotocol, which may send more than a frame may hold. */
function connect({ wire, token }: Served): Promise<WirePeer> {
  const socket = open(wire, [WIRE_SUBPROTOCOL, TOKEN_SUBPROTOCOL_PREFIX + token])
  return new WirePeer(webSocketChannel(socket, { limitBytes: 2 * LIMIT_BYTES })).start()
}

async function statusOf(socket: WebSocket): Promise<number | undefined> {
  const refused = once(socket, 'unexpected-response') as Promise<[unknown, IncomingMessage]>
  const opened = once(socket, 'open').then(() => 101)
  return Promise.race([opened, refused.then(([, { statusCode }]) => statusCode)])
}

async function ask(peer: WirePeer): Promise<string> {
  await peer.call('session/start', { ...SESSION, commandId: commandId() })
  await peer.call('turn/start', {
    ...SESSION,
    commandId: commandId(),
    input: [{ type: 'text', text: 'ask' }],
  })
  return String((await peer.told('userInput/request'))['userInputId'])
}

describe('serve lets in at /wire', () => {
  test('who has the token, in the header or as a subprotocol, and speaks the subprotocol', async () => {
    const { wire, token } = await serve('--memory')
    expect(wire).toMatch(/^ws:\/\/127\.0\.0\.1:\d+\/wire$/u)
    const headers = { authorization: `Bearer ${token}` }
    const named = TOKEN_SUBPROTOCOL_PREFIX + token
    for (const socket of [
      open(wire, [WIRE_SUBPROTOCOL], { headers }),
      open(wire, [WIRE_SUBPROTOCOL, named]),
      open(wire, [named, WIRE_SUBPROTOCOL], { origin: new URL(wire).origin.replace('ws:', 'http:') }),
    ]) {
      expect(await statusOf(socket)).toBe(101)
      // The token is never sent back.
      expect(socket.protocol).toBe(WIRE_SUBPROTOCOL)
    }
    // With the header no subprotocol need be named, but none that is not ours.
    expect(await statusOf(open(wire, [], { headers }))).toBe(101)
    expect(await statusOf(open(wire, ['other'], { headers }))).toBe(400)
  })

  test('nobody else', async () => {
    const { wire, token, url } = await serve('--memory')
    const protocols = [WIRE_SUBPROTOCOL, TOKEN_SUBPROTOCOL_PREFIX + token]
    expect(await statusOf(open(wire, [WIRE_SUBPROTOCOL]))).toBe(401)
    expect(await statusOf(open(wire, [WIRE_SUBPROTOCOL, `${TOKEN_SUBPROTOCOL_PREFIX}wrong`]))).toBe(401)
    expect(await statusOf(open(`${wire}?token=${token}`, [WIRE_SUBPROTOCOL]))).toBe(401)
    expect(await statusOf(open(wire, protocols, { origin: 'https://elsewhere.example' }))).toBe(403)
    expect(await statusOf(open(wire, protocols, { headers: { host: 'elsewhere.example' } }))).toBe(403)
    expect(await statusOf(open(wire.replace('/wire', '/other'), protocols))).toBe(404)
    expect((await fetch(new URL('wire', url))).status).toBe(404)
  })
})

describe('a client of serve', () => {
  test('answers what an agent there asks, and so does whoever looks at the page', async () => {
    const server = await serve('--memory', '--agent', agent)
    const peer = await connect(server)
    const id = await ask(peer)
    const env = { HANDRAISE_INBOX: server.url, HANDRAISE_TOKEN: server.token }
    expect((await run(['answer', id, '--text', '2'], '', env)).exitCode).toBe(0)
    expect(await peer.told('userInput/settled')).toMatchObject({
      userInputId: id,
      answers: [{ questionId: 'db', selectedLabel: 'SQLite' }],
    })
    expect(await peer.told('turn/completed')).toMatchObject({ terminal: 'completed' })
    expect(peer.faults).toEqual([])
    // Where it listens is all that this command says.
    expect(server.stderr()).toContain('stdout while loading')
  })

  test('is answered when a frame is too long, and goes on', async () => {
    const peer = await connect(await serve('--memory'))
    peer.sendRaw(
      `{"jsonrpc":"2.0","id":"long","method":"session/read","params":{"s":"${'s'.repeat(LIMIT_BYTES)}"}}`,
    )
    expect(await peer.until(({ id }) => id === 'long')).toMatchObject({
      error: { code: -32_002, data: { kind: 'inputTooLarge', limitBytes: LIMIT_BYTES } },
    })
    expect(await peer.request('session/read', SESSION)).toMatchObject({
      error: { data: { kind: 'sessionNotFound' } },
    })
  })

  test('is let go at once when the server is stopped, and told that its sessions close', async () => {
    const server = await serve('--db', db, '--agent', agent)
    const peer = await connect(server)
    await ask(peer)
    const stopped = performance.now()
    server.child.kill('SIGINT')
    expect(await server.ended).toBe(0)
    // The server would wait for a second for a socket that nobody closes.
    expect(performance.now() - stopped).toBeLessThan(900)
    expect(await peer.told('session/closed')).toMatchObject({ ...SESSION, reason: 'hostShutdown' })
  })
})

test('a server that is started again goes on with what a killed one left, with no client there', async () => {
  const first = await serve('--db', db, '--agent', agent)
  const id = await ask(await connect(first))
  first.child.kill('SIGKILL')
  await first.ended
  const second = await serve('--db', db, '--agent', agent)
  const env = { HANDRAISE_INBOX: second.url, HANDRAISE_TOKEN: second.token }
  expect((await run(['answer', id, '--text', '2'], '', env)).exitCode).toBe(0)
  await vi.waitFor(() => expect(second.stderr()).toContain('stdout resumed: {"answers"'), 10_000)
  const peer = await connect(second)
  await peer.call('session/resume', { ...SESSION, commandId: commandId(), cursor: 'v:s1:0' })
  expect(await peer.told('turn/completed')).toMatchObject({ terminal: 'completed' })
  expect(peer.allTold('userInput/settled')).toMatchObject([{ userInputId: id }])
})

test('serve ends with 3 when no agent comes from the module', async () => {
  const { exitCode, stdout, stderr } = await run([
    'serve',
    '--memory',
    '--agent',
    join(directory, 'none.mjs'),
  ])
  expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: '' })
  expect(JSON.parse(stderr)).toMatchObject({ code: 'BAD_CONFIG' })
})
