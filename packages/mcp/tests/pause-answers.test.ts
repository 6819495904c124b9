import { Inbox, MemoryStore, QUESTIONS, toQuestionsPayload } from '@handraise/inbox'
import {
  acceptedContent,
  answeredBy,
  inputRequired,
  Pauses,
  type FormSchema,
  type InputResponse,
  type InputResponses,
  type PausesOptions,
} from '@handraise/mcp'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import type { EndedPause } from '../src/pause/pause-ending.ts'
import {
  accept,
  connect,
  DECLINE,
  ERAS,
  makeServer,
  round,
  TestClock,
  textOf,
  toolServer,
  type Reply,
} from './pause-scene.ts'

const age = { id: 'age', message: 'How old are you?', schema: { type: 'integer', minimum: 0 } } as const
const name = { id: 'name', message: 'What is your name?', schema: { type: 'string', minLength: 1 } } as const

/** A tool that asks for both at once, and counts what it did with them. */
function both(effects: unknown[] = []) {
  return toolServer(new Pauses(), {}, ({ inputResponses }) => {
    const answers = [acceptedContent(inputResponses, 'age'), acceptedContent(inputResponses, 'name')]
    if (answers.includes(undefined)) return inputRequired({ requests: [age, name] })
    effects.push(answers)
    return JSON.stringify(answers)
  })
}

describe.each(ERAS)('with a client of %s', era => {
  test('what cannot be used is asked for again, with the reason, and the rest is kept', async () => {
    const effects: unknown[] = []
    const replies = [accept(-1), accept('Ann'), accept(3)]
    const { client, shown } = await connect(era, both(effects), { replies })
    expect(textOf(await client.callTool({ name: 'tool', arguments: {} }))).toBe('[3,"Ann"]')
    expect(shown.map(({ message }) => message)).toEqual([
      'How old are you?',
      'What is your name?',
      'The last answer could not be used: expected at least 0, got -1. Please answer again.\n\nHow old are you?',
    ])
    expect(effects).toEqual([[3, 'Ann']])
  })

  test('the third answer that cannot be used ends the call, and nothing is done', async () => {
    const effects: unknown[] = []
    const replies = [accept('1'), accept('Ann'), accept(1.5), { action: 'accept' } as Reply, accept(1)]
    const { client, shown } = await connect(era, both(effects), { replies })
    const result = await client.callTool({ name: 'tool', arguments: {} })
    expect(result.isError).toBe(true)
    expect(result._meta).toMatchObject({ 'handraise/ended': 'unusable' })
    expect(textOf(result)).toBe(
      'No answer that can be used came after 3 attempts: "How old are you?" (an accepted form comes with its content, an object). tool did not go on.',
    )
    expect(shown).toHaveLength(4)
    expect(effects).toEqual([])
  })

  test('a handler’s own schema is told as a reason, and ends the call at the third refusal', async () => {
    const even = z.int().refine(n => n % 2 === 0, 'must be even')
    const build = toolServer(new Pauses(), {}, ({ inputResponses }) => {
      const n = acceptedContent(inputResponses, 'n', even)
      if (n === undefined)
        return inputRequired({ requests: [{ id: 'n', message: 'Which?', schema: { type: 'integer' } }] })
      return `${n}`
    })
    const luck = await connect(era, build, { replies: [accept(1), accept(3), accept(4)] })
    expect(textOf(await luck.client.callTool({ name: 'tool', arguments: {} }))).toBe('4')
    expect(luck.shown[2]?.message).toBe(
      'The last answer could not be used: must be even. Please answer again.\n\nWhich?',
    )
    const none = await connect(era, build, { replies: [accept(1), accept(3), accept(5), accept(4)] })
    const result = await none.client.callTool({ name: 'tool', arguments: {} })
    expect(result.isError).toBe(true)
    expect(textOf(result)).toContain('"Which?" (must be even)')
    expect(none.shown).toHaveLength(3)
  })

  test('three answers that cannot be used are an error of a prompt’s request', async () => {
    const pauses = new Pauses()
    const build = () =>
      makeServer(server =>
        pauses.registerPrompt(server, 'p', {}, ({ inputResponses }) =>
          answeredBy(inputResponses, 'age') === undefined
            ? inputRequired({ requests: [age] })
            : { messages: [] },
        ),
      )
    const { client } = await connect(era, build, { replies: ['a', 'b', 'c'].map(accept) })
    await expect(client.getPrompt({ name: 'p' })).rejects.toMatchObject({
      code: -32602,
      data: { reason: 'unusable' },
    })
  })
})

