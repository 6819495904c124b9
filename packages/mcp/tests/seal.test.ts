import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  acceptedContent,
  inputRequired,
  openPauses,
  PauseError,
  Pauses,
  type InputResponses,
  type PausesOptions,
} from '@handraise/mcp'
import { MemoryStore } from '@handraise/inbox'
import { ResourceTemplate, type AuthInfo } from '@modelcontextprotocol/server'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import {
  accept,
  connect,
  ERAS,
  makeServer,
  round,
  TestClock,
  textOf,
  type ConnectOptions,
} from './pause-scene.ts'

const inputResponses = { go: { action: 'accept', content: {} } }
const REFUSED = {
  code: -32602,
  message: expect.stringContaining('Invalid or expired requestState') as string,
  data: { reason: 'invalid_request_state' },
}

/** A server with two tools that do something once a person agreed, with what was done. */
function scene(options: PausesOptions = {}) {
  const effects: unknown[] = []
  const refused: string[] = []
  const pauses = new Pauses(options)
  const build = () =>
    makeServer(server => {
      Object.assign(server.server, { onerror: (error: Error) => refused.push(error.message) })
      for (const name of ['drop', 'keep']) {
        const inputSchema = z.looseObject({ table: z.string().default('t') })
        pauses.registerTool(server, name, { inputSchema }, (args, ctx) => {
          if (acceptedContent(ctx.inputResponses, 'go') !== true)
            return inputRequired({
              requests: [{ id: 'go', message: `Really ${name} ${args.table}?` }],
              requestState: { secret: 'of the server' },
            })
          effects.push([name, args])
          return 'done'
        })
      }
    })
  const person = (as: ConnectOptions = {}) => connect('2026', build, as)
  return { effects, refused, person, build }
}

describe.each(ERAS)('with a client of %s', era => {
  test('an answer without a state is none', async () => {
    const { effects, build } = scene()
    const person = await connect(era, build, { replies: [{ action: 'decline' }] })
    const params = { name: 'drop', arguments: { table: 'users' }, inputResponses }
    if (era === '2026') {
      expect((await round(person, params)).resultType).toBe('input_required')
    } else {
      // The official server takes those members off a request of 2025 as well; the person is asked all the same.
      expect(textOf(await person.client.callTool(params))).toContain('was declined')
      expect(person.shown).toHaveLength(1)
    }
    expect(effects).toEqual([])
  })

  test.each([
    ['garbage', 'garbage'],
    ['nothing', ''],
    ['no text', 7],
    ['an object', { table: 't' }],
    ['our own beginning', 'hr1.'],
    ['our own beginning, and too little', 'hr1.AAAA'],
    ['a state of the official kind', 'v1.eyJwIjp7fSwiZXhwIjo5OTk5OTk5OTk5fQ.AAAA'],
    ['more than any state', `hr1.${'A'.repeat(600_000)}`],
  ])('a state that is %s is refused, and nothing is done', async (_, requestState) => {
    const { effects, build } = scene()
    const { client } = await connect(era, build)
    const params = { name: 'drop', arguments: { table: 'users' }, inputResponses, requestState }
    await expect(client.callTool(params as never)).rejects.toMatchObject({ code: -32602 })
    expect(effects).toEqual([])
  })
})

test('a refused state is told in the words of the official server, and why only to the host', async () => {
  const { refused, person } = scene()
  await expect(
    round(await person(), { name: 'drop', inputResponses, requestState: 'x' }),
  ).rejects.toMatchObject(REFUSED)
  expect(refused).toEqual(['requestState of tools/call drop refused: it was not sealed here, or was changed'])
})

