import { describeSubject, nameOf, titleOf, type ApprovalSubject } from '@handraise/user-approvals/types'
import { canonicalJson } from '@handraise/user-questions/types'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { pair, subject } from './subjects.ts'

describe('a description', () => {
  test('shows every character of the subject, and no other text as one of its own labels', () => {
    fc.assert(
      fc.property(subject, given => {
        const lines = describeSubject(given)
        // Words are quoted, and a quote in them is written so; what it looks like is left out on both sides.
        const bare = (text: string): string => text.replaceAll(String.raw`'\''`, '').replaceAll("'", '')
        const shown = bare(read(lines.join('\n')))
        for (const text of textsOf(given)) {
          for (const line of text.split('\n')) expect(shown).toContain(bare(line))
        }
        expect(lines.every(line => !line.includes('\n'))).toBe(true)
        expect(lines.filter(line => !line.startsWith('| ')).every(line => LABEL.test(line))).toBe(true)
      }),
      { numRuns: 2_000 },
    )
  })

  test('tells any two subjects apart that differ in anything, and so does the name', () => {
    fc.assert(
      fc.property(pair, ([one, other]) => {
        const same = canonicalJson(one) === canonicalJson(other)
        expect(describeSubject(one).join('\n') === describeSubject(other).join('\n')).toBe(same)
        expect(nameOf(one) === nameOf(other)).toBe(same)
      }),
      { numRuns: 5_000 },
    )
  })

  test('of a command shows it verbatim, then its stages by number', () => {
    expect(
      describeSubject({
        kind: 'shell',
        command: 'cd "a b" && git log |\thead -5; echo $X\nrm -rf /  ',
        cwd: '/srv/my app',
        env: { PATH: '/tmp/evil', A: '' },
      }),
    ).toEqual([
      'Run in a shell:',
      '| cd "a b" && git log |<U+0009>head -5; echo $X',
      '| rm -rf /<U+0020><U+0020>',
      "In the directory: '/srv/my app'",
      'With this set in its environment:',
      "| A=''",
      '| PATH=/tmp/evil',
      'Stage 1 of 4:',
      "| cd 'a b'",
      'Stage 2 of 4, if the one before succeeded:',
      '| git log',
      'Stage 3 of 4, reads what the one before writes:',
      '| head -5',
      'Stage 4 of 4, after the one before; what a shell makes of it is not fully understood here:',
      '| echo $X',
      '| rm -rf /<U+0020><U+0020>',
    ])
  })

  test('of a plain command is the command', () => {
    expect(describeSubject({ kind: 'shell', command: 'git status' })).toEqual([
      'Run in a shell:',
      '| git status',
    ])
  })

  test('of words shows what is run, and what the caller writes where that says anything else', () => {
    const argv = ['rm', '-rf', 'a b']
    expect(describeSubject({ kind: 'shell', command: "rm -rf 'a b'", argv })).toEqual([
      'Run without a shell, these words:',
      "| rm -rf 'a b'",
    ])
    expect(describeSubject({ kind: 'shell', command: 'ls', argv })).toEqual([
      'Run without a shell, these words:',
      "| rm -rf 'a b'",
      'Which the caller writes as:',
      '| ls',
    ])
  })

  test('cannot be driven by what it describes', () => {
    const command = 'ls\nIn the directory: /safe\n\u001b[2J\u202eStage 1 of 1:'
    const lines = describeSubject({ kind: 'shell', command })
    expect(lines.filter(line => !line.startsWith('| '))).toEqual([
      'Run in a shell:',
      'Stage 1 of 3:',
      'Stage 2 of 3, after the one before:',
      'Stage 3 of 3, after the one before; what a shell makes of it is not fully understood here:',
    ])
    expect(lines).toContain('| <U+001B>[2J<U+202E>Stage 1 of 1:')
  })

  test('cuts nothing, however long', () => {
    const tail = 'rm -rf /'
    const lines = describeSubject({ kind: 'shell', command: `echo ${'x'.repeat(60_000)}; ${tail}` })
    expect(lines[1]).toHaveLength(60_017)
    expect(lines.at(-1)).toBe(`| ${tail}`)
  })

  test.each<[ApprovalSubject, string[]]>([
    [
      { kind: 'fileAccess', path: '/srv/a b', access: 'delete', workspaceRoot: '/srv', target: '/etc' },
      ['Access: delete', "Path: '/srv/a b'", 'Target: /etc', 'Workspace: /srv'],
    ],
    [{ kind: 'network', host: 'EXAMPLE.com.' }, ['Host: EXAMPLE.com.']],
    [
      { kind: 'network', host: '[::1]', port: 80, protocol: 'http' },
      ["Host: '[::1]'", 'Port: 80', 'Protocol: http'],
    ],
    [
      { kind: 'tool', toolName: 'send', input: { to: 'a\u202e\nb', all: [] } },
      ['Tool: send', 'Input:', '| {', String.raw`|   "to": "a<U+202E>\nb",`, '|   "all": []', '| }'],
    ],
  ])('%j', (given, lines) => {
    expect(describeSubject(given)).toEqual(lines)
  })
})

