import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const script = fileURLToPath(new URL('../soak/kill.mjs', import.meta.url))

// Two hundred kills in all; `npm run soak` has as many of each.
test.each([
  ['one process', '1'],
  ['two processes at once', '2'],
])(
  'an inbox whose server is killed 100 times loses nothing and settles nothing twice, with %s on the file',
  async (_, processes) => {
    const { stdout } = await promisify(execFile)(process.execPath, [script, '100', processes])
    console.log(stdout)
    expect(stdout).toContain('all kept')
  },
  300_000,
)