test('a state goes through as it was sent, and with any one character changed it is refused', async () => {
  const { effects, person } = scene()
  const ann = await person()
  const { requestState = '' } = await round(ann, { name: 'drop' })
  const spots = [4, 5, 20, Math.floor(requestState.length / 2), requestState.length - 1]
  for (const spot of spots) {
    for (const other of ['A', 'B', '_', '=', '.', ' ']) {
      if (requestState[spot] === other) continue
      const changed = requestState.slice(0, spot) + other + requestState.slice(spot + 1)
      await expect(
        round(ann, { name: 'drop', inputResponses, requestState: changed }),
        `${other} at ${spot}`,
      ).rejects.toMatchObject(REFUSED)
    }
  }
  for (const changed of [
    `${requestState}A`,
    requestState.slice(0, -1),
    ` ${requestState}`,
    `${requestState}\n`,
  ])
    await expect(round(ann, { name: 'drop', inputResponses, requestState: changed })).rejects.toMatchObject(
      REFUSED,
    )
  expect(effects).toEqual([])
  expect(textOf(await round(ann, { name: 'drop', inputResponses, requestState }))).toBe('done')
})

test('a client can read nothing of a state', async () => {
  const { person } = scene()
  const { requestState = '' } = await round(await person(), { name: 'drop', arguments: { table: 'users' } })
  const bytes = Buffer.from(requestState.slice(4), 'base64url').toString('latin1')
  expect(bytes).not.toMatch(/secret|users|drop|Really/u)
})

test('a state is bound to the tool', async () => {
  const { effects, person } = scene()
  const ann = await person()
  const { requestState } = await round(ann, { name: 'keep' })
  await expect(round(ann, { name: 'drop', inputResponses, requestState })).rejects.toMatchObject(REFUSED)
  expect(effects).toEqual([])
})

test.each([
  ['another value', { table: 'accounts' }],
  ['another value deep within', { table: 'users', where: { id: [2] } }],
  ['a member more', { table: 'users', where: { id: [1] }, force: true }],
  ['a member less', { table: 'users' }],
  ['a number for a text', { table: 'users', where: { id: ['1'] } }],
  ['no arguments', {}],
])('a state is bound to the arguments: %s is refused', async (_, args) => {
  const { effects, person } = scene()
  const ann = await person()
  const asked = { table: 'users', where: { id: [1] } }
  const { requestState } = await round(ann, { name: 'drop', arguments: asked })
  await expect(
    round(ann, { name: 'drop', arguments: args, inputResponses, requestState }),
  ).rejects.toMatchObject(REFUSED)
  expect(effects).toEqual([])
})

test('a state of a prompt or a resource is bound like a tool’s, and refused with the same code', async () => {
  const read: string[] = []
  const pauses = new Pauses()
  const agreed = (responses: InputResponses) => acceptedContent(responses, 'go') === true
  const build = () =>
    makeServer(server => {
      const argsSchema = z.object({ who: z.string() })
      pauses.registerPrompt(server, 'prompt', { argsSchema }, ({ who }, ctx) => {
        if (!agreed(ctx.inputResponses)) return inputRequired({ requests: [{ id: 'go' }] })
        read.push(who)
        return { messages: [] }
      })
      const template = new ResourceTemplate('notes://{id}', { list: undefined })
      pauses.registerResource(server, 'note', template, {}, (uri, _, ctx) => {
        if (!agreed(ctx.inputResponses)) return inputRequired({ requests: [{ id: 'go' }] })
        read.push(uri.href)
        return { contents: [] }
      })
      const outputSchema = z.object({ n: z.number() })
      pauses.registerTool(server, 'typed', { outputSchema }, () => ({ n: 1 }))
    })
  const ann = await connect('2026', build)
  const options = { allowInputRequired: true }
  const send = (params: object, call: 'getPrompt' | 'readResource') =>
    ann.client[call](params as never, options) as Promise<{ requestState?: string }>
  const prompt = await send({ name: 'prompt', arguments: { who: 'ann' } }, 'getPrompt')
  const note = await send({ uri: 'notes://1' }, 'readResource')
  const promptAnswer = { name: 'prompt', inputResponses }
  for (const requestState of [note.requestState, prompt.requestState, 'x'])
    await expect(
      send({ ...promptAnswer, arguments: { who: 'eve' }, requestState }, 'getPrompt'),
    ).rejects.toMatchObject(REFUSED)
  for (const requestState of [note.requestState, prompt.requestState, 'x'])
    await expect(
      send({ uri: 'notes://2', inputResponses, requestState }, 'readResource'),
    ).rejects.toMatchObject(REFUSED)
  await expect(round(ann, { name: 'typed', requestState: 'x' })).rejects.toMatchObject(REFUSED)
  expect(read).toEqual([])
  await send({ ...promptAnswer, arguments: { who: 'ann' }, requestState: prompt.requestState }, 'getPrompt')
  await send({ uri: 'notes://1', inputResponses, requestState: note.requestState }, 'readResource')
  expect(read).toEqual(['ann', 'notes://1'])
})

