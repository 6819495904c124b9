import { canonicalJson } from '@handraise/user-questions/types'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import * as protocol from '../src/protocol/index.ts'
import {
  isPublishedHere,
  publishedSchema,
  publishedTranscripts,
  PUBLISHED_MISSING,
  type PublishedFrame,
} from './published.ts'

const { checkClientFrame, checkServerFrame } = protocol
const { CLIENT_NOTIFICATIONS, ERRORS, METHODS, NOTIFICATIONS, SERVER_REQUESTS } = protocol
const ours: Readonly<Record<string, unknown>> = protocol
const schema = publishedSchema()

/** Methods the transcripts touch and this package has no part in. */
const OUTSIDE = ['goal/set', 'session/goalChanged', 'model/list']

/** What is wrong with frames of transcripts that are older than the schema. */
const OLDER: Readonly<Record<string, readonly string[]>> = {
  'userinput-cancel-round-trip': ['params.decidedAt: Invalid input: expected string, received undefined'],
}

const messageSchema = z.looseObject({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
})

function faultsOf(frames: readonly PublishedFrame[]): string[] {
  const asked = new Map<string | number, string>()
  return frames
    .flatMap(({ dir, raw }) => {
      const frame: unknown = JSON.parse(raw)
      const { id, method } = messageSchema.parse(frame)
      if (dir === 'server') return checkServerFrame(frame, each => asked.get(each))
      if (id !== undefined && method !== undefined) asked.set(id, method)
      return checkClientFrame(frame)
    })
    .filter(fault => !OUTSIDE.some(method => fault === `method: ${method} is not known`))
}

describe.skipIf(!isPublishedHere)(`the published transcripts${PUBLISHED_MISSING}`, () => {
  const transcripts = publishedTranscripts()

  test('are there, with frames both ways', () => {
    expect(transcripts.length).toBeGreaterThanOrEqual(10)
    for (const { frames } of transcripts)
      expect(new Set(frames.map(({ dir }) => dir))).toEqual(new Set(['client', 'server']))
  })

  test.each(transcripts)('$name has nothing wrong with it', ({ name, frames }) => {
    expect(faultsOf(frames)).toEqual(OLDER[name] ?? [])
  })
})

const shapeOf = (def: string): z.ZodType | undefined => {
  const each = ours[`${def[0]?.toLowerCase()}${def.slice(1)}Schema`]
  return each instanceof z.ZodType ? each : undefined
}

const defOf = ($ref: string): string => $ref.replace('#/$defs/', '')

type Node = Readonly<Record<string, unknown>>
const nodeSchema = z.record(z.string(), z.unknown())
const nodesSchema = z.array(nodeSchema)
const namesSchema = z.array(z.string())

/** A schema as plain as both can be put: references replaced, prose gone, open enums as the strings they are. */
function plain(node: Node, defs: Readonly<Record<string, Node>>): Node {
  if (typeof node.$ref === 'string') {
    const def = defs[defOf(node.$ref)]
    if (def === undefined) throw new Error(`${node.$ref} is not published`)
    return plain(def, defs)
  }
  if (Array.isArray(node.type)) return plain({ anyOf: node.type.map(type => ({ ...node, type })) }, defs)
  if (node.anyOf !== undefined) {
    const branches = nodesSchema.parse(node.anyOf).map(each => plain(each, defs))
    // One choice within another is one choice.
    const all = branches.flatMap(each => (each.anyOf === undefined ? [each] : nodesSchema.parse(each.anyOf)))
    return { anyOf: all.toSorted((one, other) => (canonicalJson(one) < canonicalJson(other) ? -1 : 1)) }
  }
  if (node.enum !== undefined && node['x-msp-openness'] === 'open') return { type: 'string' }
  if (node.enum !== undefined) return { enum: namesSchema.parse(node.enum).toSorted() }
  if (node.type === 'array') return { type: 'array', items: plain(nodeSchema.parse(node.items), defs) }
  if (node.type === 'integer') return { type: 'integer', minimum: node.minimum, maximum: node.maximum }
  if (node.type !== 'object') return { type: node.type }
  return {
    type: 'object',
    required: namesSchema.parse(node.required ?? []).toSorted(),
    properties: Object.fromEntries(
      Object.entries(z.record(z.string(), nodeSchema).parse(node.properties ?? {})).map(([name, each]) => [
        name,
        plain(each, defs),
      ]),
    ),
  }
}

