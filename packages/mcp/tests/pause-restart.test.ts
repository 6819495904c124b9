import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { accept, round, textOf, type Person } from './pause-scene.ts'
import { bundle } from './provider-fixture-bundle.ts'

const SQLITE = createRequire(import.meta.resolve('@handraise/inbox-sqlite')).resolve('better-sqlite3')
const inputResponses = { sure: accept(true) }

let program: Awaited<ReturnType<typeof bundle>>
beforeAll(async () => void (program = await bundle('pause-fixture-server')), 60_000)
afterAll(() => program.remove())

/** A database, and what server processes on it did. */
function place() {
  const directory = mkdtempSync(join(tmpdir(), 'handraise-restart-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const file = join(directory, 'inbox.db')
  return {
    file,
    effects: (): string[] =>
      existsSync(`${file}.effects`) ? readFileSync(`${file}.effects`, 'utf8').trim().split('\n') : [],
    /** A new client with a new server process. */
    async start(): Promise<Person & { kill(): Promise<void> }> {
      const transport = new StdioClientTransport({
        command: process.execPath,
        args: [program.file, file, SQLITE],
      })
      const client = new Client(
        { name: 'client', version: '1' },
        {
          capabilities: { elicitation: { form: {} } },
          versionNegotiation: { mode: { pin: '2026-07-28' } },
        },
      )
      await client.connect(transport)
      onTestFinished(() => client.close())
      return {
        client,
        shown: [],
        async kill() {
          const closed = new Promise<void>(resolve => void Object.assign(client, { onclose: resolve }))
          process.kill(transport.pid!, 'SIGKILL')
          await closed
        },
      }
    },
  }
}

test('a pause outlives its server and its client', async () => {
  const { file, effects, start } = place()
  const call = { name: 'drop_table', arguments: { table: 'users' } }
  const before = await start()
  const { requestState } = await round(before, call)
  await before.kill()
  expect(statSync(`${file}.mcp-key`).mode & 0o777).toBe(0o600)

  const after = await start()
  const answer = { ...call, inputResponses, requestState }
  expect(textOf(await round(after, answer))).toBe('dropped users')
  await after.kill()

  // So does what came of it.
  const later = await start()
  expect(textOf(await round(later, answer))).toBe('dropped users')
  const changed = { ...answer, arguments: { table: 'accounts' } }
  await expect(round(later, changed)).rejects.toMatchObject({ code: -32602 })
  expect(effects()).toEqual(['dropped users'])
})

test('a server that dies after the effect and before its outcome is kept does it no second time', async () => {
  const { effects, start } = place()
  const call = { name: 'drop_table', arguments: { table: 'users', dies: true } }
  const before = await start()
  const { requestState } = await round(before, call)
  const answer = { ...call, inputResponses, requestState }
  await expect(round(before, answer)).rejects.toThrow('Connection closed')
  expect(effects()).toEqual(['dropped users'])

  const after = await start()
  const told = await round(after, answer)
  expect(told).toMatchObject({ isError: true, _meta: { 'handraise/ended': 'started' } })
  expect(textOf(told)).toContain('It was not done again: look first, then call it anew.')
  expect(effects()).toEqual(['dropped users'])
})

test('of answers to two server processes at the same time one has an effect', async () => {
  const { effects, start } = place()
  const call = { name: 'drop_table', arguments: { table: 'users' } }
  const [one, other] = await Promise.all([start(), start()])
  const { requestState } = await round(one, call)
  const answer = { ...call, inputResponses, requestState }
  const results = await Promise.all(
    Array.from({ length: 20 }, (_, index) => round(index % 2 ? one : other, answer)),
  )
  expect(new Set(results.map(textOf))).toEqual(new Set(['dropped users']))
  expect(effects()).toEqual(['dropped users'])
})
