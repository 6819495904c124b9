import { requirementsOf, resolveSubject, type ApprovalSubject } from '@handraise/user-approvals'
import { expect, test } from 'vitest'

const of = async (subject: ApprovalSubject) => requirementsOf(await resolveSubject(subject))

test('every stage of a command is one, with the same directory and environment', async () => {
  const found = await of({ kind: 'shell', command: 'git log | head -5; echo $X', cwd: '/', env: { A: '1' } })
  expect(found.map(each => each.sourceIndex)).toEqual([0, 1, 2])
  expect(found.map(each => each.subject.subject)).toEqual([
    { kind: 'shell', command: 'git log', cwd: '/', env: { A: '1' } },
    { kind: 'shell', command: 'head -5', cwd: '/', env: { A: '1' } },
    { kind: 'shell', command: 'echo $X', cwd: '/', env: { A: '1' } },
  ])
  expect(found.map(each => each.subject)).toMatchObject([
    { stages: [{ argv: ['git', 'log'] }], cwd: '/' },
    { stages: [{ argv: ['head', '-5'], separator: '|' }], cwd: '/' },
    { stages: [{ argvComplete: false }], cwd: '/' },
  ])
})

test.each<ApprovalSubject>([
  { kind: 'shell', command: 'ls' },
  { kind: 'shell', command: ' ' },
  { kind: 'shell', command: 'a; b', argv: ['a', ';', 'b'] },
  { kind: 'fileAccess', path: '/a', access: 'read' },
  { kind: 'network', host: 'a' },
  { kind: 'tool', toolName: 't', input: null },
])('%j is one as it is', async subject => {
  const resolved = await resolveSubject(subject)
  expect(requirementsOf(resolved)).toEqual([{ sourceIndex: 0, subject: resolved }])
  expect(resolved.subject).toEqual(subject)
})

test('a stage with nothing in it is one nobody understands', async () => {
  expect((await of({ kind: 'shell', command: 'ls |' })).map(each => each.subject)).toMatchObject([
    { subject: { command: 'ls' } },
    { subject: { command: '|' }, stages: [{ argvComplete: false }] },
  ])
})

test('a stage behind one that changes the shell says so', async () => {
  const found = await of({ kind: 'shell', command: 'ls; cd /tmp && make || ls' })
  expect(found.map(each => each.subject.issues)).toEqual([
    [],
    [],
    [{ path: 'stages[2]', message: 'may not be what it says, since stage 2 changes the shell' }],
    [{ path: 'stages[3]', message: 'may not be what it says, since stage 2 changes the shell' }],
  ])
})

test('what is resolved is plain data', async () => {
  const subject: ApprovalSubject = { kind: 'shell', command: 'ls', cwd: undefined, env: undefined }
  const resolved = await resolveSubject(subject)
  expect(JSON.parse(JSON.stringify(resolved))).toStrictEqual(resolved)
  expect(resolved.subject).toStrictEqual({ kind: 'shell', command: 'ls' })
})