test('missing answers are asked for again as often as it takes, and those that came are kept', async () => {
  const effects: unknown[] = []
  const person = await connect('2026', both(effects))
  let { requestState } = await round(person)
  for (let again = 0; again < 5; again += 1) {
    const still = await round(person, { requestState })
    expect(Object.keys(still.inputRequests ?? {})).toEqual(['age', 'name'])
    requestState = still.requestState
  }
  const part = await round(person, { requestState, inputResponses: { name: accept('Ann') } })
  expect(Object.keys(part.inputRequests ?? {})).toEqual(['age'])
  expect(part.inputRequests?.['age']?.params.message).toBe('How old are you?')
  // What was answered stays answered, whatever is sent later.
  const inputResponses = { age: accept(3), name: accept('Eve') }
  const done = await round(person, { requestState: part.requestState, inputResponses })
  expect(textOf(done)).toBe('[3,"Ann"]')
  expect(effects).toEqual([[3, 'Ann']])
})

test('answers to what was not asked are not looked at', async () => {
  const person = await connect('2026', both())
  const { requestState } = await round(person)
  const inputResponses = {
    age: accept(3),
    name: accept('Ann'),
    other: accept(true),
    constructor: accept(true),
    toString: DECLINE,
  }
  expect(textOf(await round(person, { requestState, inputResponses }))).toBe('[3,"Ann"]')
})

test.each([
  ['no object', 7],
  ['a list', [accept(3)]],
  ['an action that nobody knows', { action: 'approve', content: { answer: 3 } }],
  ['a wrapped result', { method: 'elicitation/create', result: accept(3) }],
  ['content that is a list', { action: 'accept', content: [3] }],
  ['content without what was asked', { action: 'accept', content: { other: 3 } }],
  ['null', { action: 'accept', content: { answer: null } }],
])('%s is no answer', async (_, sent) => {
  const effects: unknown[] = []
  const person = await connect('2026', both(effects))
  const { requestState } = await round(person)
  const inputResponses = { age: sent, name: accept('Ann') }
  const again = await round(person, { requestState, inputResponses }).catch((error: unknown) => error)
  expect(again).toSatisfy(
    (result: { resultType?: string; code?: number }) =>
      result.resultType === 'input_required' || result.code === -32602,
  )
  expect(effects).toEqual([])
})

test('an answer can come from nowhere but its own entry', async () => {
  const effects: unknown[] = []
  const person = await connect('2026', both(effects))
  const { requestState } = await round(person)
  // Sent as JSON this is a member of that name, of which a careless copy makes a prototype.
  const inputResponses = JSON.parse(
    '{"__proto__": {"age": {"action": "accept", "content": {"answer": 3}}}}',
  ) as object
  const again = await round(person, { requestState, inputResponses })
  expect(Object.keys(again.inputRequests ?? {})).toEqual(['age', 'name'])
  expect(acceptedContent({ q: { action: 'accept', content: 1 } }, 'toString')).toBeUndefined()
  const inherited = Object.create({ q: { action: 'accept', content: 1 } }) as InputResponses
  expect(acceptedContent(inherited, 'q')).toBeUndefined()
  expect(acceptedContent(undefined, 'q')).toBeUndefined()
  expect(answeredBy({}, 'constructor')).toBeUndefined()
  expect(effects).toEqual([])
})

test.each(['decline', 'cancel'] as const)('%s is no answer, whatever comes with it', async action => {
  const effects: unknown[] = []
  const person = await connect('2026', both(effects))
  const { requestState } = await round(person)
  const no = { action, content: { answer: 3 } }
  const ended = await round(person, { requestState, inputResponses: { age: no, name: accept('Ann') } })
  expect(ended).toMatchObject({ isError: true })
  expect(acceptedContent({ age: no as InputResponse }, 'age')).toBeUndefined()
  expect(answeredBy({ age: no as InputResponse }, 'age')).toBe(action)
  expect(effects).toEqual([])
})

