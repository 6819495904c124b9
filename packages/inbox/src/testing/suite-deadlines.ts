import assert from 'node:assert/strict'
import { opened, openedIds, sameSet } from './reading.ts'
import { opening, settling, START } from './samples.ts'
import type { SceneCase } from './scene.ts'

export const DEADLINE_CASES: readonly SceneCase[] = [
  {
    name: 'knows the earliest deadline of what is pending',
    async run({ store }) {
      assert.equal(await store.nextDeadline(), undefined)
      await opened(store, opening())
      assert.equal(await store.nextDeadline(), undefined)
      const deadlines = [START + 3, START + 1, START + 2]
      const ids = await openedIds(
        store,
        deadlines.map(deadlineAt => opening({ deadlineAt })),
      )
      for (const [index, next] of [
        [1, START + 1],
        [2, START + 2],
        [0, START + 3],
      ] as const) {
        assert.equal(await store.nextDeadline(), next)
        await store.settle(settling(ids[index] ?? ''))
      }
      assert.equal(await store.nextDeadline(), undefined)
    },
  },
  {
    name: 'names what is due, the earliest first',
    async run({ store }) {
      const [third = '', first = '', , second = ''] = await openedIds(store, [
        opening({ deadlineAt: START + 30 }),
        opening({ deadlineAt: START + 10 }),
        opening(),
        opening({ deadlineAt: START + 20 }),
        opening({ deadlineAt: START + 31 }),
      ])
      assert.deepEqual(await store.due(START + 9, 10), [])
      assert.deepEqual(await store.due(START + 30, 10), [first, second, third])
      await store.settle(settling(second))
      assert.deepEqual(await store.due(START + 30, 10), [first, third])
    },
  },
  {
    name: 'names no more of what is due than asked',
    async run({ store }) {
      const ids = await openedIds(
        store,
        [1, 2, 3, 4, 5].map(late => opening({ deadlineAt: START + late })),
      )
      for (const limit of [1, 3, 5, 100])
        assert.deepEqual(await store.due(START + 10, limit), ids.slice(0, limit))
    },
  },
  {
    name: 'knows who waits without a key',
    async run({ store, beside }) {
      assert.deepEqual(await store.owners(), [])
      const [first = '', second = '', third = ''] = await openedIds(store, [
        opening({ owner: 'host a' }),
        opening({ owner: 'host a' }),
        opening({ owner: 'host b' }),
        opening({ owner: 'host c', key: 'call' }),
        opening(),
      ])
      for (const each of [store, await beside()]) {
        sameSet(await each.owners(), ['host a', 'host b'])
        sameSet(await each.ownedBy('host a'), [first, second])
        sameSet(await each.ownedBy('host b'), [third])
        for (const nobody of ['host', 'host c', '', '%']) assert.deepEqual(await each.ownedBy(nobody), [])
      }
    },
  },
  {
    name: 'forgets an owner nobody waits for',
    async run({ store }) {
      const [first = '', second = ''] = await openedIds(store, [
        opening({ owner: 'host' }),
        opening({ owner: 'host' }),
      ])
      await store.settle(settling(first))
      assert.deepEqual([await store.owners(), await store.ownedBy('host')], [['host'], [second]])
      await store.settle(settling(second))
      assert.deepEqual([await store.owners(), await store.ownedBy('host')], [[], []])
    },
  },
]
