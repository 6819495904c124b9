import { MemoryMedium, MemoryStore, type InboxStore, type RecordWrite } from '@handraise/inbox'
import { acceptedContent, inputRequired, Pauses, type PausesOptions, type ToolConfig } from '@handraise/mcp'
import { ProtocolError } from '@modelcontextprotocol/server'
import { describe, expect, test, vi } from 'vitest'
import {
  accept,
  connect,
  DECLINE,
  ERAS,
  makeServer,
  round,
  TestClock,
  textOf,
  type Person,
} from './pause-scene.ts'

const key = new Uint8Array(32).fill(1)
const yes = { go: accept(true) }

interface Scene {
  readonly effects: string[]
  readonly build: () => ReturnType<typeof makeServer>
  readonly person: () => Promise<Person>
}

/** A server whose one tool has an effect once a person agreed, and waits within it for `during`. */
function scene(
  { ended, ...options }: PausesOptions & Pick<ToolConfig<undefined>, 'ended'> = {},
  during: () => Promise<unknown> = async () => {},
): Scene {
  const effects: string[] = []
  const pauses = new Pauses(options)
  const build = () =>
    makeServer(server =>
      pauses.registerTool(server, 'tool', { ended }, async ({ inputResponses }) => {
        if (acceptedContent(inputResponses, 'go') !== true)
          return inputRequired({ requests: [{ id: 'go', message: 'Go?', schema: { type: 'boolean' } }] })
        effects.push(`effect ${effects.length + 1}`)
        await during()
        return effects.at(-1)
      }),
    )
  return { effects, build, person: () => connect('2026', build) }
}

function gate(): { readonly wait: () => Promise<void>; open(): void } {
  let open = (): void => {}
  const opened = new Promise<void>(resolve => {
    open = resolve
  })
  return { wait: () => opened, open: () => open() }
}

test('a repeated answer gets what the first one came to, and does nothing', async () => {
  const { effects, person } = scene()
  const ann = await person()
  const { requestState } = await round(ann)
  for (let repeat = 0; repeat < 3; repeat += 1)
    expect(textOf(await round(ann, { inputResponses: yes, requestState }))).toBe('effect 1')
  // Another answer, or none, is too late: the first one stands.
  for (const inputResponses of [{ go: DECLINE }, { go: accept('x') }, {}, undefined])
    expect(textOf(await round(ann, { inputResponses, requestState }))).toBe('effect 1')
  expect(effects).toEqual(['effect 1'])
})

test('a no stands, whatever is answered after it', async () => {
  const { effects, person } = scene()
  const ann = await person()
  const { requestState } = await round(ann)
  const no = await round(ann, { inputResponses: { go: DECLINE }, requestState })
  expect(no.isError).toBe(true)
  expect(await round(ann, { inputResponses: yes, requestState })).toEqual(no)
  expect(effects).toEqual([])
})

test('of fifty answers at the same time one has an effect, and all get what it came to', async () => {
  const { wait, open } = gate()
  // Within one process there is nothing to be patient about.
  const { effects, person } = scene({ patienceMs: 0 }, wait)
  const clients = await Promise.all([person(), person()])
  const { requestState } = await round(clients[0])
  const answers = Array.from({ length: 50 }, (_, index) =>
    round(clients[index % 2]!, { inputResponses: yes, requestState }),
  )
  await vi.waitFor(() => expect(effects).toHaveLength(1))
  open()
  expect(new Set((await Promise.all(answers)).map(textOf))).toEqual(new Set(['effect 1']))
  expect(effects).toEqual(['effect 1'])
})

test('of answers to two processes on one store one has an effect, and both get what it came to', async () => {
  const medium = new MemoryMedium()
  const clock = new TestClock()
  const { wait, open } = gate()
  const one = scene({ store: new MemoryStore(medium), key, clock }, wait)
  const other = scene({ store: new MemoryStore(medium), key, clock })
  const { requestState } = await round(await one.person())
  const first = round(await one.person(), { inputResponses: yes, requestState })
  await vi.waitFor(() => expect(one.effects).toHaveLength(1))
  const second = round(await other.person(), { inputResponses: yes, requestState })
  await vi.waitFor(() => expect(clock.waiting).toBe(1))
  open()
  expect(textOf(await first)).toBe('effect 1')
  clock.pass(50)
  expect(textOf(await second)).toBe('effect 1')
  expect(other.effects).toEqual([])
  expect(clock.waiting).toBe(0)
})

