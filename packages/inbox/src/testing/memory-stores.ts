import { MemoryMedium, MemoryStore } from '../memory-store.ts'
import type { InboxStore } from '../store.ts'
import type { StoreHarness } from './store-harness.ts'

/** What a store does otherwise than the store it stands on. */
export interface Changes extends Partial<InboxStore> {
  /** Called when the process is killed. */
  readonly crashed?: () => void
}

/** Says what one store on a medium does otherwise; `store` is the faithful one below. */
export type Change = (store: MemoryStore, medium: MemoryMedium) => Changes

/** The memory store, two or more on one medium. A killed process takes nothing of the medium with it. */
export const memoryStores: StoreHarness = changedStores(() => () => ({}))

/** Memory stores that do something otherwise. `make` is called for each medium. */
export function changedStores(make: () => Change, limits: Partial<StoreHarness> = {}): StoreHarness {
  return {
    ...limits,
    async create() {
      const medium = new MemoryMedium()
      const change = make()
      const crashes = new Map<InboxStore, () => Promise<void>>()
      return {
        async open() {
          const below = new MemoryStore(medium)
          const { crashed, ...changes } = change(below, medium)
          const store = delegate(below, changes)
          crashes.set(store, () => {
            crashed?.()
            return below.close()
          })
          return store
        },
        async crash(store) {
          await crashes.get(store)?.()
        },
        async destroy() {},
      }
    },
  }
}

export function delegate(store: InboxStore, changes: Partial<InboxStore>): InboxStore {
  return {
    open: command => store.open(command),
    settle: command => store.settle(command),
    engage: id => store.engage(id),
    get: id => store.get(id),
    list: query => store.list(query),
    end: () => store.end(),
    since: (cursor, limit) => store.since(cursor, limit),
    watch: wake => store.watch(wake),
    nextDeadline: () => store.nextDeadline(),
    due: (now, limit) => store.due(now, limit),
    owners: () => store.owners(),
    ownedBy: owner => store.ownedBy(owner),
    record: (namespace, key) => store.record(namespace, key),
    records: namespace => store.records(namespace),
    writeRecords: writes => store.writeRecords(writes),
    prune: before => store.prune(before),
    close: () => store.close(),
    ...changes,
  }
}