const every: FormSchema = {
  type: 'object',
  properties: {
    b: { type: 'boolean', default: true },
    n: { type: 'integer', exclusiveMaximum: 9 },
    x: { type: 'number', minimum: 0, maximum: 1 },
    m: { type: 'array', minItems: 1, maxItems: 2, items: { type: 'string', enum: ['x', 'y', 'z'] } },
    c: { type: 'string', enum: ['red', 'blue'] },
    t: { type: 'string', minLength: 2, maxLength: 3, pattern: '^[a-z😀]+$' },
    mail: { type: 'string', format: 'email' },
    page: { type: 'string', format: 'uri' },
    day: { type: 'string', format: 'date' },
    at: { type: 'string', format: 'date-time' },
  },
  required: ['b'],
}

/** What a form makes of one content: what the handler reads, or the reasons. */
async function filledIn(content: unknown, schema = every): Promise<unknown> {
  const build = toolServer(new Pauses(), {}, ({ inputResponses }) =>
    answeredBy(inputResponses, 'f') === undefined
      ? inputRequired({ requests: [{ id: 'f', message: 'Fill in', schema }] })
      : { read: acceptedContent(inputResponses, 'f') },
  )
  const person = await connect('2026', build)
  const { requestState } = await round(person)
  const result = await round(person, {
    requestState,
    inputResponses: { f: { action: 'accept', content } },
  })
  if (result.resultType !== 'input_required') return (result.structuredContent as { read: unknown }).read
  return /could not be used: (.*)\. Please answer again/u.exec(
    result.inputRequests?.['f']?.params.message ?? '',
  )?.[1]
}

test('a form that was not touched, with its default, is whole', async () => {
  expect(await filledIn({ b: true })).toEqual({ b: true })
})

test('a choice that was cleared is not there', async () => {
  expect(await filledIn({ b: false, c: '', m: ['y'], n: 8, x: 0.5, t: '😀a' })).toEqual({
    b: false,
    m: ['y'],
    n: 8,
    x: 0.5,
    t: '😀a',
  })
})

test('a field is what was sent under its name, and nothing that every object has', async () => {
  const properties = Object.fromEntries(
    ['constructor', 'toString'].map(field => [field, { type: 'string' as const }]),
  )
  const schema: FormSchema = { type: 'object', properties }
  expect(await filledIn({ toString: 'x' }, schema)).toEqual({ toString: 'x' })
})

test.each([
  [{}, 'b: must be answered'],
  [{ b: 'true' }, 'b: expected true or false, got "true"'],
  [{ b: true, n: '42abc' }, 'n: expected a number, got "42abc"'],
  [{ b: true, n: 1.5 }, 'n: expected a whole number, got 1.5'],
  [{ b: true, n: 9 }, 'n: expected less than 9, got 9'],
  [{ b: true, x: 2 }, 'x: expected at most 1, got 2'],
  [{ b: true, m: [] }, 'm: expected at least 1, got 0'],
  [{ b: true, m: ['x', 'y', 'z'] }, 'm: expected at most 2, got 3'],
  [{ b: true, m: ['x', 'x'] }, 'm: a choice was named twice'],
  [{ b: true, m: ['w'] }, 'm: expected choices out of "x", "y", "z", got "w"'],
  [{ b: true, m: 'x' }, 'm: expected a list of choices, got "x"'],
  [{ b: true, c: 'green' }, 'c: expected one of "red", "blue", got "green"'],
  [{ b: true, t: 'a' }, 't: expected at least 2 characters, got 1'],
  [{ b: true, t: 'abcd' }, 't: expected at most 3 characters, got 4'],
  [{ b: true, t: 'AB' }, 't: expected a text like /^[a-z😀]+$/'],
  [{ b: true, t: 7 }, 't: expected a text, got 7'],
  [{ b: true, mail: 'ann' }, 'mail: expected an e-mail address'],
  [{ b: true, page: 'example' }, 'page: expected an address such as https://example.com'],
  [{ b: true, day: '2026-02-30' }, 'day: expected a date such as 2026-07-28'],
  [{ b: true, at: '2026-02-03' }, 'at: expected a date and time such as 2026-07-28T09:30:00Z'],
])('%j is asked for again, since %s', async (content, why) => {
  expect(await filledIn(content)).toBe(why)
})