test('the same arguments in another order are the same', async () => {
  const { effects, person } = scene()
  const ann = await person()
  const { requestState } = await round(ann, {
    name: 'drop',
    arguments: { table: 'users', where: { a: 1, b: 2 } },
  })
  const args = { where: { b: 2, a: 1 }, table: 'users' }
  expect(textOf(await round(ann, { name: 'drop', arguments: args, inputResponses, requestState }))).toBe(
    'done',
  )
  expect(effects).toHaveLength(1)
})

test('arguments that a schema made of text are told apart, and those that nothing can tell apart are not paused', async () => {
  const pauses = new Pauses()
  const inputSchema = z.object({
    on: z.union([z.array(z.unknown()), z.coerce.date()]).optional(),
    map: z
      .record(z.string(), z.number())
      .transform(record => new Map(Object.entries(record)))
      .optional(),
  })
  const build = () =>
    makeServer(server =>
      pauses.registerTool(server, 'tool', { inputSchema }, (_, { inputResponses: responses }) =>
        acceptedContent(responses, 'go') === true ? 'done' : inputRequired({ requests: [{ id: 'go' }] }),
      ),
    )
  const person = await connect('2026', build)
  const { requestState } = await round(person, { arguments: { on: '2026-07-28' } })
  // What a date is written as within us is no date.
  for (const args of [{ on: '2026-07-29' }, { on: ['\u0000', 'date', Date.UTC(2026, 6, 28)] }])
    await expect(round(person, { arguments: args, inputResponses, requestState })).rejects.toMatchObject(
      REFUSED,
    )
  const same = { arguments: { on: '2026-07-28T00:00:00Z' }, inputResponses, requestState }
  expect(textOf(await round(person, same))).toBe('done')
  const mapped = await round(person, { arguments: { map: { a: 1 } } })
  expect(mapped.isError).toBe(true)
  expect(textOf(mapped)).toContain('an instance of a class, so a pause cannot be bound to them')
})

const token = (clientId: string, sub?: string, value = 'token'): AuthInfo => ({
  token: value,
  clientId,
  scopes: [],
  ...(sub === undefined ? {} : { extra: { sub } }),
})

test.each([
  ['another client', token('app', 'ann'), token('other', 'ann')],
  ['another user', token('app', 'ann'), token('app', 'eve')],
  ['no user', token('app', 'ann'), token('app')],
  ['no token', token('app', 'ann'), undefined],
  ['a token where there was none', undefined, token('local')],
])('a state is bound to who asked: %s is refused', async (_, asking, answering) => {
  const { effects, person } = scene()
  const { requestState } = await round(await person({ authInfo: asking }), { name: 'drop' })
  const other = await person({ authInfo: answering })
  await expect(round(other, { name: 'drop', inputResponses, requestState })).rejects.toMatchObject(REFUSED)
  expect(effects).toEqual([])
})

test('a new token of the same client and user is the same principal', async () => {
  const { person } = scene()
  const before = await person({ authInfo: token('app', 'ann', 'first') })
  const { requestState } = await round(before, { name: 'drop' })
  const after = await person({ authInfo: token('app', 'ann', 'second') })
  expect(textOf(await round(after, { name: 'drop', inputResponses, requestState }))).toBe('done')
})

test.each(['', ' '])('a principal without a name (%j) is refused at once', principal => {
  expect(() => new Pauses({ principal })).toThrow('the principal needs a name')
})

test('without tokens a principal is the name it was given, or whom the host tells', async () => {
  const key = new Uint8Array(32).fill(7)
  const ann = scene({ key, principal: 'ann' })
  const { requestState } = await round(await ann.person(), { name: 'drop' })
  for (const principal of ['eve', () => 'ann'])
    await expect(
      round(await scene({ key, principal }).person(), { name: 'drop', inputResponses, requestState }),
    ).rejects.toMatchObject(REFUSED)
  const again = scene({ key, principal: 'ann' })
  expect(textOf(await round(await again.person(), { name: 'drop', inputResponses, requestState }))).toBe(
    'done',
  )
})

