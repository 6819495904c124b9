// Hosts of one inbox in PostgreSQL, each behind a bad network of its own, ask and answer while they are killed, cut off and
// slowed down, and the database is restarted, killed and stopped in its tracks. Then proves that nothing acknowledged was
// lost, that each request has one settlement, that everyone heard of everything once, that nothing hung, and that a wrong
// clock settled nothing early or late and took nobody for gone. `node postgres.mjs [requests, default 20,000] [hosts, default 4]`, `SEED=` to repeat.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { openPostgresStore } from '@handraise/inbox-postgres'
import { startPostgres } from '../packages/inbox-postgres/tests/server/postgres-server.mjs'
import { startProxy } from '../packages/inbox-postgres/tests/server/tcp-proxy.mjs'
import { randomFrom } from './postgres-random.mjs'

const REQUESTS = Number(process.argv[2] ?? 20_000)
const HOSTS = Number(process.argv[3] ?? 4)
const LANES = 8
/** How long a lane pauses between two questions at most: a short run is to meet as many faults as it can. */
const PACE_MS = REQUESTS < 5_000 ? 600 : 250
const WRONG_CLOCK_MS = 600_000
/** A deadline may be met so much before its time: as far apart as two clocks may be without being corrected. */
const EARLY_MS = 500
/** And so much later: a database that is away keeps everybody from settling. */
const LATE_MS = 30_000
const DRAIN_MS = 60_000

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000)
const random = randomFrom(seed)
console.log(
  `seed ${seed}; ${REQUESTS} requests over ${HOSTS} hosts, one of them with a clock ten minutes wrong`,
)

const opened = new Map()
const settled = new Map()
const deciding = new Map()
const heardAnswers = []
const timedOut = []
const killed = new Set()
const codes = {}
const faults = {}
const broken = []
let beaten = 0
let orphans = 0
let over = false

const started = performance.now()
const server = await startPostgres(['restart_after_crash=on'])
const slots = []
try {
  for (let slot = 0; slot < HOSTS; slot += 1) slots.push(await makeSlot(slot))
  await Promise.all(slots.map(startHost))
  await Promise.all([faultsOf(hostFault, 250), faultsOf(serverFault, 2_500), race(), untilEnough()])
  await drain()
  await prove()
} finally {
  over = true
  for (const { child } of slots) child?.kill('SIGKILL')
  for (const { proxy } of slots) await proxy.stop()
  await server.stop()
}

async function makeSlot(slot) {
  const proxy = await startProxy(server.port)
  const url = new URL(server.url)
  url.port = String(proxy.port)
  return { slot, proxy, url: url.href, run: 0, unfinished: new Map() }
}

