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
  const { url, token } = JSON.parse(line)
  const client = new InboxClient({ url, token })
  const stops = []
  let current
  let ready = 0

  // As little as a reader can do, so that the server is what is measured.
  async function follow() {
    const headers = { Authorization: `Bearer ${token}` }
    const { body } = await fetch(`${url}api/events`, { headers })
    const reader = body.getReader()
    stops.push(() => reader.cancel())
    const decoder = new TextDecoder()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const text = decoder.decode(value)
      if (text.includes('event: snapshot')) ready += 1
      if (!text.includes('event: settled')) continue
      current.times.push(performance.now() - current.from)
      if (current.times.length === STREAMS) current.all()
    }
  }
  const following = Array.from({ length: STREAMS }, follow)
  while (ready < STREAMS) await new Promise(resolve => setTimeout(resolve, 20))

  const receipts = []
  const told = []
  for (let count = 0; count < SETTLEMENTS; count += 1) {
    const { request } = await client.open({ questions, key: `key-${count}` })
    const heard = new Promise(all => {
      current = { from: performance.now(), times: [], all }
    })
    const { from, times } = current
    await client.answer(request.id, [{ id: 'db', selected: ['SQLite'] }])
    receipts.push(performance.now() - from)
    await heard
    told.push(...times)
  }
  for (const stop of stops) await stop()
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
