import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { MemoryMedium } from '@handraise/inbox'
import { FileThread, textOf } from '../src/index.ts'
import { threadStoreSuite } from '../src/testing/index.ts'
import { DB, settled, startThread } from './host.ts'

function makeFile(): string {
  const directory = mkdtempSync(join(tmpdir(), 'handraise-thread-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return join(directory, 'thread.jsonl')
}

const textsIn = async (thread: FileThread) => (await thread.since(undefined)).items.map(textOf)

describe('a thread in a file', () => {
  const create = async () => {
    const directory = mkdtempSync(join(tmpdir(), 'handraise-thread-'))
    const file = join(directory, 'thread.jsonl')
    return {
      open: async (self: string) => new FileThread({ file, self, pollMs: 20 }),
      destroy: async () => rmSync(directory, { recursive: true, force: true }),
    }
  }
  for (const { name, run } of threadStoreSuite({ create })) test(name, run)

  test('is for its owner alone', async () => {
    const file = makeFile()
    await new FileThread({ file }).say('hello')
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  test('is read over what a crash has torn, and over what is no item', async () => {
    const file = makeFile()
    const thread = new FileThread({ file })
    await thread.say('one')
    const whole = readFileSync(file, 'utf8')
    appendFileSync(file, whole.slice(0, 40))
    expect(await textsIn(thread)).toEqual(['one'])
    await thread.say('two')
    appendFileSync(file, '\n{"id":7}\nnot json\n[]\n\u0000\n')
    await thread.say('three')
    expect(await textsIn(thread)).toEqual(['one', 'two', 'three'])
  })

  test('does not take a line for whole before it has ended', async () => {
    const file = makeFile()
    const thread = new FileThread({ file })
    const { cursor } = await thread.since(undefined)
    await thread.say('one')
    const line = readFileSync(file)
    writeFileSync(file, line.subarray(0, line.length - 2))
    const page = await thread.since(cursor)
    expect([page.items, page.more]).toEqual([[], false])
    writeFileSync(file, line)
    expect((await thread.since(page.cursor)).items.map(textOf)).toEqual(['one'])
  })

  test('takes an item that lacks nothing but its last line break for whole, once', async () => {
    const file = makeFile()
    const thread = new FileThread({ file })
    await thread.say('one')
    const whole = readFileSync(file)
    writeFileSync(file, whole.subarray(0, whole.length - 1))
    const page = await thread.since(undefined)
    expect(page.items.map(textOf)).toEqual(['one'])
    await thread.say('two')
    expect(await textsIn(thread)).toEqual(['one', 'two'])
  })

  test('refuses the cursor of a file that was cut, deleted or replaced', async () => {
    const file = makeFile()
    const thread = new FileThread({ file })
    await thread.say('one')
    const { cursor } = await thread.since(undefined)
    rmSync(file)
    await expect(thread.since(cursor)).rejects.toMatchObject({ code: 'BAD_CURSOR' })
    for (let count = 0; count < 3; count += 1) await thread.say('in another file')
    await expect(thread.since(cursor)).rejects.toMatchObject({ code: 'BAD_CURSOR' })
    writeFileSync(file, '')
    await expect(thread.since(cursor)).rejects.toMatchObject({ code: 'BAD_CURSOR' })
  })

  test.each(['while it runs', 'before it starts'])(
    'that is deleted %s is begun anew, and what was open is asked again in it',
    async when => {
      const file = makeFile()
      const medium = new MemoryMedium()
      const open = () => new FileThread({ file, pollMs: 5 })
      const start = () => startThread({ medium, store: open() })
      const keyed = { session: 's', key: 'k' }
      let host = await start()
      const ada = new FileThread({ file, self: 'ada' })
      for (let count = 0; count < 5; count += 1) await ada.say('hello')
      let asking = host.ask([DB], keyed)
      await expect.poll(() => textsIn(open()), { interval: 5 }).toHaveLength(6)
      await expect.poll(() => host.handed.length, { interval: 5 }).toBe(5)
      await settled()
      if (when === 'before it starts') await host.fiber.dispose()
      rmSync(file)
      if (when === 'before it starts') {
        host = await start()
        asking = host.ask([DB], keyed)
      }
      await expect.poll(() => textsIn(open()), { interval: 5 }).toHaveLength(1)
      expect(host.reported).toContainEqual(expect.objectContaining({ code: 'BAD_CURSOR' }))
      await ada.say('2')
      expect(await asking).toEqual({ answers: [{ id: 'db', selected: ['SQLite'] }] })
      await expect.poll(() => textsIn(open()), { interval: 5 }).toHaveLength(3)
    },
  )

  test('holds items that are longer than what is read at once', async () => {
    const thread = new FileThread({ file: makeFile() })
    const long = '🚀'.repeat(100_000)
    await thread.say('before')
    await thread.say(long)
    await thread.say('after')
    expect(await textsIn(thread)).toEqual(['before', long, 'after'])
  })

  test('refuses a cursor that is none of its own', async () => {
    const thread = new FileThread({ file: makeFile() })
    await expect(thread.since('12')).rejects.toMatchObject({ code: 'BAD_CURSOR' })
    await thread.say('one')
    for (const cursor of ['9999', 'x', '-1', '1.5'])
      await expect(thread.since(cursor)).rejects.toMatchObject({ code: 'BAD_CURSOR' })
  })

  test('is followed before there is a file', async () => {
    const file = makeFile()
    let woken = 0
    const stop = new FileThread({ file, pollMs: 5 }).follow(() => (woken += 1))
    onTestFinished(stop)
    await new FileThread({ file, self: 'ada' }).say('hello')
    await expect.poll(() => woken, { interval: 5 }).toBeGreaterThan(0)
  })
})
