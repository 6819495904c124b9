import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { acceptedContent, inputRequired, Pauses, type InputRequest } from '@handraise/mcp'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { accept, connect, round, toolServer } from './pause-scene.ts'

const ask = (schema: unknown, id = 'q') => inputRequired({ requests: [{ id, schema } as InputRequest] })

const ok = z.string().refine(text => text === 'ok')
test.each<[string, z.ZodType]>([
  ['a refinement of the members of a list', z.array(z.enum(['a', 'b']).refine(label => label !== 'b'))],
  ['prefault', ok.prefault('ok')],
  ['catch', ok.catch('ok')],
  ['nonoptional', ok.optional().nonoptional()],
  ['readonly', ok.readonly()],
  ['lazy', z.lazy(() => ok)],
  ['union', z.union([ok, z.string()])],
  ['jwt', z.jwt()],
  ['ipv6', z.ipv6()],
  ['a protocol', z.url({ protocol: /^https$/u })],
  ['a host name', z.url({ hostname: /^good\.example$/u })],
  ['a normalised address', z.url({ normalize: true })],
  ['a flag', z.string().regex(/^ok$/iu)],
  ['a refinement within a form', z.object({ a: ok.prefault('ok') })],
])('what zod would check and a JSON schema does not is refused: %s', (_, schema) => {
  expect(() => ask(schema)).toThrow('give it to acceptedContent() instead')
})

test.each<[string, z.ZodType]>([
  ['uuid', z.uuid()],
  ['e-mail of a pattern', z.email({ pattern: /@corp\.example$/u })],
  ['telephone number', z.e164()],
  ['time', z.iso.time()],
  ['address', z.url()],
  ['labels', z.array(z.enum(['a', 'b'])).min(1)],
  ['default', z.boolean().default(false)],
])('what a JSON schema says as well is asked: %s', (_, schema) => {
  expect(ask(schema).asked).toHaveLength(1)
})

test('a whole number is one that every reader reads as the same', async () => {
  const build = toolServer(new Pauses(), {}, ({ inputResponses }) => {
    const n = acceptedContent<number>(inputResponses, 'q')
    return n ?? ask(z.int())
  })
  const ann = await connect('2026', build)
  const { requestState } = await round(ann)
  const again = await round(ann, { inputResponses: { q: accept(1e300) }, requestState })
  expect(again.inputRequests?.q?.params.message).toContain('expected a whole number within')
})

describe('the length of a text, whoever says it, counts characters as its client does', () => {
  const emoji = (count: number): string => '😀'.repeat(count)

  test.each([
    ['a JSON schema', { type: 'string', minLength: 2, maxLength: 3 }],
    ['zod', z.string().min(2).max(3)],
    ['zod within a form', z.object({ answer: z.string().min(2).max(3) })],
  ])('said by %s', async (_, schema) => {
    const build = toolServer(new Pauses(), {}, ({ inputResponses }) => {
      const got = acceptedContent(inputResponses, 'q')
      return got === undefined ? ask(schema) : { got }
    })
    const ann = await connect('2026', build)
    const { inputRequests, requestState } = await round(ann)
    const told = { properties: { answer: { type: 'string', minLength: 2, maxLength: 3 } } }
    expect(inputRequests?.q?.params.requestedSchema).toMatchObject(told)
    const sent = async (count: number) => {
      const inputResponses = { q: accept(emoji(count)) }
      return (await round(ann, { inputResponses, requestState })).inputRequests?.q?.params.message
    }
    expect(await sent(1)).toContain('expected at least 2 characters, got 1')
    expect(await sent(4)).toContain('expected at most 3 characters, got 4')
    expect(await sent(3)).toBeUndefined()
  })

  test.each(['', 'a', 'ab', emoji(1), emoji(2), emoji(3), emoji(4), 'e\u0301', '👩‍👧', '\ud83d', 'a\ude00b'])(
    'and zod says the same of %j',
    async text => {
      const schema = z.string().min(2).max(3)
      const build = toolServer(new Pauses(), {}, ({ inputResponses }) => {
        const got = acceptedContent(inputResponses, 'q')
        return got === undefined ? ask(schema) : { got }
      })
      const ann = await connect('2026', build)
      const { requestState } = await round(ann)
      const result = await round(ann, { inputResponses: { q: accept(text) }, requestState })
      expect(result.resultType !== 'input_required').toBe(schema.safeParse(text).success)
    },
  )

  test('and a handler that counts otherwise has the last word, and tells why', async () => {
    const schema = z.string().refine(text => text.length <= 3, 'at most 3 UTF-16 units')
    const build = toolServer(new Pauses(), {}, ({ inputResponses }) => {
      const got = acceptedContent(inputResponses, 'q', schema)
      return got === undefined ? ask(z.string().max(3)) : { got }
    })
    const ann = await connect('2026', build)
    const { requestState } = await round(ann)
    const again = await round(ann, { inputResponses: { q: accept(emoji(2)) }, requestState })
    expect(again.inputRequests?.q?.params.message).toContain('could not be used: at most 3 UTF-16 units')
    const done = await round(ann, { inputResponses: { q: accept('😀!') }, requestState: again.requestState })
    expect(done.structuredContent).toEqual({ got: '😀!' })
  })

  test('in a default too', () => {
    expect(ask({ type: 'string', maxLength: 2, default: emoji(2) }).asked).toHaveLength(1)
    expect(() => ask({ type: 'string', minLength: 2, default: emoji(1) })).toThrow(
      'default that is no answer',
    )
  })
})