test('of two processes that both find a pause open the first to claim it has the effect', async () => {
  const medium = new MemoryMedium()
  const { wait, open } = gate()
  const slow = new MemoryStore(medium)
  const record = slow.record.bind(slow)
  let looked = false
  slow.record = async (namespace, id) => {
    const found = await record(namespace, id)
    if (looked || namespace !== 'mcp-pauses') return found
    looked = true
    await wait()
    return found
  }
  const one = scene({ store: slow, key })
  const other = scene({ store: new MemoryStore(medium), key })
  const { requestState } = await round(await one.person())
  const late = round(await one.person(), { inputResponses: yes, requestState })
  await vi.waitFor(() => expect(looked).toBe(true))
  expect(textOf(await round(await other.person(), { inputResponses: yes, requestState }))).toBe('effect 1')
  open()
  expect(textOf(await late)).toBe('effect 1')
  expect(one.effects).toEqual([])
})

test('whoever waits for another process is told after a while that nobody knows, and later gets it', async () => {
  const medium = new MemoryMedium()
  const clock = new TestClock()
  const { wait, open } = gate()
  const one = scene({ store: new MemoryStore(medium), key, clock }, wait)
  const other = scene({ store: new MemoryStore(medium), key, clock, patienceMs: 1_000 })
  const { requestState } = await round(await one.person())
  const first = round(await one.person(), { inputResponses: yes, requestState })
  await vi.waitFor(() => expect(one.effects).toHaveLength(1))
  const eve = await other.person()
  const second = round(eve, { inputResponses: yes, requestState })
  await vi.waitFor(() => expect(clock.waiting).toBe(1))
  for (let poll = 0; poll < 20; poll += 1) {
    await vi.waitFor(() => expect(clock.waiting).toBe(1))
    clock.pass(50)
  }
  const unknown = await second
  expect(unknown).toMatchObject({ isError: true, _meta: { 'handraise/ended': 'started' } })
  expect(textOf(unknown)).toBe(
    'tool was answered once and has been started before; whether it ended is not known here. It was not done again: look first, then call it anew.',
  )
  open()
  await first
  expect(textOf(await round(eve, { inputResponses: yes, requestState }))).toBe('effect 1')
  expect(other.effects).toEqual([])
})

test('whoever hangs up while waiting for another process leaves nothing behind', async () => {
  const medium = new MemoryMedium()
  const clock = new TestClock()
  const { wait, open } = gate()
  const one = scene({ store: new MemoryStore(medium), key, clock }, wait)
  const other = scene({ store: new MemoryStore(medium), key, clock })
  const { requestState } = await round(await one.person())
  const first = round(await one.person(), { inputResponses: yes, requestState })
  await vi.waitFor(() => expect(one.effects).toHaveLength(1))
  const { client } = await other.person()
  const hangUp = new AbortController()
  const params = { name: 'tool', arguments: {}, inputResponses: yes, requestState }
  const second = client.callTool(params, { signal: hangUp.signal })
  await vi.waitFor(() => expect(clock.waiting).toBe(1))
  hangUp.abort()
  await expect(second).rejects.toThrow('aborted')
  await vi.waitFor(() => expect(clock.waiting).toBe(0))
  open()
  expect(textOf(await first)).toBe('effect 1')
})

test('an answer whose client hangs up has its effect once, and its outcome waits for whoever asks again', async () => {
  const { wait, open } = gate()
  const { effects, person } = scene({}, wait)
  const ann = await person()
  const { requestState } = await round(ann)
  const hangUp = new AbortController()
  const params = { name: 'tool', arguments: {}, inputResponses: yes, requestState }
  const lost = ann.client.callTool(params, { signal: hangUp.signal })
  await vi.waitFor(() => expect(effects).toHaveLength(1))
  hangUp.abort()
  await expect(lost).rejects.toThrow('aborted')
  const again = round(ann, { inputResponses: yes, requestState })
  open()
  expect(textOf(await again)).toBe('effect 1')
  expect(effects).toEqual(['effect 1'])
})

