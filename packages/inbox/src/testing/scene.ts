import { checkMembers } from '@handraise/user-questions/testing'
import type { InboxStore } from '../store.ts'
import type { StoreAbility, StoreBench, StoreHarness } from './store-harness.ts'

/** What a case plays in: a medium of its own, and the stores on it. */
export interface Scene {
  /** The store most cases are about. */
  readonly store: InboxStore
  /** One more store on the medium. */
  open(): Promise<InboxStore>
  /** Another store on the medium, or the same one where only one can be open. */
  beside(): Promise<InboxStore>
  /** A store on another medium. */
  elsewhere(): Promise<InboxStore>
  close(store: InboxStore): Promise<void>
  crash(store: InboxStore): Promise<void>
  /** Rejects when `promise` takes longer than the harness allows. */
  soon<T>(promise: Promise<T>, what: string): Promise<T>
  readonly many: number
}

export interface SceneCase {
  readonly name: string
  readonly needs?: readonly StoreAbility[]
  readonly run: (scene: Scene) => Promise<unknown>
}

const BENCH_MEMBERS = {
  open: 'opens one more store on the medium',
  crash: 'drops a store as a killed process would',
  destroy: 'frees the medium',
}
const OF_STORE = 'is a part of the contract of InboxStore'
const STORE_MEMBERS: Readonly<Record<Exclude<keyof InboxStore, 'now'>, string>> = {
  open: OF_STORE,
  settle: OF_STORE,
  engage: OF_STORE,
  get: OF_STORE,
  list: OF_STORE,
  end: OF_STORE,
  since: OF_STORE,
  watch: OF_STORE,
  nextDeadline: OF_STORE,
  due: OF_STORE,
  owners: OF_STORE,
  ownedBy: OF_STORE,
  record: OF_STORE,
  records: OF_STORE,
  writeRecords: OF_STORE,
  prune: OF_STORE,
  close: OF_STORE,
}

export async function withScene(harness: StoreHarness, run: SceneCase['run']): Promise<void> {
  const benches: StoreBench[] = []
  const live = new Set<InboxStore>()
  const create = async (): Promise<StoreBench> => {
    const bench = await harness.create()
    checkMembers('storeSuite: what create() gave', bench, BENCH_MEMBERS)
    benches.push(bench)
    return bench
  }
  const openOn = async (bench: StoreBench): Promise<InboxStore> => {
    const store = await bench.open()
    checkMembers('storeSuite: the store that open() gave', store, STORE_MEMBERS)
    live.add(store)
    return store
  }
  const bench = await create()
  try {
    const store = await openOn(bench)
    await run({
      store,
      many: harness.many ?? 100_000,
      open: () => openOn(bench),
      beside: async () => (harness.lacks?.manyStores === undefined ? openOn(bench) : store),
      elsewhere: async () => openOn(await create()),
      async close(closing) {
        live.delete(closing)
        await closing.close()
      },
      async crash(crashing) {
        live.delete(crashing)
        await bench.crash(crashing)
      },
      soon: (promise, what) => within(promise, harness.withinMs ?? 5_000, what),
    })
  } finally {
    await Promise.allSettled(Array.from(live, store => store.close()))
    for (const each of benches) await each.destroy()
  }
}

/** Lets timers and sockets have their turn. */
export function turn(): Promise<void> {
  return new Promise(resolve => {
    setImmediate(resolve)
  })
}

export async function within<T>(promise: Promise<T>, ms: number, what: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`${what} took longer than ${ms} ms, which harness.withinMs allows`)),
      ms,
    )
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