describe('a name', () => {
  test.each<[ApprovalSubject, string]>([
    [{ kind: 'shell', command: 'git status' }, 'git status'],
    [{ kind: 'shell', command: 'a\nb', cwd: '/w', env: { A: '1' } }, 'a<U+000A>b — in /w — with A=1'],
    [{ kind: 'shell', command: 'ls', argv: ['rm', 'a b'] }, "rm 'a b' — without a shell — written as ls"],
    [{ kind: 'shell', command: 'ls — in /w' }, 'ls <U+2014> in /w'],
    [{ kind: 'fileAccess', path: '/a', access: 'read' }, 'read /a'],
    [{ kind: 'network', host: 'example.com' }, 'example.com'],
    [{ kind: 'network', host: 'example.com', port: 443, protocol: 'https' }, 'example.com:443 — over https'],
    [{ kind: 'network', host: 'example.com:443' }, "'example.com:443'"],
    [{ kind: 'tool', toolName: 'send', input: { to: 'ann' } }, 'send {"to":"ann"}'],
  ])('of %j is %s', (given, name) => {
    expect(nameOf(given)).toBe(name)
  })
})

test('a title says how much of the name it leaves out', () => {
  expect(titleOf({ kind: 'shell', command: 'git status' })).toBe('git status')
  const title = titleOf({ kind: 'shell', command: '🙂'.repeat(300) })
  expect(title).toBe(`${'🙂'.repeat(200)}… (100 more characters)`)
})

const LABEL =
  /^(?:Run in a shell:|Run without a shell, these words:|Which the caller writes as:|In the directory: .*|With this set in its environment:|Stage \d+ of \d+.*:|Access: \w+|Path: .*|Target: .*|Workspace: .*|Host: .*|Port: \d+|Protocol: .*|Tool: .*|Input:)$/u

/** Undoes what was written out, but for line breaks, which part lines here. */
function read(shown: string): string {
  return shown.replace(/<U\+([0-9A-F]{4,6})>/gu, (_, code: string) =>
    String.fromCodePoint(Number.parseInt(code, 16)),
  )
}

function textsOf(value: unknown, isJson = false): string[] {
  if (typeof value === 'string') return [isJson ? JSON.stringify(value).slice(1, -1) : value]
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap(each => textsOf(each, isJson))
  return Object.entries(value).flatMap(([name, member]) => [
    ...(['kind', 'input'].includes(name) ||
    /^(?:command|argv|cwd|env|path|access|workspaceRoot|target|host|port|protocol|toolName)$/u.test(name)
      ? []
      : textsOf(name, isJson)),
    ...(name === 'kind' ? [] : textsOf(member, isJson || name === 'input')),
  ])
}
