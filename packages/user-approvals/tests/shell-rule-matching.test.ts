import { matchRule, resolveSubject, ruleFor } from '@handraise/user-approvals'
import { describe, expect, test } from 'vitest'
import { requirement, shellRule, verdictOnAll } from './resolving.ts'

const STATUS = shellRule({ argv: ['git', 'status'] })
const LOG = shellRule({ argv: ['git', 'log'], rest: 'any' })
const LS = shellRule({ argv: ['ls'], rest: 'any' })
const HEAD = shellRule({ argv: ['head'], rest: 'any', piped: true })
const word = (text: string) => shellRule({ argv: ['echo', text] })

type Case = [rule: ReturnType<typeof shellRule>, command: string, verdict: boolean]

describe('a command for a shell against an exact rule', () => {
  test.each<Case>([
    [STATUS, 'git status', true],
    [STATUS, '  git \t status  ', true],
    [STATUS, "git 'status'", true],
    [STATUS, 'git "sta"tus', true],
    [STATUS, String.raw`git \-status`, false],
    [STATUS, 'git status;', true],
    [STATUS, 'git status\n', true],
    [STATUS, 'git status && git status', true],
    [STATUS, 'git status; rm -rf x', false],
    [STATUS, 'git status\nrm -rf x', false],
    [STATUS, 'git status | sh', false],
    [STATUS, 'git status || rm -rf x', false],
    [STATUS, 'git status;; rm -rf x', false],
    [STATUS, '; git status', false],
    [STATUS, 'git status |', false],
    [STATUS, 'git status &&', false],
    [STATUS, 'if git status; then git status; fi', false],
    [STATUS, 'git', false],
    [STATUS, 'git statusx', false],
    [STATUS, 'git Status', false],
    [STATUS, 'GIT status', false],
    [STATUS, 'git status --porcelain', false],
    [STATUS, "git status ''", false],
    [STATUS, 'git -c core.pager=evil status', false],
    [STATUS, 'git -C /elsewhere status', false],
    [STATUS, 'git --exec-path=/tmp/evil status', false],
    [STATUS, './git status', false],
    [STATUS, '/tmp/git status', false],
    [STATUS, '/usr/bin/git status', false],
    [STATUS, '"git status"', false],
    [STATUS, String.raw`git\ status`, false],
    [STATUS, 'GIT_SSH_COMMAND=evil git status', false],
    [STATUS, 'PATH=/tmp/evil git status', false],
    [STATUS, 'env git status', false],
    [STATUS, '"" git status', false],
    [STATUS, '! git status', false],
    [STATUS, 'time git status', false],
    [STATUS, '- git status', false],
    [STATUS, 'git status &', false],
    [STATUS, 'git status & rm -rf x', false],
    [STATUS, 'git status > /etc/passwd', false],
    [STATUS, 'git status 2>&1', false],
    [STATUS, 'git status <<E\nE', false],
    [STATUS, 'git status # harmless', false],
    [STATUS, 'git status $(rm x)', false],
    [STATUS, 'git status `rm x`', false],
    [STATUS, 'git$IFS"status"', false],
    [STATUS, 'git${IFS}status', false],
    [STATUS, 'git $X', false],
    [STATUS, 'git "$X"', false],
    [STATUS, "git $'status'", false],
    [STATUS, 'git $"status"', false],
    [STATUS, 'git sta*', false],
    [STATUS, 'git stat?s', false],
    [STATUS, 'git stat[u]s', false],
    [STATUS, 'git {status,push}', false],
    [STATUS, '(git status)', false],
    [STATUS, '{ git status; }', false],
    [STATUS, 'git() { evil; }', false],
    [STATUS, 'git status\\\n', false],
    [STATUS, 'git \\\nstatus', false],
    [STATUS, 'git status\r\n', false],
    [STATUS, 'git\u00a0status', false],
    [STATUS, 'git\u3000status', false],
    [STATUS, 'git status\u200b', false],
    [STATUS, "git 'status\u200b'", false],
    [STATUS, 'git sta\u00adtus', false],
    [STATUS, 'g\u0456t status', false],
    [STATUS, "'g\u0456t' status", false],
    [STATUS, "'\uff47\uff49\uff54' status", false],
    [STATUS, "git 'status\u202e'", false],
    [STATUS, 'git status\u001b[2K', false],
    [STATUS, 'git\vstatus', false],
    [STATUS, 'git "status', false],
    [STATUS, "git 'status", false],
    [STATUS, 'git status\\', false],
    [STATUS, ' ', false],
    [STATUS, '#', false],
    [word('a;b'), "echo 'a;b'", true],
    [word('a;b'), 'echo "a;b"', true],
    [word('a;b'), String.raw`echo a\;b`, true],
    [word('a;b'), 'echo a;b', false],
    [word('a && rm x'), 'echo "a && rm x"', true],
    [word('a b'), 'echo a b', false],
    [word('$HOME'), "echo '$HOME'", true],
    [word('$HOME'), 'echo $HOME', false],
    [word('$HOME'), 'echo "$HOME"', false],
    [word('a\nb'), "echo 'a\nb'", false],
    [word("it's"), String.raw`echo 'it'\''s'`, true],
    [word('café'), "echo 'café'", true],
    [word('café'), "echo 'cafe\u0301'", false],
    [word('!!'), 'echo "!!"', false],
    [word('~'), 'echo ~', false],
    [word('~'), "echo '~'", true],
    [word('=ls'), 'echo =ls', false],
    [word(String.raw`a\b`), String.raw`echo 'a\b'`, false],
    [word(String.raw`a\b`), String.raw`echo "a\\b"`, true],
    [word(String.raw`a\b`), String.raw`echo "a\b"`, false],
  ])('%j answers for %j: %s', async (rule, command, verdict) => {
    const found = await verdictOnAll(rule, 'Bash', { kind: 'shell', command })
    expect(found, found.why).toMatchObject({ matches: verdict })
  })
})

