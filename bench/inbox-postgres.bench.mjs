// The PostgreSQL store on a server of its own with its disk waited for: durable open, then settle, against the statements it
// needs written by hand on the same database at the same concurrency, in alternating rounds of which the median counts; the
// time from an answer on one host to the resolved promise on another; and a million settled and 100,000 pending requests.
// Every host is a process. `server` and hosts share this machine's processors.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { startPostgres } from '../packages/inbox-postgres/tests/server/postgres-server.mjs'

const pg = createRequire(new URL('../packages/inbox-postgres/package.json', import.meta.url))('pg')

const HOSTS = 3
const ROUNDS = 5
const ALONE = 200
const IN_FLIGHT = 64
const TOGETHER = 1_200
/** As many connections as a pool by hand is given: the better of them counts. */
const POOLS = [16, 64]
const HOPS = 300
const FOLLOWERS = 1_000
const SETTLED = 1_000_000
const PENDING = 100_000
/** What the others are measured by. */
const BY_HAND = 'a row by hand'

export async function run() {
  const server = await startPostgres(['shared_buffers=256MB', 'max_wal_size=4GB'])
  const hosts = []
  try {
    hosts.push(await startHost(server.url))
    await hosts[0].do('prepare')
    console.log(`durable open, then settle, median of ${ROUNDS} alternating rounds; pairs a second`)
    await compare('one host, alone', hosts, 1, ALONE)
    await compare(`one host, ${IN_FLIGHT} in flight`, hosts, IN_FLIGHT, TOGETHER)
    while (hosts.length < HOSTS) hosts.push(await startHost(server.url))
    await compare(`${HOSTS} hosts, ${IN_FLIGHT} in flight each`, hosts, IN_FLIGHT, TOGETHER / 2)
    await hop(hosts, 'a quiet inbox')
    await hop(hosts, `${HOSTS} hosts that ask and answer meanwhile`, true)
    await hosts[1].do('followers', { count: FOLLOWERS })
    await hop(hosts, `${FOLLOWERS.toLocaleString('en')} pages on the host that waits`)
    await grow(hosts[0], server.url)
  } finally {
    for (const host of hosts) await host.stop()
    await server.stop()
  }
}

async function compare(title, hosts, inFlight, pairs) {
  const pools = inFlight === 1 ? [1] : POOLS
  const byHand = {
    statements: 'in a transaction, bare tables',
    alike: 'in one statement, tables like its own',
    bare: 'in one statement, bare tables',
  }
  const contestants = [
    { by: 'store' },
    ...Object.keys(byHand).flatMap(by => pools.map(connections => ({ by, connections }))),
  ]
  const rates = contestants.map(() => [])
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const [index, contestant] of contestants.entries()) {
      const runs = await Promise.all(hosts.map(host => host.do('pairs', { ...contestant, pairs, inFlight })))
      const tookMs =
        Math.max(...runs.map(({ ended }) => ended)) - Math.min(...runs.map(({ started }) => started))
      if (round >= 0) rates[index].push((pairs * hosts.length * 1_000) / tookMs)
    }
  }
  const best = by =>
    Math.max(...contestants.map((each, index) => (each.by === by ? median(rates[index]) : 0)))
  const store = best('store')
  console.log(`  ${title}: store ${rate(store)}`)
  for (const [by, how] of Object.entries(byHand))
    console.log(`    by hand ${how.padEnd(38)} ${rate(best(by))}   store ${(store / best(by)).toFixed(2)} x`)
}

async function hop([answering, waiting, third], title, busy = false) {
  const load = { done: false }
  const background = busy
    ? [answering, waiting, third].map(async host => {
        while (!load.done) await host.do('pairs', { by: 'store', pairs: 50, inFlight: 8 })
      })
    : []
  const hops = []
  const afterwards = []
  for (let each = 0; each < HOPS; each += 1) {
    const id = crypto.randomUUID()
    const answered = waiting.answered(id)
    await waiting.do('ask', { id })
    const { given, acknowledged } = await answering.do('answer', { id })
    const at = await answered
    hops.push(at - given)
    afterwards.push(at - acknowledged)
  }
  load.done = true
  await Promise.all(background)
  console.log(
    `  from the answer on one host to the promise on another, ${title}: p50 ${ms(percentile(hops, 50))}, p99 ${ms(percentile(hops, 99))}` +
      ` (after the answer was acknowledged: p50 ${ms(percentile(afterwards, 50))}, p99 ${ms(percentile(afterwards, 99))})`,
  )
}

