import { mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  matchRule,
  resolveSubject,
  ruleFor,
  type ApprovalRule,
  type FileAccess,
  type FileRule,
} from '@handraise/user-approvals'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { requirement, shellRule, verdictOnAll } from './resolving.ts'

// /root/app            the workspace           /root/application   its neighbour
//   src/main.ts          a file                /root/secret/key    what must stay out of reach
//   out -> ../secret     a link out            in -> src           a link within
//   gone -> nowhere      leads nowhere         circle -> circle
let root = ''

beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'handraise-paths-')))
  for (const directory of ['app/src', 'application', 'secret', 'App'])
    await mkdir(join(root, directory), { recursive: true })
  for (const file of ['app/src/main.ts', 'application/x', 'secret/key', 'app/we ird'])
    await writeFile(join(root, file), '')
  await symlink('../secret', join(root, 'app/out'))
  await symlink('src', join(root, 'app/in'))
  await symlink('nowhere', join(root, 'app/gone'))
  await symlink('circle', join(root, 'app/circle'))
  await symlink('pong', join(root, 'app/ping'))
  await symlink('ping', join(root, 'app/pong'))
  await symlink(join(root, 'secret/key'), join(root, 'app/key'))
  await symlink('/proc/self/root', join(root, 'app/proc'))
})

afterAll(() => rm(root, { recursive: true, force: true }))

const rule = (match: Partial<FileRule> & Pick<FileRule, 'path'>, toolName = 'Edit'): ApprovalRule => ({
  version: 1,
  toolName,
  match: { kind: 'fileAccess', access: ['read'], within: false, ...match },
})

describe('a path within a directory', () => {
  test.each<[path: string, access: FileAccess, verdict: boolean]>([
    ['app', 'read', true],
    ['app/', 'read', true],
    ['app/src/main.ts', 'read', true],
    ['app//src/./main.ts', 'read', true],
    ['app/in/main.ts', 'read', true],
    ['app/src/new/file.ts', 'write', true],
    ['app/new', 'create', true],
    ['app/src/main.ts', 'delete', true],
    ['app/we ird', 'read', true],
    ['app/src/main.ts', 'execute', false],
    ['application/x', 'read', false],
    ['App/x', 'read', false],
    ['ap', 'read', false],
    ['', 'read', false],
    ['app/../secret/key', 'read', false],
    ['app/src/../../secret/key', 'read', false],
    ['app/src/../src/main.ts', 'read', true],
    ['app/out/key', 'read', false],
    ['app/out/new', 'write', false],
    ['app/key', 'write', false],
    // Whoever takes `..` away first and whoever follows the link first come to different files.
    ['app/in/../src/main.ts', 'read', true],
    ['app/out/../app/src/main.ts', 'read', false],
    ['app/src/main.ts/../main.ts', 'read', false],
    ['app/new/../src/main.ts', 'read', false],
    ['app/src/main.ts/x', 'read', false],
    ['app/src/main.ts/', 'read', false],
    ['app/gone', 'write', false],
    ['app/gone/x', 'write', false],
    ['app/circle', 'read', false],
    ['app/ping/x', 'read', false],
    ['app/proc/etc/passwd', 'read', false],
    // What is deleted is the link, not what it leads to.
    ['app/key', 'delete', false],
    ['app/in', 'delete', false],
    ['app/in/', 'delete', false],
    ['app/in/main.ts', 'delete', true],
    ['app/x\u202ey', 'read', true],
    [`app/${'x'.repeat(300)}`, 'read', false],
  ])('%j to %s: %s', async (path, access, verdict) => {
    const held = rule({
      path: join(root, 'app'),
      within: true,
      access: ['read', 'write', 'create', 'delete'],
    })
    const found = await verdictOnAll(held, 'Edit', { kind: 'fileAccess', path: `${root}/${path}`, access })
    expect(found, found.why).toMatchObject({ matches: verdict })
  })
})

describe('an exact path', () => {
  test.each<[path: string, access: FileAccess, verdict: boolean]>([
    ['app/src/main.ts', 'read', true],
    ['app/in/main.ts', 'read', true],
    ['app/src/main.ts', 'write', false],
    ['app/src/Main.ts', 'read', false],
    ['app/src/main.tsx', 'read', false],
    ['app/src/main.ts.', 'read', false],
    ['app/src/main.ts ', 'read', false],
    ['app/src', 'read', false],
    ['app/src/ma\u0456n.ts', 'read', false],
    ['app/src/main.ts\u200b', 'read', false],
  ])('%j to %s: %s', async (path, access, verdict) => {
    const held = rule({ path: join(root, 'app/src/main.ts') })
    const found = await verdictOnAll(held, 'Edit', { kind: 'fileAccess', path: `${root}/${path}`, access })
    expect(found, found.why).toMatchObject({ matches: verdict })
  })

  test('nothing is below it', async () => {
    const held = rule({ path: join(root, 'app') })
    const subject = { kind: 'fileAccess', path: join(root, 'app/src'), access: 'read' } as const
    expect(await verdictOnAll(held, 'Edit', subject)).toMatchObject({ matches: false })
  })

  test('a target besides the path is never answered for', async () => {
    const path = join(root, 'app/src/main.ts')
    const subject = { kind: 'fileAccess', path, access: 'read', target: path } as const
    const resolved = await requirement(subject)
    expect(matchRule(rule({ path }), 'Edit', resolved)).toMatchObject({ matches: false })
    expect(ruleFor('Edit', resolved)).toBeUndefined()
  })
})