test('what is no plain data is named by its place', () => {
  const params = { size: 1n }
  expect(() => inputRequired({ requests: [{ id: 'r', method: 'roots/list', params }] })).toThrow(
    'requests[0].params: is no plain data',
  )
})

test.each([{ type: 'boolean', default: true }, z.boolean().default(true)])(
  'a bare yes is nobody’s default',
  schema => {
    expect(() => ask(schema)).toThrow('would be a yes of nobody')
  },
)

test.each([
  [{ type: 'string', enum: ['a', 'a'] }, 'offers a label twice'],
  [{ type: 'string', enum: ['a', 'b'], enumNames: ['A'] }, 'has not one title'],
  [{ type: 'string', oneOf: ['a', 'b'].map(label => ({ const: label, title: 'Yes' })) }, 'under one title'],
  [{ type: 'string', enum: ['a'], default: 'z' }, 'default that is no answer'],
  [{ type: 'string', minLength: 5, maxLength: 1 }, 'bounds that nothing lies within'],
  [{ type: 'integer', minimum: 5, maximum: 1 }, 'bounds that nothing lies within'],
  [{ type: 'integer', exclusiveMinimum: 1, exclusiveMaximum: 2 }, 'bounds that nothing lies within'],
  [{ type: 'number', exclusiveMinimum: 1, maximum: 1 }, 'bounds that nothing lies within'],
  [{ type: 'number', minimum: 1, default: 0 }, 'default that is no answer'],
  [{ type: 'array', items: { type: 'string', enum: ['a'] }, minItems: 3 }, 'bounds that nothing lies within'],
])('what nobody could answer is not asked: %j', (schema, why) => {
  expect(() => ask(schema)).toThrow(why)
  expect(() => ask({ type: 'object', properties: { field: schema } })).toThrow(why)
})

test('a field that cannot be carried is refused', () => {
  const plain: unknown = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"boolean"}}}')
  expect(() => ask(plain)).toThrow('cannot be carried')
  expect(() => ask(z.object({ ['__proto__']: z.boolean() }))).toThrow('cannot be carried')
})

describe('an address', () => {
  const go = (url: string) => inputRequired({ requests: [{ id: 'u', kind: 'url', url }] })

  test('is sent as it will be read', () => {
    expect(go(' HTTPS://Example.com/a b').asked[0]).toMatchObject({ url: 'https://example.com/a%20b' })
  })

  test.each(['https://user:pw@example.com/', 'https://bank.example@example.com/'])(
    'with credentials is refused: %s',
    url => {
      expect(() => go(url)).toThrow('must hold no user and password')
    },
  )
})

test.each(
  'passwords password1 new_password_2 dbPASSWORD DB_PASS pwd token githubToken API_KEY apikeys api.key clientSecret secrets sshKey creditCard cardNumber cvc cvv2 pin otp passcode credentials pass\u200bword passwörd'.split(
    ' ',
  ),
)('a text field that asks for a secret is refused: %s', name => {
  expect(() => ask({ type: 'string' }, name)).toThrow('asks for a secret')
  expect(() => ask({ type: 'object', properties: { [name]: { type: 'string' } } })).toThrow('a secret')
  expect(() => ask({ type: 'string', title: name })).toThrow('asks for a secret')
})

test('a description that asks for a secret is looked at too', () => {
  expect(() => ask({ type: 'string', description: 'Enter your password' })).toThrow('asks for a secret')
})

test.each([
  ['maxTokens', 'integer', 'How many tokens at most'],
  ['passenger', 'string', 'Who travels'],
  ['pinned', 'string', 'The pinned message'],
  ['monkey', 'string', 'Pass its name'],
])('%s is no secret', (name, type, description) => {
  expect(ask({ type, description }, name).asked).toHaveLength(1)
})

