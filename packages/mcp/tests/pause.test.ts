import { acceptedContent, answeredBy, inputRequired, Pauses, type InputRequest } from '@handraise/mcp'
import { inputRequired as officialInputRequired, ResourceTemplate } from '@modelcontextprotocol/server'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  accept,
  CANCEL,
  connect,
  DECLINE,
  ERAS,
  makeServer,
  round,
  textOf,
  toolServer,
  type Reply,
} from './pause-scene.ts'

/** A tool that asks for one thing, and says as JSON what it got. */
function asker(request: InputRequest, pauses = new Pauses()) {
  return toolServer(pauses, {}, ({ inputResponses }) => {
    if (answeredBy(inputResponses, request.id) === undefined) return inputRequired({ requests: [request] })
    return {
      got: acceptedContent(inputResponses, request.id) ?? null,
      by: answeredBy(inputResponses, request.id),
    }
  })
}

describe.each(ERAS)('with a client of %s', era => {
  test.each([
    ['a yes or no', { type: 'boolean' }, true],
    ['a whole number', { type: 'integer', minimum: 1, maximum: 9 }, 4],
    ['a label', { type: 'string', enum: ['red', 'blue'] }, 'blue'],
    ['a titled label', { type: 'string', oneOf: [{ const: 'r', title: 'Red' }] }, 'r'],
    ['labels', { type: 'array', items: { anyOf: [{ const: 'x', title: 'X' }] } }, ['x']],
    ['a text in zod', z.string().min(2), 'ab'],
    ['labels in zod', z.array(z.enum(['x', 'y'])), ['y']],
    ['an e-mail address in zod', z.email(), 'ann@example.com'],
  ] as const)('%s reads back as its bare value', async (_, schema, value) => {
    const build = asker({
      id: 'q',
      message: 'Well?',
      schema: schema as InputRequest extends never ? never : z.ZodType,
    })
    const { client, shown } = await connect(era, build, { replies: [accept(value)] })
    const result = await client.callTool({ name: 'tool', arguments: {} })
    expect(result.structuredContent).toEqual({ got: value, by: 'accept' })
    expect(shown[0]).toMatchObject({ mode: 'form', message: 'Well?', requestedSchema: { type: 'object' } })
  })

  test('a flat form reads back as its content, without what was not asked for', async () => {
    const schema = z
      .object({
        size: z.enum(['S', 'M']).default('M'),
        note: z.string().optional(),
        count: z.int(),
      })
      .describe('an order')
    const reply: Reply = { action: 'accept', content: { size: 'S', count: 2, extra: 'x' } }
    const { client, shown } = await connect(era, asker({ id: 'q', schema }), { replies: [reply] })
    const result = await client.callTool({ name: 'tool', arguments: {} })
    expect(result.structuredContent).toEqual({ got: { size: 'S', count: 2 }, by: 'accept' })
    expect(shown[0]?.requestedSchema).toEqual({
      type: 'object',
      properties: {
        size: { type: 'string', enum: ['S', 'M'], default: 'M' },
        note: { type: 'string' },
        count: { type: 'integer' },
      },
      required: ['count'],
    })
  })

  test('a request without a schema is agreed to, or not', async () => {
    for (const [reply, got] of [
      [{ action: 'accept', content: {} }, true],
      [DECLINE, null],
      [CANCEL, null],
    ] as const) {
      const { client } = await connect(era, asker({ id: 'q', message: 'Go on?' }), { replies: [reply] })
      const result = await client.callTool({ name: 'tool', arguments: {} })
      expect(result.structuredContent).toEqual({ got, by: reply.action })
    }
  })

  test('an address is shown, and agreeing to open it reads as true', async () => {
    const build = asker({ id: 'q', kind: 'url', url: 'https://example.com/pay', message: 'Pay there.' })
    const { client, shown } = await connect(era, build, { replies: [{ action: 'accept' }] })
    const result = await client.callTool({ name: 'tool', arguments: {} })
    expect(result.structuredContent).toEqual({ got: true, by: 'accept' })
    expect(shown).toEqual([
      expect.objectContaining({ mode: 'url', url: 'https://example.com/pay', message: 'Pay there.' }),
    ])
  })

  test('answers of earlier rounds stay, and the state is that of the last round', async () => {
    const states: unknown[] = []
    const build = toolServer(new Pauses(), {}, ({ inputResponses, requestState }) => {
      states.push(requestState)
      const name = acceptedContent<string>(inputResponses, 'name')
      if (name === undefined)
        return inputRequired({
          requests: [{ id: 'name', schema: { type: 'string' } }],
          requestState: { step: 1 },
        })
      const age = acceptedContent<number>(inputResponses, 'age')
      if (age === undefined) return inputRequired({ requests: [{ id: 'age', schema: { type: 'integer' } }] })
      return `${name} is ${age}`
    })
    const { client, shown } = await connect(era, build, { replies: [accept('Ann'), accept(40)] })
    expect(textOf(await client.callTool({ name: 'tool', arguments: {} }))).toBe('Ann is 40')
    expect(shown).toHaveLength(2)
    expect(states).toEqual([undefined, { step: 1 }, undefined])
  })

  test('an id that was answered may be asked again in other words', async () => {
    const build = toolServer(new Pauses(), {}, ({ inputResponses, requestState }) => {
      const word = acceptedContent<string>(inputResponses, 'word')
      const words = [...((requestState as string[] | undefined) ?? []), ...(word === undefined ? [] : [word])]
      if (words.length === 4) return words.join(' ')
      const message = `Word ${words.length + 1}?`
      return inputRequired({
        requests: [{ id: 'word', message, schema: { type: 'string' } }],
        requestState: words,
      })
    })
    const replies = ['a', 'b', 'c', 'd'].map(accept)
    const { client } = await connect(era, build, { replies })
    expect(textOf(await client.callTool({ name: 'tool', arguments: {} }))).toBe('a b c d')
  })

  test('a prompt pauses', async () => {
    const pauses = new Pauses()
    const build = () =>
      makeServer(server =>
        pauses.registerPrompt(
          server,
          'greet',
          { argsSchema: z.object({ who: z.string() }) },
          ({ who }, { inputResponses }) => {
            const tone = acceptedContent<string>(inputResponses, 'tone')
            if (tone === undefined)
              return inputRequired({
                requests: [{ id: 'tone', schema: { type: 'string', enum: ['kind', 'stern'] } }],
              })
            return { messages: [{ role: 'user', content: { type: 'text', text: `Greet ${who}, ${tone}.` } }] }
          },
        ),
      )
    const { client } = await connect(era, build, { replies: [accept('kind')] })
    const { messages } = await client.getPrompt({ name: 'greet', arguments: { who: 'Ann' } })
    expect(messages[0]?.content).toEqual({ type: 'text', text: 'Greet Ann, kind.' })

    const declining = await connect(era, build, { replies: [DECLINE] })
    await expect(
      declining.client.getPrompt({ name: 'greet', arguments: { who: 'Ann' } }),
    ).rejects.toMatchObject({
      code: -32010,
      data: { reason: 'declined' },
    })
  })

  test('a resource pauses, and one of a template', async () => {
    const pauses = new Pauses()
    const read = (uri: URL, responses: Parameters<typeof acceptedContent>[0], what: string) => {
      if (acceptedContent(responses, 'may') !== true)
        return inputRequired({ requests: [{ id: 'may', message: `Show ${what}?` }] })
      return { contents: [{ uri: uri.href, text: what }] }
    }
    const build = () =>
      makeServer(server => {
        pauses.registerResource(server, 'one', 'notes://one', {}, (uri, ctx) =>
          read(uri, ctx.inputResponses, 'one'),
        )
        const template = new ResourceTemplate('notes://any/{id}', { list: undefined })
        pauses.registerResource(server, 'any', template, {}, (uri, { id }, ctx) =>
          read(uri, ctx.inputResponses, String(id)),
        )
      })
    const agreed: Reply = { action: 'accept', content: {} }
    const { client, shown } = await connect(era, build, { replies: [agreed, agreed, CANCEL] })
    expect((await client.readResource({ uri: 'notes://one' })).contents).toMatchObject([{ text: 'one' }])
    expect((await client.readResource({ uri: 'notes://any/7' })).contents).toMatchObject([{ text: '7' }])
    expect(shown.map(({ message }) => message)).toEqual(['Show one?', 'Show 7?'])
    await expect(client.readResource({ uri: 'notes://one' })).rejects.toMatchObject({
      code: -32010,
      data: { reason: 'cancelled' },
    })
  })

  test('a handler may do something about a no by itself', async () => {
    const { client, shown } = await connect(era, asker({ id: 'q', schema: { type: 'boolean' } }), {
      replies: [DECLINE],
    })
    const result = await client.callTool({ name: 'tool', arguments: {} })
    expect(result.isError).toBeUndefined()
    expect(result.structuredContent).toEqual({ got: null, by: 'decline' })
    expect(shown).toHaveLength(1)
  })

  test('whoever said no is not asked for the rest', async () => {
    const seen: unknown[] = []
    const build = toolServer(new Pauses(), {}, ({ inputResponses }) => {
      const ids = ['a', 'b']
      if (ids.every(id => answeredBy(inputResponses, id) === undefined))
        return inputRequired({ requests: ids.map(id => ({ id, schema: { type: 'integer' } })) })
      seen.push(ids.map(id => answeredBy(inputResponses, id)))
      return 'done'
    })
    const { client, shown } = await connect(era, build, { replies: [DECLINE, accept('no number')] })
    expect(textOf(await client.callTool({ name: 'tool', arguments: {} }))).toBe('done')
    expect(shown).toHaveLength(2)
    expect(seen).toEqual([['decline', undefined]])
  })

  test('a handler of the official pattern is told to use ours', async () => {
    const build = toolServer(new Pauses(), {}, () =>
      officialInputRequired({ inputRequests: { roots: officialInputRequired.listRoots() } }),
    )
    const { client } = await connect(era, build)
    const result = await client.callTool({ name: 'tool', arguments: {} })
    expect(result.isError).toBe(true)
    expect(textOf(result)).toContain('inputRequired() of @handraise/mcp')
  })

  test.each([
    ['no request', { requests: [] }, 'requests: asks for nothing'],
    ['a blank id', { requests: [{ id: ' ' }] }, 'requests[0].id: must not be blank'],
    [
      'an id twice',
      { requests: [{ id: 'a' }, { id: 'a' }] },
      'requests[1].id: "a" is the id of two requests',
    ],
    ['an id of every object', { requests: [{ id: '__proto__' }] }, 'requests[0].id: cannot be carried'],
    [
      'a form within a form',
      { requests: [{ id: 'a', schema: { type: 'object', properties: { b: { type: 'object' } } } }] },
      'requests[0].schema.properties.b: a form holds strings',
    ],
    [
      'a keyword that nobody knows',
      { requests: [{ id: 'a', schema: { type: 'string', minimum: 1 } }] },
      'requests[0].schema: Unrecognized key: "minimum"',
    ],
    [
      'a required field that is none',
      { requests: [{ id: 'a', schema: { type: 'object', properties: {}, required: ['b'] } }] },
      'names "b", which is no field',
    ],
    [
      'a password',
      {
        requests: [{ id: 'a', schema: { type: 'object', properties: { userPassword: { type: 'string' } } } }],
      },
      'requests[0].schema.properties.userPassword: asks for a secret',
    ],
    ['a bare secret', { requests: [{ id: 'api_key', schema: { type: 'string' } }] }, 'asks for a secret'],
    [
      'an address of a script',
      { requests: [{ id: 'a', kind: 'url', url: 'javascript:alert(1)' }] },
      'requests[0].url: must be an address that begins with https',
    ],
    [
      'a refinement in zod',
      { requests: [{ id: 'a', schema: z.object({ n: z.number().refine(n => n % 2 === 0) }) }] },
      'requests[0].schema.n: holds a refinement, which cannot wait with the question',
    ],
    [
      'a transform in zod',
      { requests: [{ id: 'a', schema: z.string().trim() }] },
      'requests[0].schema: holds a check (overwrite)',
    ],
    [
      'a state that is no data',
      { requests: [{ id: 'a' }], requestState: () => 1 },
      'requestState: is no plain data',
    ],
  ])('%s cannot be asked for', async (_, spec, told) => {
    const { client, shown } = await connect(
      era,
      toolServer(new Pauses(), {}, () => inputRequired(spec as Parameters<typeof inputRequired>[0])),
    )
    const result = await client.callTool({ name: 'tool', arguments: {} })
    expect(result.isError).toBe(true)
    expect(textOf(result)).toContain('the input cannot be asked for: ')
    expect(textOf(result)).toContain(told)
    expect(shown).toEqual([])
  })

  test('more state than a request can carry is told at once', async () => {
    const build = toolServer(new Pauses(), {}, () =>
      inputRequired({ requests: [{ id: 'a' }], requestState: 'x'.repeat(400_000) }),
    )
    const { client, shown } = await connect(era, build)
    const result = await client.callTool({ name: 'tool', arguments: {} })
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: 'the state is too large to be carried' }],
    })
    expect(shown).toEqual([])
  })

  test('a choice about a secret is no secret', async () => {
    const schema = { type: 'boolean', title: 'Rotate the API key?' } as const
    const { client } = await connect(era, asker({ id: 'secret', schema }), { replies: [accept(true)] })
    expect((await client.callTool({ name: 'tool', arguments: {} })).structuredContent).toMatchObject({
      got: true,
    })
  })

  test('what a handler throws is told as the official server tells it', async () => {
    const build = toolServer(new Pauses(), {}, ({ inputResponses }) => {
      if (acceptedContent(inputResponses, 'go') === undefined)
        return inputRequired({ requests: [{ id: 'go' }] })
      throw new Error('the disk is full')
    })
    const { client } = await connect(era, build, { replies: [{ action: 'accept', content: {} }] })
    expect(await client.callTool({ name: 'tool', arguments: {} })).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: 'the disk is full' }],
    })
  })

  test('a client learns what became of its answer in the words of MCP', async () => {
    const build = toolServer(
      new Pauses(),
      { outputSchema: z.object({ n: z.number() }) },
      ({ inputResponses }) => {
        const n = acceptedContent<number>(inputResponses, 'n')
        return n === undefined
          ? inputRequired({ requests: [{ id: 'n', schema: { type: 'number' } }] })
          : { n }
      },
    )
    const { client } = await connect(era, build, { replies: [accept(1.5)] })
    const result = await client.callTool({ name: 'tool', arguments: {} })
    expect(result).toMatchObject({
      content: [{ type: 'text', text: '{"n":1.5}' }],
      structuredContent: { n: 1.5 },
    })
  })
})