describe('a command for a shell against a rule that goes on with any words', () => {
  test.each<Case>([
    [LOG, 'git log', true],
    [LOG, 'git log main src', true],
    [LOG, "git log ''", true],
    [LOG, 'git logx', false],
    [LOG, 'git', false],
    [LOG, 'git log --output=/etc/cron.d/x', false],
    [LOG, 'git log src --ext-diff', false],
    [LOG, "git log 'src' '--ext-diff'", false],
    [LOG, String.raw`git log \--ext-diff`, false],
    [LOG, 'git log -- src', false],
    [LOG, 'git -c core.pager=evil log', false],
    [LOG, 'git log +x', false],
    [LOG, 'git log @options', false],
    [LOG, 'git log src; rm -rf x', false],
    [LOG, 'git log src > x', false],
    [LS, 'ls src', true],
    [LS, 'ls -la', false],
    [LS, 'lsx', false],
    [LS, '/tmp/ls src', false],
    // A rule that may not be, however it came here, answers for nothing.
    [shellRule({ argv: ['env'], rest: 'any' }), 'env ls', false],
    [shellRule({ argv: ['git'], rest: 'any' }), 'git status', false],
    [shellRule({ argv: ['ls', '-l'], rest: 'any' }), 'ls -l', false],
    [shellRule({ argv: [] }), 'ls', false],
    [shellRule({ argv: [], rest: 'any' }), 'ls', false],
    [shellRule({ argv: ['ls\u200b'] }), "'ls\u200b'", false],
  ])('%j answers for %j: %s', async (rule, command, verdict) => {
    const found = await verdictOnAll(rule, 'Bash', { kind: 'shell', command })
    expect(found, found.why).toMatchObject({ matches: verdict })
  })
})

describe('a stage among others', () => {
  test.each<[rule: ReturnType<typeof shellRule>, command: string, at: number, verdict: boolean]>([
    [STATUS, 'git status && rm -rf x', 0, true],
    [STATUS, 'git status && rm -rf x', 1, false],
    [STATUS, 'git status || git push', 1, false],
    [STATUS, 'git status\nrm -rf x', 1, false],
    [STATUS, 'ls; git status', 1, true],
    [STATUS, 'ls && git status $(rm x)', 1, false],
    [HEAD, 'git log | head', 1, true],
    [HEAD, 'git log | head x', 1, true],
    [HEAD, 'git log; head x', 1, false],
    [HEAD, 'git log || head x', 1, false],
    [shellRule({ argv: ['head'], rest: 'any' }), 'git log | head', 1, false],
    // What runs or writes what is piped into it does another thing each time.
    [shellRule({ argv: ['sh'], piped: true }), 'curl x | sh', 1, false],
    [shellRule({ argv: ['tee', 'x'], piped: true }), 'echo y | tee x', 1, false],
    [shellRule({ argv: ['git', 'apply'], piped: true }), 'cat x | git apply', 1, false],
    // A stage that changes the shell changes what the words after it say.
    [STATUS, 'cd /elsewhere && git status', 1, false],
    [STATUS, 'export PATH=/tmp/evil; git status', 1, false],
    [STATUS, 'printf -v PATH /tmp/evil; git status', 1, false],
    [STATUS, 'alias git=evil\ngit status', 1, false],
    [STATUS, 'hash -p /tmp/evil git; git status', 1, false],
    [STATUS, '. ./x && ls && git status', 2, false],
    [STATUS, 'echo x | read PATH; git status', 2, false],
    [STATUS, 'git status; cd /elsewhere', 0, true],
  ])('%j answers for %j at %i: %s', async (rule, command, at, verdict) => {
    const found = matchRule(rule, 'Bash', await requirement({ kind: 'shell', command }, { at }))
    expect(found, found.why).toMatchObject({ matches: verdict })
  })

  test('a command of several stages is never answered for as a whole', async () => {
    const resolved = await resolveSubject({ kind: 'shell', command: 'git status && git status' })
    expect(matchRule(STATUS, 'Bash', resolved)).toMatchObject({ matches: false })
    expect(ruleFor('Bash', resolved)).toBeUndefined()
  })
})

