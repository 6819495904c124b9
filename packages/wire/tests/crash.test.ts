import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteStore } from '@handraise/inbox-sqlite'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Frame } from './fixtures/bare-client.ts'
import { bundle } from './fixtures/bundle.ts'
import { HostProcesses } from './fixtures/host-process.ts'
import { Journey } from './fixtures/journey.ts'
import type { Spot } from './fixtures/killing-store.ts'
import { eventsOf, type ViewEvent } from './fixtures/session-commands.ts'

const SQLITE = createRequire(import.meta.resolve('@handraise/inbox-sqlite')).resolve('better-sqlite3')
/** How many journeys are killed at random instants. A longer run: HANDRAISE_WIRE_KILLS, from HANDRAISE_WIRE_SEED. */
const JOURNEYS = Number(process.env['HANDRAISE_WIRE_KILLS'] ?? 4)
const SEED = Number(process.env['HANDRAISE_WIRE_SEED'] ?? 20_260_101)

/** A machine that does much else takes its time to start processes. */
const TIMEOUT_MS = 120_000

let program: Awaited<ReturnType<typeof bundle>>
beforeAll(async () => {
  program = await bundle('killed-host')
})
afterAll(() => program.remove())

function makeFile(): string {
  const directory = mkdtempSync(join(tmpdir(), 'handraise-crash-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return join(directory, 'inbox.db')
}

function hostsOn(file: string, onStart?: () => void): HostProcesses {
  const hosts = new HostProcesses([program.file, file, SQLITE], onStart)
  onTestFinished(() => hosts.stop())
  return hosts
}

/** The writes of a journey that nobody interrupts, in words. */
async function writesOf(script: string): Promise<string[]> {
  const hosts = hostsOn(makeFile())
  const client = await hosts.client()
  await client.call('fixture/killAt', {})
  const journey = new Journey('quiet', () => hosts.client())
  expectWhole(await journey.run(script), journey, script)
  const { writes } = await client.call('fixture/writes', {})
  return writes as string[]
}

/** Every write of a journey: the process ends before it, and after it too where what follows is that somebody is told. */
function spotsOf(writes: readonly string[], from: number): Spot[] {
  return writes.flatMap((write, index): Spot[] => {
    if (index < from) return []
    const before = { nth: index + 1, when: 'before' as const }
    return /wire-commands|settle/u.test(write) ? [before, { ...before, when: 'after' }] : [before]
  })
}

test.each([
  ['a question', 'question'],
  ['a permission', 'permission'],
  ['a command of two stages', 'stages'],
])('a host killed at any write of a turn with %s leaves one truth', async (_, script) => {
  const writes = await writesOf(script)
  // What all begin with need be killed once.
  const from = script === 'question' ? 0 : writes.findIndex(write => write.includes('wire-turns')) + 1
  const spots = spotsOf(writes, from)
  const lanes = [0, 1].map(async lane => {
    const file = makeFile()
    const hosts = hostsOn(file)
    for (const [index, spot] of spots.entries()) {
      if (index % 2 !== lane) continue
      const client = await hosts.client()
      await client.call('fixture/killAt', { spot })
      const name = `${spot.when} ${spot.nth}: ${writes[spot.nth - 1]}`
      const done = effectsOf(file).length
      const journey = new Journey(`killed-${index}`, () => hosts.client())
      const view = await journey.run(script)
      expect(hosts.killed.splice(0), name).toEqual([`killed ${name}\n`])
      expectWhole(view, journey, script, name)
      expect(effectsOf(file).length - done, `what was done, killed ${name}`).toBeLessThanOrEqual(1)
    }
    await expectSettledOnce(file)
  })
  await Promise.all(lanes)
})

test(
  'a host killed at random instants leaves one truth',
  async () => {
    const random = randomFrom(SEED)
    const file = makeFile()
    let left = 0
    const killSoon = (): void => {
      if (left === 0) return
      left -= 1
      setTimeout(() => hosts.kill(), random() * 60)
    }
    const hosts = hostsOn(file, killSoon)
    for (let index = 0; index < JOURNEYS; index += 1) {
      left = 3
      killSoon()
      const journey = new Journey(`random-${index}`, () => hosts.client())
      expectWhole(await journey.run('all'), journey, 'all', `journey ${index} from the seed ${SEED}`)
    }
    expect(hosts.killed.length).toBeGreaterThan(JOURNEYS)
    await expectSettledOnce(file)
  },
  JOURNEYS * TIMEOUT_MS,
)

/** What each script asks. */
const ASKS: Readonly<Record<string, { questions: number; approvals: number; calls: readonly string[] }>> = {
  question: { questions: 1, approvals: 0, calls: ['SQLite'] },
  permission: { questions: 0, approvals: 1, calls: ['wrote a.txt'] },
  stages: { questions: 0, approvals: 1, calls: ['ran make build && make install'] },
  all: {
    questions: 1,
    approvals: 2,
    calls: ['SQLite', 'wrote a.txt', 'ran make build && make install'],
  },
}

/** Whatever happened on the way, everything happened once. */
function expectWhole(view: readonly ViewEvent[], journey: Journey, script: string, where = 'nowhere'): void {
  const { questions = 0, approvals = 0, calls = [] } = ASKS[script] ?? {}
  const of = (method: string): Frame[] => eventsOf(view, method)
  const ids = (method: string, member: string): unknown[] => of(method).map(params => params[member])
  const sent = (method: string): string[] =>
    [...journey.sent].flatMap(([commandId, command]) => (command.method === method ? [commandId] : []))
  const items = of('item/completed').map(({ item }) => item as Frame)
  const made = items.filter(({ kind }) => kind === 'toolCall')
  expect(
    {
      faults: journey.faults,
      modes: ids('session/approvalModeChanged', 'commandId'),
      started: ids('turn/started', 'commandId'),
      completed: of('turn/completed').map(({ turnId, terminal }) => [turnId, terminal]),
      asked: of('userInput/requested').length,
      answered: ids('userInput/settled', 'decidedByCommandId'),
      requested: of('approval/requested').length,
      resolved: of('approval/resolved').map(({ approvalId, decision }) => [approvalId, decision]),
      begun: of('item/started').length,
      calls: made.map(endOf),
      astray: of('userInput/requested')
        .concat(of('approval/requested'))
        .filter(asked => !isOfItem(asked, items)),
      messages: items
        .filter(({ kind }) => kind === 'agentMessage')
        .map((said, index) => tells(said, made[index])),
    },
    `killed ${where}`,
  ).toEqual({
    faults: [],
    modes: sent('session/setApprovalMode'),
    started: sent('turn/start'),
    completed: sent('turn/start').map(turnId => [turnId, 'completed']),
    asked: questions,
    answered: sent('userInput/answer'),
    requested: approvals,
    resolved: ids('approval/requested', 'approvalId').map(approvalId => [approvalId, 'approved']),
    begun: calls.length,
    calls,
    astray: [],
    messages: calls.map(() => true),
  })
}

/** What a call came to; what was begun and may have been done is not done again, and says so. */
function endOf({ status, visibleOutput }: Frame): string {
  const text = String(visibleOutput)
  if (status === 'completed') return text
  const [, tool, what] = /^(\w+): (.*) was allowed once and has been started before; .*$/u.exec(text) ?? []
  if (status !== 'failed' || what === undefined) return `${String(status)}: ${text}`
  return tool === 'write_file' ? 'wrote a.txt' : `ran ${what}`
}

/** The agent was given what the item shows, also where it was given it again by another host. */
function tells({ text }: Frame, item: Frame | undefined): boolean {
  const output = String(item?.['visibleOutput'])
  const answer = `{"answers":[{"id":"db","selected":["${output}"]}]}`
  return [output, `Error: ${output}`, answer].includes(String(text))
}

function isOfItem({ itemId, toolCallId }: Frame, items: readonly Frame[]): boolean {
  return items.some(item => item['itemId'] === itemId && item['callId'] === toolCallId)
}

/** What the tools did, whoever ran them. */
function effectsOf(file: string): string[] {
  const effects = `${file}.effects`
  return existsSync(effects) ? readFileSync(effects, 'utf8').split('\n').slice(0, -1) : []
}

async function expectSettledOnce(file: string): Promise<void> {
  const store = await openSqliteStore({ file })
  const settled: string[] = []
  let cursor = `${(await store.end()).replace(/\.\d+$/u, '')}.0`
  for (let more = true; more;) {
    const page = await store.since(cursor)
    if ('lost' in page) throw new Error('the log is lost')
    for (const { change, request } of page.entries) if (change === 'settled') settled.push(request.id)
    ;({ cursor, more } = page)
  }
  const pending = await store.list({ state: 'pending' })
  await store.close()
  expect(pending.requests).toEqual([])
  expect(settled.length).toBeGreaterThan(0)
  expect(new Set(settled).size).toBe(settled.length)
}

// A small generator, so that a run can be repeated from its seed.
function randomFrom(start: number): () => number {
  let state = start >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