test('a client that cannot be asked is refused with the code of MCP, and nothing is done', async () => {
  const effects: string[] = []
  const build = toolServer(new Pauses(), {}, ({ inputResponses }) => {
    if (acceptedContent(inputResponses, 'go') !== true) return inputRequired({ requests: [{ id: 'go' }] })
    effects.push('done')
    return 'done'
  })
  const modern = await connect('2026', build, { capabilities: {} })
  await expect(modern.client.callTool({ name: 'tool', arguments: {} })).rejects.toMatchObject({
    code: -32021,
  })
  const legacy = await connect('2025', build, { capabilities: {} })
  const result = await legacy.client.callTool({ name: 'tool', arguments: {} })
  expect(result.isError).toBe(true)
  expect(textOf(result)).toContain('did not declare the required capability')
  expect(effects).toEqual([])
})

test('a handler knows what its client can do', async () => {
  const build = toolServer(new Pauses(), {}, ({ clientCapabilities }) => ({ ...clientCapabilities }))
  for (const era of ERAS) {
    const { client } = await connect(era, build, { capabilities: { elicitation: { form: {} } } })
    const result = await client.callTool({ name: 'tool', arguments: {} })
    expect(result.structuredContent).toMatchObject({ elicitation: { form: {} } })
  }
})

