import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { acceptWebSocket } from '../src/index.ts'
import { TOKEN_SUBPROTOCOL_PREFIX, WIRE_SUBPROTOCOL, webSocketChannel } from '../src/web-socket-channel.ts'
import { BareClient } from './fixtures/bare-client.ts'
import { startSession } from './fixtures/session-commands.ts'
import { openStack } from './fixtures/stack.ts'
import { allowNothingUnhandled } from './fixtures/unhandled.ts'

allowNothingUnhandled()

const TOKEN = 'a-token-of-nobody'

/** A host behind a server that lets in who has the token, in the header or as a subprotocol. */
async function serve(): Promise<string> {
  const stack = await openStack()
  const accepting = new Set<Promise<unknown>>()
  const server = createServer().on('upgrade', (request, socket, head) => {
    const { authorization, 'sec-websocket-protocol': protocols = '' } = request.headers
    const named = protocols.split(/, */u).includes(TOKEN_SUBPROTOCOL_PREFIX + TOKEN)
    if (authorization !== `Bearer ${TOKEN}` && !named) return void socket.destroy()
    const served = acceptWebSocket(request, socket, head).then(channel => stack.ctx.wire.serve(channel))
    accepting.add(served.catch(() => {}))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(async () => {
    await stack.close()
    await Promise.all(accepting)
    server.closeAllConnections()
    server.close()
  })
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const headers = { authorization: `Bearer ${TOKEN}` }

test.each([
  ['with the header alone', [], { headers }, ''],
  ['with the header and the subprotocol', [WIRE_SUBPROTOCOL], { headers }, WIRE_SUBPROTOCOL],
  [
    'with the token as a subprotocol',
    [TOKEN_SUBPROTOCOL_PREFIX + TOKEN, WIRE_SUBPROTOCOL],
    {},
    WIRE_SUBPROTOCOL,
  ],
])('a client %s comes in, and is answered', async (_, protocols, options, selected) => {
  const socket = new WebSocket(await serve(), protocols, options)
  onTestFinished(() => socket.terminate())
  await once(socket, 'open')
  expect(socket.protocol).toBe(selected)
  const client = new BareClient(webSocketChannel(socket))
  await client.start()
  const sessionId = await startSession(client)
  expect(await client.call('session/read', { sessionId })).toMatchObject({ session: { status: 'idle' } })
  expect(client.faults).toEqual([])
})

test.each([
  ['a foreign subprotocol', ['graphql-ws']],
  ['one that only starts like it', [`${WIRE_SUBPROTOCOL}.v2`]],
  ['nothing but the token', [TOKEN_SUBPROTOCOL_PREFIX + TOKEN]],
])('a client that offers %s is refused, whatever its header', async (_, protocols) => {
  const socket = new WebSocket(await serve(), protocols, { headers })
  onTestFinished(() => socket.terminate())
  socket.on('error', () => {})
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage]
  expect(response.statusCode).toBe(400)
  const told = (await response.setEncoding('utf8').toArray()).join('')
  expect(told).toContain(WIRE_SUBPROTOCOL)
  expect(told).not.toContain(TOKEN)
})
