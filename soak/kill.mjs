// Kills inbox servers while they are asked and answered, then proves that nothing acknowledged was lost, nothing was
// settled twice, and that ids and cursors are whole. `node kill.mjs [kills, default 200] [processes on the file, default 1]`
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { openSqliteStore } from '@handraise/inbox-sqlite'
import { InboxClient } from '@handraise/provider-web'

const KILLS = Number(process.argv[2] ?? 200)
const PROCESSES = Number(process.argv[3] ?? 1)
const ASKERS = 4
const QUESTIONS = [
  { id: 'db', question: 'Which store?', options: [{ label: 'Postgres' }, { label: 'SQLite' }] },
]
const PHASES = [
  'open',
  'after open',
  'log',
  'after log',
  'settle',
  'after settle',
  'commit',
  'after commit',
  'anywhere',
]

const directory = mkdtempSync(join(tmpdir(), 'handraise-soak-'))
const file = join(directory, 'inbox.db')
const seed = Number(process.env.SEED ?? Date.now() % 1_000_000)
const random = randomFrom(seed)

const opened = new Map()
const answered = new Map()
const histogram = new Map()
let asked = 0

console.log(`seed ${seed}; ${KILLS} kills of ${PROCESSES} process(es) on one file`)

try {
  const lanes = Array.from({ length: PROCESSES }, (_, process) =>
    killMany(process, Math.ceil(KILLS / PROCESSES)),
  )
  await Promise.all(lanes)
  await prove()
} finally {
  rmSync(directory, { recursive: true, force: true })
}

async function killMany(process, kills) {
  for (let kill = 0; kill < kills; kill += 1) await killOne(process, kill)
}

async function killOne(lane, kill) {
  const phase = PHASES[(kill + lane) % PHASES.length]
  const count = 1 + Math.floor(random() * 40)
  const child = spawn(
    process.execPath,
    [new URL('killed-server.mjs', import.meta.url).pathname, file, phase, count],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const ended = new Promise(resolve => child.once('exit', (code, signal) => resolve({ code, signal })))
  let where = 'anywhere'
  let timer
  const url = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', line => {
      if (line.startsWith('{')) resolve(JSON.parse(line).url)
      else where = line.replace('killed in ', '')
    })
    void ended.then(() => reject(new Error('killed before it listened')))
  }).catch(() => undefined)
  if (url !== undefined) {
    // Those that are to die anywhere, and those whose phase never comes.
    timer = setTimeout(() => child.kill('SIGKILL'), phase === 'anywhere' ? random() * 150 : 5_000)
    const client = new InboxClient({ url, token: 'for-this-run-only', surface: `process ${lane}` })
    await Promise.all(Array.from({ length: ASKERS }, () => askAndAnswer(client)))
  }
  const { signal } = await ended
  clearTimeout(timer)
  assert.equal(signal, 'SIGKILL', 'the server ended by itself')
  histogram.set(where, (histogram.get(where) ?? 0) + 1)
}

// Until the server is gone: opens, answers its own and others' requests, and notes what was acknowledged.
async function askAndAnswer(client) {
  for (;;) {
    const key = `key-${(asked += 1)}`
    try {
      const { request } = await client.open({ questions: QUESTIONS, key })
      opened.set(request.id, key)
      if (random() < 0.2) continue
      const id = random() < 0.7 ? request.id : (pick([...opened.keys()]) ?? request.id)
      const commandId = crypto.randomUUID()
      const label = random() < 0.5 ? 'Postgres' : 'SQLite'
      await client.answer(id, [{ id: 'db', selected: [label] }], { commandId })
      answered.set(id, { commandId, label })
    } catch (error) {
      if (error.code === 'ALREADY_SETTLED') continue
      if (error.status === 0 || error.name !== 'InboxClientError') return
      throw error
    }
  }
}

async function prove() {
  const store = await openSqliteStore({ file })
  try {
    for (const [id, key] of opened) {
      const request = await store.get(id)
      assert.equal(request?.key, key, `request ${id} was acknowledged and is not there`)
    }
    for (const [id, { commandId, label }] of answered) {
      const { settlement } = await store.get(id)
      assert.equal(
        settlement?.commandId,
        commandId,
        `the answer to ${id} was acknowledged, and another one is kept`,
      )
      assert.deepEqual(settlement.answer, { answers: [{ id: 'db', selected: [label] }] })
    }
    const { openings, settlements } = await readLog(store)
    for (const [id, times] of openings) assert.equal(times, 1, `${id} was opened ${times} times`)
    for (const [id, times] of settlements) assert.equal(times, 1, `${id} was settled ${times} times`)
    assert.ok(opened.size > 0 && answered.size > 0, 'nothing was asked or answered')
    console.log(`kills by where they landed: ${JSON.stringify(Object.fromEntries(histogram))}`)
    console.log(
      `${opened.size} openings and ${answered.size} answers acknowledged, all kept; ${openings.size} opened, ${settlements.size} settled, each once`,
    )
  } finally {
    await store.close()
  }
}

async function readLog(store) {
  const openings = new Map()
  const settlements = new Map()
  const end = await store.end()
  let cursor = `${end.slice(0, end.lastIndexOf('.'))}.0`
  let position = 0
  for (let more = true; more;) {
    const page = await store.since(cursor)
    assert.ok(!('lost' in page), `the cursor ${cursor} was lost`)
    for (const entry of page.entries) {
      const at = Number(entry.cursor.slice(entry.cursor.lastIndexOf('.') + 1))
      assert.ok(at > position, `the log goes back at ${entry.cursor}`)
      position = at
      const counts = entry.change === 'opened' ? openings : settlements
      counts.set(entry.request.id, (counts.get(entry.request.id) ?? 0) + 1)
    }
    ;({ cursor, more } = page)
  }
  return { openings, settlements }
}

function pick(values) {
  return values[Math.floor(random() * values.length)]
}

// A small generator, so that a run can be repeated from its seed.
function randomFrom(start) {
  let state = start >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
