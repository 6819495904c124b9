import type { InboxStore } from '@handraise/inbox'
import { storeSuite } from '@handraise/inbox/testing'
import { describe, test } from 'vitest'
import { ended, makeSchema, openMortal } from './harness.ts'

describe('the PostgreSQL store', () => {
  const cases = storeSuite({
    async create() {
      const { url, schema, sql, remove } = await makeSchema()
      const killers = new Map<InboxStore, () => Promise<void>>()
      return {
        async open() {
          const { store, pids, kill } = await openMortal({ url, schema })
          killers.set(store, async () => {
            const ending = pids()
            kill()
            await ended(sql, ending)
            await store.close()
          })
          return store
        },
        async crash(store) {
          await killers.get(store)?.()
        },
        destroy: remove,
      }
    },
  })
  for (const { name, run } of cases) test(name, run, 120_000)
})
