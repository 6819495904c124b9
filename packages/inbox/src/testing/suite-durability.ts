import assert from 'node:assert/strict'
import type { InboxStore } from '../store.ts'
import { changesSince, entriesSince, idsOf, listAll, opened, openedIds, same, sameSet } from './reading.ts'
import { opening, settling, START } from './samples.ts'
import { type SceneCase, turn } from './scene.ts'

export const DURABILITY_CASES: readonly SceneCase[] = [
  {
    name: 'keeps through a crash what it acknowledged',
    needs: ['crash'],
    async run({ store, open, crash }) {
      const start = await store.end()
      let current = store
      const crashed = async (): Promise<InboxStore> => {
        await crash(current)
        current = await open()
        return current
      }
      const command = opening({ key: 'call', deadlineAt: START, owner: 'host' })
      const { id } = await opened(current, command)
      same(await (await crashed()).get(id), command.request)
      const unkeyed = await opened(current, opening({ owner: 'host' }))
      assert.deepEqual(await (await crashed()).ownedBy('host'), [unkeyed.id])

      assert.equal(await current.engage(id), true)
      assert.equal(await (await crashed()).nextDeadline(), undefined)
      await current.writeRecords([{ namespace: 'rules', key: 'a', value: 1 }])
      same((await (await crashed()).record('rules', 'a'))?.value, 1)

      const settle = settling(id)
      const settled = await current.settle(settle)
      assert.equal(settled.status, 'settled')
      same(await (await crashed()).settle(settle), { ...settled, status: 'repeated' })

      const expected = [`opened ${id}`, `opened ${unkeyed.id}`, `engaged ${id}`, `settled ${id}`]
      assert.deepEqual(await changesSince(await crashed(), start), expected)

      const keyed = opening({ key: 'another call' })
      await opened(current, keyed)
      const again = opening({ key: 'another call', digest: keyed.digest })
      assert.equal((await (await crashed()).open(again)).status, 'joined')
      assert.equal(await current.prune(START * 2), 1)
      assert.equal(await (await crashed()).get(id), undefined)
    },
  },
  {
    name: 'leaves nothing half done by a crash',
    needs: ['crash'],
    async run({ store, open, crash }) {
      let current = store
      for (let round = 0; round < 12; round += 1) {
        const start = await current.end()
        const asked = await openedIds(current, [opening(), opening(), opening()])
        const record = (key: string) => [{ namespace: 'rules', key, value: 1 }]
        const commands = asked.map(() => opening())
        const acknowledged = new Set<string>()
        const going = [
          ...asked.map(id => current.settle(settling(id, { records: record(id) })).then(() => id)),
          ...commands.map(({ request, ...command }) =>
            current.open({ ...command, request, records: record(request.id) }).then(() => request.id),
          ),
        ]
        for (const each of going)
          each.then(
            id => acknowledged.add(id),
            () => {},
          )
        // Each round lets the writes come a bit further.
        for (let step = 0; step < round; step += 1) await (step < 6 ? Promise.resolve() : turn())
        await crash(current)
        const sure = new Set(acknowledged)
        current = await open()

        const logged = await changesSince(current, start)
        for (const id of asked) {
          const done = (await current.get(id))?.settlement !== undefined
          assert.equal(logged.includes(`settled ${id}`), done, 'the log and the request differ')
          assert.equal((await current.record('rules', id)) !== undefined, done, 'the record and it differ')
          assert.ok(done || !sure.has(id), 'a settlement was acknowledged and is gone')
        }
        for (const { request } of commands) {
          const done = (await current.get(request.id)) !== undefined
          assert.equal(logged.includes(`opened ${request.id}`), done, 'the log and the request differ')
          assert.equal((await current.record('rules', request.id)) !== undefined, done, 'the record differs')
          assert.ok(done || !sure.has(request.id), 'an opening was acknowledged and is gone')
        }
      }
    },
  },
  {
    name: 'shows nobody what a crash takes back',
    needs: ['crash', 'manyStores'],
    async run({ store, open, crash }) {
      const reader = await open()
      let current = store
      for (let round = 0; round < 12; round += 1) {
        const start = await reader.end()
        const asked = await openedIds(current, [opening(), opening(), opening()])
        const going = [
          ...asked.map(id => current.settle(settling(id))),
          ...asked.map(() => current.open(opening())),
        ]
        for (const each of going) each.catch(() => {})
        for (let step = 0; step < round; step += 1) await (step < 6 ? Promise.resolve() : turn())
        const seen = await changesSince(reader, start)
        await crash(current)
        current = await open()
        const kept = await changesSince(current, start)
        assert.deepEqual(
          seen.filter(change => !kept.includes(change)),
          [],
          'the log showed what is gone after a crash',
        )
      }
    },
  },
  {
    name: 'finds everything again after it was closed',
    async run({ store, open, close }) {
      const start = await store.end()
      const pending = opening({ key: 'call', session: 's', deadlineAt: START })
      await opened(store, pending)
      const owned = await opened(store, opening({ owner: 'host' }))
      const { id } = await opened(store, opening({ deadlineAt: START }))
      await store.engage(id)
      await store.settle(settling(id))
      await store.writeRecords([{ namespace: 'rules', key: 'a', value: { b: 1 } }])
      const before = {
        log: await entriesSince(store, start),
        pending: await listAll(store, { state: 'pending' }),
        settled: await listAll(store, { state: 'settled' }),
        records: await store.records('rules'),
      }
      await close(store)
      const again = await open()
      same(
        {
          log: await entriesSince(again, start),
          pending: await listAll(again, { state: 'pending' }),
          settled: await listAll(again, { state: 'settled' }),
          records: await again.records('rules'),
        },
        before,
      )
      assert.equal(await again.nextDeadline(), START)
      assert.deepEqual(await again.ownedBy('host'), [owned.id])
      const joined = await again.open(opening({ key: 'call', session: 's', digest: pending.digest }))
      same(joined, { status: 'joined', request: pending.request })
    },
  },
  {
    name: 'ends a call made before the close truthfully',
    async run({ store, open, close }) {
      const start = await store.end()
      const commands = Array.from({ length: 10 }, () => opening())
      const calls = commands.map(command =>
        store.open(command).then(
          ({ status }) => status === 'opened',
          () => false,
        ),
      )
      await close(store)
      const said = await Promise.all(calls)
      const again = await open()
      const kept = idsOf(await listAll(again, { state: 'pending' }))
      sameSet(
        kept,
        commands.filter((_, index) => said[index]).map(({ request }) => request.id),
        'what was said of the calls is not what is kept',
      )
      assert.equal((await changesSince(again, start)).length, kept.length)
    },
  },
  {
    name: 'prunes what was settled before an instant',
    async run({ store }) {
      const ids = await openedIds(
        store,
        [1, 2, 3, 4].map(() => opening()),
      )
      for (const [index, id] of ids.entries()) await store.settle(settling(id, { settledAt: START + index }))
      assert.equal(await store.prune(START), 0)
      assert.equal(await store.prune(START + 2), 2)
      assert.equal(await store.prune(START + 2), 0)
      const [first = '', second = '', third = '', fourth = ''] = ids
      assert.deepEqual(idsOf(await listAll(store, { state: 'settled' })), [fourth, third])
      for (const id of [first, second]) {
        assert.equal(await store.get(id), undefined)
        assert.deepEqual(await store.settle(settling(id)), { status: 'unknown' })
      }
      assert.equal((await store.settle(settling(third))).status, 'alreadySettled')
    },
  },
  {
    name: 'forgets the keys of what it pruned',
    async run({ store }) {
      const command = opening({ key: 'call', session: 's' })
      const { id } = await opened(store, command)
      await store.settle(settling(id, { settledAt: START }))
      await store.prune(START + 1)
      await opened(store, opening({ key: 'call', session: 's', digest: command.digest }))
    },
  },
  {
    name: 'keeps what is pending when it prunes',
    async run({ store }) {
      const command = opening({ key: 'call', openedAt: 1, deadlineAt: START })
      const pending = await opened(store, command)
      const { id } = await opened(store, opening({ openedAt: 1 }))
      await store.settle(settling(id, { settledAt: START }))
      await store.writeRecords([{ namespace: 'rules', key: 'a', value: 1 }])
      assert.equal(await store.prune(START * 2), 1)
      same(await listAll(store, { state: 'pending' }), [pending])
      same(await store.get(pending.id), pending)
      assert.deepEqual(await store.due(START, 10), [pending.id])
      same(await store.open(opening({ key: 'call', digest: command.digest })), {
        status: 'joined',
        request: pending,
      })
      assert.equal((await store.record('rules', 'a'))?.version, 1)
    },
  },
  {
    name: 'loses a cursor older than what it pruned',
    async run({ store }) {
      const start = await store.end()
      const { id } = await opened(store, opening())
      const between = await store.end()
      await store.settle(settling(id, { settledAt: START }))
      await opened(store, opening())
      await store.prune(START + 1)
      for (const cursor of [start, between]) assert.deepEqual(await store.since(cursor), { lost: true })
    },
  },
  {
    name: 'counts its log on after everything is pruned',
    async run({ store, open, close }) {
      for (let round = 0; round < 3; round += 1) {
        const { id } = await opened(store, opening())
        await store.settle(settling(id, { settledAt: START }))
      }
      const end = await store.end()
      assert.equal(await store.prune(START + 1), 3)
      assert.deepEqual(await changesSince(store, end), [])
      assert.deepEqual(await changesSince(store, await store.end()), [])
      await close(store)
      const again = await open()
      const { id } = await opened(again, opening())
      assert.deepEqual(await changesSince(again, end), [`opened ${id}`])
    },
  },
]
