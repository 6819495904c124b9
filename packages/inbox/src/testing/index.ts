export type { BrokenStore } from './broken-store.ts'
export { brokenStores } from './broken-stores.ts'
export { brokenSurfaces, type BrokenSurface } from './broken-surfaces.ts'
export { faithfulSurface } from './faithful-surface.ts'
export { memoryStores } from './memory-stores.ts'
export type { StoreAbility, StoreBench, StoreHarness } from './store-harness.ts'
export { storeSuite, type StoreCase } from './store-suite.ts'
export type {
  AttachedSurface,
  ShownEnding,
  ShownRequest,
  SurfaceAbility,
  SurfaceHarness,
  SurfaceResult,
} from './surface-harness.ts'
export { surfaceSuite, type SurfaceCase } from './surface-suite.ts'
