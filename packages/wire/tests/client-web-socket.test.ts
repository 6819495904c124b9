import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { connectWebSocket } from '../src/client/connect-web-socket.ts'
import { acceptWebSocket } from '../src/web-socket-server.ts'
import { ScriptedHost } from './client-peer.ts'
import { userInput } from './client-prompts.ts'

const clientInfo = { name: 'test_client', version: '1.0.0' }

/** A real server that takes one token, and the hosts of those that came in. */
async function serve(token: string) {
  const server = createServer()
  const hosts: ScriptedHost[] = []
  let wake = (): void => {}
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const offered = request.headers['sec-websocket-protocol']?.split(',').map(name => name.trim())
    if (offered?.includes(`handraise.token.${token}`) !== true)
      return socket.end('HTTP/1.1 401 Unauthorized\r\n\r\n')
    void acceptWebSocket(request, socket, head).then(channel => {
      hosts.push(new ScriptedHost(channel))
      return wake()
    })
    return undefined
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const next = async (): Promise<ScriptedHost> => {
    while (hosts.length === 0) await new Promise<void>(resolve => (wake = resolve))
    return hosts.shift()!
  }
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/wire`, next, server }
}

describe('a client over a WebSocket', () => {
  test('brings its token, shakes hands, and talks both ways', async () => {
    const { url, next } = await serve('s3cret-_~')
    const connecting = connectWebSocket(new URL(url), {
      clientInfo,
      token: 's3cret-_~',
      WebSocket,
      onRequest: () => ({ shown: true }),
    })
    const host = await next()
    await host.shakeHands()
    const client = await connecting
    onTestFinished(() => client.close())
    host.send({ id: 1, method: 'userInput/request', params: userInput('u-1') })
    expect(await host.next()).toEqual({ jsonrpc: '2.0', id: 1, result: { shown: true } })
    const asking = client.request('other/thing', { text: '€'.repeat(1_000_000) })
    host.answer(await host.next(), { text: 'x'.repeat(3_000_000) })
    expect(await asking).toMatchObject({ text: expect.any(String) })
    client.close()
    await host.ended()
    await client.closed
  })

  test('rejects where its token is refused', async () => {
    const { url } = await serve('s3cret')
    await expect(connectWebSocket(url, { clientInfo, token: 'other', WebSocket })).rejects.toThrow(
      'no connection to the host: the socket is closed: 1006',
    )
  })

  test('rejects where there is no host', async () => {
    const { url, server } = await serve('s3cret')
    server.close()
    await once(server, 'close')
    await expect(connectWebSocket(url, { clientInfo, token: 's3cret', WebSocket })).rejects.toMatchObject({
      name: 'WireConnectionError',
    })
  })

  test.each(['', 'a b', 'a,b', 'é', 'a/b', 'a=b'])(
    'refuses a token that is no name of a subprotocol, before it connects: %j',
    async token => {
      let connects = 0
      class CountedSocket extends WebSocket {
        constructor(url: string, protocols: string[]) {
          super(url, protocols)
          connects += 1
        }
      }
      const options = { clientInfo, token, WebSocket: CountedSocket }
      await expect(connectWebSocket('ws://127.0.0.1:1', options)).rejects.toBeInstanceOf(TypeError)
      expect(connects).toBe(0)
    },
  )
})
