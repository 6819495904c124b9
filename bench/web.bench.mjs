// Settling with 1,000 event streams attached: how long until the answer is acknowledged, and until every stream has told.
// The server is a process of its own, as in use.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { InboxClient } from '@handraise/provider-web'

const STREAMS = 1_000
const SETTLEMENTS = 100

const questions = [
  { id: 'db', question: 'Which store?', options: [{ label: 'Postgres' }, { label: 'SQLite' }] },
]
const cli = createRequire(import.meta.url)
  .resolve('handraise/package.json')
  .replace('package.json', 'dist/cli.js')

export async function run() {
  const directory = mkdtempSync(join(tmpdir(), 'handraise-bench-'))
  const server = spawn(process.execPath, [cli, 'serve', '--json', '--db', join(directory, 'inbox.db')])
  const line = await new Promise(resolve => createInterface({ input: server.stdout }).once('line', resolve))
  const client = new InboxClient(JSON.parse(line))
  const stop = new AbortController()
  const seen = new Map()
  let ready = 0

  async function follow() {
    for await (const event of client.events(undefined, { signal: stop.signal })) {
      if (event.type === 'snapshot' && event.done) ready += 1
      if (event.type !== 'settled') continue
      const waiting = seen.get(event.request.id)
      waiting.times.push(performance.now() - waiting.from)
      if (waiting.times.length === STREAMS) waiting.all()
    }
  }
  const following = Array.from({ length: STREAMS }, follow)
  while (ready < STREAMS) await new Promise(resolve => setTimeout(resolve, 20))

  const receipts = []
  const told = []
  for (let count = 0; count < SETTLEMENTS; count += 1) {
    const { request } = await client.open({ questions, key: `key-${count}` })
    const from = performance.now()
    const heard = new Promise(all => seen.set(request.id, { from, times: [], all }))
    await client.answer(request.id, [{ id: 'db', selected: ['SQLite'] }])
    receipts.push(performance.now() - from)
    await heard
    told.push(...seen.get(request.id).times)
  }
  stop.abort()
  await Promise.all(following)
  server.kill('SIGINT')
  await new Promise(resolve => server.once('exit', resolve))
  rmSync(directory, { recursive: true, force: true })
  console.log('settling with', STREAMS, 'event streams attached,', SETTLEMENTS, 'settlements')
  console.log(`  acknowledged  p50 ${at(receipts, 0.5)} ms, p99 ${at(receipts, 0.99)} ms`)
  console.log(`  told to each  p50 ${at(told, 0.5)} ms, p99 ${at(told, 0.99)} ms, last ${at(told, 1)} ms`)
}

function at(values, share) {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))].toFixed(1)
}
