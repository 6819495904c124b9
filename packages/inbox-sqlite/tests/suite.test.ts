import type { InboxStore } from '@handraise/inbox'
import { storeSuite } from '@handraise/inbox/testing'
import { describe, test } from 'vitest'
import { makeDirectory, openWithConnection } from './harness.ts'

describe('the SQLite store', () => {
  const cases = storeSuite({
    async create() {
      const directory = makeDirectory()
      const connections = new Map<InboxStore, { close(): unknown }>()
      return {
        async open() {
          const { store, connection } = await openWithConnection({ file: directory.file })
          connections.set(store, connection)
          return store
        },
        async crash(store) {
          connections.get(store)?.close()
        },
        async destroy() {
          directory.remove()
        },
      }
    },
  })
  for (const { name, run } of cases) test(name, run)
})
