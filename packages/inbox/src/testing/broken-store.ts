import type { MemoryMedium } from '../memory-store.ts'
import { isSettled, type InboxRequest, type SettledRequest } from '../request.ts'
import type { LogEntry, OpenResult, SettleCommand, SettleResult } from '../store.ts'
import { type Change, changedStores } from './memory-stores.ts'
import type { StoreHarness } from './store-harness.ts'

/** A store with one promise broken, and the case of the suite that must find it out. */
export interface BrokenStore {
  readonly does: string
  readonly failsCase: string
  readonly harness: StoreHarness
}

export function broken(does: string, failsCase: string, change: Change): BrokenStore {
  return brokenMedium(does, failsCase, () => change)
}

/** One whose stores on a medium share more than the medium. `make` is called for each medium. */
export function brokenMedium(does: string, failsCase: string, make: () => Change): BrokenStore {
  // The broken ones never do what is waited for, so they are not waited for long.
  return { does, failsCase, harness: changedStores(make, { withinMs: 1_000, many: 1_200 }) }
}

/** Appends an entry that is none of the log's business. */
export function logAgain(medium: MemoryMedium, change: LogEntry['change'], id: string): void {
  medium.position += 1
  medium.log.push({ position: medium.position, change, id })
}

/** A settle that writes over the settlement of a request, as if it had not been there. */
export function settleOver(medium: MemoryMedium, { id, settlement }: SettleCommand): SettleResult {
  const row = medium.rows.get(id)
  if (row === undefined) return { status: 'unknown' }
  const request: SettledRequest = { ...row.request, settlement }
  row.request = request
  return { status: 'settled', request }
}

export function pendingNow(medium: MemoryMedium, id: string): boolean {
  const request = medium.rows.get(id)?.request
  return request !== undefined && !isSettled(request)
}

export function joined(request: InboxRequest): OpenResult {
  return { status: 'joined', request }
}