async function grow(host, url) {
  await host.do('leave', { count: 200 })
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('SET search_path = handraise')
  await calmDown(client)
  const few = await host.do('latencies', { rounds: 101 })
  const settled = `CASE WHEN n <= ${SETTLED} THEN`
  await client.query(
    `INSERT INTO requests (position, id, kind, session, key, opened_at, deadline_at, settled_at, settled_position, digest,
       command_id, command_digest, settlement, settled_by, payload, opened_by, pending_position)
     SELECT n + 100000000, 'seed-' || n, 'questions', 'session ' || n % 1000, 'key ' || n, n,
       CASE WHEN n > ${SETTLED} THEN 4e12 + n END, ${settled} n END, ${settled} n + 200000000 END, 'd', ${settled} 'c' END,
       ${settled} 'd' END, ${settled} '{"outcome":"declined","commandId":"c","settledAt":1}' END, ${settled} gen_random_uuid() END,
       '{"questions":[{"id":"db","question":"Which store?"}]}', gen_random_uuid(),
       CASE WHEN n > ${SETTLED} THEN n + 100000000 END
     FROM generate_series(1, ${SETTLED + PENDING}) AS n`,
  )
  await client.query(
    `INSERT INTO log (position, change, request) SELECT position, 'opened', position FROM requests WHERE id LIKE 'seed-%'
     UNION ALL SELECT settled_position, 'settled', position FROM requests WHERE id LIKE 'seed-%' AND settled_position IS NOT NULL`,
  )
  await client.query("SELECT setval('positions', 400000000)")
  await calmDown(client)
  const { rows } = await client.query(
    "SELECT (pg_total_relation_size('requests') + pg_total_relation_size('log'))::float8 / 2 ^ 30 AS size",
  )
  await client.end()
  let many = await host.do('latencies', { rounds: 101 })
  // A disk that has just taken so much is slower for a while, for whatever is written.
  for (let each = 0; each < 8 && many[BY_HAND] > 1.3 * few[BY_HAND]; each += 1) {
    await sleep(5_000)
    many = await host.do('latencies', { rounds: 101 })
  }
  console.log(
    `  with ${SETTLED.toLocaleString('en')} settled and ${PENDING.toLocaleString('en')} pending (${rows[0].size.toFixed(1)} GiB), median:`,
  )
  for (const [name, before] of Object.entries(few))
    console.log(
      `    ${name.padEnd(16)} ${ms(before)} with few, ${ms(many[name])} with many;` +
        ` ${(before / few[BY_HAND]).toFixed(1)} and ${(many[name] / many[BY_HAND]).toFixed(1)} of a row by hand`,
    )
}

/** As it would be long after all that was written: cleaned up, on the disk, and with nothing in the background. */
async function calmDown(client) {
  await client.query('VACUUM ANALYZE')
  await client.query('CHECKPOINT')
  for (;;) {
    const { rows } = await client.query(
      "SELECT FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'",
    )
    if (rows.length === 0) return
    await sleep(100)
  }
}

async function startHost(url) {
  const script = new URL('inbox-postgres-host.mjs', import.meta.url).pathname
  const child = spawn(process.execPath, [script, url], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = new Promise(resolve => {
    child.once('exit', resolve)
  })
  const waiting = new Map()
  const answers = new Map()
  let number = 0
  await new Promise((resolve, reject) => {
    void ended.then(code => reject(new Error(`a host ended with ${code}`)))
    createInterface({ input: child.stdout }).on('line', line => {
      const said = JSON.parse(line)
      if (said.ready) resolve()
      else if (said.answered !== undefined) answers.get(said.answered)?.(said.at)
      else if (said.error === undefined) waiting.get(said.number)?.resolve(said.result)
      else waiting.get(said.number)?.reject(new Error(said.error))
    })
  })
  const host = {
    do(task, parts = {}) {
      number += 1
      const done = new Promise((resolve, reject) => {
        waiting.set(number, { resolve, reject })
      })
      child.stdin.write(`${JSON.stringify({ task, number, ...parts })}\n`)
      return done
    },
    answered: id =>
      new Promise(resolve => {
        answers.set(id, resolve)
      }),
    async stop() {
      // It ends without an answer.
      void host.do('stop')
      await ended
    },
  }
  return host
}

function median(values) {
  return percentile(values, 50)
}

function percentile(values, percent) {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))]
}

function rate(perSecond) {
  return perSecond.toFixed(0).padStart(5)
}

function ms(value) {
  return `${value.toFixed(1)} ms`
}
