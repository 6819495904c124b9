import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MemoryMedium, MemoryStore } from '@handraise/inbox'
import { Pauses, openPauses } from '@handraise/mcp'
import { expect, onTestFinished, test } from 'vitest'
import { dropServer } from './pause-drop-server.ts'
import { accept, connect, round, textOf } from './pause-scene.ts'

const call = { name: 'drop_table', arguments: { table: 'users' } }
const inputResponses = { sure: accept(true) }
const KEY = 'A'.repeat(43)

/** A client of a host of its own with these pauses. */
async function host(pauses: Pauses, effects: string[] = []) {
  const build = dropServer(pauses, line => effects.push(line))
  return connect('2026', build)
}

test('what was sealed on one host is redeemed on another that shares the store', async () => {
  const medium = new MemoryMedium()
  const open = (): Promise<Pauses> =>
    openPauses({ store: new MemoryStore(medium), keyInStore: true, principal: 'ann' })
  // Whichever is first.
  const [one, other] = await Promise.all([open(), open()])
  const { requestState } = await round(await host(one), call)
  const effects: string[] = []
  expect(textOf(await round(await host(other, effects), { ...call, inputResponses, requestState }))).toBe(
    'dropped users',
  )
  expect(effects).toEqual(['dropped users'])
})

test('a key that a host had in a file is taken over, and the file is left as it is', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'mcp-key-record-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const keyFile = join(directory, 'key')
  await writeFile(keyFile, `handraise-mcp-key 1 ${KEY}\n`, { mode: 0o600 })
  const store = new MemoryStore()
  const before = new Pauses({ store, key: Buffer.from(KEY, 'base64url'), principal: 'ann' })
  const { requestState } = await round(await host(before), call)
  const after = await openPauses({ store, keyFile, keyInStore: true, principal: 'ann' })
  expect(textOf(await round(await host(after), { ...call, inputResponses, requestState }))).toBe(
    'dropped users',
  )
  // Another host has no such file, and makes none.
  const none = join(directory, 'none')
  await openPauses({ store, keyFile: none, keyInStore: true })
  expect(await readdir(directory)).toEqual(['key'])
})

test('a record that holds no key is refused, and left as it is', async () => {
  const store = new MemoryStore()
  await store.writeRecords([{ namespace: 'mcp-key', key: 'pauses', value: { version: 2 } }])
  await expect(openPauses({ store, keyInStore: true })).rejects.toMatchObject({
    code: 'KEY_UNREADABLE',
    details: { file: 'the record mcp-key/pauses of the inbox', why: 'it holds no key' },
  })
})

test('a key that is kept nowhere is refused', async () => {
  await expect(openPauses({ keyInStore: true })).rejects.toThrow('needs one')
  await expect(openPauses({ store: new MemoryStore() })).rejects.toThrow('name the file')
})

test('a record that is no JSON is no key', async () => {
  class Broken extends MemoryStore {
    override async record(): ReturnType<MemoryStore['record']> {
      return JSON.parse('{') as never
    }
  }
  await expect(openPauses({ store: new Broken(), keyInStore: true })).rejects.toMatchObject({
    code: 'KEY_UNREADABLE',
  })
})
