import { execFile } from 'node:child_process'
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openPauses } from '@handraise/mcp'
import { expect, onTestFinished, test } from 'vitest'

const run = promisify(execFile)

async function keyFile(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'mcp-key-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  return join(directory, 'key')
}

test.skipIf(process.platform === 'win32')('a key is not waited for in a pipe', async () => {
  const file = await keyFile()
  await run('mkfifo', ['-m', '600', file])
  await expect(openPauses({ keyFile: file })).rejects.toMatchObject({
    code: 'KEY_UNREADABLE',
    details: { why: 'it is no regular file' },
  })
})

test.skipIf(process.getuid?.() !== 0)('a key of another user is refused', async () => {
  const file = await keyFile()
  await writeFile(file, `handraise-mcp-key 1 ${'A'.repeat(43)}\n`, { mode: 0o600 })
  await chown(file, 65_534, 65_534)
  await expect(openPauses({ keyFile: file })).rejects.toMatchObject({
    code: 'KEY_UNREADABLE',
    details: { why: 'it belongs to another user (65534)' },
  })
})