async function startHost(host) {
  host.run += 1
  const name = `h${host.slot}r${host.run}`
  // What had a key is asked again by whoever comes next.
  const unfinished = [...host.unfinished].flatMap(([id, { keyless }]) => (keyless ? [] : [id]))
  host.unfinished = new Map(unfinished.map(id => [id, { keyless: false }]))
  const options = {
    url: host.url,
    name,
    seed: Math.floor(random() * 2 ** 31),
    lanes: LANES,
    paceMs: PACE_MS,
    aheadMs: host.slot === 1 ? WRONG_CLOCK_MS : 0,
    unfinished,
  }
  const script = new URL('postgres-host.mjs', import.meta.url).pathname
  const child = spawn(process.execPath, [script, JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  host.child = child
  host.ended = new Promise(resolve => child.once('close', (code, signal) => resolve({ code, signal })))
  child.stdin.on('error', () => {})
  await new Promise(resolve => {
    void host.ended.then(resolve)
    createInterface({ input: child.stdout }).on('line', line => {
      const said = JSON.parse(line)
      if (said.ready !== undefined) {
        host.id = said.host
        host.from = said.from
        resolve()
      } else note(host, name, said)
    })
  })
}

function note(host, name, said) {
  if (said.opened !== undefined) {
    if (!opened.has(said.opened)) opened.set(said.opened, said)
    host.unfinished.set(said.opened, said)
  } else if (said.deciding !== undefined) deciding.set(said.commandId, said.deciding)
  else if (said.engaged !== undefined) opened.get(said.engaged).engaged = true
  else if (said.settled !== undefined) settled.set(said.settled, said)
  else if (said.beaten !== undefined) beaten += 1
  else if (said.heard !== undefined) {
    heardAnswers.push(said)
    host.unfinished.delete(said.heard)
  } else if (said.timedOut !== undefined) timedOut.push(said)
  else if (said.code !== undefined) codes[said.code] = (codes[said.code] ?? 0) + 1
  else if (said.report !== undefined) host.report?.(said)
  else if (said.fault !== undefined) broken.push(`${name}: ${said.fault}`)
}

async function untilEnough() {
  while (opened.size < REQUESTS && broken.length === 0) await pause(50)
  over = true
}

async function faultsOf(fault, everyMs) {
  while (!over) {
    await pause(everyMs * (0.4 + random()))
    if (!over) await fault()
  }
}

async function hostFault() {
  const host = pick(slots)
  const dice = random()
  if (dice < 0.25) {
    count('host killed')
    const { child } = host
    killed.add(host.id)
    child.kill('SIGKILL')
    await host.ended
    await startHost(host)
  } else if (dice < 0.5) {
    count('connections cut')
    host.proxy.cut()
  } else if (dice < 0.8) {
    count('connections half-open')
    host.proxy.hold(pick([undefined, 'toServer', 'toClient']))
    await pause(random() * 1_500)
    // Some go on as if nothing had been, some are found dead.
    if (random() < 0.5) host.proxy.cut()
    host.proxy.mend()
  } else {
    count('network slow')
    host.proxy.slow(10 + random() * 90)
    await pause(random() * 1_000)
    host.proxy.mend()
  }
}

async function serverFault() {
  const dice = random()
  if (dice < 0.4) {
    count('database restarted')
    await server.restart()
  } else if (dice < 0.7) {
    count('database killed')
    await server.crash()
    await pause(random() * 500)
    await server.start()
  } else {
    count('database stopped')
    await server.pause()
    await pause(random() * 2_000)
    await server.resume()
  }
}

/** Lets two hosts answer one request at the same instant, over and over. */
async function race() {
  while (!over) {
    await pause(20)
    const host = pick(slots)
    const id = pick([...host.unfinished.keys()].slice(-20))
    if (id === undefined) continue
    const [first, second] = shuffled(slots)
    for (const each of [first, second]) tell(each, { answer: id })
  }
}

async function drain() {
  for (const { proxy } of slots) proxy.mend()
  for (const host of slots) tell(host, { drain: true })
  const end = performance.now() + DRAIN_MS
  for (;;) {
    const left = slots.flatMap(({ unfinished }) => [...unfinished.keys()])
    const reports = left.length === 0 ? await Promise.all(slots.map(reportOf)) : []
    if (left.length === 0 && reports.every(({ asking }) => asking === 0)) return
    assert.ok(broken.length === 0, broken.join('\n'))
    assert.ok(
      performance.now() < end,
      `these were not answered, or nobody was told: ${left.slice(0, 10).join(', ')}`,
    )
    await pause(100)
  }
}

function reportOf(host) {
  return new Promise(resolve => {
    host.report = resolve
    tell(host, { report: true })
  })
}

async function prove() {
  const store = await openPostgresStore({ url: server.url })
  try {
    // What the last hosts left behind without a key is settled, or theirs.
    const { openings, settlements, order } = await readLog(store)
    const reports = await Promise.all(slots.map(reportOf))
    assert.deepEqual(broken, [], 'something hung, or ended without a code')
    for (const [id, { keyless, host }] of opened) {
      assert.equal(openings.get(id), 1, `${id} was acknowledged, and opened ${openings.get(id) ?? 0} times`)
      const settlement = settlements.get(id)?.[0]
      if (settlement?.outcome === 'aborted') {
        assert.ok(keyless, `${id} has a key, and was settled as if nobody waited`)
        assert.ok(killed.has(host), `${id} was settled as if nobody waited, and its host lives`)
        orphans += 1
      }
    }
    for (const [id, all] of settlements) assert.equal(all.length, 1, `${id} was settled ${all.length} times`)
    for (const [id, { commandId, label }] of settled) {
      const [kept] = settlements.get(id) ?? []
      assert.equal(
        kept?.commandId,
        commandId,
        `the answer to ${id} was acknowledged, and another one is kept`,
      )
      assert.deepEqual(kept.answer, { answers: [{ id: 'db', selected: [label] }] })
    }
    for (const { heard: id, commandId } of heardAnswers)
      assert.equal(
        settlements.get(id)?.[0].commandId,
        commandId,
        `the asker of ${id} was told another answer`,
      )
    for (const { timedOut: id, at } of timedOut) {
      const { deadline, engaged } = opened.get(id) ?? {}
      if (deadline === undefined) continue
      assert.ok(engaged !== true, `${id} timed out though somebody had begun to answer`)
      assert.ok(at >= deadline - EARLY_MS, `${id} timed out ${deadline - at} ms early`)
      assert.ok(at <= deadline + LATE_MS, `${id} timed out ${at - deadline} ms late`)
    }
    for (const [index, { report }] of reports.entries()) proveHeard(slots[index], report, order)
    console.log(`faults: ${JSON.stringify(faults)}`)
    console.log(`codes of calls that were tried again: ${JSON.stringify(codes)}`)
    console.log(
      `${opened.size} openings and ${settled.size} answers acknowledged, all kept; ${beaten} answers came second; ` +
        `${openings.size} opened, ${settlements.size} settled, each once; ${orphans} orphans, all of killed hosts; ${timedOut.length} time-outs heard, none early; ` +
        `${Math.round((performance.now() - started) / 1_000)} s`,
    )
  } finally {
    await store.close()
    for (const host of slots) tell(host, { stop: true })
    const late = setTimeout(() => {
      for (const { child } of slots) child.kill('SIGKILL')
    }, 30_000)
    const ends = await Promise.all(slots.map(({ ended }) => ended))
    clearTimeout(late)
    assert.deepEqual(
      ends,
      slots.map(() => ({ code: 0, signal: null })),
      'a host did not end when it was told to',
    )
  }
}

/** Whoever followed heard every change since it began to, once, whatever came in between. */
function proveHeard({ from, slot }, report, order) {
  const heard = new Map(report)
  const begin = Number(from.slice(from.lastIndexOf('.') + 1))
  const expected = order.filter(({ position }) => position > begin)
  const wrong = expected
    .filter(({ entry }) => heard.get(entry) !== 1)
    .map(({ entry }) => `${entry}: ${heard.get(entry)}`)
  assert.deepEqual(wrong.slice(0, 10), [], `host ${slot} did not hear once of everything`)
}

async function readLog(store) {
  const openings = new Map()
  const settlements = new Map()
  const order = []
  const end = await store.end()
  let cursor = `${end.slice(0, end.lastIndexOf('.'))}.0`
  for (let more = true; more;) {
    const page = await store.since(cursor)
    assert.ok(!('lost' in page), `the cursor ${cursor} was lost`)
    for (const { cursor: at, change, request } of page.entries) {
      const position = Number(at.slice(at.lastIndexOf('.') + 1))
      assert.ok(position > (order.at(-1)?.position ?? 0), `the log goes back at ${at}`)
      order.push({ position, entry: `${change} ${request.id}` })
      if (change === 'opened') openings.set(request.id, (openings.get(request.id) ?? 0) + 1)
      if (change === 'settled')
        settlements.set(request.id, [...(settlements.get(request.id) ?? []), request.settlement])
    }
    ;({ cursor, more } = page)
  }
  return { openings, settlements, order }
}

function tell({ child }, command) {
  child.stdin.write(`${JSON.stringify(command)}\n`)
}

function count(fault) {
  faults[fault] = (faults[fault] ?? 0) + 1
}

function pick(values) {
  return values[Math.floor(random() * values.length)]
}

function shuffled(values) {
  return values
    .map(value => [random(), value])
    .toSorted(([a], [b]) => a - b)
    .map(([, value]) => value)
}

function pause(ms) {
  return new Promise(resolve => {
    setTimeout(resolve, ms)
  })
}
