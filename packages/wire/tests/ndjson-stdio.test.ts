import { spawn } from 'node:child_process'
import { once, type EventEmitter } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { PassThrough, Writable, type Readable } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { FrameChannel, IncomingFrame } from '../src/channel.ts'
import { stdioChannel } from '../src/stdio-channel.ts'

async function read(channel: FrameChannel): Promise<IncomingFrame[]> {
  const frames: IncomingFrame[] = []
  for await (const frame of channel.incoming) frames.push(frame)
  return frames
}

/** A real process with pipes, which runs this source. */
function process(source: string): { stdin: Writable; stdout: Readable; exited: Promise<unknown[]> } {
  const child = spawn(globalThis.process.execPath, ['-e', source], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  return { stdin: child.stdin, stdout: child.stdout, exited: once(child, 'exit') }
}

/** Both ends of a real connection. */
async function connection(): Promise<[Socket, Socket]> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const accepted = once(server, 'connection') as Promise<[Socket]>
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [far] = await accepted
  onTestFinished(() => {
    near.destroy()
    far.destroy()
    server.close()
  })
  return [near, far]
}

function listeners(emitter: EventEmitter): Record<string, number> {
  return Object.fromEntries(
    ['readable', 'data', 'end', 'error', 'close', 'drain', 'finish'].map(name => [
      name,
      emitter.listenerCount(name),
    ]),
  )
}

/** What a promise has come to by now, or undefined. */
function nowOf(promise: Promise<unknown>): Promise<unknown> {
  return Promise.race([promise, new Promise(resolve => setImmediate(resolve, undefined))])
}

describe('a channel over standard streams', () => {
  test('carries frames to a process and back until its output ends', async () => {
    const { stdin, stdout } = process('process.stdin.pipe(process.stdout)')
    const channel = stdioChannel(stdout, stdin)
    await channel.send('{"text":"é€😀"}')
    await channel.send('{"n":2}')
    stdin.end()
    expect(await read(channel)).toEqual([{ text: '{"text":"é€😀"}' }, { text: '{"n":2}' }])
  })

  test('keeps characters whole that come byte by byte', async () => {
    const input = new PassThrough()
    const frames = read(stdioChannel(input, new PassThrough()))
    for (const byte of Buffer.from('{"text":"é€😀"}\n{"half":"€')) {
      input.write(Buffer.of(byte))
      await new Promise(resolve => setImmediate(resolve))
    }
    input.end(Buffer.from('€').subarray(0, 2))
    expect(await frames).toEqual([{ text: '{"text":"é€😀"}' }, { text: '{"half":"€\ufffd' }])
  })

  test('takes input that gives text already', async () => {
    const input = new PassThrough({ encoding: 'utf8' })
    input.end('{"text":"€"}\n')
    expect(await read(stdioChannel(input, new PassThrough()))).toEqual([{ text: '{"text":"€"}' }])
  })

  test('sends no further until its output has drained', async () => {
    const flush: (() => void)[] = []
    const output = new Writable({ highWaterMark: 10, write: (_, __, done) => void flush.push(done) })
    const channel = stdioChannel(new PassThrough(), output)
    let sent = 0
    const sending = ['x'.repeat(20), 'y', 'z'].map(frame => channel.send(frame).then(() => ++sent))
    await nowOf(sending[0]!)
    expect([sent, flush.length, output.writableLength]).toEqual([0, 1, 21])
    flush.shift()!()
    await sending[0]
    await sending[1]
    expect(flush).toHaveLength(1)
  })

  test('fails what is sent to a process that does not listen, and nothing else', async () => {
    const { stdin, stdout } = process(
      'require("fs").closeSync(0); console.log("{}"); setInterval(() => {}, 1000)',
    )
    const channel = stdioChannel(stdout, stdin)
    const frames = channel.incoming[Symbol.asyncIterator]()
    expect(await frames.next()).toEqual({ done: false, value: { text: '{}' } })
    const failures: unknown[] = []
    while (failures.length < 2) await channel.send('x'.repeat(100_000)).catch(error => failures.push(error))
    for (const failure of failures) expect(failure).toMatchObject({ code: 'EPIPE' })
  })

  test('fails what waits for a drain where the output is destroyed', async () => {
    const output = new Writable({ highWaterMark: 1, write: () => {} })
    const channel = stdioChannel(new PassThrough(), output)
    const sent = channel.send('{}')
    const next = channel.send('{}')
    output.destroy()
    await expect(sent).rejects.toThrow('closed')
    await expect(next).rejects.toThrow('closed')
  })

  test.each([
    ['ends', (input: PassThrough) => void input.end()],
    ['fails', (input: PassThrough) => void input.destroy(new Error('no more'))],
    ['is destroyed', (input: PassThrough) => void input.destroy()],
  ])('ends where its input %s', async (_, end) => {
    const input = new PassThrough()
    const frames = read(stdioChannel(input, new PassThrough()))
    input.write('{}\n')
    await new Promise(resolve => setImmediate(resolve))
    end(input)
    expect(await frames).toEqual([{ text: '{}' }])
  })

  test('ends at once where its input had ended before', async () => {
    const input = new PassThrough()
    input.destroy()
    expect(await read(stdioChannel(input, new PassThrough()))).toEqual([])
  })

  test('is closed with both streams, leaves no listener, and sends what it had taken', async () => {
    const input = new PassThrough()
    const written: string[] = []
    const output = new Writable({
      write(chunk, _, done) {
        written.push(String(chunk))
        setImmediate(done)
      },
    })
    const before = [listeners(input), listeners(output)]
    const channel = stdioChannel(input, output)
    const frames = read(channel)
    await channel.send('{"bye":1}')
    channel.close()
    channel.close()
    expect(await frames).toEqual([])
    await expect(channel.send('{}')).rejects.toThrow('closed')
    await new Promise(resolve => output.once('close', resolve))
    expect(written).toEqual(['{"bye":1}\n'])
    expect([listeners(input), listeners(output)]).toEqual(before)
    expect([input.destroyed, output.writableFinished]).toEqual([true, true])
  })

  test('takes a failure of the flush after it was closed', async () => {
    let fail!: (error: Error) => void
    const output = new Writable({ write: (_, __, done) => void (fail = done) })
    const channel = stdioChannel(new PassThrough(), output)
    await channel.send('{}')
    channel.close()
    const closed = new Promise(resolve => output.once('close', resolve))
    fail(new Error('too late'))
    await closed
    expect(output.errored).toMatchObject({ message: 'too late' })
    expect(output.listenerCount('error')).toBe(0)
  })

  test('over a socket loses nothing of what it sent before it was closed', async () => {
    const [near, far] = await connection()
    const channel = stdioChannel(near, near)
    const text = 'x'.repeat(5_000_000)
    void channel.send(text).catch(() => {})
    channel.close()
    expect(await read(stdioChannel(far, far))).toEqual([{ text }])
    if (!near.closed) await once(near, 'close')
    expect(near.destroyed).toBe(true)
  })
})
