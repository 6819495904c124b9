import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import type { FrameChannel, IncomingFrame } from '../src/channel.ts'
import { webSocketChannel, type WebSocketEvent, type WebSocketLike } from '../src/web-socket-channel.ts'
import { HandClock } from './client-clock.ts'

/** The two ends of a real connection. */
async function sockets(): Promise<[WebSocket, WebSocket]> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
  await once(server, 'listening')
  const accepted = once(server, 'connection') as Promise<[WebSocket]>
  const near = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const opening = once(near, 'open')
  const [far] = await accepted
  await opening
  onTestFinished(() => {
    near.terminate()
    far.terminate()
    server.close()
  })
  return [near, far]
}

/** A socket with what those of browsers have, and no more. */
class BrowserSocket implements WebSocketLike {
  readyState = 0
  bufferedAmount = 0
  readonly sent: string[] = []
  readonly closedWith: unknown[] = []
  private readonly listeners = new Map<string, Set<(event: WebSocketEvent) => void>>()

  send(data: string): void {
    if (this.readyState === 0) throw new DOMException('still connecting', 'InvalidStateError')
    this.sent.push(data)
  }

  close(code?: number): void {
    if (code !== undefined && code !== 1000 && (code < 3000 || code > 4999))
      throw new DOMException('not a code for pages', 'InvalidAccessError')
    this.closedWith.push(code)
    this.readyState = 2
  }

  addEventListener(type: string, listener: (event: WebSocketEvent) => void): void {
    this.listeners.set(type, (this.listeners.get(type) ?? new Set()).add(listener))
  }

  removeEventListener(type: string, listener: (event: WebSocketEvent) => void): void {
    this.listeners.get(type)?.delete(listener)
  }

  get listening(): number {
    return [...this.listeners.values()].reduce((count, set) => count + set.size, 0)
  }

  emit(type: string, event: Omit<WebSocketEvent, 'type'> = {}): void {
    if (type === 'open') this.readyState = 1
    if (type === 'close') this.readyState = 3
    for (const listener of this.listeners.get(type) ?? []) listener({ type, ...event })
  }
}

function opened(): BrowserSocket {
  const socket = new BrowserSocket()
  socket.readyState = 1
  return socket
}

async function take(channel: FrameChannel, count = Infinity): Promise<IncomingFrame[]> {
  const frames: IncomingFrame[] = []
  for await (const frame of channel.incoming) if (frames.push(frame) === count) break
  return frames
}

/** Whether a promise is still pending when all that could happen has happened. */
function isPending(promise: Promise<unknown>): Promise<boolean> {
  const turn = new Promise<true>(resolve => setImmediate(resolve, true))
  return Promise.race([promise.then(() => false), turn])
}

const MIB = 1024 * 1024

describe('a socket of a browser', () => {
  test('is sent nothing before it is open, and then in order', async () => {
    const socket = new BrowserSocket()
    const channel = webSocketChannel(socket)
    const sent = [channel.send('{"n":1}'), channel.send('{"n":2}')]
    expect(await isPending(sent[0]!)).toBe(true)
    socket.emit('open')
    await Promise.all(sent)
    expect(socket.sent).toEqual(['{"n":1}', '{"n":2}'])
  })

  test('that never opens fails what waited for it', async () => {
    const socket = new BrowserSocket()
    const sent = webSocketChannel(socket).send('{}')
    socket.emit('error')
    socket.emit('close', { code: 1006, reason: '' })
    await expect(sent).rejects.toThrow('the socket is closed: 1006')
    expect(socket.sent).toEqual([])
  })

  test('is looked at until what waits in it has been sent', async () => {
    const clock = new HandClock()
    const socket = opened()
    const channel = webSocketChannel(socket, { clock })
    socket.bufferedAmount = MIB + 1
    const sent = [channel.send('{"n":1}'), channel.send('{"n":2}')]
    expect(socket.sent).toHaveLength(2)
    expect(clock.waiting).toEqual([20])
    for (let look = 0; look < 3; look += 1) {
      clock.advance(20)
      expect(await isPending(sent[0]!)).toBe(true)
    }
    socket.bufferedAmount = MIB
    clock.advance(20)
    await Promise.all(sent)
    expect(clock.waiting).toEqual([])
  })

  test.each([
    ['closes', (socket: BrowserSocket) => socket.emit('close', { code: 1001 })],
    ['is closed', (_: BrowserSocket, channel: FrameChannel) => channel.close()],
  ])('that %s fails what waits for it, and leaves no timer', async (_, end) => {
    const clock = new HandClock()
    const socket = opened()
    const channel = webSocketChannel(socket, { clock })
    socket.bufferedAmount = MIB + 1
    const sent = channel.send('{}')
    expect(clock.waiting).toHaveLength(1)
    end(socket, channel)
    await expect(sent).rejects.toThrow('closed')
    expect(clock.waiting).toEqual([])
  })

  test('is closed where more comes than is read', async () => {
    const socket = opened()
    const channel = webSocketChannel(socket, { maxWaiting: 3 })
    for (let n = 0; n < 3; n += 1) socket.emit('message', { data: `{"n":${n}}` })
    expect(socket.closedWith).toEqual([])
    socket.emit('message', { data: '{"n":3}' })
    socket.emit('message', { data: '{"n":4}' })
    expect(socket.closedWith).toEqual([4013])
    socket.emit('close', { code: 4013 })
    expect(await take(channel)).toHaveLength(4)
    await expect(channel.send('{}')).rejects.toThrow('more frames came than were read')
  })

  test('gives what had come before it closed, and has no listener then', async () => {
    const socket = opened()
    const channel = webSocketChannel(socket)
    socket.emit('message', { data: '{"n":1}' })
    socket.emit('message', { data: new ArrayBuffer(2) })
    socket.emit('close', { code: 1000 })
    expect(await take(channel)).toEqual([{ text: '{"n":1}' }, { text: '' }])
    expect(socket.listening).toBe(0)
  })

  test('that was closed before is over at once', async () => {
    const socket = new BrowserSocket()
    socket.readyState = 3
    const channel = webSocketChannel(socket)
    expect(await take(channel)).toEqual([])
    await expect(channel.send('{}')).rejects.toThrow('closed')
    expect(socket.listening).toBe(0)
  })

  test('gives nothing any more once the channel is closed', async () => {
    const socket = opened()
    const channel = webSocketChannel(socket)
    socket.emit('message', { data: '{"n":1}' })
    channel.close()
    channel.close()
    socket.emit('message', { data: '{"n":2}' })
    expect(await take(channel)).toEqual([])
    expect(socket.closedWith).toEqual([1000])
  })
})

