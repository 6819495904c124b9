import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { run } from './run-command.ts'
import { commandId, wire, type Frame, type WirePeer, type WireProcess } from './wire-peer.ts'

const agent = fileURLToPath(new URL('wire-agent-fixture.mjs', import.meta.url))
const LIMIT_BYTES = 10 * 1024 * 1024

let directory: string
let db: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'handraise-wire-'))
  db = join(directory, 'inbox.db')
})

afterEach(async () => {
  await rm(directory, { recursive: true })
})

const SESSION = { sessionId: 's1' }

async function startSession(peer: WirePeer): Promise<void> {
  await peer.start()
  await peer.call('session/start', { ...SESSION, commandId: commandId() })
}

function startTurn(peer: WirePeer, text: string): Promise<Frame> {
  return peer.call('turn/start', { ...SESSION, commandId: commandId(), input: [{ type: 'text', text }] })
}

/** A host whose agent waits with a question. */
async function asking(...args: string[]): Promise<WireProcess & { userInputId: unknown }> {
  const host = wire('--db', db, '--agent', agent, ...args)
  await startSession(host.peer)
  await startTurn(host.peer, 'ask')
  const { userInputId } = await host.peer.told('userInput/request')
  return { ...host, userInputId }
}

function answer(peer: WirePeer, userInputId: unknown): Promise<Frame> {
  const answers = [{ questionId: 'db', selectedLabel: 'SQLite' }]
  return peer.call('userInput/answer', { ...SESSION, userInputId, commandId: commandId(), answers })
}

function itemsOf(peer: WirePeer, kind: string): Frame[] {
  return peer
    .allTold('item/completed')
    .map(({ item }) => item as Frame)
    .filter(item => item['kind'] === kind)
}

describe('standard output', () => {
  test('holds frames and nothing else, whatever the agent prints', async () => {
    const { peer, child, ended, stderr } = wire('--memory', '--agent', agent)
    await startSession(peer)
    await startTurn(peer, 'print')
    await peer.told('turn/completed')
    child.stdin?.end()
    expect(await ended).toBe(0)
    expect(peer.faults).toEqual([])
    for (const when of ['loading', 'made with ask_user_question', 'running'])
      for (const how of ['console', 'info', 'stdout']) expect(stderr()).toContain(`${how} while ${when}\n`)
  })
})

describe('the end of the input', () => {
  test('ends the host, once what was asked is answered', async () => {
    const frames = [
      { id: 1, method: 'initialize', params: { clientInfo: { name: 'shell', version: '1' } } },
      { method: 'initialized' },
      { id: 2, method: 'session/start', params: { ...SESSION, commandId: commandId() } },
      { id: 3, method: 'session/read', params: SESSION },
    ]
    const input = frames.map(frame => `${JSON.stringify({ jsonrpc: '2.0', ...frame })}\n`).join('')
    const { exitCode, stdout, stderr } = await run(['wire', '--db', db], input)
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    const answered = stdout
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as Frame)
      .filter(frame => 'id' in frame)
    expect(new Set(answered.map(({ id }) => id))).toEqual(new Set([1, 2, 3]))
  })

  test('in the middle of a frame is survived', async () => {
    const { peer, child, ended, stderr } = wire('--db', db)
    await startSession(peer)
    child.stdin?.end('{"jsonrpc":"2.0","id":9,"meth')
    expect(await ended).toBe(0)
    expect(peer.frames.at(-1)).toMatchObject({ id: null, error: { code: -32_700 } })
    expect(stderr()).toBe('')
  })

  test('ends the host although a turn runs that does not stop, and leaves that turn to the next one', async () => {
    const first = wire('--db', db, '--agent', agent)
    await startSession(first.peer)
    await startTurn(first.peer, 'hang')
    await first.peer.told('turn/started')
    first.child.stdin?.end()
    expect(await first.ended).toBe(0)
    const second = wire('--db', db)
    await second.peer.start()
    const { session } = await second.peer.call('session/resume', { ...SESSION, commandId: commandId() })
    expect(session).toMatchObject({ status: 'running', turnCount: 0 })
  })

  test('and of the output, when the client is killed, end the host', async () => {
    const { child, ended } = await asking()
    child.stdout?.destroy()
    child.stdin?.destroy()
    expect(await ended).toBe(0)
  })
})

