import { digestOfInput, matchRule, type ApprovalRule, type NetworkSubject } from '@handraise/user-approvals'
import { describe, expect, test } from 'vitest'
import { requirement } from './resolving.ts'

const host = (match: Omit<Extract<ApprovalRule['match'], { kind: 'network' }>, 'kind'>): ApprovalRule => ({
  version: 1,
  toolName: 'Fetch',
  match: { kind: 'network', ...match },
})

describe('a host', () => {
  const EXAMPLE = host({ host: 'example.com' })
  const HTTPS = host({ host: 'example.com', port: 443, protocol: 'https' })
  const LOOPBACK = host({ host: '127.0.0.1' })
  test.each<[rule: ApprovalRule, subject: Omit<NetworkSubject, 'kind'>, verdict: boolean]>([
    [EXAMPLE, { host: 'example.com' }, true],
    [EXAMPLE, { host: 'EXAMPLE.com.' }, true],
    [EXAMPLE, { host: 'exam\u00adple.com' }, false],
    [EXAMPLE, { host: 'example\u3002com' }, true],
    [EXAMPLE, { host: '\uff45xample.com' }, true],
    [EXAMPLE, { host: 'ex\u0430mple.com' }, false],
    [EXAMPLE, { host: 'example.com..' }, false],
    [EXAMPLE, { host: '.example.com' }, false],
    [EXAMPLE, { host: 'www.example.com' }, false],
    [EXAMPLE, { host: 'example.com.evil.org' }, false],
    [EXAMPLE, { host: 'example.com@evil' }, false],
    [EXAMPLE, { host: 'evil@example.com' }, false],
    [EXAMPLE, { host: 'example.com/x' }, false],
    [EXAMPLE, { host: 'example.com?x' }, false],
    [EXAMPLE, { host: 'example.com#x' }, false],
    [EXAMPLE, { host: 'example.com\\x' }, false],
    [EXAMPLE, { host: '%65xample.com' }, false],
    [EXAMPLE, { host: 'example.com\n' }, false],
    [EXAMPLE, { host: ' example.com' }, false],
    [EXAMPLE, { host: 'exa\tmple.com' }, false],
    [EXAMPLE, { host: 'example.com:443' }, false],
    [EXAMPLE, { host: 'example.com:80' }, false],
    [EXAMPLE, { host: 'example.com', port: 443 }, false],
    [EXAMPLE, { host: 'example.com', protocol: 'https' }, false],
    [HTTPS, { host: 'example.com', port: 443, protocol: 'HTTPS' }, true],
    [HTTPS, { host: 'example.com', protocol: 'https' }, false],
    [HTTPS, { host: 'example.com', port: 443 }, false],
    [HTTPS, { host: 'example.com', port: 8443, protocol: 'https' }, false],
    [HTTPS, { host: 'example.com', port: 443, protocol: 'http' }, false],
    [LOOPBACK, { host: '127.0.0.1' }, true],
    [LOOPBACK, { host: '127.1' }, true],
    [LOOPBACK, { host: '0x7f000001' }, true],
    [LOOPBACK, { host: '2130706433' }, true],
    [LOOPBACK, { host: '0177.0.0.1' }, true],
    [LOOPBACK, { host: '127.0.0.1.' }, true],
    [LOOPBACK, { host: 'localhost' }, false],
    [LOOPBACK, { host: '[::1]' }, false],
    [LOOPBACK, { host: '::ffff:127.0.0.1' }, false],
    [LOOPBACK, { host: '127.0.0.256' }, false],
    [host({ host: '[::1]' }), { host: '[::1]' }, true],
    [host({ host: '[::1]' }), { host: '::1' }, true],
    [host({ host: '[::1]' }), { host: '[0:0::0:1]' }, true],
    [host({ host: '[::1]' }), { host: '[::1]:80' }, false],
    [host({ host: '[::1]' }), { host: '::1%lo' }, false],
    [host({ host: 'xn--bcher-kva.de' }), { host: 'bücher.de' }, true],
    [host({ host: 'xn--bcher-kva.de' }), { host: 'BU\u0308CHER.de' }, true],
    // A rule that may not be answers for nothing.
    [host({ host: '*.example.com' }), { host: '*.example.com' }, false],
    [host({ host: 'EXAMPLE.com' }), { host: 'EXAMPLE.com' }, false],
    [host({ host: '127.1' }), { host: '127.1' }, false],
  ])('%j answers for %j: %s', async (rule, subject, verdict) => {
    const found = matchRule(rule, 'Fetch', await requirement({ kind: 'network', ...subject }))
    expect(found, found.why).toMatchObject({ matches: verdict })
  })
})

describe('a call of a tool', () => {
  const input = { to: 'ann', lines: [1, 2], deep: { a: null, b: '' } }
  const rule: ApprovalRule = {
    version: 1,
    toolName: 'Agent',
    match: { kind: 'tool', toolName: 'send', inputDigest: digestOfInput('send', input) },
  }
  test.each<[what: string, toolName: string, input: unknown, verdict: boolean]>([
    ['the same input', 'send', input, true],
    ['its members in another order', 'send', { deep: { b: '', a: null }, lines: [1, 2], to: 'ann' }, true],
    ['a member more', 'send', { ...input, cc: null }, false],
    ['a member less', 'send', { to: 'ann', lines: [1, 2] }, false],
    ['its array in another order', 'send', { ...input, lines: [2, 1] }, false],
    ['a text for a number', 'send', { ...input, lines: ['1', 2] }, false],
    ['another case', 'send', { ...input, to: 'Ann' }, false],
    ['a character that shows nothing', 'send', { ...input, to: 'ann\u200b' }, false],
    ['another tool', 'Send', input, false],
    ['the caller for the tool', 'Agent', input, false],
  ])('%s', async (_, toolName, given, verdict) => {
    const subject = { kind: 'tool', toolName, input: given as never } as const
    const found = matchRule(rule, 'Agent', await requirement(subject))
    expect(found, found.why).toMatchObject({ matches: verdict })
  })

  test('an input that JSON would change is no subject', async () => {
    const subject = (value: unknown) => ({ kind: 'tool', toolName: 'send', input: { to: value } }) as never
    for (const value of [undefined, Number.NaN, -0, new Date(0), 1n])
      await expect(requirement(subject(value))).rejects.toThrow(/input/u)
  })
})

test('a rule of one kind answers for no other', async () => {
  const rule = host({ host: 'example.com' })
  const subject = { kind: 'shell', command: 'example.com' } as const
  expect(matchRule(rule, 'Fetch', await requirement(subject))).toMatchObject({ matches: false })
})

test('what a caller changes after asking changes nothing of what was resolved', async () => {
  const subject = { kind: 'shell', command: 'a', env: { A: '1' } } as const
  const asked = requirement(subject)
  Object.assign(subject.env, { PATH: '/tmp/evil' })
  expect(await asked).toMatchObject({ env: { A: '1' }, subject: { env: { A: '1' } } })
})
