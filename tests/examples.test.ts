import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const examples = fileURLToPath(new URL('../examples', import.meta.url))

const names = readdirSync(examples)
const tested = names.filter(name =>
  /"test":/.test(readFileSync(join(examples, name, 'package.json'), 'utf8')),
)

// Each verifies itself, and exits with something other than 0 when it fails.
test.each(names)('the example %s verifies itself', async name => {
  const { stdout } = await promisify(execFile)('npm', ['start', '--silent'], { cwd: join(examples, name) })
  expect(stdout).not.toBe('')
})

test.each(tested)('the example %s passes its tests', async name => {
  const { stdout } = await promisify(execFile)('npm', ['test', '--silent'], { cwd: join(examples, name) })
  expect(stdout).toMatch(/ fail 0$/m)
})
