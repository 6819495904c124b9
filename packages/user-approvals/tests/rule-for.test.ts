import {
  matchRule,
  previewOf,
  requirementsOf,
  resolveSubject,
  ruleFor,
  ruleSchema,
  type ApprovalRule,
  type ApprovalSubject,
  type RuleBreadth,
} from '@handraise/user-approvals'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { requirement } from './resolving.ts'
import { subject, words } from './subjects.ts'

async function preview(given: ApprovalSubject, breadth?: RuleBreadth, at = 0): Promise<string | undefined> {
  const rule = ruleFor('Bash', await requirement(given, { at }), breadth)
  return rule === undefined ? undefined : previewOf(rule)
}

const shell = (command: string) => ({ kind: 'shell', command }) as const

describe('the narrowest rule', () => {
  test.each<[ApprovalSubject, string | undefined]>([
    [shell('git status --porcelain'), 'Bash: run exactly: git status --porcelain'],
    [shell("git commit -m 'a; b'"), "Bash: run exactly: git commit -m 'a; b'"],
    [{ ...shell('ls'), cwd: '/' }, 'Bash: run exactly: ls (in /)'],
    [
      { ...shell('ls'), env: { B: "it's", A: '' } },
      String.raw`Bash: run exactly: ls (with A='' B='it'\''s')`,
    ],
    [{ ...shell('x'), argv: ['rm', '$(x)'] }, "Bash: run exactly: rm '$(x)'"],
    [shell('bash -c "rm x"'), "Bash: run exactly: bash -c 'rm x'"],
    [shell('echo $X'), undefined],
    [shell('ls > x'), undefined],
    [{ ...shell('ls'), cwd: '/no/such/place' }, undefined],
    [{ ...shell('ls'), env: { A: 'x\u200b' } }, undefined],
    [{ ...shell('x'), argv: ['rm', 'x\u202e'] }, undefined],
    [
      { kind: 'fileAccess', path: '/no/such/place', access: 'create' },
      'Bash: create exactly: /no/such/place',
    ],
    [{ kind: 'fileAccess', path: '/no/a\u0456b', access: 'create' }, undefined],
    [{ kind: 'fileAccess', path: 'relative', access: 'read' }, undefined],
    [
      { kind: 'network', host: 'EXAMPLE.com' },
      'Bash: connect to exactly: example.com, no port named, no protocol named',
    ],
    [
      { kind: 'network', host: '127.1', port: 80, protocol: 'HTTP' },
      'Bash: connect to exactly: 127.0.0.1, port 80, protocol http',
    ],
    [{ kind: 'network', host: 'a@b' }, undefined],
    [
      { kind: 'tool', toolName: 'send', input: { a: 1 } },
      'Bash: call send with exactly this input (SHA-256 jVG9QxCHpQO7GAq0FeX9OgHzADcc5YZP2FU3FW2dZ4M)',
    ],
  ])('for %j is %j', async (given, expected) => {
    expect(await preview(given)).toBe(expected)
  })

  test('of a stage holds that it reads a pipe, and is none for what may run what it reads', async () => {
    expect(await preview(shell('git log | head -5'), {}, 1)).toBe(
      'Bash: run exactly: head -5 (with whatever is piped into it)',
    )
    expect(await preview(shell('curl x | sh'), {}, 1)).toBeUndefined()
    expect(await preview(shell('cd x; ls'), {}, 1)).toBeUndefined()
  })

  test('is valid, survives a store and matches what it was made of', async () => {
    await fc.assert(
      fc.asyncProperty(subject, words, async (given, toolName) => {
        for (const each of requirementsOf(await resolveSubject(given, { cwd: '/' }))) {
          const rule = ruleFor(toolName, each.subject)
          if (rule === undefined) continue
          const kept = ruleSchema.parse(JSON.parse(JSON.stringify(rule)))
          expect(kept).toEqual(rule)
          expect(matchRule(kept, toolName, each.subject)).toMatchObject({ matches: true })
        }
      }),
      { numRuns: 500 },
    )
  })
})

