import type { Clock } from '@handraise/user-questions'
import { z } from 'zod'
import { isRunning } from './running.ts'
import type { InboxStore } from './store.ts'
import { THIS_MACHINE } from './this-machine.ts'

const NAMESPACE = 'hosts'

const leaseSchema = z.object({
  machine: z.string(),
  pid: z.number(),
  /** When the process began: its number alone may be that of one before it. */
  startedAt: z.number(),
  /** By the clock that all who share the store go by, in milliseconds since the Unix epoch. */
  expiresAt: z.number(),
})

/**
 * Says in the store that this process is alive, for as long as it is. Requests without a key belong to the process that
 * waits for them; when its lease is over, nobody waits any more.
 */
export class HostLease {
  /** This process, among all that ever held the store. */
  readonly id: string = crypto.randomUUID()
  private readonly store: InboxStore
  private readonly clock: Clock
  private readonly leaseMs: number
  private renewedAt: number | undefined
  /** Until then others may have been kept from renewing their leases, as this one was. */
  private patientUntil = 0
  /** The same for other processes, as nothing is known of what was before this one started. */
  private patientWithOthersUntil = 0

  constructor(store: InboxStore, clock: Clock, leaseMs: number) {
    this.store = store
    this.clock = clock
    this.leaseMs = leaseMs
  }

  async renew(): Promise<void> {
    const { timeOrigin: startedAt } = performance
    const startingAt = this.now()
    const value = {
      machine: THIS_MACHINE,
      pid: process.pid,
      startedAt,
      expiresAt: this.now() + this.leaseMs,
    }
    await this.store.writeRecords([{ namespace: NAMESPACE, key: this.id, value }])
    const now = this.now()
    if (this.renewedAt === undefined) this.patientWithOthersUntil = now + this.leaseMs
    // The store was away, or this process was stopped.
    else if (this.isBehind(now) || now - startingAt >= this.leaseMs / 3)
      this.patientUntil = now + this.leaseMs
    this.renewedAt = now
  }

  async release(): Promise<void> {
    await this.store.writeRecords([{ namespace: NAMESPACE, key: this.id, value: null }])
  }

  /** The owners among those given whose process is gone, and forgets their leases. */
  async gone(owners: readonly string[]): Promise<readonly string[]> {
    const leases = await this.store.records(NAMESPACE)
    const live = new Set([this.id])
    for (const { key, value, version } of leases) {
      if (key === this.id) continue
      const forgetting = { namespace: NAMESPACE, key, value: null, expectedVersion: version }
      // One that was renewed in between is not gone.
      if (this.isLive(value) || (await this.store.writeRecords([forgetting])) !== undefined) live.add(key)
    }
    return owners.filter(owner => !live.has(owner))
  }

  private isLive(value: unknown): boolean {
    const parsed = leaseSchema.safeParse(value)
    if (!parsed.success) return false
    const { machine, pid, startedAt, expiresAt } = parsed.data
    const isHere = machine === THIS_MACHINE
    const isThis = isHere && pid === process.pid
    // A killed process is found out at once, without waiting for its lease. The same number may be that of a process before this one, as happens in containers.
    if (isHere && !(isThis ? startedAt === performance.timeOrigin : isRunning(pid))) return false
    const now = this.now()
    if (now < expiresAt || now < this.patientUntil || this.isBehind(now)) return true
    return !isThis && now < this.patientWithOthersUntil
  }

  /** This one's own lease is over: what kept it from being renewed may keep the others, too. */
  private isBehind(now: number): boolean {
    return this.renewedAt !== undefined && now - this.renewedAt >= this.leaseMs
  }

  // A host whose own clock is wrong is neither gone for the others, nor are they for it.
  private now(): number {
    return this.store.now?.() ?? this.clock.now()
  }
}
