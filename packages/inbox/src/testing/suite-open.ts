import assert from 'node:assert/strict'
import { isSettled, type JsonValue } from '../request.ts'
import {
  assertRejects,
  changesSince,
  entriesSince,
  idsOf,
  listAll,
  opened,
  same,
  sameSet,
} from './reading.ts'
import { opening, settling, START } from './samples.ts'
import type { SceneCase } from './scene.ts'

const ODD_TEXT = 'naïve 選択肢 🚀 "quoted" \'single\' back\\slash %_; -- \r\n\t <b>'

const ODD_PAYLOADS: Readonly<Record<string, JsonValue>> = {
  null: null,
  'an empty string': '',
  'an empty object': {},
  'an empty list': [],
  false: false,
  numbers: [0, -1, 0.1, 1e21, 5e-324, Number.MAX_SAFE_INTEGER, 1.7976931348623157e308],
  'odd text': `${ODD_TEXT}\u0000\u2028\ud800`,
  'members in their order': { z: 1, a: 2, 10: 'ten', 9: 'nine', '': 'no name' },
  'names of the prototype': JSON.parse(
    '{"__proto__":{"admin":true},"constructor":1,"toString":2,"hasOwnProperty":3}',
  ) as JsonValue,
  'a deep value': deep(500),
  'a big text': 'word 語 '.repeat(50_000),
}

