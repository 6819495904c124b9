import { subjectSchema } from '@handraise/user-approvals/types'
import { issuesOfZod } from '@handraise/user-questions/types'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { subject } from './subjects.ts'

const faults = (value: unknown): string[] => {
  const parsed = subjectSchema.safeParse(value)
  return parsed.success ? [] : issuesOfZod(parsed.error).map(({ path, message }) => `${path}: ${message}`)
}

test('a subject comes out as it went in', () => {
  fc.assert(
    fc.property(subject, given => {
      expect(subjectSchema.parse(given)).toEqual(given)
    }),
  )
})

test('a member that is not known is refused, and so are stages that somebody else found', () => {
  expect(faults({ kind: 'shell', command: 'ls', stages: [] })).toEqual([': Unrecognized key: "stages"'])
  expect(faults({ kind: 'fileAccess', path: '/a', access: 'read', resolved: '/b' })).toHaveLength(1)
  expect(faults({ kind: 'unixSocket', path: '/a' })).toHaveLength(1)
})

describe('refused, with the field named', () => {
  const ls = { kind: 'shell', command: 'ls' }
  const file = { kind: 'fileAccess', path: '/a', access: 'read' }
  const host = { kind: 'network', host: 'example.com' }
  let nested: unknown = 1
  for (let depth = 0; depth < 70; depth += 1) nested = [nested]
  test.each<[value: unknown, fault: string]>([
    [{ ...ls, command: '' }, 'command: command must not be empty'],
    [{ ...ls, command: 'ls\0' }, 'command: command holds a NUL or half a surrogate pair'],
    [{ ...ls, command: 'ls \ud800' }, 'command: command holds a NUL or half a surrogate pair'],
    [{ ...ls, command: 'x'.repeat(65_537) }, 'command: command is longer than 65536 characters'],
    [{ ...ls, command: 1 }, 'command: command must be text'],
    [{ ...ls, argv: [] }, 'argv: argv must name a program'],
    [{ ...ls, argv: ['', 'a'] }, 'argv: argv[0] must not be empty'],
    [{ ...ls, argv: ['ls', 'a\0b'] }, 'argv[1]: a word of argv holds a NUL or half a surrogate pair'],
    [{ ...ls, argv: Array.from({ length: 1_001 }).fill('a') }, 'argv: argv holds more than 1000 words'],
    [
      { ...ls, argv: ['a', 'b'.repeat(40_000), 'c'.repeat(40_000)] },
      'argv: argv is longer than 65536 characters',
    ],
    [{ ...ls, cwd: '' }, 'cwd: cwd must not be empty'],
    [{ ...ls, cwd: '/a\0' }, 'cwd: cwd holds a NUL or half a surrogate pair'],
    [{ ...ls, env: { A: 1 } }, 'env.A: an environment variable must be text'],
    [{ ...ls, env: { A: 'x\0' } }, 'env.A: an environment variable holds a NUL or half a surrogate pair'],
    [{ ...file, path: '/a\0b' }, 'path: path holds a NUL or half a surrogate pair'],
    [{ ...file, path: '/'.repeat(4_097) }, 'path: path is longer than 4096 characters'],
    [{ ...file, access: 'all' }, 'access: access must be one of read, write, create, delete, execute'],
    [{ ...host, port: 0 }, 'port: port must be at least 1'],
    [{ ...host, port: 65_536 }, 'port: port must be at most 65535'],
    [{ ...host, port: '443' }, 'port: port must be a whole number'],
    [{ ...host, protocol: 'https:' }, 'protocol: protocol must be a scheme such as https, without a colon'],
    [{ kind: 'tool', toolName: '', input: 1 }, 'toolName: toolName must not be empty'],
    [{ kind: 'tool', toolName: 't' }, 'input: input is undefined, which JSON cannot hold'],
    [
      { kind: 'tool', toolName: 't', input: { a: [-0] } },
      'input.a[0]: input is -0, which JSON cannot tell from 0',
    ],
    [{ kind: 'tool', toolName: 't', input: nested }, 'input: input is nested deeper than 64 levels'],
    [
      { kind: 'tool', toolName: 't', input: 'x'.repeat(500_001) },
      'input: input holds more than 500000 values and characters',
    ],
  ])('%#', (value, fault) => {
    expect(faults(value)).toContain(fault)
  })

  test.each([['A=B'], [''], ['A\0'], ['x'.repeat(257)]])('the variable %j', name => {
    expect(faults({ ...ls, env: { [name]: '' } })).not.toEqual([])
  })

  test('more variables than a person would read', () => {
    const env = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`V${index}`, '']))
    expect(faults({ ...ls, env })).toContain('env: env holds more than 100 variables')
  })
})

test('a variable that a reader of members would miss is refused', () => {
  const named = JSON.parse('{"kind":"shell","command":"ls","env":{"__proto__":"x"}}') as unknown
  expect(faults(named)).toEqual(['env: env holds a variable that is named __proto__'])
  const inherited = { kind: 'shell', command: 'ls', env: Object.create({ PATH: '/tmp/evil' }) as unknown }
  expect(faults(inherited)).toEqual(['env: env is an instance of a class, which JSON cannot hold'])
  const computed = {
    kind: 'shell',
    command: 'ls',
    env: {
      get PATH() {
        return '/tmp/evil'
      },
    },
  }
  expect(faults(computed)).toEqual(['env: env has a member that is computed or hidden'])
})