/** Programs that run what they are given, in one way or another. */
const RUNNERS = `
  env ls | sudo ls | doas ls | su root | sh x | bash x | zsh x | dash x | fish x | busybox ls | xargs
  ls | nohup ls | time ls | nice ls | timeout 5 ls | watch ls | ssh host ls | docker run x | docker
  exec x ls | kubectl exec x | python x | python3 x | node x | deno run x | bun x | perl x | ruby x |
  php x | npx x | npm exec x | npm run x | pnpm dlx x | pnpm run x | yarn dlx x | find . x | make x |
  awk x | sed x | vi x | vim x | less x | man x | tar x | rsync x | scp x | git config x | git bisect
  run | git submodule foreach | git clone x | git fetch x | git push origin | git rebase x | eval x |
  exec x | source x | . x | command ls | builtin ls | tee x | dd of=x | uniq a b | xxd a b | setsid ls
  | stdbuf ls | script x | strace ls | flock x ls | tmux new | systemd-run ls | chroot x ls | cargo
  run x | go run x | pip install x | gcc x | tsx x | uv run x | some-tool-nobody-knows x |
`
  .split('|')
  .map(command => command.trim().replace(/\s+/gu, ' '))
  .filter(command => command !== '')

describe('a rule that goes on with any words', () => {
  const any = (start: string): string => `Bash: run ${start} and then any words that are no options`
  test.each<[command: string, argvPrefix: number, expected: string | undefined]>([
    ['git log', 2, any('git log')],
    ['git log main', 2, any('git log')],
    ['git log main', 3, any('git log main')],
    ['ls src', 1, any('ls')],
    ['cargo test parser', 2, any('cargo test')],
    // It would not cover the command it was made for.
    ['git log --oneline', 2, undefined],
    // An option could take the next word.
    ['git log -n 5', 3, undefined],
    ['sort --compress-program gzip x', 2, undefined],
    ['git -c core.pager=evil log', 2, undefined],
    ['git', 1, undefined],
    ['git log', 1, undefined],
    ['git log', 3, undefined],
    ['git log', 0, undefined],
    ['git log', 1.5, undefined],
    ['/usr/bin/git log', 2, undefined],
    ['./ls src', 1, undefined],
    ...RUNNERS.flatMap((command): [string, number, undefined][] =>
      command.split(' ').map((_, index) => [command, index + 1, undefined]),
    ),
  ])('%j, the first %d: %j', async (command, argvPrefix, expected) => {
    expect(await preview(shell(command), { argvPrefix })).toBe(expected)
  })

  test('is for commands alone', async () => {
    expect(await preview({ kind: 'network', host: 'example.com' }, { argvPrefix: 1 })).toBeUndefined()
    expect(await preview(shell('ls'), { within: '/' })).toBeUndefined()
  })
})

describe('a rule for a directory', () => {
  test.each<[within: string, expected: string | undefined]>([
    ['/no/such', 'Bash: read /no/such and anything below it'],
    ['/no/such/', 'Bash: read /no/such and anything below it'],
    ['/no/such/place', 'Bash: read /no/such/place and anything below it'],
    ['/no', 'Bash: read /no and anything below it'],
    ['/', undefined],
    ['/no/su', undefined],
    ['/no/such/../such', undefined],
    ['/no//such', undefined],
    ['no/such', undefined],
    ['/elsewhere', undefined],
    ['', undefined],
  ])('%j: %j', async (within, expected) => {
    expect(await preview({ kind: 'fileAccess', path: '/no/such/place', access: 'read' }, { within })).toBe(
      expected,
    )
  })
})

const plainWord = fc.string({ unit: fc.constantFrom(...Array.from('ab\'" ,:=()/-and|$')), maxLength: 6 })
const program = plainWord.filter(text => text !== '')
const path = fc
  .array(fc.string({ unit: fc.constantFrom(...Array.from("ab ()':")), minLength: 1, maxLength: 3 }), {
    minLength: 1,
    maxLength: 2,
  })
  .map(names => `/${names.join('/')}`)
const optionally = <T>(name: string, arbitrary: fc.Arbitrary<T>) =>
  fc.option(
    arbitrary.map(value => ({ [name]: value })),
    { nil: {} },
  )