/** A store that stops at the writes of a namespace. */
function stoppingAt(namespace: string, medium: MemoryMedium): InboxStore {
  const store = new MemoryStore(medium)
  const writeRecords = store.writeRecords.bind(store)
  store.writeRecords = async (writes: readonly RecordWrite[]) => {
    if (writes.some(write => write.namespace === namespace && write.value !== null))
      throw new Error('the disk is full')
    return await writeRecords(writes)
  }
  return store
}

test('nothing is done when the claim cannot be kept', async () => {
  const medium = new MemoryMedium()
  const { effects, person } = scene({ store: stoppingAt('mcp-pauses', medium), key })
  const ann = await person()
  const { requestState } = await round(ann)
  const failed = await round(ann, { inputResponses: yes, requestState })
  expect(failed).toMatchObject({ isError: true, content: [{ text: 'the disk is full' }] })
  expect(effects).toEqual([])
  // As soon as it can, the same answer goes on.
  const mended = scene({ store: new MemoryStore(medium), key })
  expect(textOf(await round(await mended.person(), { inputResponses: yes, requestState }))).toBe('effect 1')
})

test('what was done is told even when it cannot be kept, and is not done again', async () => {
  const medium = new MemoryMedium()
  const reported: unknown[] = []
  const { effects, person } = scene({
    store: stoppingAt('mcp-pause-outcomes', medium),
    key,
    patienceMs: 0,
    report: error => reported.push(error),
  })
  const ann = await person()
  const { requestState } = await round(ann)
  expect(textOf(await round(ann, { inputResponses: yes, requestState }))).toBe('effect 1')
  expect(reported).toEqual([new Error('the disk is full')])
  // This process knows it still; another one finds nothing.
  expect(textOf(await round(ann, { inputResponses: yes, requestState }))).toBe('effect 1')
  const other = scene({ store: new MemoryStore(medium), key, patienceMs: 0 })
  const again = await round(await other.person(), { inputResponses: yes, requestState })
  expect(other.effects).toEqual([])
  expect(textOf(again)).toContain('has been started before; whether it ended is not known here')
  expect(effects).toEqual(['effect 1'])
})

test('a handler is told of what was started and never ended once the process that did is gone', async () => {
  const medium = new MemoryMedium()
  const store = new MemoryStore(medium)
  const told: string[] = []
  const options = { key, patienceMs: 0, ended: ({ how }: { how: string }) => told.push(how) }
  const one = scene({ ...options, store: stoppingAt('mcp-pause-outcomes', medium) })
  const ann = await one.person()
  const { requestState } = await round(ann)
  await round(ann, { inputResponses: yes, requestState })
  const other = await scene({ ...options, store }).person()
  const started = { _meta: { 'handraise/ended': 'started' } }
  expect(await round(other, { inputResponses: yes, requestState })).toMatchObject(started)
  expect(told).toEqual([])
  for (const { key: pause, value } of await store.records('mcp-pauses')) {
    const claim = value as { by: object }
    const gone = { ...claim, by: { ...claim.by, start: 'before' } }
    await store.writeRecords([{ namespace: 'mcp-pauses', key: pause, value: gone }])
  }
  expect(await round(other, { inputResponses: yes, requestState })).toMatchObject(started)
  expect(told).toEqual(['started'])
})

test('a repeated answer gets the error that the first one got', async () => {
  let runs = 0
  const pauses = new Pauses()
  const build = () =>
    makeServer(server => {
      pauses.registerTool(server, 'tool', {}, ({ inputResponses }) => {
        if (acceptedContent(inputResponses, 'go') !== true) return inputRequired({ requests: [{ id: 'go' }] })
        runs += 1
        throw new Error(`run ${runs}`)
      })
      pauses.registerPrompt(server, 'prompt', {}, ({ inputResponses }) => {
        if (acceptedContent(inputResponses, 'go') !== true) return inputRequired({ requests: [{ id: 'go' }] })
        runs += 1
        throw new ProtocolError(-32007, `run ${runs}`, { part: 1 })
      })
    })
  const ann = await connect('2026', build)
  const inputResponses = { go: { action: 'accept' } }
  const { requestState } = await round(ann)
  for (let repeat = 0; repeat < 2; repeat += 1)
    expect(await round(ann, { inputResponses, requestState })).toMatchObject({
      isError: true,
      content: [{ text: 'run 1' }],
    })
  const options = { allowInputRequired: true }
  const asked = (await ann.client.getPrompt({ name: 'prompt' }, options)) as { requestState?: string }
  const answered = { name: 'prompt', inputResponses, requestState: asked.requestState }
  for (let repeat = 0; repeat < 2; repeat += 1)
    await expect(ann.client.getPrompt(answered as never, options)).rejects.toMatchObject({
      code: -32007,
      data: { part: 1 },
    })
  expect(runs).toBe(2)
})