test('a link that comes to lead elsewhere takes the path out of the rule', async () => {
  const link = join(root, 'app/swapped')
  await symlink('src', link)
  const subject = { kind: 'fileAccess', path: join(link, 'main.ts'), access: 'read' } as const
  const held = ruleFor('Edit', await requirement(subject), { within: join(root, 'app') })
  if (held === undefined) throw new Error('a rule was expected')
  expect(await verdictOnAll(held, 'Edit', subject)).toMatchObject({ matches: true })
  await symlink('../secret', `${link}.new`)
  await rename(`${link}.new`, link)
  expect(await verdictOnAll(held, 'Edit', subject)).toMatchObject({ matches: false })
})

test('a relative path starts at the directory of the tool, and without one it is covered by no rule', async () => {
  const subject = { kind: 'fileAccess', path: 'src/main.ts', access: 'read' } as const
  const held = rule({ path: join(root, 'app/src/main.ts') })
  expect(await verdictOnAll(held, 'Edit', subject, { cwd: join(root, 'app') })).toMatchObject({
    matches: true,
  })
  expect(await verdictOnAll(held, 'Edit', subject, { cwd: root })).toMatchObject({ matches: false })
  expect(await verdictOnAll(held, 'Edit', subject, { cwd: 'app' })).toMatchObject({ matches: false })
  expect(await resolveSubject(subject)).toMatchObject({
    subject,
    issues: [{ path: 'path', message: 'is relative, and from where is not known' }],
  })
})

test.each(['/proc/self/environ', '/dev/fd/3', '/dev/stdin'])(
  '%s differs from process to process',
  async path => {
    const resolved = await resolveSubject({ kind: 'fileAccess', path, access: 'read' })
    expect(resolved.issues).not.toEqual([])
    expect(resolved).not.toHaveProperty('path')
  },
)

describe('the directory of a command', () => {
  test.each<[cwd: string | undefined, verdict: boolean]>([
    ['app', true],
    ['app/', true],
    ['app/src/..', true],
    ['app/src', false],
    ['application', false],
    ['App', false],
    ['app/out', false],
    ['app/nowhere', false],
    ['app/circle', false],
    ['app/src/main.ts', false],
    [undefined, false],
  ])('%j: %s', async (cwd, verdict) => {
    const held = shellRule({ argv: ['make'], cwd: join(root, 'app') })
    const subject = {
      kind: 'shell',
      command: 'make',
      ...(cwd === undefined ? {} : { cwd: `${root}/${cwd}` }),
    } as const
    const found = await verdictOnAll(held, 'Bash', subject)
    expect(found, found.why).toMatchObject({ matches: verdict })
  })

  test('a rule without one answers for no command that has one', async () => {
    const held = shellRule({ argv: ['make'] })
    const make = { kind: 'shell', command: 'make' } as const
    expect(await verdictOnAll(held, 'Bash', make)).toMatchObject({ matches: true })
    expect(await verdictOnAll(held, 'Bash', { ...make, cwd: join(root, 'app') })).toMatchObject({
      matches: false,
    })
    expect(await verdictOnAll(held, 'Bash', make, { cwd: join(root, 'app') })).toMatchObject({
      matches: false,
    })
  })

  test('a program by a relative path is a program only in a directory that is known', async () => {
    const held = shellRule({ argv: ['./build'], cwd: join(root, 'app') })
    const build = { kind: 'shell', command: './build' } as const
    expect(await verdictOnAll(held, 'Bash', build, { cwd: join(root, 'app') })).toMatchObject({
      matches: true,
    })
    expect(await verdictOnAll(held, 'Bash', build, { cwd: join(root, 'app/out') })).toMatchObject({
      matches: false,
    })
    expect(ruleFor('Bash', await requirement(build))).toBeUndefined()
  })
})

test('on Windows no rule covers a path', async () => {
  const { platform } = process
  Object.defineProperty(process, 'platform', { value: 'win32' })
  try {
    const resolved = await requirement({ kind: 'fileAccess', path: join(root, 'app'), access: 'read' })
    expect(ruleFor('Edit', resolved)).toBeUndefined()
  } finally {
    Object.defineProperty(process, 'platform', { value: platform })
  }
})
