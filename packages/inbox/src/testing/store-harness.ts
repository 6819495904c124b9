import type { InboxStore } from '../store.ts'

/** What a store may be unable to do. */
export type StoreAbility =
  /** Several stores open on one medium at once, as several processes have. */
  | 'manyStores'
  /** Going on where a killed process stopped. */
  | 'crash'

/** How the suite gets at a store. */
export interface StoreHarness {
  /** Prepares a fresh, empty medium, such as a file or a schema, apart from every other one. */
  create(): Promise<StoreBench>
  /** What this store cannot do, each with the reason. Cases that need it are left out. */
  readonly lacks?: Readonly<Partial<Record<StoreAbility, string>>> | undefined
  /** How long a step may take before a case fails, in milliseconds. Default 5,000. */
  readonly withinMs?: number | undefined
  /** How many pending requests a store must stay usable with. Default 100,000. */
  readonly many?: number | undefined
}

/** One medium. */
export interface StoreBench {
  /** Opens one more store on the medium, as another process does. */
  open(): Promise<InboxStore>
  /** Drops a store of this bench as a killed process would: nothing is flushed, nobody is told. */
  crash(store: InboxStore): Promise<void>
  /** Frees the medium. Every store on it was closed or crashed before. */
  destroy(): Promise<void>
}
