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

  constructor(store: InboxStore, clock: Clock, leaseMs: number) {
    this.store = store
    this.clock = clock
    this.leaseMs = leaseMs
  }

  async renew(): Promise<void> {
    const { timeOrigin: startedAt } = performance
    const value = {
      machine: THIS_MACHINE,
      pid: process.pid,
      startedAt,
      expiresAt: this.now() + this.leaseMs,
    }
    await this.store.writeRecords([{ namespace: NAMESPACE, key: this.id, value }])
  }

  async release(): Promise<void> {
    await this.store.writeRecords([{ namespace: NAMESPACE, key: this.id, value: null }])
  }

  /** The owners among those given whose process is gone, and forgets their leases. */
  async gone(owners: readonly string[]): Promise<readonly string[]> {
    const leases = new Map((await this.store.records(NAMESPACE)).map(({ key, value }) => [key, value]))
    const dead = [...leases]
      .filter(([key, value]) => key !== this.id && !this.isLive(value))
      .map(([key]) => key)
    if (dead.length > 0)
      await this.store.writeRecords(dead.map(key => ({ namespace: NAMESPACE, key, value: null })))
    return owners.filter(owner => owner !== this.id && (!leases.has(owner) || dead.includes(owner)))
  }

  private isLive(value: unknown): boolean {
    const parsed = leaseSchema.safeParse(value)
    if (!parsed.success || parsed.data.expiresAt <= this.now()) return false
    const { machine, pid, startedAt } = parsed.data
    if (machine !== THIS_MACHINE) return true
    // A killed process is found out at once, without waiting for its lease. The same number may be that of a process before this one, as happens in containers.
    return pid === process.pid ? startedAt === performance.timeOrigin : isRunning(pid)
  }

  // A host whose own clock is wrong is neither gone for the others, nor are they for it.
  private now(): number {
    return this.store.now?.() ?? this.clock.now()
  }
}
