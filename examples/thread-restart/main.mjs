// The person, and whoever starts the worker. Exits with 1 when anything is not as it should be.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { FileThread, textOf } from '@handraise/thread'

setTimeout(() => assert.fail('this took too long'), 25_000).unref()

const directory = await mkdtemp(join(tmpdir(), 'thread-restart-'))
const file = join(directory, 'thread.jsonl')
const worker = fileURLToPath(new URL('worker.mjs', import.meta.url))
const start = () => spawn(process.execPath, [worker, file], { stdio: ['ignore', 'pipe', 'inherit'] })

try {
  const person = new FileThread({ file, self: 'ada' })
  const items = async () => (await person.since()).items

  const first = start()
  while ((await items()).length === 0) await new Promise(resolve => setTimeout(resolve, 10))
  console.log(textOf((await items())[0]))
  first.kill('SIGKILL')
  await once(first, 'close')
  console.log('the worker was killed')

  await person.say('/status')
  await person.say('2')

  const second = start()
  const [said, [code]] = await Promise.all([text(second.stdout), once(second, 'close')])
  console.log(`the worker came back:\n${said.trimEnd()}`)
  assert.equal(code, 0)
  assert.deepEqual(said.trimEnd().split('\n').toSorted(), [
    'answer: production',
    'message (command): /status',
  ])

  const types = (await items()).map(({ metadata }) => metadata?.type)
  assert.deepEqual(types, ['pending_prompt', undefined, undefined, 'pending_prompt_resolved'])
  console.log(`the thread says: ${textOf((await items()).at(-1))}`)
} finally {
  await rm(directory, { recursive: true })
}
console.log('thread-restart: ok')