describe('a call of several rounds', () => {
  function steps(effects: unknown[]) {
    const pauses = new Pauses()
    return () =>
      makeServer(server =>
        pauses.registerTool(server, 'tool', {}, ({ inputResponses }) => {
          const answers = ['one', 'two'].map(id => acceptedContent<number>(inputResponses, id))
          const next = ['one', 'two'][answers.indexOf(undefined)]
          if (next !== undefined)
            return inputRequired({ requests: [{ id: next, schema: { type: 'integer' } }] })
          effects.push(answers)
          return JSON.stringify(answers)
        }),
      )
  }

  test('has one way on from each: a repeated answer gets the same next question', async () => {
    const effects: unknown[] = []
    const ann = await connect('2026', steps(effects))
    const first = await round(ann)
    const one = { inputResponses: { one: accept(1) }, requestState: first.requestState }
    const second = await round(ann, one)
    expect(await round(ann, one)).toEqual(second)
    // Another answer to the first question cannot be slipped in any more.
    const other = { inputResponses: { one: accept(7) }, requestState: first.requestState }
    expect(await round(ann, other)).toEqual(second)
    const two = { inputResponses: { two: accept(2) }, requestState: second.requestState }
    expect(textOf(await round(ann, two))).toBe('[1,2]')
    expect(textOf(await round(ann, two))).toBe('[1,2]')
    expect(await round(ann, one)).toEqual(second)
    expect(effects).toEqual([[1, 2]])
  })
})

test('the states of one pause, whole or in part, are redeemed once between them', async () => {
  const effects: unknown[] = []
  const pauses = new Pauses()
  const build = () =>
    makeServer(server =>
      pauses.registerTool(server, 'tool', {}, ({ inputResponses }) => {
        const answers = ['a', 'b'].map(id => acceptedContent<number>(inputResponses, id))
        if (answers.includes(undefined))
          return inputRequired({ requests: ['a', 'b'].map(id => ({ id, schema: { type: 'integer' } })) })
        effects.push(answers)
        return JSON.stringify(answers)
      }),
    )
  const ann = await connect('2026', build)
  const whole = await round(ann)
  const part = await round(ann, { inputResponses: { a: accept(1) }, requestState: whole.requestState })
  const wrong = await round(ann, { inputResponses: { a: accept('x') }, requestState: whole.requestState })
  const all = { inputResponses: { a: accept(3), b: accept(4) }, requestState: whole.requestState }
  expect(textOf(await round(ann, all))).toBe('[3,4]')
  for (const { requestState } of [whole, part, wrong])
    expect(textOf(await round(ann, { inputResponses: { a: accept(5), b: accept(6) }, requestState }))).toBe(
      '[3,4]',
    )
  expect(effects).toEqual([[3, 4]])
})

test('answers that cannot be used are counted along each way, and end it for all', async () => {
  const { effects, person } = scene()
  const ann = await person()
  let { requestState } = await round(ann)
  const first = requestState
  for (const again of [1, 2]) {
    const next = await round(ann, { inputResponses: { go: accept(again) }, requestState })
    expect(next.resultType).toBe('input_required')
    requestState = next.requestState
  }
  const ended = await round(ann, { inputResponses: { go: accept(3) }, requestState })
  expect(ended).toMatchObject({ isError: true, _meta: { 'handraise/ended': 'unusable' } })
  expect(await round(ann, { inputResponses: yes, requestState: first })).toEqual(ended)
  expect(effects).toEqual([])
})