/** The JSON Schema of a shape of ours, with the bounds gone that all integers have. */
function plainOfOurs(shape: z.ZodType): Node {
  const given = z.toJSONSchema(shape, {
    override({ jsonSchema }) {
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      // An object that is not open to further members would lose them.
      if (jsonSchema.type === 'object') expect(jsonSchema.additionalProperties).toEqual({})
    },
  })
  return plain(nodeSchema.parse(given), {})
}

describe.skipIf(schema === undefined)(`the published schema${PUBLISHED_MISSING}`, () => {
  const {
    $defs = {},
    methods = {},
    notifications = {},
    requests = {},
    errors = [],
    capabilities,
  } = schema ?? {}
  const names = Object.keys($defs)

  test('has 155 shapes', () => {
    expect(names).toHaveLength(155)
  })

  test.each(names)('%s is the same here', name => {
    const shape = shapeOf(name)
    expect(shape).toBeDefined()
    if (shape !== undefined) expect(plainOfOurs(shape)).toEqual(plain($defs[name] ?? {}, $defs))
  })

  test('says the words that are known of every open set', () => {
    const words = Object.values(ours).filter(each => Array.isArray(each))
    const open = names.filter(name => $defs[name]?.['x-msp-openness'] === 'open' && name !== 'ErrorKind')
    for (const name of open) expect(words, name).toContainEqual($defs[name]?.enum)
    expect(protocol.GRANTABLE_CAPABILITIES).toEqual(capabilities?.grantable)
  })

  test('has the methods that are here, each with its shapes', () => {
    expect(Object.keys(METHODS).toSorted()).toEqual(Object.keys(methods).toSorted())
    for (const [name, { params, result }] of Object.entries(METHODS)) {
      expect(params, name).toBe(shapeOf(defOf(methods[name]?.params?.$ref ?? '')))
      expect(result, name).toBe(shapeOf(defOf(methods[name]?.result?.$ref ?? '')))
    }
  })

  test('has a command id required by the methods that are commands here, and by no others', () => {
    const published = Object.entries(methods)
      .filter(([, { params }]) =>
        namesSchema.parse($defs[defOf(params?.$ref ?? '')]?.required ?? []).includes('commandId'),
      )
      .map(([name]) => name)
    const here = Object.entries(METHODS)
      .filter(([, { command }]) => command)
      .map(([name]) => name)
    expect(here.toSorted()).toEqual(published.toSorted())
  })

  test('has the notifications that are here, of both sides, each with its shape', () => {
    const here: Readonly<Record<string, z.ZodType>> = { ...NOTIFICATIONS, ...CLIENT_NOTIFICATIONS }
    expect(Object.keys(here).toSorted()).toEqual(Object.keys(notifications).toSorted())
    for (const [name, { params }] of Object.entries(notifications))
      if (params !== undefined) expect(here[name], name).toBe(shapeOf(defOf(params.$ref)))
  })

  test('has the requests of a host that are here, each with its shapes', () => {
    expect(Object.keys(SERVER_REQUESTS).toSorted()).toEqual(Object.keys(requests).toSorted())
    for (const [name, { params, result }] of Object.entries(SERVER_REQUESTS)) {
      expect(params, name).toBe(shapeOf(defOf(requests[name]?.params?.$ref ?? '')))
      expect(result, name).toBe(shapeOf(defOf(requests[name]?.result?.$ref ?? '')))
    }
  })

  test('has the errors that are here, each with its codes', () => {
    const published = errors.flatMap(({ code, kind, overrideKinds = [], retryable }) =>
      [kind, ...overrideKinds].map(each => ({ kind: each, code, retryable })),
    )
    const here = Object.entries(ERRORS).flatMap(([kind, row]) => {
      const retryable = 'retryable' in row ? row.retryable : undefined
      const codes = 'otherCode' in row ? [row.code, row.otherCode] : [row.code]
      return codes.map(code => ({ kind, code, retryable }))
    })
    const byKind = (a: { kind: string; code: number }, b: { kind: string; code: number }) =>
      a.kind.localeCompare(b.kind) || a.code - b.code
    expect(here.toSorted(byKind)).toEqual(published.toSorted(byKind))
    expect(Object.keys(ERRORS).toSorted()).toEqual(namesSchema.parse($defs.ErrorKind?.enum).toSorted())
  })
})