test('a signal ends the host, and what waits for its agent is told so', async () => {
  const { peer, child, ended } = wire('--memory', '--agent', agent)
  await peer.start()
  const hanging = peer.request('model/hang')
  expect(await peer.call('model/list')).toEqual({ models: [] })
  child.kill('SIGTERM')
  expect(await hanging).toMatchObject({ error: { code: -32_013, data: { kind: 'interrupted' } } })
  expect(await ended).toBe(0)
})

test('a frame that is too long is answered, and the next one too', async () => {
  const { peer, child } = wire('--memory')
  await peer.start()
  child.stdin?.write(`{"jsonrpc":"2.0","id":"long","method":"session/read","params":{"sessionId":"`)
  child.stdin?.write(`${'s'.repeat(LIMIT_BYTES)}"}}\n`)
  const refused = await peer.until(({ id }) => id === 'long')
  expect(refused).toMatchObject({
    error: { code: -32_002, data: { kind: 'inputTooLarge', limitBytes: LIMIT_BYTES } },
  })
  expect(await peer.request('session/read', SESSION)).toMatchObject({
    error: { data: { kind: 'sessionNotFound' } },
  })
})

describe('a host that is killed', () => {
  test('with a question leaves it to the next one, which asks it under the same id', async () => {
    const first = await asking()
    first.child.kill('SIGKILL')
    expect(await first.ended).toBeNull()
    const { peer, child, ended } = wire('--db', db, '--agent', agent)
    await peer.start()
    const resumed = await peer.call('session/resume', { ...SESSION, commandId: commandId() })
    const { userInputId } = first
    expect(resumed['pendingRequests']).toEqual([
      { kind: 'userInput', userInputId, viewCursor: expect.any(String) },
    ])
    expect(await peer.told('userInput/request')).toMatchObject({ userInputId })
    await answer(peer, userInputId)
    expect(await peer.told('turn/completed')).toMatchObject({ terminal: 'completed' })
    expect(itemsOf(peer, 'agentMessage')).toMatchObject([
      { text: 'resumed: {"answers":[{"id":"db","selected":["SQLite"]}]}' },
    ])
    expect(peer.faults).toEqual([])
    child.stdin?.end()
    expect(await ended).toBe(0)
  })

  // From the first answer to past the last event.
  test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13])(
    'after frame %i loses nothing and does nothing twice',
    async last => {
      const script = {
        session: { ...SESSION, commandId: commandId() },
        turn: { ...SESSION, commandId: commandId(), input: [{ type: 'text', text: 'ask' }] },
        answer: {
          ...SESSION,
          commandId: commandId(),
          answers: [{ questionId: 'db', selectedLabel: 'SQLite' }],
        },
      }
      const play = async (peer: WirePeer): Promise<void> => {
        await peer.start()
        const started = await peer.request('session/start', script.session)
        if ('error' in started) throw new Error(JSON.stringify(started))
        await peer.call('session/resume', { ...SESSION, commandId: commandId() })
        await peer.call('turn/start', script.turn)
        const { userInputs } = await peer.call('approval/listPending', SESSION)
        const [pending] = userInputs as { userInputId: string }[]
        if (pending === undefined && peer.allTold('userInput/request').length === 0) {
          const { session } = await peer.call('session/read', SESSION)
          if ((session as Frame)['turnCount'] === 1) return
        }
        const { userInputId } = pending ?? (await peer.told('userInput/request'))
        const told = await peer.request('userInput/answer', { ...script.answer, userInputId })
        expect('result' in told).toBe(true)
        await peer.told('turn/completed')
      }
      const first = wire('--db', db, '--agent', agent)
      first.peer.onFrame = count => {
        if (count === last) first.child.kill('SIGKILL')
      }
      await play(first.peer).catch(() => {})
      first.child.kill('SIGKILL')
      await first.ended
      const second = wire('--db', db, '--agent', agent)
      await play(second.peer)
      const { events } = await second.peer.call('view/page', { ...SESSION, limit: 100 })
      const counted = (events as { method: string }[]).map(({ method }) => method)
      expect(counted).toEqual([
        'turn/started',
        'item/completed',
        'item/started',
        'userInput/requested',
        'userInput/settled',
        'item/completed',
        'item/completed',
        'turn/completed',
      ])
      expect(second.peer.faults).toEqual([])
    },
  )
})

