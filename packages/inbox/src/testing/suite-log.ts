import assert from 'node:assert/strict'
import type { InboxStore } from '../store.ts'
import { changesSince, entriesSince, idsOf, listAll, opened, pageSince, same, sameSet } from './reading.ts'
import { opening, settling, START } from './samples.ts'
import { type Scene, type SceneCase, turn } from './scene.ts'

export const LOG_CASES: readonly SceneCase[] = [
  {
    name: 'logs every change once and in order',
    async run({ store }) {
      const start = await store.end()
      const expected: string[] = []
      for (let round = 0; round < 5; round += 1) {
        const { id } = await opened(store, opening({ deadlineAt: START }))
        await store.engage(id)
        await store.settle(settling(id))
        expected.push(`opened ${id}`, `engaged ${id}`, `settled ${id}`)
      }
      const entries = await entriesSince(store, start)
      assert.deepEqual(
        entries.map(({ change, request }) => `${change} ${request.id}`),
        expected,
      )
      for (const [index, { cursor }] of entries.entries())
        assert.deepEqual(await changesSince(store, cursor), expected.slice(index + 1))
    },
  },
  {
    name: 'logs a request as it is when read',
    async run({ store }) {
      const start = await store.end()
      const { id } = await opened(store, opening({ deadlineAt: START }))
      await store.engage(id)
      await store.settle(settling(id))
      const now = await store.get(id)
      for (const { request } of await entriesSince(store, start)) same(request, now)
    },
  },
  {
    name: 'reads the log in pages',
    async run({ store }) {
      const start = await store.end()
      const ids = await Promise.all(
        Array.from({ length: 1_001 }, async () => (await opened(store, opening())).id),
      )
      const first = await pageSince(store, start)
      assert.ok(first.entries.length <= 1_000, 'more than a thousand entries by default')
      assert.equal(first.more, true)
      const few = await pageSince(store, start, 3)
      assert.ok(few.entries.length <= 3, 'more entries than the limit')
      assert.equal(few.more, true)
      let cursor = start
      let more = true
      const read: string[] = []
      while (more) {
        const page = await pageSince(store, cursor, 100)
        assert.ok(page.entries.length > 0, 'an empty page, and more to come')
        read.push(...page.entries.map(({ request }) => request.id))
        ;({ cursor, more } = page)
      }
      sameSet(read, ids)
      const rest = await pageSince(store, cursor)
      assert.deepEqual([rest.entries, rest.more], [[], false])
    },
  },
  {
    name: 'reads from its end only what is later',
    async run({ store }) {
      const { id } = await opened(store, opening({ deadlineAt: START }))
      const changes = [() => store.engage(id), () => store.settle(settling(id)), () => store.open(opening())]
      for (const change of changes) {
        await change()
        const end = await store.end()
        const page = await pageSince(store, end)
        assert.deepEqual([page.entries, page.more], [[], false])
        assert.deepEqual(await changesSince(store, page.cursor), [])
        const later = await opened(store, opening())
        assert.deepEqual(await changesSince(store, end), [`opened ${later.id}`])
        assert.deepEqual(await changesSince(store, page.cursor), [`opened ${later.id}`])
      }
    },
  },
  {
    name: 'gives every store the same log',
    needs: ['manyStores'],
    async run({ store, open }) {
      const other = await open()
      const start = await other.end()
      const first = await opened(store, opening())
      const second = await opened(other, opening())
      await other.settle(settling(second.id))
      const expected = [`opened ${first.id}`, `opened ${second.id}`, `settled ${second.id}`]
      for (const each of [store, other, await open()]) {
        assert.deepEqual(await changesSince(each, start), expected)
        assert.deepEqual(await changesSince(each, await each.end()), [])
        assert.deepEqual(idsOf(await listAll(each, { state: 'pending' })), [first.id])
      }
    },
  },
  {
    name: 'passes no entry while others write',
    async run({ store, beside }) {
      const writers = [store, await beside()]
      const reader = await beside()
      const start = await store.end()
      const expected: string[] = []
      let writing = true
      const write = async (writer: InboxStore, lane: number): Promise<void> => {
        for (let round = 0; round < 25; round += 1) {
          const { id } = await opened(writer, opening({ payload: 'word '.repeat(lane * 5_000) }))
          expected.push(`opened ${id}`)
          if (round % 2 === 0) continue
          await writer.settle(settling(id))
          expected.push(`settled ${id}`)
        }
      }
      const read: string[] = []
      let cursor = start
      const follow = async (): Promise<void> => {
        for (let last = false; ;) {
          const page = await pageSince(reader, cursor, 5)
          read.push(...page.entries.map(({ change, request }) => `${change} ${request.id}`))
          ;({ cursor } = page)
          if (last && page.entries.length === 0) return
          last = !writing
          await turn()
        }
      }
      const following = follow()
      try {
        await Promise.all([0, 1, 2, 3].flatMap(lane => writers.map(writer => write(writer, lane))))
      } finally {
        writing = false
        await following
      }
      sameSet(read, expected, 'who follows the log does not see every change exactly once')
      assert.deepEqual(await changesSince(reader, start), read, 'the order of the log changed')
    },
  },
  {
    name: 'loses a cursor of another store',
    async run({ store, elsewhere }) {
      const other = await elsewhere()
      for (const each of [store, other, store]) await opened(each, opening())
      assert.deepEqual(await store.since(await other.end()), { lost: true })
      assert.equal((await changesSince(other, await other.end())).length, 0)
    },
  },
  {
    name: 'loses a cursor that is none',
    async run({ store }) {
      await opened(store, opening())
      const end = await store.end()
      for (const cursor of ['', ' ', '0', '1', '-1', 'NaN', 'cursor', '__proto__', '🙂', '{}', `${end} `])
        assert.deepEqual(await store.since(cursor), { lost: true }, JSON.stringify(cursor))
    },
  },
  {
    name: 'wakes a watcher when the log grows',
    async run(scene) {
      const { store } = scene
      const { request } = opening({ deadlineAt: START })
      const changes: Readonly<Record<string, () => Promise<unknown>>> = {
        opening: () => store.open({ request, digest: '' }),
        engaging: () => store.engage(request.id),
        settling: () => store.settle(settling(request.id)),
      }
      for (const [what, change] of Object.entries(changes)) await assertWakes(scene, store, change, what)
    },
  },
  {
    name: 'wakes a watcher when another store writes',
    needs: ['manyStores'],
    async run(scene) {
      const other = await scene.open()
      const command = opening()
      await assertWakes(scene, scene.store, () => other.open(command), 'opening in another store')
      const settle = settling(command.request.id)
      await assertWakes(scene, scene.store, () => other.settle(settle), 'settling in another store')
    },
  },
  {
    name: 'wakes nobody whose watch ended',
    async run(scene) {
      const { store } = scene
      let woken = 0
      const wake = (): void => void (woken += 1)
      const stop = store.watch(wake)
      stop()
      await assertWakes(scene, store, () => store.open(opening()), 'opening')
      assert.equal(woken, 0)
      // The same function watching twice is two watches, and ending one twice does not end the other.
      const stopFirst = store.watch(wake)
      const stopSecond = store.watch(wake)
      stopFirst()
      stopFirst()
      stop()
      await assertWakes(scene, store, () => store.open(opening()), 'opening again')
      await scene.soon(
        until(() => woken > 0),
        'waking the watch that is left',
      )
      stopSecond()
    },
  },
  {
    name: 'wakes nobody after it is closed',
    needs: ['manyStores'],
    async run(scene) {
      const { store } = scene
      const other = await scene.open()
      let closed = false
      let wokenLate = false
      const stop = store.watch(() => {
        wokenLate ||= closed
      })
      await scene.close(store)
      closed = true
      await assertWakes(scene, other, () => other.open(opening()), 'opening in another store')
      assert.equal(wokenLate, false)
      stop()
    },
  },
]

async function assertWakes(
  { soon }: Scene,
  store: InboxStore,
  change: () => Promise<unknown>,
  what: string,
): Promise<void> {
  let stop = (): void => {}
  const woken = new Promise<void>(resolve => {
    stop = store.watch(resolve)
  })
  try {
    await change()
    await soon(woken, `waking after ${what}`)
  } finally {
    stop()
  }
}

// Bounded by whoever waits for it, and ended soon after.
async function until(holds: () => boolean): Promise<void> {
  for (let turns = 0; !holds() && turns < 10_000; turns += 1) await turn()
  if (!holds()) throw new Error('it did not come to that')
}
