import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const script = fileURLToPath(new URL('../soak/kill.mjs', import.meta.url))

// A hundred kills in all; `npm run soak` has two hundred of each.
test.each([
  ['one process', '1'],
  ['two processes at once', '2'],
])(
  'an inbox whose server is killed 50 times loses nothing and settles nothing twice, with %s on the file',
  async (_, processes) => {
    const { stdout } = await promisify(execFile)(process.execPath, [script, '50', processes])
    console.log(stdout)
    expect(stdout).toContain('all kept')
  },
  300_000,
)
