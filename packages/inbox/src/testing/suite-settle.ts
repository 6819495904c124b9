import assert from 'node:assert/strict'
import type { InboxSettlement } from '../request.ts'
import { changesSince, entriesSince, opened, same } from './reading.ts'
import { opening, settling, START } from './samples.ts'
import type { SceneCase } from './scene.ts'

const OUTCOMES: readonly InboxSettlement['outcome'][] = [
  'answered',
  'declined',
  'cancelled',
  'clarified',
  'interrupted',
  'timedOut',
  'aborted',
]

export const SETTLE_CASES: readonly SceneCase[] = [
  {
    name: 'settles with every outcome and field',
    async run({ store }) {
      for (const outcome of OUTCOMES) {
        const request = await opened(store, opening({ key: outcome, agent: 'agent', session: 's' }))
        const end = await store.end()
        const command = settling(request.id, {
          outcome,
          answer: [{ id: '__proto__', selected: ['naïve 🚀'], custom: '' }],
          reason: 'because "it" is so',
          text: 'line one\nline two',
          by: 'policy',
          surface: 'web',
        })
        const expected = { ...request, settlement: command.settlement }
        same(await store.settle(command), { status: 'settled', request: expected })
        same(await store.get(request.id), expected)
        same(
          (await entriesSince(store, end)).map(entry => [entry.change, entry.request]),
          [['settled', expected]],
        )
      }
      const { id } = await opened(store, opening())
      const bare = settling(id, { outcome: 'timedOut', answer: undefined })
      await store.settle(bare)
      same((await store.get(id))?.settlement, bare.settlement)
    },
  },
  {
    name: 'lets one of many settles at once win',
    async run({ store }) {
      for (const parts of [{}, { key: 'call' }, { deadlineAt: START }]) {
        const { id } = await opened(store, opening(parts))
        const end = await store.end()
        const results = await Promise.all(
          Array.from({ length: 50 }, (_, index) => store.settle(settling(id, { answer: index }))),
        )
        const statuses = results.map(({ status }) => status)
        assert.equal(statuses.filter(status => status === 'settled').length, 1, 'not exactly one settle won')
        assert.equal(statuses.filter(status => status === 'alreadySettled').length, 49)
        const kept = await store.get(id)
        for (const result of results) same('request' in result ? result.request : result.status, kept)
        assert.deepEqual(await changesSince(store, end), [`settled ${id}`])
      }
    },
  },
  {
    name: 'lets one of two stores win each request',
    needs: ['manyStores'],
    async run({ store, open }) {
      const other = await open()
      const reader = await open()
      const start = await store.end()
      const ids = await Promise.all(
        Array.from({ length: 25 }, async () => (await opened(store, opening())).id),
      )
      const races = await Promise.all(
        ids.map(id => Promise.all([store.settle(settling(id)), other.settle(settling(id))])),
      )
      for (const [index, race] of races.entries()) {
        assert.deepEqual(
          race.map(({ status }) => status).toSorted(),
          ['alreadySettled', 'settled'],
          'not exactly one store won',
        )
        const kept = await reader.get(ids[index] ?? '')
        for (const result of race) same('request' in result ? result.request : result.status, kept)
      }
      assert.equal((await changesSince(reader, start)).length, 50)
    },
  },
  {
    name: 'tells a late command who won',
    async run({ store }) {
      const { id } = await opened(store, opening())
      const winner = settling(id, { surface: 'web', by: 'user' })
      await store.settle(winner)
      const settled = await store.get(id)
      const end = await store.end()
      const late = settling(id, { outcome: 'declined', surface: 'terminal', digest: winner.digest })
      same(await store.settle(late), { status: 'alreadySettled', request: settled })
      same(await store.settle(late), { status: 'alreadySettled', request: settled })
      same(await store.get(id), settled)
      assert.deepEqual(await changesSince(store, end), [])
    },
  },
  {
    name: 'answers a repeated command as the first time',
    async run({ store }) {
      const { id } = await opened(store, opening())
      const command = settling(id)
      const results = await Promise.all([1, 2, 3, 4].map(() => store.settle(command)))
      assert.deepEqual(results.map(({ status }) => status).toSorted(), [
        'repeated',
        'repeated',
        'repeated',
        'settled',
      ])
      const end = await store.end()
      // A surface that sends its command again stamps it again.
      const again = { ...command, settlement: { ...command.settlement, settledAt: START + 9_999_999 } }
      same(await store.settle(again), { status: 'repeated', request: await store.get(id) })
      same((await store.get(id))?.settlement, command.settlement)
      assert.deepEqual(await changesSince(store, end), [])
    },
  },
  {
    name: 'tells a command that says something else',
    async run({ store }) {
      const { id } = await opened(store, opening())
      await store.settle(settling(id, { commandId: 'click', digest: 'yes' }))
      const settled = await store.get(id)
      const end = await store.end()
      const other = settling(id, { commandId: 'click', digest: 'no', outcome: 'declined' })
      same(await store.settle(other), { status: 'commandConflict', request: settled })
      same(await store.get(id), settled)
      assert.deepEqual(await changesSince(store, end), [])
    },
  },
  {
    name: 'takes one command id for several requests',
    async run({ store }) {
      for (const digest of ['same', 'same', 'other']) {
        const { id } = await opened(store, opening())
        const { status } = await store.settle(settling(id, { commandId: 'click', digest }))
        assert.equal(status, 'settled')
      }
    },
  },
  {
    name: 'knows nothing of an unknown id',
    async run({ store }) {
      await opened(store, opening())
      const end = await store.end()
      for (const id of ['', 'nobody', '__proto__', '%']) {
        assert.equal(await store.get(id), undefined)
        assert.deepEqual(await store.settle(settling(id)), { status: 'unknown' })
        assert.equal(await store.engage(id), false)
      }
      assert.deepEqual(await changesSince(store, end), [])
    },
  },
  {
    name: 'settles a request that is due',
    async run({ store }) {
      for (const late of [0, 1, 86_400_000]) {
        const { id } = await opened(store, opening({ deadlineAt: START }))
        const result = await store.settle(settling(id, { outcome: 'timedOut', ifDueAt: START + late }))
        assert.equal(result.status, 'settled', `${late} ms after the deadline`)
      }
    },
  },
  {
    name: 'leaves a request that is not due',
    async run({ store }) {
      for (const deadlineAt of [START + 1, undefined]) {
        const request = await opened(store, opening({ deadlineAt }))
        const end = await store.end()
        same(await store.settle(settling(request.id, { ifDueAt: START })), { status: 'notDue', request })
        same(await store.get(request.id), request)
        assert.deepEqual(await changesSince(store, end), [])
      }
    },
  },
  {
    name: 'leaves an engaged request at its deadline',
    async run({ store }) {
      const { id } = await opened(store, opening({ deadlineAt: START }))
      await store.engage(id)
      const { status } = await store.settle(settling(id, { outcome: 'timedOut', ifDueAt: START + 1 }))
      assert.equal(status, 'notDue')
      assert.equal((await store.settle(settling(id))).status, 'settled')
    },
  },
  {
    name: 'takes the deadline off when somebody engages',
    async run({ store }) {
      const { deadlineAt: _, ...rest } = await opened(store, opening({ deadlineAt: START, key: 'call' }))
      assert.equal(await store.engage(rest.id), true)
      same(await store.get(rest.id), rest)
      same((await store.list({ state: 'pending' })).requests, [rest])
      assert.deepEqual(await store.due(START + 1, 10), [])
      assert.equal(await store.nextDeadline(), undefined)
    },
  },
  {
    name: 'engages nothing that has no deadline',
    async run({ store }) {
      const engaged = await opened(store, opening({ deadlineAt: START }))
      const settled = await opened(store, opening({ deadlineAt: START }))
      await store.settle(settling(settled.id))
      const both = await Promise.all([store.engage(engaged.id), store.engage(engaged.id)])
      assert.equal(both.filter(Boolean).length, 1, 'not exactly one engaged')
      const without = await opened(store, opening())
      const end = await store.end()
      for (const { id } of [engaged, settled, without]) assert.equal(await store.engage(id), false)
      assert.deepEqual(await changesSince(store, end), [])
    },
  },
  {
    name: 'lets an engagement or the deadline win',
    async run({ store, beside }) {
      const other = await beside()
      for (let round = 0; round < 20; round += 1) {
        const { id } = await opened(store, opening({ deadlineAt: START }))
        const engage = (): Promise<boolean> => store.engage(id)
        const expire = async (): Promise<boolean> =>
          (await other.settle(settling(id, { outcome: 'timedOut', ifDueAt: START }))).status === 'settled'
        const calls = round % 2 === 0 ? [engage(), expire()] : [expire(), engage()]
        const won = (await Promise.all(calls)).filter(Boolean).length
        assert.equal(won, 1, `${won} of an engagement and a deadline held`)
      }
    },
  },
  {
    name: 'shows at once what another store settled',
    needs: ['manyStores'],
    async run({ store, open }) {
      const other = await open()
      for (let round = 0; round < 20; round += 1) {
        const before = await other.end()
        const { id } = await opened(store, opening())
        // The answer lands after the commit of the question, and before its asker begins to wait.
        const { status } = await other.settle(settling(id))
        assert.equal(status, 'settled')
        same(await store.get(id), await other.get(id))
        assert.deepEqual(await changesSince(store, before), [`opened ${id}`, `settled ${id}`])
      }
    },
  },
]