const match = fc.oneof(
  fc
    .tuple(
      fc.record({
        kind: fc.constant('shell'),
        argv: fc.oneof(
          fc.tuple(program, fc.array(plainWord, { maxLength: 3 })).map(([first, rest]) => [first, ...rest]),
          fc.array(plainWord, { maxLength: 2 }).map(rest => ['ls', ...rest]),
        ),
        rest: fc.constantFrom('none', 'any'),
      }),
      optionally('piped', fc.constant(true)),
      optionally('cwd', path),
      optionally('env', fc.dictionary(program, plainWord, { minKeys: 1, maxKeys: 2, noNullPrototype: true })),
    )
    .map(parts => Object.assign({}, ...parts) as object),
  fc.record({
    kind: fc.constant('fileAccess'),
    access: fc.shuffledSubarray(['read', 'write', 'create', 'delete', 'execute'], { minLength: 1 }),
    path,
    within: fc.boolean(),
  }),
  fc
    .tuple(
      fc.record({ kind: fc.constant('network'), host: fc.constantFrom('a', 'a.b', '[::1]', '1.2.3.4') }),
      optionally('port', fc.constantFrom(1, 443)),
      optionally('protocol', fc.constantFrom('http', 'no')),
    )
    .map(parts => Object.assign({}, ...parts) as object),
  fc.record({
    kind: fc.constant('tool'),
    toolName: program,
    inputDigest: fc.constantFrom('A'.repeat(43), 'B'.repeat(43)),
  }),
)

const rule = fc
  .record({ version: fc.constant(1), toolName: program, match })
  .map(given => ruleSchema.safeParse(given).data)
  .filter((given): given is NonNullable<typeof given> => given !== undefined) as fc.Arbitrary<ApprovalRule>

describe('a preview', () => {
  test('is one rule and no other', () => {
    const seen = new Map<string, ApprovalRule>()
    fc.assert(
      fc.property(rule, given => {
        const shown = previewOf(given)
        const before = seen.get(shown)
        if (before !== undefined) expect(given).toEqual(before)
        seen.set(shown, given)
      }),
      { numRuns: 5_000 },
    )
  })

  test('is never cut', () => {
    const long = 'x'.repeat(50_000)
    const given: ApprovalRule = {
      version: 1,
      toolName: 'Bash',
      match: { kind: 'shell', argv: ['echo', long, 'end'], rest: 'none' },
    }
    expect(previewOf(given)).toBe(`Bash: run exactly: echo ${long} end`)
  })
})

describe('a rule from elsewhere', () => {
  const valid = { version: 1, toolName: 'Bash', match: { kind: 'shell', argv: ['ls'], rest: 'none' } }
  test.each<[what: string, rule: unknown]>([
    ['of another version', { ...valid, version: 2 }],
    ['with a member nobody knows', { ...valid, match: { ...valid.match, anything: true } }],
    ['of no words', { ...valid, match: { ...valid.match, argv: [] } }],
    ['with words that hide something', { ...valid, match: { ...valid.match, argv: ['ls', 'x\u200b'] } }],
    ['for a tool whose name hides something', { ...valid, toolName: 'B\u0430sh' }],
    ['that lets a program run anything', { ...valid, match: { kind: 'shell', argv: ['env'], rest: 'any' } }],
    ['in a directory that is no real path', { ...valid, match: { ...valid.match, cwd: '/a/../b' } }],
    [
      'for every file',
      { ...valid, match: { kind: 'fileAccess', access: ['read'], path: '/', within: true } },
    ],
    ['for no access', { ...valid, match: { kind: 'fileAccess', access: [], path: '/a', within: true } }],
    [
      'for a path with a slash at its end',
      { ...valid, match: { kind: 'fileAccess', access: ['read'], path: '/a/', within: false } },
    ],
    ['for a pattern of hosts', { ...valid, match: { kind: 'network', host: '*.example.com' } }],
    ['for half a digest', { ...valid, match: { kind: 'tool', toolName: 't', inputDigest: 'abc' } }],
  ])('%s is none', async (_, given) => {
    expect(ruleSchema.safeParse(valid).success).toBe(true)
    expect(ruleSchema.safeParse(given).success).toBe(false)
    expect(matchRule(given as ApprovalRule, 'Bash', await requirement(shell('ls')))).toEqual({
      matches: false,
      why: 'the rule is not a valid one',
    })
  })
})
