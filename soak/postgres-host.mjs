// One host of an inbox in PostgreSQL: asks, answers and follows, and says in lines of JSON what was acknowledged to it.
// Whatever takes too long, or ends with an error that has no code, is said as well.
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Inbox } from '@handraise/inbox'
import { openPostgresStore } from '@handraise/inbox-postgres'
import { systemClock } from '@handraise/user-questions'
import { randomFrom } from './postgres-random.mjs'

const { url, name, seed, lanes, paceMs, aheadMs, unfinished } = JSON.parse(process.argv[2])
const random = randomFrom(seed)
const QUESTIONS = {
  questions: [{ id: 'db', question: 'Which store?', options: [{ label: 'A' }, { label: 'B' }] }],
}
/** No call may take longer: it tries for so long, and its last attempt may take as long as one statement. */
const PATIENCE = { waitMs: 4_000, queryTimeoutMs: 1_500, connectTimeoutMs: 1_000, pollMs: 200 }
const HUNG_MS = 20_000

const now = () => Date.now() + aheadMs
const clock = { now, after: (ms, run) => systemClock.after(ms, run) }
const heard = new Map()
let asked = 0
let asking = 0
let draining = false

const store = await untilDone('starting', () => openPostgresStore({ url, now, ...PATIENCE }))
const inbox = new Inbox({
  store,
  clock,
  leaseMs: 15_000,
  report: error => checkCode('in the background', error),
})
await untilDone('starting', () => inbox.start())
const from = await untilDone('starting', () => store.end())
await untilDone('starting', () =>
  inbox.follow({ entry: follow, lost: () => say({ fault: 'the log was lost' }) }, from),
)
say({ ready: name, host: inbox.hostId, from })

createInterface({ input: process.stdin }).on('line', line => void obey(JSON.parse(line)))
for (const id of unfinished) void ask(id)
for (let lane = 0; lane < lanes; lane += 1) {
  void keepAsking()
  void keepAnswering()
}

async function obey({ answer, drain, report, stop }) {
  if (answer !== undefined) await decide(answer)
  if (drain) draining = true
  if (report) {
    await untilDone('catching up', () => inbox.caughtUp())
    say({ report: [...heard], asking })
  }
  if (stop) {
    await timed('closing', inbox.close())
    process.exit(0)
  }
}

function follow({ change, request: { id, settlement } }) {
  const entry = `${change} ${id}`
  heard.set(entry, (heard.get(entry) ?? 0) + 1)
  if (change === 'settled' && settlement.outcome === 'timedOut') say({ timedOut: id, at: Date.now() })
}

async function keepAsking() {
  while (!draining) {
    await ask(`${name}-${(asked += 1)}`)
    await pause(random() * paceMs)
  }
}

/** Asks until the answer is there, as an agent does: what it asked under a key it asks again. */
async function ask(id) {
  asking += 1
  const keyless = unfinished.length === 0 && random() < 0.1
  const windowMs = random() < 0.15 ? Math.round(300 + random() * 2_000) : undefined
  const opening = { id, kind: 'questions', payload: QUESTIONS }
  if (!keyless) opening.key = id
  if (windowMs !== undefined) opening.deadlineAt = now() + windowMs
  try {
    let opened
    const open = async () => (opened = await inbox.open(opening))
    if (keyless) {
      const ended = await timed('asking', open()).catch(error => error)
      if (ended instanceof Error) return checkCode('asking', ended)
    } else await untilDone('asking', open)
    const { request } = opened
    const trueDeadline = request.deadlineAt === undefined ? undefined : request.deadlineAt - aheadMs
    say({ opened: id, keyless, deadline: trueDeadline, host: inbox.hostId })
    if (request.deadlineAt !== undefined && random() < 0.1) {
      await untilDone('engaging', () => inbox.engage(id))
      // Unless it came too late.
      const { deadlineAt } = await untilDone('getting', () => inbox.get(id))
      if (deadlineAt === undefined) say({ engaged: id })
    }
    const { settlement } = await untilDone('waiting', () => inbox.wait(id), Infinity)
    say({ heard: id, commandId: settlement.commandId, outcome: settlement.outcome })
  } finally {
    asking -= 1
  }
}

async function keepAnswering() {
  for (;;) {
    await pause(random() * 40)
    const { requests } = await untilDone('listing', () => inbox.list({ state: 'pending', limit: 200 }))
    // What has a deadline is left to it half of the time.
    const choice = requests[Math.floor(random() * requests.length)]
    if (choice === undefined || (choice.deadlineAt !== undefined && random() < 0.9)) continue
    await decide(choice.id)
  }
}

async function decide(id) {
  const commandId = crypto.randomUUID()
  const label = random() < 0.5 ? 'A' : 'B'
  const decision = { outcome: 'answered', answer: { answers: [{ id: 'db', selected: [label] }] } }
  say({ deciding: id, commandId })
  await untilDone('answering', async () => {
    try {
      await inbox.decide(id, decision, { commandId, surface: name })
      say({ settled: id, commandId, label })
    } catch (error) {
      if (error.code === 'ALREADY_SETTLED') {
        say({ beaten: id, by: error.details.request.settlement.commandId })
      } else if (error.code !== 'UNKNOWN_REQUEST') throw error
    }
  })
}

/** Tries again what ended with a code of the database, for as long as it takes. */
async function untilDone(what, run, hungMs = HUNG_MS) {
  for (;;) {
    try {
      return await timed(what, run(), hungMs)
    } catch (error) {
      checkCode(what, error)
      await pause(50)
    }
  }
}

async function timed(what, promise, hungMs = HUNG_MS) {
  const hung = hungMs === Infinity ? undefined : setTimeout(() => say({ fault: `${what} hung` }), hungMs)
  try {
    return await promise
  } finally {
    clearTimeout(hung)
  }
}

function checkCode(what, error) {
  if (error?.name === 'PostgresStoreError' && typeof error.code === 'string') say({ code: error.code })
  else say({ fault: `${what} ended with ${error?.stack ?? error}` })
}

function pause(ms) {
  return new Promise(resolve => {
    setTimeout(resolve, ms)
  })
}

function say(value) {
  writeSync(1, `${JSON.stringify(value)}\n`)
}
