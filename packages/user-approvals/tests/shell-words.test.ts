import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { quoteWords, readShell, stageOfWords } from '@handraise/user-approvals'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const listed = (pieces: string): string[] => pieces.trim().split(/\s+/u)

const BLANK_PIECES = [' ', '  ', '\t', '\n', "'a b'", '"a b"', String.raw`\ `]

/** Pieces of which hostile and harmless commands are made. */
const piece = fc.constantFrom(
  ...listed(String.raw`
    a b1 -x / . , : @ % + = _ ; | || && & $ \` ( ) { } < > * ? [ ] ~ ! # ^ ' " \ '' "" 'a;b' "a|b" $IFS
    \; \' \" \\ é
  `),
  ...BLANK_PIECES,
  '\r',
  '\0',
  '\u200b',
  '\u00a0',
)
const command = fc.array(piece, { maxLength: 14 }).map(pieces => pieces.join(''))
/** Mostly understood, so that the shell is asked often. */
const plainPiece = fc.constantFrom(
  ...listed(String.raw`
    a b1 -x / , : @ % + = _ '$a' "'" '"' '' "" \; \' \" \\ \$ \* \# \~ "\"" "\\" 'é' "$a" '*' 'a;b' "&&" '|' ; | && ||
  `),
  ...BLANK_PIECES,
)
const plainCommand = fc.array(plainPiece, { maxLength: 14 }).map(pieces => `a ${pieces.join('')}`)

const SHELLS = ['sh', 'bash', 'dash', 'zsh', 'ksh', 'busybox'].filter(name =>
  ['/bin', '/usr/bin', '/usr/local/bin'].some(directory => existsSync(`${directory}/${name}`)),
)