test('what a handler returns becomes a result', async () => {
  for (const [returned, expected] of [
    ['text', { content: [{ type: 'text', text: 'text' }] }],
    [undefined, { content: [] }],
    [[1, 2], { content: [{ type: 'text', text: '[1,2]' }] }],
    [
      { content: [{ type: 'text', text: 'mine' }], isError: true },
      { content: [{ type: 'text', text: 'mine' }], isError: true },
    ],
    [{ content: 'word' }, { structuredContent: { content: 'word' } }],
  ] as const) {
    const { client } = await connect(
      '2026',
      toolServer(new Pauses(), {}, () => returned),
    )
    expect(await client.callTool({ name: 'tool', arguments: {} })).toMatchObject(expected)
  }
})

test('a store that lasts wants a key that lasts', async () => {
  const { MemoryStore } = await import('@handraise/inbox')
  expect(() => new Pauses({ store: new MemoryStore() })).toThrow('a store needs a key that lasts as long')
  expect(() => new Pauses({ key: new Uint8Array(16) })).toThrow('at least 32 bytes')
  expect(() => new Pauses({ ttlMs: 0 })).toThrow('ttlMs')
})

test('the client itself can be asked for its roots', async () => {
  const build = toolServer(new Pauses(), {}, ({ inputResponses }) =>
    Object.hasOwn(inputResponses, 'roots')
      ? { ...inputResponses['roots'] }
      : inputRequired({ requests: [{ id: 'roots', method: 'roots/list' }] }),
  )
  const person = await connect('2026', build)
  const { inputRequests, requestState } = await round(person)
  expect(inputRequests).toMatchObject({ roots: { method: 'roots/list' } })
  const bad = await round(person, { inputResponses: { roots: { roots: [{ uri: 7 }] } }, requestState })
  expect(bad.resultType).toBe('input_required')
  const roots = [{ uri: 'file:///srv/a', name: 'a' }]
  const done = await round(person, { inputResponses: { roots: { roots } }, requestState: bad.requestState })
  expect(done.structuredContent).toEqual({ result: { roots } })
})
