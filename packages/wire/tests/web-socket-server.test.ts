import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import type { FrameChannel, IncomingFrame } from '../src/channel.ts'
import { TOKEN_SUBPROTOCOL_PREFIX, WIRE_SUBPROTOCOL, webSocketChannel } from '../src/web-socket-channel.ts'
import { acceptWebSocket, type AcceptWebSocketOptions } from '../src/web-socket-server.ts'
import { HandClock } from './client-clock.ts'

const LIMIT = 1000

/** A server that accepts every upgrade, and what became of each. */
async function serve(options: AcceptWebSocketOptions = {}) {
  const accepted: Promise<FrameChannel>[] = []
  let wake = (): void => {}
  const server = createServer()
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const accepting = acceptWebSocket(request, socket, head, { limitBytes: LIMIT, ...options })
    accepting.catch(() => {})
    accepted.push(accepting)
    onTestFinished(async () => (await accepting.catch(() => undefined))?.close())
    wake()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const next = async (): Promise<FrameChannel> => {
    while (accepted.length === 0) await new Promise<void>(resolve => (wake = resolve))
    return accepted.shift()!
  }
  return { port, url: `ws://127.0.0.1:${port}/wire`, next }
}

function open(url: string, protocols: string[] = [WIRE_SUBPROTOCOL]): WebSocket {
  const socket = new WebSocket(url, protocols)
  onTestFinished(() => socket.terminate())
  return socket
}

/** A client that does what it is told only: it answers no ping. */
function raw(port: number, headers: Record<string, string>): Socket {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  const all = { Host: 'x', Connection: 'Upgrade', Upgrade: 'websocket', ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`GET /wire HTTP/1.1\r\n${lines.join('')}\r\n`)
  return socket
}

const HANDSHAKE = {
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  'Sec-WebSocket-Protocol': WIRE_SUBPROTOCOL,
}

async function textOf(socket: Socket): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

async function take(channel: FrameChannel, count: number): Promise<IncomingFrame[]> {
  const frames: IncomingFrame[] = []
  for await (const frame of channel.incoming) if (frames.push(frame) === count) break
  return frames
}

describe('an upgrade that is accepted', () => {
  test('selects the subprotocol of the wire and never the one with the token', async () => {
    const { url, next } = await serve()
    for (const protocols of [
      [WIRE_SUBPROTOCOL, `${TOKEN_SUBPROTOCOL_PREFIX}s3cret`],
      [`${TOKEN_SUBPROTOCOL_PREFIX}s3cret`, WIRE_SUBPROTOCOL],
    ]) {
      const socket = open(url, protocols)
      await once(socket, 'open')
      await next()
      expect(socket.protocol).toBe('handraise.wire')
      expect(socket.extensions).toBe('')
    }
  })

  test('carries frames both ways, and ends on both sides', async () => {
    const { url, next } = await serve()
    const near = webSocketChannel(open(url), { limitBytes: LIMIT })
    const sent = near.send('{"n":1,"text":"é€😀"}')
    const far = await next()
    await sent
    expect(await take(far, 1)).toEqual([{ text: '{"n":1,"text":"é€😀"}' }])
    await far.send('{"n":2}')
    const rest = take(near, Infinity)
    far.close()
    expect(await rest).toEqual([{ text: '{"n":2}' }])
    await expect(far.send('{}')).rejects.toThrow('closed')
    await expect(near.send('{}')).rejects.toThrow('closed: 1000')
  })

  test('loses nothing that came with the request', async () => {
    const { port, next } = await serve()
    const socket = connect(port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    const headers = { Host: 'x', Connection: 'Upgrade', Upgrade: 'websocket', ...HANDSHAKE }
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    // A text message `{}`, masked with zeros.
    const message = Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x7b, 0x7d])
    socket.write(Buffer.concat([Buffer.from(`GET /wire HTTP/1.1\r\n${lines.join('')}\r\n`), message]))
    expect(await take(await next(), 1)).toEqual([{ text: '{}' }])
  })

  test('gives a frame over the limit as too long, and lives on', async () => {
    const { url, next } = await serve()
    const socket = open(url)
    await once(socket, 'open')
    const params = { text: '€'.repeat(LIMIT) }
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'm', params }))
    socket.send('{"next":1}')
    expect(await take(await next(), 2)).toEqual([{ tooLong: true, id: 7 }, { text: '{"next":1}' }])
  })

  test('is closed with 1009 by a frame four times over the limit', async () => {
    const { url, next } = await serve()
    const socket = open(url)
    await once(socket, 'open')
    const channel = await next()
    socket.send('x'.repeat(4 * LIMIT + 1))
    expect(await take(channel, Infinity)).toEqual([])
    expect((await once(socket, 'close'))[0]).toBe(1009)
  })

  test('gives a binary message as a frame that is no JSON', async () => {
    const { url, next } = await serve()
    const socket = open(url)
    await once(socket, 'open')
    socket.send(Buffer.from('{"looks":"fine"}'))
    socket.send('{"next":1}')
    expect(await take(await next(), 2)).toEqual([{ text: '' }, { text: '{"next":1}' }])
  })
})