test('a session is in use as long as the host that holds it lives', async () => {
  const first = await asking()
  const { peer } = wire('--db', db, '--agent', agent)
  await peer.start()
  const resume = () => peer.request('session/resume', { ...SESSION, commandId: commandId() })
  expect(await resume()).toMatchObject({
    error: { code: -32_021, data: { kind: 'sessionInUse', ...SESSION } },
  })
  // Looking takes nothing from anybody.
  expect(await peer.call('session/read', SESSION)).toMatchObject({ session: { status: 'notLoaded' } })
  first.child.stdin?.end()
  expect(await first.ended).toBe(0)
  expect(await resume()).toMatchObject({ result: { session: { status: 'running' } } })
})

test('without an agent a session can be answered, and no turn is started', async () => {
  const first = await asking()
  first.child.kill('SIGKILL')
  await first.ended
  const { peer } = wire('--db', db)
  await peer.start()
  await peer.call('session/resume', { ...SESSION, commandId: commandId() })
  expect(await answer(peer, first.userInputId)).toMatchObject({ status: 'accepted' })
  const input = [{ type: 'text', text: 'ask' }]
  expect(await peer.request('turn/start', { ...SESSION, commandId: commandId(), input })).toMatchObject({
    error: { code: -32_030, data: { reason: 'no_agent' } },
  })
})

describe('the exit code', () => {
  const failing = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await run(['wire', ...args])
    expect(stdout).toBe('')
    const line = stderr.trimEnd().split('\n').at(-1) ?? ''
    return { exitCode, ...(JSON.parse(line) as { code: string; message: string }) }
  }
  const moduleOf = async (code: string): Promise<string> => {
    const file = join(directory, 'agent.mjs')
    await writeFile(file, code)
    return file
  }

  test.each([
    ['is 2 for an option that is not known', ['--nonsense']],
    ['is 2 for a database that is not to be kept', ['--memory', '--db', '/srv/handraise/inbox.db']],
  ])('%s', async (_, args) => {
    expect(await failing(...args)).toMatchObject({ exitCode: 2, code: 'BAD_USAGE' })
  })

  test.each([
    ['cannot be read as code', 'export default {'],
    ['imports what is not there', 'import "./nowhere.mjs"'],
    ['exports nothing', 'export const agent = {}'],
    ['exports what is no agent', 'export default { model: {} }'],
    ['gives what is no agent', 'export default () => ({ model: {} })'],
    ['throws', 'export default async () => { throw new Error("no key") }'],
  ])('is 3 when the module of the agent %s', async (_, code) => {
    const file = await moduleOf(code)
    const failed = await failing('--db', db, '--agent', file)
    expect(failed).toMatchObject({ exitCode: 3, code: 'BAD_CONFIG' })
    expect(failed.message).toContain(file)
  })

  test('is 3 when there is no such module', async () => {
    expect(await failing('--memory', '--agent', join(directory, 'none.mjs'))).toMatchObject({ exitCode: 3 })
  })

  test('is 3 when the database cannot be opened', async () => {
    await writeFile(db, 'not a database, but somebody’s notes')
    expect(await failing('--db', db)).toMatchObject({ exitCode: 3 })
    expect(await failing('--db', join(db, 'inbox.db'))).toMatchObject({ exitCode: 3 })
  })

  test('is 1 when something is thrown where nobody hears it', async () => {
    const { peer, ended, stderr } = wire('--memory', '--agent', agent)
    await startSession(peer)
    await startTurn(peer, 'crash')
    expect(await ended).toBe(1)
    expect(stderr()).toContain('nobody hears this')
    expect(peer.faults).toEqual([])
  })
})