test('a principal that the host cannot tell is nobody, and asks nothing', async () => {
  const { effects, person } = scene({ principal: () => '' })
  const asked = await round(await person(), { name: 'drop' })
  expect(asked).toMatchObject({
    isError: true,
    content: [{ text: 'the principal of a request is not known' }],
  })
  expect(effects).toEqual([])
})

test('a handler finds nothing that was not checked', async () => {
  const seen: unknown[] = []
  const pauses = new Pauses()
  const build = () =>
    makeServer(server =>
      pauses.registerTool(server, 'tool', {}, ({ mcpReq, inputResponses: checked }) => {
        seen.push(mcpReq.inputResponses, mcpReq.droppedInputResponseKeys, mcpReq.requestState())
        return Object.hasOwn(checked, 'go') ? 'done' : inputRequired({ requests: [{ id: 'go' }] })
      }),
    )
  const sent = { ...inputResponses, other: { method: 'elicitation/create', result: {} } }
  const ann = await connect('2026', build)
  const { requestState } = await round(ann, { inputResponses: sent })
  expect(textOf(await round(ann, { inputResponses: sent, requestState }))).toBe('done')
  expect(seen).toEqual(Array.from({ length: 6 }, () => undefined))
})

test('a state of another key is refused', async () => {
  const { requestState } = await round(await scene().person(), { name: 'drop' })
  const other = scene()
  await expect(
    round(await other.person(), { name: 'drop', inputResponses, requestState }),
  ).rejects.toMatchObject(REFUSED)
  expect(other.effects).toEqual([])
})

test('an answer that comes too late is not used: the question is asked again, and says so', async () => {
  const clock = new TestClock()
  const { effects, person } = scene({ clock, ttlMs: 1_000 })
  const ann = await person()
  const { requestState } = await round(ann, { name: 'drop' })
  clock.pass(1_000)
  const again = await round(ann, { name: 'drop', inputResponses, requestState })
  expect(again.resultType).toBe('input_required')
  expect(again.inputRequests?.['go']?.params.message).toBe(
    'An earlier answer came too late to be used. Please answer again.\n\nReally drop t?',
  )
  expect(effects).toEqual([])
  clock.pass(999)
  const inTime = await round(ann, { name: 'drop', inputResponses, requestState: again.requestState })
  expect(textOf(inTime)).toBe('done')
  expect(effects).toHaveLength(1)
})

test('a late state of somebody else, or of another call, is still refused', async () => {
  const clock = new TestClock()
  const { person } = scene({ clock, ttlMs: 1_000 })
  const { requestState } = await round(await person(), { name: 'drop' })
  clock.pass(5_000)
  const eve = await person({ authInfo: token('eve') })
  await expect(round(eve, { name: 'drop', inputResponses, requestState })).rejects.toMatchObject(REFUSED)
  await expect(round(await person(), { name: 'keep', inputResponses, requestState })).rejects.toMatchObject(
    REFUSED,
  )
})

test('asking for a part again gives nobody more time', async () => {
  const clock = new TestClock()
  const { effects, person } = scene({ clock, ttlMs: 1_000 })
  const ann = await person()
  const first = await round(ann, { name: 'drop' })
  clock.pass(600)
  const second = await round(ann, { name: 'drop', requestState: first.requestState })
  expect(second.inputRequests?.['go']?.params.message).toBe('Really drop t?')
  clock.pass(600)
  const late = await round(ann, { name: 'drop', inputResponses, requestState: second.requestState })
  expect(late.resultType).toBe('input_required')
  expect(effects).toEqual([])
})

