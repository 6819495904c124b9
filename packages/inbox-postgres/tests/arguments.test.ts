import type { InboxStore } from '@handraise/inbox'
import { openPostgresStore } from '@handraise/inbox-postgres'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeSchema } from './harness.ts'
import { opening, range } from './samples.ts'

let place: Awaited<ReturnType<typeof makeSchema>>
let store: InboxStore

beforeEach(async () => {
  place = await makeSchema()
  store = await openPostgresStore({ url: place.url, schema: place.schema })
})
afterEach(async () => {
  await store.close()
  await place.remove()
})

test.each([NaN, Infinity, -Infinity, 0.5, 1.5, 1e300])(
  'a version %s that no record has is a conflict',
  async expectedVersion => {
    const record = { namespace: 'n', key: 'k', value: 'kept' }
    const conflict = { ...record, value: 'lost', expectedVersion }
    expect(await store.writeRecords([conflict])).toEqual(conflict)
    expect(await store.writeRecords([record])).toBeUndefined()
    expect(await store.writeRecords([conflict])).toEqual(conflict)
    expect(await store.record('n', 'k')).toMatchObject({ value: 'kept', version: 1 })
  },
)

test('a limit that is no number gives an empty page', async () => {
  for (const id of range(2)) await store.open(opening(id))
  expect(await store.list({ state: 'pending', limit: NaN })).toEqual({ requests: [] })
  const end = await store.end()
  expect(await store.since(end.replace(/\d+$/u, '0'), NaN)).toMatchObject({ entries: [] })
  expect(await store.due(Date.now(), NaN)).toEqual([])
})

test.each(['', 'abc', '-1', '1.5', '99999999999999999999'])(
  'the place %j in a list is refused',
  async after => {
    for (const state of ['pending', 'settled'] as const)
      await expect(store.list({ state, after })).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  },
)