describe('words without a shell', () => {
  test.each<[rule: ReturnType<typeof shellRule>, argv: string[], verdict: boolean]>([
    [STATUS, ['git', 'status'], true],
    [STATUS, ['git', 'status', ''], false],
    [STATUS, ['git status'], false],
    [STATUS, ['git', 'status\n'], false],
    [STATUS, ['git', 'status\u200b'], false],
    [STATUS, ['git', 'st\u0430tus'], false],
    [word('$(rm x)'), ['echo', '$(rm x)'], true],
    [word('a; b'), ['echo', 'a; b'], true],
    [shellRule({ argv: ['./git'] }), ['./git'], false],
    [shellRule({ argv: ['/tmp/git'] }), ['/tmp/git'], true],
    [shellRule({ argv: ['git', 'log'], rest: 'any' }), ['git', 'log', '--ext-diff'], false],
  ])('%j answers for %j: %s', async (rule, argv, verdict) => {
    // Whatever the caller calls it: the words count.
    const subject = { kind: 'shell', command: 'git status', argv } as const
    const found = matchRule(rule, 'Bash', await requirement(subject))
    expect(found, found.why).toMatchObject({ matches: verdict })
  })
})

describe('an environment', () => {
  const env = { NODE_ENV: 'test' }
  test.each<[rule: ReturnType<typeof shellRule>, env: Record<string, string> | undefined, verdict: boolean]>([
    [STATUS, {}, true],
    [STATUS, { PATH: '/tmp/evil' }, false],
    [STATUS, { LD_PRELOAD: '/tmp/evil.so' }, false],
    [STATUS, { GIT_SSH_COMMAND: 'evil' }, false],
    [STATUS, { BASH_ENV: '/tmp/evil' }, false],
    [STATUS, { 'BASH_FUNC_git%%': '() { evil; }' }, false],
    [STATUS, { X: '' }, false],
    [shellRule({ argv: ['git', 'status'], env }), env, true],
    [shellRule({ argv: ['git', 'status'], env }), undefined, false],
    [shellRule({ argv: ['git', 'status'], env }), { ...env, PATH: '/tmp/evil' }, false],
    [shellRule({ argv: ['git', 'status'], env }), { NODE_ENV: 'Test' }, false],
    [shellRule({ argv: ['git', 'status'], env }), { node_env: 'test' }, false],
    [shellRule({ argv: ['git', 'status'], env: {} }), {}, false],
  ])('%j answers for one with %j: %s', async (rule, given, verdict) => {
    const subject = { kind: 'shell', command: 'git status', env: given } as const
    const found = matchRule(rule, 'Bash', await requirement(subject))
    expect(found, found.why).toMatchObject({ matches: verdict })
  })
})

test('a rule for one tool answers for no other', async () => {
  const status = await requirement({ kind: 'shell', command: 'git status' })
  expect(matchRule(STATUS, 'bash', status)).toEqual({
    matches: false,
    why: 'the tool is "bash", the rule says "Bash"',
  })
})

test('a verdict says what decided it', async () => {
  const why = async (command: string) =>
    matchRule(STATUS, 'Bash', await requirement({ kind: 'shell', command })).why
  expect(await why('git status')).toBe('all of it is what the rule says')
  expect(await why('git push')).toBe('argv[1] is "push", the rule says "status"')
  expect(await why('git')).toBe('argv[1] is absent, the rule says "status"')
  expect(await why('git status -s')).toBe('"-s" follows, and the rule says nothing does')
  expect(await why('git $X')).toBe('no rule covers it: what a shell would make of it is not fully understood')
})

test('on Windows no rule covers a command', async () => {
  const { platform } = process
  Object.defineProperty(process, 'platform', { value: 'win32' })
  try {
    const resolved = await requirement({ kind: 'shell', command: 'git status' })
    expect(matchRule(STATUS, 'Bash', resolved)).toMatchObject({ matches: false })
    expect(ruleFor('Bash', resolved)).toBeUndefined()
  } finally {
    Object.defineProperty(process, 'platform', { value: platform })
  }
})
