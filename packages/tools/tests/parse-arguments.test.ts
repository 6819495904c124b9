import { parseArguments } from '@handraise/tools'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'

const schema = z.object({
  names: z.array(z.object({ first: z.string() })),
  many: z.boolean().optional(),
})

const faults = (raw: unknown, against: z.ZodType = schema): readonly string[] => {
  const parsed = parseArguments(against, raw)
  return parsed.ok ? [] : parsed.faults
}

test('sound arguments come back as the schema reads them', () => {
  expect(parseArguments(schema, { names: [{ first: 'a' }], more: 1 })).toEqual({
    ok: true,
    args: { names: [{ first: 'a' }] },
  })
})

describe('a fault', () => {
  test('says where it is, what was expected and what came', () => {
    expect(faults({ names: [{ first: 7 }, { first: null }, {}, 'x', []], many: 'yes' })).toEqual([
      'names[0].first: expected a string, got a number',
      'names[1].first: expected a string, got null',
      'names[2].first: expected a string, got nothing',
      'names[3]: expected an object, got a string',
      'names[4]: expected an object, got an array',
      'many: expected a boolean, got a string',
    ])
  })

  test('of the whole has no path', () => {
    expect(faults('{"names":')).toEqual(['expected an object, got a string that is not JSON'])
    expect(faults(undefined)).toEqual(['expected an object, got nothing'])
  })

  test('says when a string only looks like a list', () => {
    expect(faults({ names: "[{'first': 'a'}]" })).toEqual([
      'names: expected an array, got a string that is not JSON',
    ])
    expect(faults({ names: 'a, b' })).toEqual(['names: expected an array, got a string'])
  })

  test('of another kind keeps the words of the schema', () => {
    expect(faults({ n: 0 }, z.object({ n: z.number().min(1, 'at least one') }))).toEqual(['n: at least one'])
  })
})