describe('a frame over the limit', () => {
  test('is not sent', async () => {
    const socket = opened()
    const channel = webSocketChannel(socket, { limitBytes: 30 })
    await expect(channel.send('€'.repeat(11))).rejects.toBeInstanceOf(RangeError)
    await channel.send('€'.repeat(10))
    expect(socket.sent).toEqual(['€'.repeat(10)])
  })

  test('is given as too long with the request that it answers', async () => {
    const socket = opened()
    const channel = webSocketChannel(socket, { limitBytes: 60 })
    socket.emit('message', { data: `{"jsonrpc":"2.0","id":3,"result":{"t":"${'x'.repeat(50)}"}}` })
    expect(await take(channel, 1)).toEqual([{ tooLong: true, answerTo: 3 }])
  })
})

describe('a socket of ws', () => {
  test('is paused where more comes than is read, and loses nothing', async () => {
    const [near, far] = await sockets()
    const channel = webSocketChannel(near, { maxWaiting: 10 })
    const paused = new Promise<void>(resolve => {
      const { pause } = near
      near.pause = () => {
        pause.call(near)
        resolve()
      }
    })
    const count = 20_000
    for (let n = 0; n < count; n += 1) far.send(`{"n":${n}}`)
    await paused
    expect(near.isPaused).toBe(true)
    const frames = await take(channel, count)
    expect(frames.at(-1)).toEqual({ text: `{"n":${count - 1}}` })
    expect(near.isPaused).toBe(false)
  })

  test('is paused where more text comes than a frame may have, and loses nothing', async () => {
    const [near, far] = await sockets()
    const channel = webSocketChannel(near, { limitBytes: 1000 })
    for (let n = 0; n < 3; n += 1) far.send('x'.repeat(400))
    while (!near.isPaused) await new Promise(resolve => setImmediate(resolve))
    expect(await take(channel, 3)).toHaveLength(3)
    expect(near.isPaused).toBe(false)
  })

  test('that is paused is closed all the same', async () => {
    const [near, far] = await sockets()
    // A clock that stands still tears nothing down.
    const channel = webSocketChannel(near, { maxWaiting: 1, clock: new HandClock() })
    for (let n = 0; n < 3; n += 1) far.send('{}')
    while (!near.isPaused) await new Promise(resolve => setImmediate(resolve))
    const closed = [once(near, 'close'), once(far, 'close')]
    channel.close()
    expect((await Promise.all(closed)).map(([code]) => code)).toEqual([1000, 1000])
  })

  test('lets a sender wait until the other side reads', async () => {
    const [near, far] = await sockets()
    const channel = webSocketChannel(near)
    far.pause()
    const frame = 'x'.repeat(MIB)
    let sent = 0
    let most = 0
    const sending = (async () => {
      for (; sent < 30; sent += 1) {
        await channel.send(frame)
        most = Math.max(most, near.bufferedAmount)
      }
    })()
    // The buffers of the system take some of it first.
    while (near.bufferedAmount <= MIB) await new Promise(resolve => setImmediate(resolve))
    expect(await isPending(sending)).toBe(true)
    expect(sent).toBeLessThan(30)
    far.resume()
    await sending
    expect(most).toBeLessThanOrEqual(MIB)
  })

  test('is torn down where the other side does not agree to the close', async () => {
    const clock = new HandClock()
    const [near, far] = await sockets()
    const channel = webSocketChannel(near, { clock })
    far.pause()
    channel.close()
    expect(clock.waiting).toEqual([2_000])
    const closed = once(near, 'close')
    clock.advance(2_000)
    await closed
    expect(near.listenerCount('message') + near.listenerCount('error')).toBe(0)
  })

  test('leaves no timer and no listener once both have closed', async () => {
    const clock = new HandClock()
    const [near] = await sockets()
    const channel = webSocketChannel(near, { clock })
    channel.close()
    await once(near, 'close')
    expect(clock.waiting).toEqual([])
    expect(['open', 'message', 'error', 'close'].map(name => near.listenerCount(name))).toEqual([0, 0, 0, 0])
  })

  test('that breaks fails what is sent, and throws nothing', async () => {
    const [near, far] = await sockets()
    const channel = webSocketChannel(near)
    const ended = take(channel)
    far.terminate()
    expect(await ended).toEqual([])
    await expect(channel.send('{}')).rejects.toThrow('closed: 1006')
  })
})