function run(shell: string, script: string): string {
  // Without a terminal or a socket for input, none of them reads the start-up files of whoever runs the tests.
  return execFileSync(shell, [...(shell === 'busybox' ? ['sh'] : []), '-c', script], {
    encoding: 'utf8',
    env: { LC_ALL: 'C.UTF-8' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** What a real shell makes of the words. Only ever given what the reader calls complete. */
function wordsOf(shell: string, text: string): string[] {
  return run(shell, String.raw`printf '%s\0' ${text}`)
    .split('\0')
    .slice(0, -1)
}

describe('reading a command', () => {
  test('never throws, and says nothing of the words of what it does not understand', () => {
    fc.assert(
      fc.property(fc.oneof(command, fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' })), text => {
        const stages = readShell(text)
        expect(stages.length).toBeGreaterThan(0)
        expect(stages.every(({ argv, argvComplete }) => argv.length > 0 === argvComplete)).toBe(true)
        // Once something is not understood, nothing behind it is.
        expect(stages.findIndex(stage => !stage.argvComplete)).oneOf([-1, stages.length - 1])
        expect(stages[0]).not.toHaveProperty('separator')
        expect(stages.slice(1).every(({ separator }) => separator !== undefined)).toBe(true)
      }),
      { numRuns: 3_000 },
    )
  })

  test('loses nothing but blanks between its stages', () => {
    fc.assert(
      fc.property(fc.oneof(command, plainCommand), text => {
        const put = readShell(text)
          .map(stage => `${stage.separator ?? ''}${stage.text}`)
          .join('')
        const bare = (all: string): string => all.replace(/[ \t\n]/gu, '')
        // Nothing follows a `;` at the end.
        expect(bare(text)).oneOf([bare(put), `${bare(put)};`])
      }),
      { numRuns: 2_000 },
    )
  })

  test.each(SHELLS)('%s comes to the same words wherever it calls them complete', shell => {
    let asked = 0
    fc.assert(
      fc.property(fc.oneof(plainCommand, command), text => {
        for (const { argv, argvComplete, text: stage } of readShell(text)) {
          if (!argvComplete) continue
          asked += 1
          expect(wordsOf(shell, stage)).toEqual(argv)
        }
      }),
      { numRuns: 150 },
    )
    expect(asked).toBeGreaterThan(50)
  })

  test.each(SHELLS)('%s parts a command into the same stages', shell => {
    const text = "a 'x;y' \"z|\"; a\na \\;\n\na '&&' && a b"
    const expected = readShell(text).map(({ argv: [, ...words] }) => `${words.length} ${words.join(' ')}`)
    expect(run(shell, `a() { echo "$# $*" >&2; }; exec 2>&1; ${text}`)).toBe(`${expected.join('\n')}\n`)
  })

  test('names what stands between the stages', () => {
    expect(readShell('a 1 && b | c || d; e\nf').map(({ separator, argv }) => [separator, ...argv])).toEqual([
      [undefined, 'a', '1'],
      ['&&', 'b'],
      ['|', 'c'],
      ['||', 'd'],
      [';', 'e'],
      ['\n', 'f'],
    ])
  })

  test('makes one stage of everything from the first that is not understood', () => {
    expect(readShell('git status; echo "$X" && rm -rf / | sh')).toEqual([
      { argv: ['git', 'status'], argvComplete: true, text: 'git status' },
      { argv: [], argvComplete: false, text: 'echo "$X" && rm -rf / | sh', separator: ';' },
    ])
  })

  test.each([
    'FOO=bar',
    'FOO=bar cmd',
    "FOO='b' cmd",
    'FOO+=b cmd',
    'a=b',
    '=ls',
    'ls =ls',
    '! ls',
    '- ls',
    'time ls',
    'if a',
    'then a',
    'while a',
    'for a in b',
    'case a',
    'function a',
    'coproc a',
    'select a',
    "'if' a",
    'end',
    'ls é',
    'ls ~',
    'ls a~',
    'ls HEAD^',
    '^a^b',
    'ls a#b',
    '#a',
    'ls !!',
    "ls '!!'",
    'ls "!"',
    String.raw`ls '\'`,
    'ls \\n',
    'ls "\\n"',
    'ls "\\$a"',
    'ls a\\',
    "ls 'é\u0301'",
    "ls '\u200b'",
    "ls 'a\nb'",
    'ls "a\tb"',
    '"" a',
    'ls &',
    'ls |& a',
    'ls 2>a',
    'ls <a',
    'ls $a',
    'ls `a`',
    'ls "$a"',
    'ls "`a`"',
    '(ls)',
    '{ ls',
    'ls a{b,c}',
    'ls *',
    'ls a?',
    'ls [a]',
    '[ a ]',
    'ls \u00a0',
    'ls\ra',
    'ls\va',
    'ls \0',
    "'ls",
    '"ls',
    ' ',
    '|',
    ';',
    '&&',
  ])('does not understand %j', text => {
    expect(readShell(text)[0]).toMatchObject({ argv: [], argvComplete: false })
  })

  test('keeps a blank that belongs to a word', () => {
    expect(readShell('echo a\\ ')).toEqual([{ argv: ['echo', 'a '], argvComplete: true, text: 'echo a\\ ' }])
  })

  test('takes as long for a long command as its length', () => {
    const started = performance.now()
    readShell(`echo ${"'a' \\; ".repeat(9_000)}`)
    readShell(`echo ${'"'.repeat(65_000)}`)
    readShell(`${' \n'.repeat(30_000)}|`)
    expect(performance.now() - started).toBeLessThan(2_000)
  })
})

describe('words without a shell', () => {
  test('are complete when each shows as itself', () => {
    expect(stageOfWords(['rm', 'a b', '$(x)'])).toEqual({
      argv: ['rm', 'a b', '$(x)'],
      argvComplete: true,
      text: "rm 'a b' '$(x)'",
    })
  })

  test.each([[[]], [['']], [['rm', 'a\u200b']], [['rm', 'a\n']], [['\u0440m']]])('%j is not', argv => {
    expect(stageOfWords(argv)).toMatchObject({ argv: [], argvComplete: false })
  })

  test('quoted, they are what a shell comes to again', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom(...Array.from('ab\'"\\ $`!*;|&<>(){}[]~#=^%?')) }), {
          minLength: 1,
        }),
        words => {
          expect(wordsOf('sh', quoteWords(words))).toEqual(words)
        },
      ),
      { numRuns: 150 },
    )
  })
})
