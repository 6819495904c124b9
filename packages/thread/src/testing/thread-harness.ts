import type { ThreadStore } from '../thread-store.ts'

/** How the suite gets at a thread. */
export interface ThreadHarness {
  /** Prepares a fresh, empty thread, apart from every other one. */
  create(): Promise<ThreadBench>
  /** How long a step may take before a case fails, in milliseconds. Default 5,000. */
  readonly withinMs?: number | undefined
}

/** One thread. */
export interface ThreadBench {
  /** Opens one more store on the thread, which posts as `author`: of another user, or the same after a restart. */
  open(author: string): Promise<ThreadStore>
  /** Frees the thread, and every store on it. */
  destroy(): Promise<void>
}