test('what came of an answer is kept until its pause would have expired, and a little longer', async () => {
  const store = new MemoryStore()
  const clock = new TestClock()
  const { effects, person } = scene({ store, key, clock, ttlMs: 60_000 })
  const ann = await person()
  const kept = async () => [
    (await store.records('mcp-pauses')).length,
    (await store.records('mcp-pause-outcomes')).length,
  ]
  const { requestState } = await round(ann)
  await round(ann, { inputResponses: yes, requestState })
  clock.pass(60_001)
  expect(textOf(await round(ann, { inputResponses: yes, requestState }))).toBe('effect 1')
  expect(await kept()).toEqual([1, 1])
  clock.pass(2 * 60 * 60 * 1_000)
  const looks = vi.spyOn(store, 'records')
  for (let call = 0; call < 3; call += 1) {
    const next = await round(ann)
    await round(ann, { inputResponses: yes, requestState: next.requestState })
  }
  expect(looks).toHaveBeenCalledTimes(1)
  expect(await kept()).toEqual([3, 3])
  // Of what is forgotten nothing can be redeemed: it expired, and is asked again.
  expect((await round(ann, { inputResponses: yes, requestState })).resultType).toBe('input_required')
  expect(effects).toHaveLength(4)
})

test('a clock that jumps ahead and is set back brings no pause back', async () => {
  const store = new MemoryStore()
  const clock = new TestClock()
  const { effects, person } = scene({ store, key, clock, ttlMs: 60_000 })
  const ann = await person()
  const { requestState } = await round(ann)
  await round(ann, { inputResponses: yes, requestState })
  const jump = 24 * 60 * 60 * 1_000
  clock.pass(jump)
  const next = await round(ann)
  await round(ann, { inputResponses: yes, requestState: next.requestState })
  await vi.waitFor(async () => expect(await store.records('mcp-pauses')).toHaveLength(1))
  clock.pass(-jump)
  expect((await round(ann, { inputResponses: yes, requestState })).resultType).toBe('input_required')
  expect(effects).toEqual(['effect 1', 'effect 2'])
  // What is asked from now on can be answered all the same.
  const after = await round(ann)
  const answer = { inputResponses: yes, requestState: after.requestState }
  expect(textOf(await round(ann, answer))).toBe('effect 3')
})

test('nobody waits for what is forgotten', async () => {
  const store = new MemoryStore()
  store.records = () => new Promise(() => {})
  const { person } = scene({ store, key })
  const ann = await person()
  const { requestState } = await round(ann)
  expect(textOf(await round(ann, { inputResponses: yes, requestState }))).toBe('effect 1')
})

test('whoever waits for another process is told in the end, also on a clock that was set back', async () => {
  const medium = new MemoryMedium()
  const clock = new TestClock()
  const { wait, open } = gate()
  const one = scene({ store: new MemoryStore(medium), key, clock }, wait)
  const other = scene({ store: new MemoryStore(medium), key, clock, patienceMs: 100 })
  const { requestState } = await round(await one.person())
  const first = round(await one.person(), { inputResponses: yes, requestState })
  await vi.waitFor(() => expect(one.effects).toHaveLength(1))
  let ended = false
  const second = round(await other.person(), { inputResponses: yes, requestState }).finally(() => {
    ended = true
  })
  await vi.waitFor(() => expect(clock.waiting).toBe(1))
  vi.spyOn(clock, 'now').mockReturnValue(0)
  for (let poll = 0; poll < 2; poll += 1) {
    await vi.waitFor(() => expect(clock.waiting).toBe(1))
    clock.pass(50)
  }
  await vi.waitFor(() => expect(ended).toBe(true))
  expect(await second).toMatchObject({ _meta: { 'handraise/ended': 'started' } })
  open()
  await first
})

test.each([Infinity, Number.NaN, 0, -1])('a pause does not take %s ms', ttlMs => {
  expect(() => new Pauses({ ttlMs })).toThrow('ttlMs must be finite and more than 0')
})

test.each(ERAS)('what is asked and never answered leaves nothing in the store (%s)', async era => {
  const store = new MemoryStore()
  const { build } = scene({ store, key })
  const ann = await connect(era, build)
  if (era === '2026') await round(ann)
  else await ann.client.callTool({ name: 'tool', arguments: {} })
  expect(await store.records('mcp-pauses')).toEqual([])
})