test('what is shown cannot steer whoever shows it, and what is sealed stays as it was', async () => {
  const evil = 'a\u202e\u001b[2K\u2066b'
  const seen = 'a\\u202e\\u001b[2K\\u2066b'
  const properties = {
    yes: { type: 'boolean', title: `${evil}\nx`, description: evil },
    one: { type: 'string', enum: [evil, 'x'] },
    many: { type: 'array', items: { anyOf: [{ const: evil, title: evil }] } },
    [evil]: { type: 'string' },
  }
  const build = toolServer(new Pauses(), {}, ({ inputResponses }) => {
    const got = acceptedContent(inputResponses, 'q')
    const schema = { type: 'object', properties } as never
    return got ?? inputRequired({ requests: [{ id: 'q', message: `Drop ${evil}?`, schema }] })
  })
  const ann = await connect('2026', build)
  const first = await round(ann)
  expect(first.inputRequests?.q?.params).toMatchObject({
    message: `Drop ${seen}?`,
    requestedSchema: {
      properties: {
        yes: { title: `${seen} x`, description: seen },
        one: { oneOf: [{ const: evil, title: seen }, { const: 'x' }] },
        many: { items: { anyOf: [{ const: evil, title: seen }] } },
        [evil]: { title: seen },
      },
    },
  })
  const wrong = { q: { action: 'accept', content: { one: `${evil}!` } } }
  const again = await round(ann, { inputResponses: wrong, requestState: first.requestState })
  const message = again.inputRequests?.q?.params.message
  expect(message).toContain('could not be used')
  expect(message).not.toMatch(/[\u202e\u2066\u001b]/u)
  const right = { q: { action: 'accept', content: { one: evil } } }
  const done = await round(ann, { inputResponses: right, requestState: again.requestState })
  expect(done.structuredContent).toEqual({ one: evil })
})

test('every refusal that the README tells is one, and each begins with what it names', () => {
  const text = { type: 'string' }
  const labelled = (...pairs: [string, string][]) => ({
    type: 'string',
    oneOf: pairs.map(([label, title]) => ({ const: label, title })),
  })
  const EXAMPLES: Record<string, object[]> = {
    'no request; an id': [{ requests: [] }, { requests: [{ id: ' ' }] }, { requests: [{ id: '__proto__' }] }],
    'a form that is not flat': [
      { type: 'object', properties: { a: { type: 'object' } } },
      { type: 'string', minimum: 1 },
      { type: 'string', pattern: '(' },
      { type: 'object', properties: {}, required: ['a'] },
    ],
    'a text or number': [
      { ...text, title: 'PIN' },
      { type: 'integer', description: 'Your card number' },
    ],
    'a label twice': [
      labelled(['a', 'A'], ['a', 'B']),
      labelled(['a', 'A'], ['b', 'A']),
      { ...text, enum: ['a', 'b'], enumNames: ['A'] },
    ],
    'bounds that nothing': [
      { ...text, minLength: 2, maxLength: 1 },
      { ...text, maxLength: 1, default: 'ab' },
    ],
    'a bare yes or no': [{ type: 'boolean', default: true }],
    'zod with': [ok, z.string().trim(), z.string().regex(/a/iu), z.union([z.string(), z.number()])],
    'an address': [
      { requests: [{ id: 'u', kind: 'url', url: 'file:///etc/passwd' }] },
      { requests: [{ id: 'u', kind: 'url', url: 'https://a:b@example.com' }] },
    ],
    '`requestState` or `params`': [
      { requests: [{ id: 'a' }], requestState: () => 1 },
      { requests: [{ id: 'r', method: 'roots/list', params: () => 1 }] },
    ],
  }
  const readme = readFileSync(fileURLToPath(new URL('../README.md', import.meta.url)), 'utf8')
  const [, table = ''] = readme.split('| `inputRequired` refuses | since |\n|---|---|\n')
  const rows = (table.split('\n\n')[0] ?? '').split('\n').map(row => row.split('|')[1]?.trim() ?? '')
  const begins = Object.keys(EXAMPLES)
  expect(rows.map(row => begins.find(begin => row.startsWith(begin)))).toEqual(begins)
  for (const [begin, examples] of Object.entries(EXAMPLES))
    for (const example of examples) {
      const refused = () => ('requests' in example ? inputRequired(example as never) : ask(example))
      expect(refused, begin).toThrow(expect.objectContaining({ code: 'BAD_INPUT_REQUEST' }))
    }
})