test('a server that checks states of its own may let ours through', async () => {
  const pauses = new Pauses()
  const { McpServer } = await import('@modelcontextprotocol/server')
  const build = (letThrough: boolean) => () => {
    const verify = (state: string) => (letThrough && state.startsWith('hr1.') ? undefined : { state })
    const server = new McpServer({ name: 's', version: '1' }, { requestState: { verify } })
    pauses.registerTool(server, 'tool', {}, ({ inputResponses: responses }) =>
      acceptedContent(responses, 'q') === true
        ? 'done'
        : inputRequired({ requests: [{ id: 'q', schema: { type: 'boolean' } }] }),
    )
    return server
  }
  const answer = { inputResponses: { q: accept(true) } }
  const open = await connect('2026', build(true))
  const { requestState } = await round(open)
  expect(textOf(await round(open, { ...answer, requestState }))).toBe('done')
  const shut = await connect('2026', build(false))
  await expect(round(shut, { ...answer, requestState })).rejects.toMatchObject(REFUSED)
})

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'handraise-key-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** Whether one opens what the other sealed. */
async function share(one: Pauses, other: Pauses): Promise<boolean> {
  const build = (pauses: Pauses) => () =>
    makeServer(server =>
      pauses.registerTool(server, 'tool', {}, ({ inputResponses: responses }) =>
        acceptedContent(responses, 'go') === true ? 'done' : inputRequired({ requests: [{ id: 'go' }] }),
      ),
    )
  const { requestState } = await round(await connect('2026', build(one)))
  const answered = round(await connect('2026', build(other)), { inputResponses, requestState })
  return answered.then(
    () => true,
    () => false,
  )
}

describe('the file with the key', () => {
  test('is made for its owner alone, and read by whoever opens it again', async () => {
    const keyFile = join(directory(), 'deep', 'inbox.mcp-key')
    const first = await openPauses({ keyFile })
    expect(statSync(keyFile).mode & 0o777).toBe(0o600)
    expect(readFileSync(keyFile, 'utf8')).toMatch(/^handraise-mcp-key 1 [\w-]{43}\n$/u)
    expect(readdirSync(join(keyFile, '..'))).toEqual(['inbox.mcp-key'])
    expect(await share(first, await openPauses({ keyFile, store: new MemoryStore() }))).toBe(true)
  })

  test('is one, whoever of many is first to make it', async () => {
    const keyFile = join(directory(), 'key')
    const [first, ...others] = await Promise.all(Array.from({ length: 20 }, () => openPauses({ keyFile })))
    for (const other of others) expect(await share(first!, other)).toBe(true)
    expect(readdirSync(join(keyFile, '..'))).toEqual(['key'])
  })

  test('when it is removed, is made anew, and what was sealed before is refused', async () => {
    const keyFile = join(directory(), 'key')
    const before = await openPauses({ keyFile })
    rmSync(keyFile)
    const after = await openPauses({ keyFile })
    expect(await share(before, after)).toBe(false)
  })

  test.each([0o640, 0o604, 0o620, 0o666])('is refused when others may use it (mode %o)', async mode => {
    const keyFile = join(directory(), 'key')
    await openPauses({ keyFile })
    chmodSync(keyFile, mode)
    const error: unknown = await openPauses({ keyFile }).catch((reason: unknown) => reason)
    expect(PauseError.isInstance(error) && error.code).toBe('KEY_EXPOSED')
    expect((error as Error).message).toContain(`mode ${mode.toString(8)}`)
    chmodSync(keyFile, 0o400)
    await openPauses({ keyFile })
  })

  test.each(['', 'secret', 'handraise-mcp-key 1 short', 'handraise-mcp-key 2 ' + 'A'.repeat(43)])(
    'is refused, and left as it is, when it holds %j',
    async text => {
      const keyFile = join(directory(), 'key')
      writeFileSync(keyFile, text, { mode: 0o600 })
      await expect(openPauses({ keyFile })).rejects.toMatchObject({ code: 'KEY_UNREADABLE' })
      expect(readFileSync(keyFile, 'utf8')).toBe(text)
    },
  )

  test('is refused when it is a directory', async () => {
    const keyFile = directory()
    chmodSync(keyFile, 0o700)
    await expect(openPauses({ keyFile })).rejects.toMatchObject({ code: 'KEY_UNREADABLE' })
    expect(existsSync(keyFile)).toBe(true)
  })
})
