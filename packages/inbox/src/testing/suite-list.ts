import assert from 'node:assert/strict'
import { changesSince, idsOf, listAll, opened, openedIds, sameSet } from './reading.ts'
import { opening, settling } from './samples.ts'
import { type SceneCase, turn } from './scene.ts'

const openings = (count: number): ReturnType<typeof opening>[] =>
  Array.from({ length: count }, () => opening())

export const LIST_CASES: readonly SceneCase[] = [
  {
    name: 'lists pending requests oldest first',
    async run({ store }) {
      const ids = await openedIds(store, openings(23))
      for (const limit of [1, 5, 23, 100, undefined])
        assert.deepEqual(
          idsOf(await listAll(store, { state: 'pending', limit })),
          ids,
          `by pages of ${limit}`,
        )
    },
  },
  {
    name: 'pages on while requests come and go',
    async run({ store }) {
      const ids = await openedIds(store, openings(40))
      const gone = new Set<string>()
      const settle = async (id: string | undefined): Promise<void> => {
        if (id === undefined || gone.has(id)) return
        await store.settle(settling(id))
        gone.add(id)
      }
      const listed = await listAll(store, { state: 'pending', limit: 4 }, async page => {
        await settle(page[0]?.id)
        // The request that the next page starts after.
        await settle(page.at(-1)?.id)
        await settle(ids.findLast(id => !gone.has(id)))
        await opened(store, opening())
      })
      const found = idsOf(listed)
      assert.equal(new Set(found).size, found.length, 'a request is listed twice')
      const stayed = ids.filter(id => !gone.has(id))
      assert.deepEqual(
        stayed.filter(id => !found.includes(id)),
        [],
        'requests are missing that were pending all the time',
      )
    },
  },
  {
    name: 'lists settled requests latest first',
    async run({ store }) {
      const ids = await openedIds(store, openings(12))
      const order = ids.toSorted()
      for (const id of order) await store.settle(settling(id))
      const later = await openedIds(store, openings(8))
      const listed = await listAll(store, { state: 'settled', limit: 5 }, () =>
        store.settle(settling(later.pop() ?? '')),
      )
      assert.deepEqual(idsOf(listed), order.toReversed())
    },
  },
  {
    name: 'lists a request as pending or as settled',
    async run({ store }) {
      const [first = '', second = ''] = await openedIds(store, openings(2))
      await store.settle(settling(first))
      assert.deepEqual(idsOf(await listAll(store, { state: 'pending' })), [second])
      assert.deepEqual(idsOf(await listAll(store, { state: 'settled' })), [first])
    },
  },
  {
    name: 'lists the requests of one session',
    async run({ store }) {
      const sessions = ['', 'a', 'b', '%', '__proto__']
      const ids = new Map<string, string[]>(sessions.map(session => [session, []]))
      for (const session of [...sessions, ...sessions])
        ids.get(session)?.push((await opened(store, opening({ session }))).id)
      for (const session of sessions) {
        const own = ids.get(session) ?? []
        sameSet(idsOf(await listAll(store, { state: 'pending', session, limit: 1 })), own)
        await store.settle(settling(own[0] ?? ''))
        assert.deepEqual(idsOf(await listAll(store, { state: 'settled', session })), own.slice(0, 1))
      }
      assert.deepEqual(idsOf(await listAll(store, { state: 'pending', session: 'nobody' })), [])
      assert.equal((await listAll(store, { state: 'pending' })).length, sessions.length)
    },
  },
  {
    name: 'lists no more than the limit',
    async run({ store }) {
      await Promise.all(openings(1_001).map(command => opened(store, command)))
      for (const [limit, expected] of [
        [1, 1],
        [undefined, 100],
        [1_000, 1_000],
        [5_000, 1_000],
      ] as const) {
        const { requests, next } = await store.list({ state: 'pending', limit })
        assert.equal(requests.length, expected, `with the limit ${limit}`)
        assert.ok(next !== undefined, 'there is more, and no next page')
      }
    },
  },
  {
    name: 'names no page after the last',
    async run({ store }) {
      assert.deepEqual(await store.list({ state: 'pending' }), { requests: [] })
      const ids = await openedIds(store, openings(6))
      for (const id of ids.slice(0, 3)) await store.settle(settling(id))
      for (const state of ['pending', 'settled'] as const) {
        assert.equal((await store.list({ state, limit: 3 })).next, undefined)
        const { next } = await store.list({ state, limit: 2 })
        assert.equal((await store.list({ state, limit: 2, after: next })).next, undefined)
      }
    },
  },
  {
    name: 'misses nothing between a snapshot and the log',
    async run({ store, beside }) {
      const writers = [store, await beside()]
      const ids: string[] = []
      const writing = { going: true }
      const write = async (writer: typeof store): Promise<void> => {
        for (let round = 0; round < 30; round += 1) {
          const command = opening()
          ids.push(command.request.id)
          await opened(writer, command)
          if (round % 3 > 0) await writer.settle(settling(command.request.id))
          await turn()
        }
      }
      const snapshots: { end: string; pending: string[] }[] = []
      const look = async (): Promise<void> => {
        while (writing.going) {
          const end = await store.end()
          snapshots.push({ end, pending: idsOf(await listAll(store, { state: 'pending', limit: 7 })) })
          await turn()
        }
      }
      const looking = look()
      try {
        await Promise.all(writers.map(write))
      } finally {
        writing.going = false
        await looking
      }
      const left = idsOf(await listAll(store, { state: 'pending' })).toSorted()
      assert.equal(left.length, 20)
      for (const { end, pending } of snapshots) {
        const shown = new Set(pending)
        for (const change of await changesSince(store, end)) {
          const [what, id = ''] = change.split(' ')
          if (what === 'settled') shown.delete(id)
          else shown.add(id)
        }
        // The log may tell again of what the snapshot shows, opened and settled in between.
        assert.deepEqual(
          [...shown].toSorted(),
          left,
          'who listed, then followed the log, sees something else',
        )
      }
    },
  },
  {
    name: 'stays usable with a great many pending',
    async run({ store, many, soon }) {
      const ids = new Set<string>()
      for (let done = 0; done < many; done += 1_000) {
        const commands = openings(Math.min(1_000, many - done))
        for (const { request } of await Promise.all(
          commands.map(async each => ({ request: await opened(store, each) })),
        ))
          ids.add(request.id)
      }
      const listed = await listAll(store, { state: 'pending', limit: 1_000 })
      assert.equal(listed.length, many)
      assert.equal(new Set(idsOf(listed)).size, many)
      assert.ok(listed.every(({ id }) => ids.has(id)))

      const { next } = await soon(store.list({ state: 'pending' }), 'listing a page')
      await soon(store.list({ state: 'pending', after: next }), 'listing the page after')
      const end = await soon(store.end(), 'asking where the log ends')
      const { id } = await soon(opened(store, opening({ key: 'late', deadlineAt: 1 })), 'opening')
      assert.equal(await soon(store.nextDeadline(), 'asking for the next deadline'), 1)
      assert.deepEqual(await soon(store.due(2, 10), 'asking what is due'), [id])
      for (const one of [id, listed[Math.floor(many / 2)]?.id ?? '']) {
        assert.equal((await soon(store.settle(settling(one)), 'settling')).status, 'settled')
        assert.ok((await soon(store.get(one), 'getting'))?.settlement !== undefined)
      }
      assert.equal((await soon(changesSince(store, end), 'reading the log')).length, 3)
    },
  },
]