describe('an upgrade that cannot be completed', () => {
  test('is refused where the subprotocol is not offered', async () => {
    const { port, next } = await serve()
    const protocols = `${TOKEN_SUBPROTOCOL_PREFIX}s3cret, ${WIRE_SUBPROTOCOL}.not`
    const text = await textOf(raw(port, { ...HANDSHAKE, 'Sec-WebSocket-Protocol': protocols }))
    expect(text).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
    expect(text).toContain('the subprotocol handraise.wire is not offered')
    expect(text).not.toContain('s3cret')
    await expect(next()).rejects.toThrow('handraise.wire')
  })

  test('is refused where the handshake is not that of a WebSocket', async () => {
    const { port, next } = await serve()
    const text = await textOf(raw(port, { ...HANDSHAKE, 'Sec-WebSocket-Key': 'short' }))
    expect(text).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
    await expect(next()).rejects.toThrow('could not be upgraded')
  })

  test('rejects where the client is gone already', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const client = raw((server.address() as AddressInfo).port, HANDSHAKE)
    const [request, socket, head] = (await once(server, 'upgrade')) as [IncomingMessage, Duplex, Buffer]
    client.destroy()
    socket.resume()
    // Node keeps its own side open.
    await once(socket, 'end')
    await expect(acceptWebSocket(request, socket, head)).rejects.toThrow('could not be upgraded')
    expect(socket.destroyed).toBe(true)
    await expect(acceptWebSocket(request, socket, head)).rejects.toThrow('could not be upgraded')
  })
})

describe('the heartbeat', () => {
  test('cuts off a client that does not answer, and ends what comes from it', async () => {
    const clock = new HandClock()
    const { port, next } = await serve({ clock })
    const socket = raw(port, HANDSHAKE)
    await once(socket, 'data')
    const channel = await next()
    const frames = take(channel, Infinity)
    const ping = once(socket, 'data')
    clock.advance(30_000)
    expect((await ping)[0]).toEqual(Buffer.from([0x89, 0]))
    const closed = once(socket, 'close')
    clock.advance(30_000)
    await closed
    expect(await frames).toEqual([])
    expect(clock.waiting).toEqual([])
  })

  test('keeps one that answers, and ends with the socket', async () => {
    const clock = new HandClock()
    const { url, next } = await serve({ clock, heartbeatMs: 1_000 })
    const socket = open(url)
    await once(socket, 'open')
    const channel = await next()
    const frames = channel.incoming[Symbol.asyncIterator]()
    for (let beat = 0; beat < 4; beat += 1) {
      const ping = once(socket, 'ping')
      clock.advance(1_000)
      await ping
      // Sent after the pong, it comes after it.
      socket.send(`{"beat":${beat}}`)
      expect(await frames.next()).toEqual({ done: false, value: { text: `{"beat":${beat}}` } })
    }
    expect(clock.waiting).toEqual([1_000])
    socket.close()
    expect(await frames.next()).toEqual({ done: true, value: undefined })
    expect(clock.waiting).toEqual([])
  })

  test('does not take a client for dead that is not read for long', async () => {
    const clock = new HandClock()
    const { url, next } = await serve({ clock, heartbeatMs: 1_000 })
    const socket = open(url)
    await once(socket, 'open')
    const channel = await next()
    const pause = vi.spyOn(WebSocket.prototype, 'pause')
    onTestFinished(() => pause.mockRestore())
    const paused = new Promise<void>(resolve => {
      pause.mockImplementationOnce(function (this: WebSocket) {
        this.pause()
        resolve()
      })
    })
    for (let n = 0; n < 1_501; n += 1) socket.send(`{"n":${n}}`)
    await paused
    // The pongs stay unread behind what is unread.
    for (let beat = 0; beat < 4; beat += 1) {
      const ping = once(socket, 'ping')
      clock.advance(1_000)
      await ping
    }
    expect(await take(channel, 1_501)).toHaveLength(1_501)
  })
})
