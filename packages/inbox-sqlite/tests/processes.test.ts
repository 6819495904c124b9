import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openSqliteStore } from '@handraise/inbox-sqlite'
import Database from 'better-sqlite3'
import { build } from 'tsup'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { makeDirectory } from './harness.ts'
import { range } from './samples.ts'

const REQUESTS = 2_000
const KILLS = 20

let bundles: string
let directory: ReturnType<typeof makeDirectory>

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
    external: ['better-sqlite3'],
    noExternal: [/^(?!better-sqlite3$|node:)/u],
    outExtension: () => ({ js: '.mjs' }),
    esbuildOptions: options => {
      options.conditions = ['@handraise/source', 'module', 'node', 'import', 'default']
    },
  })
})
afterAll(() => rmSync(bundles, { recursive: true, force: true }))

beforeEach(() => {
  directory = makeDirectory()
})
afterEach(() => directory.remove())

interface Writer {
  readonly process: ChildProcess
  /** What it said so far, such as `opened a-1`. */
  readonly said: () => string[]
  readonly ended: Promise<unknown>
}

function startWriter(name: string, count: number, lanes: number): Writer {
  const args = [join(bundles, 'writer.mjs'), directory.file, name, String(count), String(lanes)]
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
  const store = await openSqliteStore({ file: directory.file })
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

test('two processes write one file, and everything is there once', async () => {
  const writers = ['a', 'b'].map(name => startWriter(name, REQUESTS, 8))
  await Promise.all(writers.map(({ ended }) => ended))
  expect(writers.map(writer => writer.process.exitCode)).toEqual([0, 0])
  const changes = await logged()
  expect(changes.toSorted()).toEqual(writers.flatMap(({ said }) => said()).toSorted())
  const opened = changes.filter(change => change.startsWith('opened'))
  const expected = ['a', 'b'].flatMap(name => range(REQUESTS, name).map(id => `opened ${id}`))
  expect(opened.toSorted()).toEqual(expected.toSorted())
}, 120_000)

test('a process killed while it writes loses nothing it acknowledged', async () => {
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
  }
  expect(acknowledged.length).toBeGreaterThan(KILLS)
  const changes = await logged()
  const kept = new Set(changes)
  expect(acknowledged.filter(change => !kept.has(change))).toEqual([])
  expect(kept.size).toBe(changes.length)
  const db = new Database(directory.file, { readonly: true })
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
  const halves = db
    .prepare(
      `SELECT r.id FROM requests r LEFT JOIN log l ON l.position = r.settled_position AND l.request = r.position
       WHERE (r.settled_position IS NULL) <> (l.position IS NULL)`,
    )
    .all()
  db.close()
  expect(halves).toEqual([])
}, 120_000)
