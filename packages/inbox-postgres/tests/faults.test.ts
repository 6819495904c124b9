import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const script = fileURLToPath(new URL('../../../soak/postgres.mjs', import.meta.url))

test('hosts that are killed, cut off and slowed down lose nothing, settle once, and all hear of it', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [script, '1000', '3'])
  console.log(stdout)
  expect(stdout).toContain('all kept')
}, 180_000)
