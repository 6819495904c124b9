import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openPostgresStore } from '@handraise/inbox-postgres'
import { build } from 'tsup'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { makeSchema } from './harness.ts'
import { range } from './samples.ts'

const REQUESTS = 500
const KILLS = 12

let bundles: string
let place: Awaited<ReturnType<typeof makeSchema>>

beforeAll(async () => {
  const cache = fileURLToPath(new URL('../.cache/', import.meta.url))
  mkdirSync(cache, { recursive: true })
  bundles = mkdtempSync(join(cache, 'processes-'))
  await build({
    config: false,
    silent: true,
    entry: { writer: fileURLToPath(new URL('writer-process.ts', import.meta.url)) },
    outDir: bundles,
    format: 'esm',
    target: 'node20',
    external: ['pg'],
    noExternal: [/^(?!pg$|node:)/u],
    outExtension: () => ({ js: '.mjs' }),
    esbuildOptions: options => {
      options.conditions = ['@handraise/source', 'module', 'node', 'import', 'default']
    },
  })
})
afterAll(() => rmSync(bundles, { recursive: true, force: true }))

beforeEach(async () => {
  place = await makeSchema()
})
afterEach(() => place.remove())

interface Writer {
  readonly process: ChildProcess
  /** What it said so far, such as `opened a-1`. */
  readonly said: () => string[]
  readonly ended: Promise<unknown>
}

function startWriter(name: string, count: number, lanes: number): Writer {
  const args = [join(bundles, 'writer.mjs'), place.url, place.schema, name, String(count), String(lanes)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', chunk => (output += chunk))
  return {
    process: child,
    // A line that was cut off by the kill was not said.
    said: () => output.split('\n').slice(0, -1),
    ended: once(child, 'close'),
  }
}

/** Every change in the log, such as `opened a-1`, read by a store that was opened anew. */
async function logged(): Promise<string[]> {
  const { url, schema } = place
  const store = await openPostgresStore({ url, schema })
  const changes: string[] = []
  let cursor = `${(await store.end()).replace(/\.\d+$/u, '')}.0`
  for (let more = true; more;) {
    const page = await store.since(cursor)
    if ('lost' in page) throw new Error('the log is lost')
    changes.push(...page.entries.map(({ change, request }) => `${change} ${request.id}`))
    ;({ cursor, more } = page)
  }
  await store.close()
  return changes
}

test('three processes start at once on an empty database, write it, and everything is there once', async () => {
  const names = ['a', 'b', 'c']
  const writers = names.map(name => startWriter(name, REQUESTS, 8))
  await Promise.all(writers.map(({ ended }) => ended))
  expect(writers.map(writer => writer.process.exitCode)).toEqual([0, 0, 0])
  const changes = await logged()
  expect(changes.toSorted()).toEqual(writers.flatMap(({ said }) => said()).toSorted())
  const opened = changes.filter(change => change.startsWith('opened'))
  const expected = names.flatMap(name => range(REQUESTS, name).map(id => `opened ${id}`))
  expect(opened.toSorted()).toEqual(expected.toSorted())
}, 120_000)

test('a process killed while it writes loses nothing it acknowledged, and holds up nobody', async () => {
  const steady = startWriter('steady', 1_000_000, 4)
  const acknowledged: string[] = []
  for (let kill = 0; kill < KILLS; kill += 1) {
    const writer = startWriter(`run${kill}`, 1_000_000, kill % 2 === 0 ? 1 : 64)
    await once(writer.process.stdout ?? writer.process, 'data')
    await new Promise(resolve => {
      setTimeout(resolve, Math.random() * 40)
    })
    writer.process.kill('SIGKILL')
    await writer.ended
    acknowledged.push(...writer.said())
    await once(steady.process.stdout ?? steady.process, 'data')
  }
  steady.process.kill('SIGKILL')
  await steady.ended
  acknowledged.push(...steady.said())
  expect(acknowledged.length).toBeGreaterThan(KILLS)
  const changes = await logged()
  const kept = new Set(changes)
  expect(acknowledged.filter(change => !kept.has(change))).toEqual([])
  expect(kept.size).toBe(changes.length)
  const halves = await place.sql(
    `SELECT r.id FROM requests r LEFT JOIN log l ON l.position = r.settled_position AND l.request = r.position
     WHERE (r.settled_position IS NULL) <> (l.position IS NULL)`,
  )
  expect(halves).toEqual([])
}, 120_000)
