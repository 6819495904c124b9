import { once } from 'node:events'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connect } from '../src/client/connect.ts'
import { spawnHost, type SpawnedHost, type SpawnHostOptions } from '../src/client/spawn.ts'
import { HandClock } from './client-clock.ts'
import { INITIALIZE_RESULT } from './client-peer.ts'

/** A host that shakes hands and answers every other request with its params; it ends with its input. */
const HOST = `
  const lines = require('node:readline').createInterface({ input: process.stdin })
  const say = frame => console.log(JSON.stringify({ jsonrpc: '2.0', ...frame }))
  lines.on('line', line => {
    const { id, method, params } = JSON.parse(line)
    if (method === 'initialize') say({ id, result: ${JSON.stringify(INITIALIZE_RESULT)} })
    else if (id !== undefined) say({ id, result: { params, cwd: process.cwd(), env: process.env } })
  })
  lines.on('close', () => say({ method: 'last/words', params: {}, emittedAtMs: 1 }))
`

async function host(source: string, options: Partial<SpawnHostOptions> = {}): Promise<SpawnedHost> {
  const spawned = await spawnHost({ command: process.execPath, args: ['-e', source], ...options })
  onTestFinished(() => void spawned.child.kill('SIGKILL'))
  return spawned
}

/** Resolves when the host has said so. */
async function ready({ channel }: SpawnedHost): Promise<void> {
  for await (const frame of channel.incoming) if ('text' in frame && frame.text === '"ready"') return
  throw new Error('it ended')
}

const clientInfo = { name: 'test_client', version: '1.0.0' }

describe('a host that is started', () => {
  test('is spoken to over its standard streams, in its directory and environment', async () => {
    const spawned = await host(HOST, { cwd: '/', env: { COLOUR: 'blue' } })
    const heard: string[] = []
    const client = await connect(spawned.channel, { clientInfo, onEvent: ({ method }) => heard.push(method) })
    expect(await client.request('other/thing', { n: 1 })).toMatchObject({
      params: { n: 1 },
      cwd: '/',
      env: { COLOUR: 'blue' },
    })
    const ending = spawned.shutdown()
    expect(spawned.shutdown()).toBe(ending)
    expect(await ending).toEqual({ code: 0, signal: null })
    await client.closed
    expect(heard).toEqual(['last/words'])
  })

  test('rejects where it cannot be started', async () => {
    await expect(spawnHost({ command: '/srv/there/is/nothing' })).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test('logs where it is told to', async () => {
    let text = ''
    const spawned = await host(`console.error('warming up €')`, { onStderr: more => void (text += more) })
    await once(spawned.child, 'close')
    expect(text).toBe('warming up €\n')
  })

  test('ends the channel when it dies, with what it had said', async () => {
    const spawned = await host(`process.stdout.write('"bye"\\n', () => process.exit(3))`)
    const frames: unknown[] = []
    for await (const frame of spawned.channel.incoming) frames.push(frame)
    expect(frames).toEqual([{ text: '"bye"' }])
    expect(await spawned.exited).toEqual({ code: 3, signal: null })
    expect(await spawned.shutdown()).toEqual({ code: 3, signal: null })
  })
})

describe('a host that does not end by itself', () => {
  const STUBBORN = `console.log('"ready"'); setInterval(() => {}, 1000);`

  test('is asked with SIGTERM after its time', async () => {
    const clock = new HandClock()
    const spawned = await host(STUBBORN, { clock })
    await ready(spawned)
    const ending = spawned.shutdown()
    expect(clock.waiting).toEqual([30_000])
    clock.advance(30_000)
    expect(await ending).toEqual({ code: null, signal: 'SIGTERM' })
  })

  test('is killed two seconds later, with what it has started', async () => {
    const clock = new HandClock()
    const child = `require('child_process').spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)'], { stdio: 'inherit' })`
    const spawned = await host(`process.on('SIGTERM', () => {}); ${child}; ${STUBBORN}`, {
      clock,
      shutdownTimeoutMs: 5,
    })
    const frames = spawned.channel.incoming[Symbol.asyncIterator]()
    await frames.next()
    const closed = once(spawned.child, 'close')
    const ending = spawned.shutdown()
    clock.advance(5)
    while (clock.waiting[0] !== 2_000) await new Promise(resolve => setImmediate(resolve))
    clock.advance(2_000)
    expect(await ending).toEqual({ code: null, signal: 'SIGKILL' })
    // Its child held the other end of its output.
    const last = frames.next()
    await closed
    expect(await last).toEqual({ done: true, value: undefined })
    expect(clock.waiting).toEqual([])
  })

  test('ends the channel though a child of it holds its output open', async () => {
    const clock = new HandClock()
    const keep = `setTimeout(() => {}, 60000)`
    const child = `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(keep)}], { stdio: ['ignore', 'inherit', 'ignore'] }).on('spawn', () => { console.log('"ready"'); process.exitCode = 0; setImmediate(() => process.kill(process.pid, 'SIGKILL')) })`
    const spawned = await host(child, { clock })
    onTestFinished(() => {
      try {
        process.kill(-spawned.child.pid!, 'SIGKILL')
      } catch {
        // It is gone.
      }
    })
    const frames = spawned.channel.incoming[Symbol.asyncIterator]()
    await frames.next()
    await spawned.exited
    const last = frames.next()
    while (clock.waiting.length === 0) await new Promise(resolve => setImmediate(resolve))
    clock.advance(2_000)
    expect(await last).toEqual({ done: true, value: undefined })
  })
})