export const OPEN_CASES: readonly SceneCase[] = [
  {
    name: 'gives a request back as it was opened',
    async run({ store }) {
      const start = await store.end()
      const full = opening({
        kind: ODD_TEXT,
        session: ODD_TEXT,
        key: ODD_TEXT,
        agent: ODD_TEXT,
        openedAt: START + 1,
        deadlineAt: START + 86_400_000,
      })
      for (const command of [full, opening(), opening({ key: '', agent: '' })]) {
        same(await opened(store, command), command.request)
        same(await store.get(command.request.id), command.request)
        const listed = await listAll(store, { state: 'pending' })
        same(
          listed.find(({ id }) => id === command.request.id),
          command.request,
        )
        same((await entriesSince(store, start)).at(-1)?.request, command.request)
      }
    },
  },
  {
    name: 'keeps any JSON payload to the letter',
    async run({ store }) {
      for (const [what, payload] of Object.entries(ODD_PAYLOADS)) {
        const { id } = await opened(store, opening({ payload }))
        const kept = await store.get(id)
        assert.equal(JSON.stringify(kept?.payload), JSON.stringify(payload), what)
      }
    },
  },
  {
    name: 'joins a pending request of the same key',
    async run({ store }) {
      const command = opening({ key: 'call', session: 's' })
      const first = await opened(store, command)
      const end = await store.end()
      const again = opening({ key: 'call', session: 's', digest: command.digest })
      same(await store.open(again), { status: 'joined', request: first })
      assert.deepEqual(await changesSince(store, end), [])
      assert.equal(await store.get(again.request.id), undefined)
    },
  },
  {
    name: 'joins a settled request of the same key',
    async run({ store }) {
      const command = opening({ key: 'call' })
      const { id } = await opened(store, command)
      await store.settle(settling(id))
      const end = await store.end()
      const joined = await store.open(opening({ key: 'call', digest: command.digest }))
      same(joined, { status: 'joined', request: await store.get(id) })
      assert.ok('request' in joined && isSettled(joined.request))
      assert.deepEqual(await changesSince(store, end), [])
    },
  },
  {
    name: 'scopes a key to its session',
    async run({ store }) {
      const sessions = ['', 'a', 'b', 'a:b', '%']
      for (const session of sessions) await opened(store, opening({ session, key: 'call', digest: 'same' }))
      await opened(store, opening({ session: 'a', key: 'b:call', digest: 'same' }))
      await opened(store, opening({ session: 'A', key: 'call', digest: 'same' }))
      assert.equal((await listAll(store, { state: 'pending' })).length, sessions.length + 2)
    },
  },
  {
    name: 'tells a key that asked something else',
    async run({ store }) {
      const first = await opened(store, opening({ key: 'call' }))
      const end = await store.end()
      const other = opening({ key: 'call', payload: 'something else' })
      same(await store.open(other), { status: 'keyConflict', request: first })
      assert.deepEqual(await changesSince(store, end), [])
      assert.equal(await store.get(other.request.id), undefined)
      same(await store.get(first.id), first)
    },
  },
  {
    name: 'never joins a request without a key',
    async run({ store }) {
      const commands = [1, 2, 3].map(() => opening({ key: undefined, payload: 'same', digest: 'same' }))
      for (const command of commands) await opened(store, command)
      sameSet(
        idsOf(await listAll(store, { state: 'pending' })),
        commands.map(({ request }) => request.id),
      )
    },
  },
  {
    name: 'opens a key once among many at once',
    async run({ store, beside }) {
      const stores = [store, await beside()]
      for (const key of ['one', 'two', 'three']) {
        const results = await Promise.all(
          Array.from({ length: 10 }, () =>
            stores.map(each => each.open(opening({ key, digest: key }))),
          ).flat(),
        )
        const winners = results.filter(({ status }) => status === 'opened')
        assert.equal(winners.length, 1, `${winners.length} opened the key ${key}`)
        const ids = new Set(results.map(result => ('request' in result ? result.request.id : result.status)))
        assert.equal(ids.size, 1, 'those who joined got another request than the one opened')
      }
      assert.equal((await listAll(store, { state: 'pending' })).length, 3)
    },
  },
  {
    name: 'refuses an id that is kept already',
    async run({ store }) {
      const first = await opened(store, opening())
      const end = await store.end()
      const result = await store.open(opening({ id: first.id, payload: 'another' })).then(
        ({ status }) => status,
        () => 'rejected',
      )
      assert.equal(result, 'rejected')
      same(await store.get(first.id), first)
      assert.deepEqual(await changesSince(store, end), [])
    },
  },
  {
    name: 'keeps what was given though the giver changes it',
    async run({ store }) {
      const command = opening({ payload: { list: [{ text: 'as given' }] } })
      const settle = settling(command.request.id, { answer: { list: ['as given'] } })
      const write = { namespace: 'n', key: 'k', value: { list: ['as given'] } }
      const expected = structuredClone({ ...command.request, settlement: settle.settlement })
      await opened(store, command)
      spoil(command.request.payload)
      await store.settle(settle)
      spoil(settle.settlement.answer)
      await store.writeRecords([write])
      spoil(write.value)
      same(await store.get(expected.id), expected)
      same((await store.record('n', 'k'))?.value, { list: ['as given'] })
    },
  },
  {
    name: 'keeps what it holds though a reader changes it',
    async run({ store }) {
      const start = await store.end()
      const command = opening({ payload: { list: [{ text: 'as given' }] } })
      const expected = structuredClone(command.request)
      const readings = [
        async () => opened(store, command),
        async () => store.get(expected.id),
        async () => (await listAll(store, { state: 'pending' }))[0],
        async () => (await entriesSince(store, start))[0]?.request,
      ]
      for (const read of readings) {
        const request = await read()
        spoil(request?.payload)
        spoil(request)
        same(await store.get(expected.id), expected)
      }
      await store.writeRecords([{ namespace: 'n', key: 'k', value: { list: [] } }])
      spoil((await store.record('n', 'k'))?.value)
      spoil((await store.records('n'))[0]?.value)
      same((await store.record('n', 'k'))?.value, { list: [] })
    },
  },
  {
    name: 'refuses every call once it is closed',
    async run({ store, close }) {
      const { id } = await opened(store, opening({ deadlineAt: START, owner: 'host' }))
      const cursor = await store.end()
      await close(store)
      const calls: Readonly<Record<string, () => unknown>> = {
        open: () => store.open(opening()),
        settle: () => store.settle(settling(id)),
        engage: () => store.engage(id),
        get: () => store.get(id),
        list: () => store.list({ state: 'pending' }),
        end: () => store.end(),
        since: () => store.since(cursor),
        watch: () => store.watch(() => {}),
        nextDeadline: () => store.nextDeadline(),
        due: () => store.due(START, 10),
        owners: () => store.owners(),
        ownedBy: () => store.ownedBy('host'),
        record: () => store.record('n', 'k'),
        records: () => store.records('n'),
        writeRecords: () => store.writeRecords([{ namespace: 'n', key: 'k', value: 1 }]),
        prune: () => store.prune(START),
      }
      for (const [name, call] of Object.entries(calls)) await assertRejects(call, 'STORE_CLOSED', name)
    },
  },
]

function deep(levels: number): JsonValue {
  let value: JsonValue = 'the end'
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { next: value }
  return value
}

// Changes what it can; a frozen value refuses, which is as good.
function spoil(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const part of Object.values(value)) spoil(part)
  Reflect.set(value, 'spoilt', true)
  if (Array.isArray(value)) Reflect.set(value, 0, 'spoilt')
}