test('a client never sees what it cannot know', async () => {
  const build = toolServer(new Pauses(), {}, () =>
    inputRequired({
      requests: [
        { id: 'f', schema: every },
        { id: 'u', schema: z.uuid() },
        { id: 'p', schema: z.number().positive() },
      ],
    }),
  )
  const { inputRequests } = await round(await connect('2026', build))
  const sent = JSON.stringify(inputRequests)
  expect(sent).not.toMatch(/pattern|exclusive|uuid|\$schema|additionalProperties/u)
  expect(inputRequests?.['u']?.params.requestedSchema).toMatchObject({
    properties: { answer: { type: 'string' } },
  })
})

test('answers that come first are taken only where a tool says so', async () => {
  const counts = { open: 0, closed: 0 }
  const pauses = new Pauses()
  const build = () =>
    makeServer(server => {
      for (const tool of ['open', 'closed'] as const) {
        const acceptUnasked = tool === 'open'
        pauses.registerTool(server, tool, { acceptUnasked }, ({ inputResponses }) => {
          const who = acceptedContent<string>(inputResponses, 'name')
          if (who === undefined) return inputRequired({ requests: [name] })
          counts[tool] += 1
          return `Hello, ${who}!`
        })
      }
    })
  const person = await connect('2026', build)
  const inputResponses = { name: accept('Ann') }
  expect(textOf(await round(person, { name: 'open', inputResponses }))).toBe('Hello, Ann!')
  expect((await round(person, { name: 'closed', inputResponses })).resultType).toBe('input_required')
  const wrong = await round(person, { name: 'open', inputResponses: { name: accept('') } })
  expect(wrong.resultType).toBe('input_required')
  expect(counts).toEqual({ open: 1, closed: 0 })
})

