import assert from 'node:assert/strict'
import type { JsonValue } from '../request.ts'
import type { InboxStore, RecordWrite } from '../store.ts'
import { same, sameSet } from './reading.ts'
import type { SceneCase } from './scene.ts'

const VALUES: readonly JsonValue[] = [
  0,
  false,
  '',
  [],
  {},
  'naïve 🚀',
  { expires: 1_700_000_000_000, list: [null, { deep: true }] },
  JSON.parse('{"__proto__":{"admin":true}}') as JsonValue,
]

const write = (key: string, value: JsonValue, expectedVersion?: number): RecordWrite => ({
  namespace: 'rules',
  key,
  value,
  expectedVersion,
})

/** The versions of records of the namespace `rules`, 0 for one that is not there. */
export async function versionsOf(store: InboxStore, ...keys: string[]): Promise<number[]> {
  return Promise.all(keys.map(async key => (await store.record('rules', key))?.version ?? 0))
}

export const RECORD_CASES: readonly SceneCase[] = [
  {
    name: 'keeps a record and counts its versions',
    async run({ store, beside }) {
      const other = await beside()
      assert.equal(await store.record('rules', 'a'), undefined)
      for (const [index, value] of VALUES.entries()) {
        assert.equal(await store.writeRecords([write('a', value)]), undefined)
        const expected = { namespace: 'rules', key: 'a', value, version: index + 1 }
        same(await store.record('rules', 'a'), expected)
        same(await other.record('rules', 'a'), expected)
        same(await store.records('rules'), [expected])
        assert.equal(JSON.stringify((await store.record('rules', 'a'))?.value), JSON.stringify(value))
      }
    },
  },
  {
    name: 'writes a record only over the version read',
    async run({ store }) {
      await store.writeRecords([write('a', 'one')])
      await store.writeRecords([write('a', 'two', 1)])
      await store.writeRecords([write('a', 'three', 2)])
      for (const stale of [1, 2, 4]) {
        const refused = write('a', 'late', stale)
        same(await store.writeRecords([refused]), refused, `expecting ${stale} of 3`)
      }
      const absent = write('b', 'one', 1)
      same(await store.writeRecords([absent]), absent)
      same(await store.record('rules', 'a'), { namespace: 'rules', key: 'a', value: 'three', version: 3 })
      assert.equal(await store.record('rules', 'b'), undefined)
    },
  },
  {
    name: 'creates a record only where none is',
    async run({ store }) {
      assert.equal(await store.writeRecords([write('a', 'first', 0)]), undefined)
      const second = write('a', 'second', 0)
      same(await store.writeRecords([second]), second)
      same((await store.record('rules', 'a'))?.value, 'first')
    },
  },
  {
    name: 'deletes a record that is written as null',
    async run({ store }) {
      await store.writeRecords([write('a', 1), write('b', 2), write('c', 3)])
      assert.equal(await store.writeRecords([write('a', null), write('nobody', null)]), undefined)
      const stale = write('b', null, 7)
      same(await store.writeRecords([stale]), stale)
      assert.equal(await store.writeRecords([write('b', null, 1)]), undefined)
      assert.deepEqual(await versionsOf(store, 'a', 'b', 'c', 'nobody'), [0, 0, 1, 0])
      assert.deepEqual(
        (await store.records('rules')).map(({ key }) => key),
        ['c'],
      )
      assert.equal(await store.writeRecords([write('a', 'again', 0)]), undefined)
      same((await store.record('rules', 'a'))?.value, 'again')
    },
  },
  {
    name: 'refuses a version read before a delete',
    async run({ store }) {
      // A lease taken, let go and taken by somebody else: the first holder must not write over it.
      await store.writeRecords([write('lease', 'first holder')])
      const read = (await store.record('rules', 'lease'))?.version
      await store.writeRecords([write('lease', null)])
      await store.writeRecords([write('lease', 'second holder')])
      const late = write('lease', 'first holder again', read)
      same(await store.writeRecords([late]), late)
      same((await store.record('rules', 'lease'))?.value, 'second holder')
    },
  },
  {
    name: 'writes all records or none',
    async run({ store }) {
      await store.writeRecords([write('a', 1)])
      const refused = write('c', 3, 5)
      const result = await store.writeRecords([
        write('a', 10),
        write('b', 2, 0),
        refused,
        write('d', 4),
        write('e', 5, 7),
        write('a', null),
      ])
      same(result, refused, 'the first write that did not hold')
      assert.deepEqual(await versionsOf(store, 'a', 'b', 'c', 'd', 'e'), [1, 0, 0, 0, 0])
      assert.equal(await store.writeRecords([]), undefined)
    },
  },
  {
    name: 'tells records by namespace and key',
    async run({ store }) {
      const places = [
        ['rules', 'a'],
        ['rules', '__proto__'],
        ['rules', ''],
        ['rules', '%'],
        ['rules:a', ''],
        ['rule', 's:a'],
        ['Rules', 'a'],
        ['', 'rules'],
        ['%', 'a'],
        ['__proto__', 'a'],
      ] as const
      for (const [namespace, key] of places)
        await store.writeRecords([{ namespace, key, value: [namespace, key], expectedVersion: 0 }])
      for (const [namespace, key] of places) {
        same((await store.record(namespace, key))?.value, [namespace, key])
        sameSet(
          (await store.records(namespace)).map(({ value }) => JSON.stringify(value)),
          places.filter(place => place[0] === namespace).map(place => JSON.stringify(place)),
        )
      }
      assert.deepEqual(await store.records('nothing'), [])
    },
  },
  {
    name: 'lets one of many writers of a record win',
    async run({ store, beside }) {
      const stores = [store, await beside()]
      for (let version = 1; version <= 5; version += 1) {
        if (version === 1) await store.writeRecords([write('a', 'start')])
        const results = await Promise.all(
          Array.from({ length: 10 }, (_, index) =>
            stores.map(each => each.writeRecords([write('a', index, version), write('b', index)])),
          ).flat(),
        )
        assert.equal(results.filter(result => result === undefined).length, 1, 'not exactly one write held')
        assert.deepEqual(await versionsOf(store, 'a', 'b'), [version + 1, version])
      }
    },
  },
]
