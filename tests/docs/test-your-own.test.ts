import { execFile, type ExecFileException } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readFences } from './fences.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)

/** What somebody who writes a provider, a surface or a store installs. */
const PACKED = ['user-questions', 'inbox']
const SUITES = [
  { kind: 'provider', suite: 'providerSuite', from: '@handraise/user-questions/testing' },
  { kind: 'surface', suite: 'surfaceSuite', from: '@handraise/inbox/testing' },
  { kind: 'store', suite: 'storeSuite', from: '@handraise/inbox/testing' },
] as const

// Of a package or of Node, and not of a file.
const IMPORT = /^import [^;]*?["']([^."'][^"']*)["'];$/gmu

const fences = readFences(root).filter(
  ({ page, language }) => page === 'docs/test-your-own.md' && language === 'js',
)
// The first line of each says which file it is.
const files = new Map(fences.map(fence => [/^\/\/ (\S+)$/mu.exec(fence.code)?.[1] ?? '', fence]))

let project: string

beforeAll(async () => {
  project = realpathSync(mkdtempSync(join(tmpdir(), 'handraise-outside-')))
  writeFile('package.json', JSON.stringify({ name: 'outside', private: true, type: 'module' }))
  await Promise.all(PACKED.map(install))
  for (const name of ['@types/node', 'vitest']) link(name, join(root, 'node_modules', name))
  for (const [name, { code }] of files) writeFile(name, code)
}, 60_000)

afterAll(() => rmSync(project, { recursive: true, force: true }))

/** As npm does, from the tarball; what is not of this repository is taken from it all the same, to need no network. */
async function install(name: string): Promise<void> {
  const cwd = join(root, 'packages', name)
  const { pnpm } = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest).scripts ?? {}
  const [command = 'npx', ...args] = pnpm?.split(' ') ?? []
  const packed = await run(command, [...args, 'pack', '--json', '--pack-destination', project], { cwd })
  const tarball = (JSON.parse(packed.stdout.slice(packed.stdout.indexOf('{'))) as { filename: string })
    .filename
  const target = join(project, 'node_modules/@handraise', name)
  mkdirSync(target, { recursive: true })
  await run('tar', ['-xzf', resolve(project, tarball), '--strip-components=1', '-C', target])
  for (const dependency of dependenciesIn(target))
    if (!dependency.startsWith('@handraise/')) link(dependency, join(cwd, 'node_modules', dependency))
}

interface Manifest {
  readonly name?: string
  readonly scripts?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

function dependenciesIn(directory: string): string[] {
  const manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as Manifest
  return Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies, [manifest.name ?? '']: '' })
}

function link(name: string, from: string): void {
  const place = join(project, 'node_modules', name)
  mkdirSync(dirname(place), { recursive: true })
  rmSync(place, { force: true })
  symlinkSync(realpathSync(from), place)
}

function writeFile(name: string, text: string): void {
  mkdirSync(dirname(join(project, name)), { recursive: true })
  writeFileSync(join(project, name), `${text}\n`)
}

/** A file of the page, made to be about another suite. */
function writeFor(name: string, { kind, suite, from }: (typeof SUITES)[number]): string {
  const about = SUITES.find(each => files.get(name)?.code.includes(each.suite))
  const code = (files.get(name)?.code ?? '')
    .replaceAll(about?.suite ?? '', suite)
    .replaceAll(about?.from ?? '', from)
    .replaceAll(`/${about?.kind}.js`, `/${kind}.js`)
  const place = name.replace(about?.kind ?? '', kind).replace('loop', `loop-${kind}`)
  writeFile(place, code)
  return place
}

/** What Node prints, without what the test runner around it adds to the environment. */
async function node(...args: string[]): Promise<string> {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_|TEST$)/u.test(name)),
  )
  const ended = await run(process.execPath, args, { cwd: project, env: { ...env, NO_COLOR: '1' } }).catch(
    (error: ExecFileException) => error,
  )
  return `${ended.stdout ?? ''}${ended.stderr ?? ''}`
}

test('the page has a file for each way to run a suite, and for each harness', () => {
  expect([...files.keys()]).toEqual([
    'vitest/provider.test.js',
    'node/store.test.js',
    'loop.js',
    'provider.js',
    'surface.js',
    'store.js',
  ])
})

describe('from outside of the repository, in plain JavaScript', () => {
  test('each suite runs under the runner of Node', async () => {
    const places = SUITES.map(suite => writeFor('node/store.test.js', suite))
    const printed = await node('--test', '--test-reporter=tap', ...places)
    expect(printed).toMatch(/^# fail 0$/mu)
    expect(Number(/^# pass (\d+)$/mu.exec(printed)?.[1])).toBeGreaterThan(100)
  }, 60_000)

  test('a suite runs under vitest', async () => {
    const printed = await node('node_modules/vitest/vitest.mjs', 'run', '--dir', 'vitest')
    expect(printed).toMatch(/Test Files +1 passed \(1\)/u)
    expect(printed).toMatch(/Tests +\d\d passed \(\d\d\)/u)
  }, 60_000)

  test('each suite runs in a loop, without any test runner', async () => {
    const loops = SUITES.map(suite => node(writeFor('loop.js', suite)))
    for (const [index, printed] of (await Promise.all(loops)).entries()) {
      expect(printed.split('\n').filter(line => line !== '' && !line.startsWith('✓ '))).toEqual([])
      if (SUITES[index]?.kind === 'surface') expect(printed.trimEnd()).toBe(files.get('loop.js')?.output)
    }
  }, 60_000)

  test('a suite loads no test framework', () => {
    for (const name of PACKED) {
      const directory = join(project, 'node_modules/@handraise', name)
      const dependencies = dependenciesIn(directory)
      const scripts = readdirSync(join(directory, 'dist')).filter(file => file.endsWith('.js'))
      const loaded = scripts.flatMap(file =>
        [...readFileSync(join(directory, 'dist', file), 'utf8').matchAll(IMPORT)].map(
          ([, from = '']) => from,
        ),
      )
      expect(loaded).toContain('assert/strict')
      const packages = loaded.filter(from => from === 'node:test' || !isBuiltin(from))
      expect(packages.filter(from => !dependencies.some(each => `${from}/`.startsWith(`${each}/`)))).toEqual(
        [],
      )
    }
  })

  test('a harness in JavaScript is checked by its type', async () => {
    const wrong = readFileSync(join(project, 'store.js'), 'utf8').replace('async destroy() {},', '')
    writeFile('wrong.js', wrong)
    const compilerOptions = {
      allowJs: true,
      checkJs: true,
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      target: 'ES2023',
      module: 'ESNext',
      moduleResolution: 'Bundler',
      types: ['node'],
    }
    const include = ['*.js', 'vitest/provider.test.js', 'node/store.test.js']
    writeFile('tsconfig.json', JSON.stringify({ compilerOptions, include }))
    const printed = await node(join(root, 'node_modules/typescript/bin/tsc'), '-p', '.')
    const faults = printed.split('\n').filter(line => line.includes('error TS'))
    expect(faults).toEqual([expect.stringMatching(/^wrong\.js.*StoreBench/u)])
  }, 60_000)
})