describe('a pause that ends without a result of its handler', () => {
  /** A tool that asks for a number in every round, having opened a card for it; and what it is told of its ends. */
  function cards(options: PausesOptions = {}, ended: (pause: EndedPause) => unknown = () => {}) {
    const told: EndedPause[] = []
    let opened = 0
    const note = (pause: EndedPause): unknown => {
      told.push(pause)
      return ended(pause)
    }
    const build = toolServer(new Pauses(options), { ended: note }, ({ inputResponses }) => {
      const even = z.int().refine(n => n % 2 === 0, 'must be even')
      const n = acceptedContent(inputResponses, 'age', even)
      return n ?? inputRequired({ requests: [age], requestState: { card: (opened += 1) } })
    })
    return { told, build }
  }

  test.each(ERAS)('by three answers that cannot be used is told once (%s)', async era => {
    const { told, build } = cards()
    const replies = ['a', 'b', 'c'].map(accept)
    const { client } = await connect(era, build, { replies })
    const result = await client.callTool({ name: 'tool', arguments: {} })
    expect(told).toEqual([
      { how: 'unusable', message: textOf(result), requestState: { card: 1 }, next: undefined },
    ])
  })

  test('is told before its client is, and not again when the answer comes again', async () => {
    const order: string[] = []
    const { told, build } = cards({}, async () => {
      await new Promise(setImmediate)
      order.push('ended')
    })
    const ann = await connect('2026', build)
    let { requestState } = await round(ann)
    for (const wrong of ['a', 'b'])
      ({ requestState } = await round(ann, { requestState, inputResponses: { age: accept(wrong) } }))
    const last = { requestState, inputResponses: { age: accept('c') } }
    await Promise.all([round(ann, last), round(ann, last)])
    order.push('answered')
    expect(await round(ann, last)).toMatchObject({ _meta: { 'handraise/ended': 'unusable' } })
    expect(order).toEqual(['ended', 'answered'])
    expect(told).toHaveLength(1)
  })

  test.each(ERAS)('by a no is told with what the handler opened in vain (%s)', async era => {
    const { told, build } = cards()
    const { client } = await connect(era, build, { replies: [DECLINE] })
    await client.callTool({ name: 'tool', arguments: {} })
    expect(told).toMatchObject([{ how: 'declined', requestState: { card: 1 }, next: { card: 2 } }])
  })

  test('by what the handler’s own schema refuses is told', async () => {
    const { told, build } = cards()
    const { client } = await connect('2026', build, { replies: [1, 3, 5].map(accept) })
    await client.callTool({ name: 'tool', arguments: {} })
    expect(told).toMatchObject([{ how: 'unusable', requestState: { card: 3 }, next: { card: 4 } }])
  })

  test('since it expired is told with what is asked instead', async () => {
    const clock = new TestClock()
    const { told, build } = cards({ clock, ttlMs: 1_000 })
    const ann = await connect('2026', build)
    const { requestState } = await round(ann)
    clock.pass(1_000)
    const again = await round(ann, { requestState, inputResponses: { age: accept(2) } })
    expect(again.resultType).toBe('input_required')
    const message = 'The answer to tool came too late to be used.'
    expect(told).toEqual([{ how: 'expired', message, requestState: { card: 1 }, next: { card: 2 } }])
    await round(ann, { requestState: again.requestState, inputResponses: { age: accept(2) } })
    expect(told).toHaveLength(1)
  })

  test('since it expired is told even when the handler then fails', async () => {
    const clock = new TestClock()
    const told: EndedPause[] = []
    const ended = (pause: EndedPause): unknown => told.push(pause)
    let runs = 0
    const build = toolServer(new Pauses({ clock, ttlMs: 1_000 }), { ended }, () => {
      runs += 1
      if (runs > 1) throw new Error('the disk is full')
      return inputRequired({ requests: [age], requestState: 'card' })
    })
    const ann = await connect('2026', build)
    const { requestState } = await round(ann)
    clock.pass(1_000)
    expect(textOf(await round(ann, { requestState }))).toBe('the disk is full')
    expect(told).toMatchObject([{ how: 'expired', requestState: 'card', next: undefined }])
  })

  test('ends as it would when it cannot be told, and that is reported', async () => {
    const reported: unknown[] = []
    const { build } = cards({ report: error => reported.push(error) }, () => {
      throw new Error('no such card')
    })
    const { client } = await connect('2026', build, { replies: ['a', 'b', 'c'].map(accept) })
    const result = await client.callTool({ name: 'tool', arguments: {} })
    expect(result._meta).toMatchObject({ 'handraise/ended': 'unusable' })
    expect(reported).toEqual([new Error('no such card')])
  })

  test('of a prompt or a resource is told too', async () => {
    const told: unknown[] = []
    const ended = ({ how }: EndedPause): unknown => told.push(how)
    const pauses = new Pauses()
    const build = () =>
      makeServer(server => {
        pauses.registerPrompt(server, 'p', { ended }, () => inputRequired({ requests: [age] }))
        pauses.registerResource(server, 'r', 'notes://r', { ended }, () => inputRequired({ requests: [age] }))
      })
    const { client } = await connect('2026', build, { replies: [DECLINE, { action: 'cancel' }] })
    await expect(client.getPrompt({ name: 'p' })).rejects.toMatchObject({ code: -32010 })
    await expect(client.readResource({ uri: 'notes://r' })).rejects.toMatchObject({ code: -32010 })
    expect(told).toEqual(['declined', 'cancelled'])
  })

  test('with a result is told to nobody', async () => {
    const { told, build } = cards()
    const { client } = await connect('2026', build, { replies: [accept(1), accept(2)] })
    await client.callTool({ name: 'tool', arguments: {} })
    expect(told).toEqual([])
  })

  test('leaves no card in the inbox', async () => {
    const inbox = new Inbox({ store: new MemoryStore() })
    onTestFinished(() => inbox.close())
    const questions = [{ id: 'age', question: 'How old are you?' }]
    const ended = ({ message, requestState }: EndedPause): Promise<void> =>
      inbox.withdraw(requestState as string, message)
    const build = toolServer(new Pauses(), { ended }, async ({ inputResponses }) => {
      const n = acceptedContent<number>(inputResponses, 'age')
      if (n !== undefined) return n
      const { request } = await inbox.open({ kind: QUESTIONS, payload: toQuestionsPayload(questions) })
      return inputRequired({ requests: [age], requestState: request.id })
    })
    const { client } = await connect('2026', build, { replies: ['a', 'b', 'c'].map(accept) })
    const result = await client.callTool({ name: 'tool', arguments: {} })
    const { requests } = await inbox.list({ state: 'settled' })
    expect(requests.map(({ settlement }) => settlement)).toMatchObject([
      { outcome: 'aborted', reason: textOf(result) },
    ])
  })
})
