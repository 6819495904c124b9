import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const examples = fileURLToPath(new URL('../examples', import.meta.url))

// Each verifies itself, and exits with something other than 0 when it fails.
test.each(readdirSync(examples))('the example %s verifies itself', async name => {
  const { stdout } = await promisify(execFile)('npm', ['start', '--silent'], { cwd: join(examples, name) })
  expect(stdout).not.toBe('')
})
