import type { ApprovalSubject } from '@handraise/user-approvals'
import fc from 'fast-check'

/** Text a subject may hold: no NUL, no half of a surrogate pair. */
const transportable = fc
  .oneof(
    fc.string({ unit: 'grapheme', maxLength: 12 }),
    fc.string({
      unit: fc.constantFrom('a', ' ', "'", '"', '\n', '| ', ':', '—', '\\', '(in ', '<U+', '\u202e'),
      maxLength: 8,
    }),
  )
  .map(text => text.replace(/\u0000|\p{Cs}/gu, ''))
export const words = transportable.filter(text => text !== '')

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })

const shell = fc.record(
  {
    kind: fc.constant('shell' as const),
    command: words,
    argv: fc
      .tuple(words, fc.array(transportable, { maxLength: 3 }))
      .map(([program, rest]) => [program, ...rest]),
    cwd: words,
    env: fc.dictionary(
      words.filter(name => !name.includes('=') && name !== '__proto__'),
      transportable,
      {
        minKeys: 1,
        maxKeys: 3,
        noNullPrototype: true,
      },
    ),
  },
  { requiredKeys: ['kind', 'command'] },
)

const fileAccess = fc.record(
  {
    kind: fc.constant('fileAccess' as const),
    path: words,
    access: fc.constantFrom(
      'read' as const,
      'write' as const,
      'create' as const,
      'delete' as const,
      'execute' as const,
    ),
    workspaceRoot: words,
    target: words,
  },
  { requiredKeys: ['kind', 'path', 'access'] },
)

const network = fc.record(
  {
    kind: fc.constant('network' as const),
    host: words,
    port: fc.integer({ min: 1, max: 65_535 }),
    protocol: fc.constantFrom('http', 'https', 'HTTPS', 'git+ssh'),
  },
  { requiredKeys: ['kind', 'host'] },
)

const tool = fc.record({
  kind: fc.constant('tool' as const),
  toolName: words,
  input: fc
    .jsonValue({ maxDepth: 3 })
    .filter(
      value =>
        !JSON.stringify(value, (_, part: unknown) => (Object.is(part, -0) ? '<-0>' : part)).includes('<-0>'),
    ),
})

export const subject = fc.oneof(shell, fileAccess, network, tool) as fc.Arbitrary<ApprovalSubject>

/** A subject, and one that differs from it in a single member. */
export const pair = fc
  .tuple(subject, subject, optional(fc.nat()))
  .map(([one, other, which]): [ApprovalSubject, ApprovalSubject] => {
    if (which === undefined || one.kind !== other.kind) return [one, other]
    const names = [...new Set([...Object.keys(one), ...Object.keys(other)])].filter(name => name !== 'kind')
    const name = names[which % names.length] ?? 'kind'
    const { [name]: _, ...rest } = one as unknown as Record<string, unknown>
    const changed = (other as unknown as Record<string, unknown>)[name]
    if (changed === undefined && ['command', 'path', 'access', 'host', 'toolName', 'input'].includes(name))
      return [one, other]
    return [
      one,
      { ...rest, ...(changed === undefined ? {} : { [name]: changed }) } as unknown as ApprovalSubject,
    ]
  })
