export { brokenThreads, memoryThreads, type BrokenThread } from './broken-threads.ts'
export type { ThreadBench, ThreadHarness } from './thread-harness.ts'
export { threadStoreSuite, type ThreadCase } from './thread-suite.ts'
