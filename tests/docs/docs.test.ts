import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { readFences, type Fence } from './fences.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
// Inside the repository, where the packages are found; of its own, since several runs may go on at once.
const cache = join(root, `.cache/docs-${process.pid}`)
const fences = readFences(root)
const inLanguage = (language: string): Fence[] => fences.filter(fence => fence.language === language)
const titleOf = ({ page, number }: Fence): string => `block ${number} of ${page}`
const fileOf = ({ page, number }: Fence): string => join(cache, `${page.replaceAll('/', '-')}-${number}.ts`)

let directory: string

beforeAll(() => {
  mkdirSync(cache, { recursive: true })
  for (const fence of inLanguage('ts')) writeFileSync(fileOf(fence), `${fence.code}\nexport {}\n`)
  const include = ['*.ts']
  writeFileSync(
    join(cache, 'tsconfig.json'),
    JSON.stringify({ extends: '../../tsconfig.base.json', include }),
  )
  directory = mkdtempSync(join(tmpdir(), 'handraise-docs-'))
  writeFileSync(
    join(directory, 'handraise'),
    `#!/bin/sh\nexec node '${root}/packages/handraise/dist/cli.js' "$@"\n`,
  )
  chmodSync(join(directory, 'handraise'), 0o755)
})

afterAll(() => {
  rmSync(directory, { recursive: true })
  rmSync(cache, { recursive: true })
})

test('every block of the docs is one that is checked', () => {
  // Files in JavaScript are run from outside of the repository, by test-your-own.test.ts.
  const checked = new Set(['ts', 'js', 'sh', 'json', 'text'])
  expect(fences.filter(({ language }) => !checked.has(language)).map(titleOf)).toEqual([])
  const outputs = new Set(fences.flatMap(({ output }) => output ?? []))
  expect(inLanguage('js').filter(({ page }) => page !== 'docs/test-your-own.md')).toEqual([])
  const unexplained = inLanguage('text').filter(
    ({ code, picture }) => picture === undefined && !outputs.has(code),
  )
  expect(unexplained.map(titleOf)).toEqual([])
})

test('the TypeScript of the docs compiles', () => {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const { stdout } = spawnSync(process.execPath, [tsc, '-p', cache], { encoding: 'utf8' })
  expect(stdout).toBe('')
  // The types of the agent frameworks are many.
}, 120_000)

describe('the TypeScript of the docs runs and prints what they say', () => {
  test.each(inLanguage('ts').map(fence => [titleOf(fence), fence] as const))('%s', async (_, fence) => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {})
    try {
      await import(/* @vite-ignore */ fileOf(fence))
      const printed = log.mock.calls.map(args => args.map(String).join(' ')).join('\n')
      if (fence.output !== undefined) expect(printed).toBe(fence.output)
    } finally {
      log.mockRestore()
    }
  })
})

describe('the commands of the docs run and print what they say', () => {
  test.each(inLanguage('sh').map(fence => [titleOf(fence), fence] as const))('%s', async (_, fence) => {
    const env = { ...process.env, PATH: `${directory}:${process.env.PATH}`, CI: '1' }
    // The blocks of one page build on each other, and on those of no other page.
    const cwd = join(directory, fence.page.replaceAll('/', '-'))
    mkdirSync(cwd, { recursive: true })
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', fence.code], {
      cwd,
      env,
    })
    if (fence.output !== undefined) expect(stdout.trimEnd()).toBe(fence.output)
  })
})

test('the JSON of the docs parses', () => {
  for (const fence of inLanguage('json')) {
    for (const line of fence.code.split('\n'))
      expect(() => JSON.parse(line) as unknown, titleOf(fence)).not.toThrow()
  }
})
