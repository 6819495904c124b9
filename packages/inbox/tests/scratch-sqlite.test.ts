import { test } from 'vitest'
import type { InboxStore } from '@handraise/inbox'
import { storeSuite } from '../src/testing/store-suite.ts'
import { makeDirectory, openWithConnection } from '../../inbox-sqlite/tests/harness.ts'
for (const c of storeSuite({
        async create() {
          const d = makeDirectory()
          const m = new Map<InboxStore, { close(): unknown }>()
          return {
            async open() {
              const { store, connection } = await openWithConnection({ file: d.file })
              m.set(store, connection)
              return store
            },
            async crash(s) {
              m.get(s)?.close()
            },
            async destroy() {
              d.remove()
            },
          }
        },
      }))
  test(c.name, c.run)
