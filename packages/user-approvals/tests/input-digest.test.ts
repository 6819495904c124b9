import { createHash } from 'node:crypto'
import { digestOfInput } from '@handraise/user-approvals'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const same = (one: unknown, other: unknown): boolean =>
  Object.is(one, other) ||
  (typeof one === 'object' &&
    typeof other === 'object' &&
    one !== null &&
    other !== null &&
    Array.isArray(one) === Array.isArray(other) &&
    Object.keys(one).length === Object.keys(other).length &&
    Object.keys(one).every(
      key =>
        Object.hasOwn(other, key) &&
        same((one as Record<string, unknown>)[key], (other as Record<string, unknown>)[key]),
    ))

/** JSON with keys and texts that are easily taken for one another. */
const tricky = fc.letrec<{ value: never }>(tie => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(
      null,
      true,
      false,
      0,
      1,
      '',
      '0',
      '1',
      'null',
      '1,2',
      '{}',
      '\u0000',
      '\ud800',
      '\\ud800',
    ),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', '1', '10', '2', '__proto__', '', 'toString'), tie('value'), {
      maxKeys: 4,
      noNullPrototype: true,
    }),
  ) as fc.Arbitrary<never>,
})).value

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, member]) => [name, reversed(member)]),
  )
}

test('two inputs have one digest only when they are the same data', () => {
  fc.assert(
    fc.property(tricky, tricky, (one, other) => {
      expect(digestOfInput('t', one) === digestOfInput('t', other)).toBe(same(one, other))
    }),
    { numRuns: 1_000 },
  )
})

test('the order of members does not count', () => {
  fc.assert(
    fc.property(tricky, input => {
      expect(digestOfInput('t', reversed(input) as never)).toBe(digestOfInput('t', input))
    }),
  )
})

test('the tool counts, and cannot be moved into the input', () => {
  expect(digestOfInput('a', 'b')).not.toBe(digestOfInput('b', 'b'))
  expect(digestOfInput('a', ['b'])).not.toBe(digestOfInput('a","b', []))
})

test('it is the SHA-256 of the canonical text, in base64url', () => {
  const expected = createHash('sha256').update('["t",{"a":1,"b":[2]}]').digest('base64url')
  expect(digestOfInput('t', { b: [2], a: 1 })).toBe(expected)
})

class Own {
  readonly value = 1
}

const circle: { self?: unknown } = {}
circle.self = circle

describe('an input that JSON would write like another one has no digest', () => {
  const member = (value: unknown) => ({ list: [{ it: value }] })
  test.each<[string, unknown, RegExp]>([
    ['undefined', undefined, /input is undefined/],
    ['an undefined member', member(undefined), /input\.list\[0\]\.it is undefined/],
    ['NaN', member(Number.NaN), /is not a finite number/],
    ['an infinity', member(-Infinity), /is not a finite number/],
    ['-0', member(-0), /is -0/],
    ['a bigint', member(1n), /is bigint/],
    ['a function', member(() => 1), /is function/],
    ['a symbol', member(Symbol('s')), /is symbol/],
    ['a date', member(new Date(0)), /instance of a class/],
    ['a map', member(new Map([[1, 2]])), /instance of a class/],
    ['an instance', member(new Own()), /instance of a class/],
    ['a boxed text', member(Object('text')), /instance of a class/],
    ['a hole', member([1, , 2]), /holes/], // eslint-disable-line no-sparse-arrays
    ['a named member of an array', member(Object.assign([1], { x: 1 })), /named member/],
    [
      'a getter',
      member(Object.defineProperty({}, 'x', { enumerable: true, get: () => 1 })),
      /computed or hidden/,
    ],
    ['a hidden member', member(Object.defineProperty({}, 'x', { value: 1 })), /computed or hidden/],
    ['a symbol as a name', member({ [Symbol('s')]: 1 }), /named by a symbol/],
    ['a toJSON of its own', member({ toJSON: () => 'x' }), /is function|toJSON/],
    ['an inherited toJSON', member(Object.create({ toJSON: () => 'x' })), /instance of a class|toJSON/],
    ['a circle', circle, /nested deeper/],
    ['nesting without end', JSON.parse('['.repeat(9_000) + ']'.repeat(9_000)), /nested deeper/],
    ['more than can be read', Array.from({ length: 2_000_001 }).fill(1), /holds more than/],
  ])('%s', (_, input, message) => {
    expect(() => digestOfInput('t', input as never)).toThrow(message)
  })
})

test('an object without a prototype is plain data', () => {
  const bare = Object.assign(Object.create(null), { a: 1 }) as never
  expect(digestOfInput('t', bare)).toBe(digestOfInput('t', { a: 1 }))
})
