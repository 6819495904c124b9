import assert from 'node:assert/strict'
import type { JsonValue } from '../request.ts'
import type { RecordWrite } from '../store.ts'
import { changesSince, opened, same } from './reading.ts'
import { opening, settling, START } from './samples.ts'
import type { SceneCase } from './scene.ts'
import { versionsOf } from './suite-records.ts'

const write = (key: string, value: JsonValue, expectedVersion?: number): RecordWrite => ({
  namespace: 'rules',
  key,
  value,
  expectedVersion,
})

/** What is written together holds together. */
export const TOGETHER_CASES: readonly SceneCase[] = [
  {
    name: 'writes records with the request they belong to',
    async run({ store, beside }) {
      const { id } = await opened(store, opening({ records: [write('a', 'asked'), write('b', 'asked')] }))
      assert.deepEqual(await versionsOf(store, 'a', 'b'), [1, 1])
      const settle = settling(id, {
        records: [write('a', 'answered', 1), write('b', null), write('c', 1, 0)],
      })
      assert.equal((await store.settle(settle)).status, 'settled')
      assert.deepEqual(await versionsOf(await beside(), 'a', 'b', 'c'), [2, 0, 1])
    },
  },
  {
    name: 'opens nothing when a record conflicts',
    async run({ store }) {
      await store.writeRecords([write('a', 1)])
      const end = await store.end()
      const command = opening({
        key: 'call',
        deadlineAt: START,
        records: [write('b', 1), write('a', 2, 0), write('c', 1, 1)],
      })
      same(await store.open(command), { status: 'recordConflict', namespace: 'rules', key: 'a' })
      assert.equal(await store.get(command.request.id), undefined)
      assert.deepEqual((await store.list({ state: 'pending' })).requests, [])
      assert.deepEqual(await changesSince(store, end), [])
      assert.deepEqual(await versionsOf(store, 'a', 'b', 'c'), [1, 0, 0])
      // The key is free, and so is the id.
      await opened(store, { ...command, digest: 'another', records: [write('a', 2, 1)] })
    },
  },
  {
    name: 'settles nothing when a record conflicts',
    async run({ store }) {
      await store.writeRecords([write('a', 1)])
      const request = await opened(store, opening({ deadlineAt: START }))
      const end = await store.end()
      const command = settling(request.id, { records: [write('b', 1), write('a', 2, 7)] })
      same(await store.settle(command), { status: 'recordConflict', namespace: 'rules', key: 'a' })
      same(await store.get(request.id), request)
      assert.deepEqual(await changesSince(store, end), [])
      assert.deepEqual(await versionsOf(store, 'a', 'b'), [1, 0])
      same(await store.due(START, 10), [request.id])
      // The command was not used up.
      const { status } = await store.settle({ ...command, digest: 'another', records: [write('a', 2, 1)] })
      assert.equal(status, 'settled')
    },
  },
  {
    name: 'writes no record with a request not opened',
    async run({ store }) {
      const command = opening({ key: 'call' })
      await opened(store, command)
      const records = [write('a', 1)]
      await store.open(opening({ key: 'call', digest: command.digest, records }))
      assert.deepEqual(await versionsOf(store, 'a'), [0], 'written by one who joined')
      await store.open(opening({ key: 'call', digest: 'another', records }))
      assert.deepEqual(await versionsOf(store, 'a'), [0], 'written with a key conflict')
      await store.open(opening({ id: command.request.id, records })).catch(() => {})
      assert.deepEqual(await versionsOf(store, 'a'), [0], 'written with an id that is kept already')
    },
  },
  {
    name: 'writes no record with a settlement that fails',
    async run({ store }) {
      const records = [write('a', 1)]
      const { id } = await opened(store, opening())
      await store.settle(settling(id, { ifDueAt: START, records }))
      assert.deepEqual(await versionsOf(store, 'a'), [0], 'written though it is not due')
      const first = settling(id)
      await store.settle(first)
      await store.settle({ ...first, records })
      assert.deepEqual(await versionsOf(store, 'a'), [0], 'written by a repeated command')
      await store.settle({ ...first, digest: 'another', records })
      assert.deepEqual(await versionsOf(store, 'a'), [0], 'written with a command conflict')
      await store.settle(settling(id, { records }))
      assert.deepEqual(await versionsOf(store, 'a'), [0], 'written by a loser')
      await store.settle(settling('nobody', { records }))
      assert.deepEqual(await versionsOf(store, 'a'), [0], 'written for nobody')
    },
  },
  {
    name: 'keeps writes apart that are made at once',
    async run({ store }) {
      const taken = await opened(store, opening({ key: 'call' }))
      await store.writeRecords([write('a', 1)])
      const end = await store.end()
      const good = Array.from({ length: 8 }, () => opening())
      const bad = [
        opening({ id: taken.id }),
        opening({ key: 'call' }),
        opening({ records: [write('b', 1), write('a', 2, 0)] }),
        opening({ id: taken.id, records: [write('c', 1)] }),
      ]
      const ends = await Promise.allSettled(
        good
          .flatMap((command, index) => [command, ...bad.slice(index, index + 1)])
          .map(each => store.open(each)),
      )
      const statuses = ends.map(each => (each.status === 'fulfilled' ? each.value.status : 'rejected'))
      assert.equal(statuses.filter(status => status === 'opened').length, good.length)
      assert.equal(statuses.filter(status => status === 'rejected').length, 2)
      const logged = await changesSince(store, end)
      assert.deepEqual(logged.toSorted(), good.map(({ request }) => `opened ${request.id}`).toSorted())
      assert.deepEqual(await versionsOf(store, 'a', 'b', 'c'), [1, 0, 0])
      same(await store.get(taken.id), taken)
    },
  },
]
