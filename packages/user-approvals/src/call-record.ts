import type { InboxStore, RecordWrite } from '@handraise/inbox'
import { z } from 'zod'
import { APPROVAL_MODES } from './mode.ts'

const NAMESPACE = 'approval-calls'
const REDEEMED = 'approval-redeemed'

const recordSchema = z.object({
  approvalId: z.string(),
  /** The mode it was asked under: one that is set later decides nothing that is pending. */
  mode: z.enum(APPROVAL_MODES),
  /** The requests in the inbox, by requirement. */
  requests: z.record(z.string(), z.string()),
  askedAt: z.number(),
})

export type CallRecord = z.infer<typeof recordSchema>

export interface KeptCall {
  readonly record: CallRecord
  readonly version: number
}

/** What is known of the approval of one tool call with one exact input. */
export class CallRecords {
  private readonly store: InboxStore

  constructor(store: InboxStore) {
    this.store = store
  }

  async read(key: string): Promise<KeptCall | undefined> {
    const kept = await this.store.record(NAMESPACE, key)
    if (kept === undefined) return undefined
    const record = recordSchema.safeParse(kept.value).data
    return record === undefined ? undefined : { record, version: kept.version }
  }

  toWrite(key: string, record: CallRecord, expectedVersion: number): RecordWrite {
    return { namespace: NAMESPACE, key, value: record, expectedVersion }
  }

  /** Claims the one effect of an approval. False when it was claimed before, by whatever process. */
  async redeem(approvalId: string, at: number): Promise<boolean> {
    const claim = { namespace: REDEEMED, key: approvalId, value: { at }, expectedVersion: 0 }
    return (await this.store.writeRecords([claim])) === undefined
  }

  /**
   * Forgets what was asked for, and what was claimed, before `before`, in milliseconds since the Unix epoch; but not while
   * the inbox still holds what was decided, which a call could come back to.
   */
  async prune(before: number): Promise<void> {
    const kept = new Set<string>()
    for (const { key, value, version } of await this.store.records(NAMESPACE)) {
      const { data } = recordSchema.safeParse(value)
      if (data !== undefined && (data.askedAt >= before || (await this.isHeld(data))))
        kept.add(data.approvalId)
      else await this.forget(NAMESPACE, key, version)
    }
    for (const { key, value, version } of await this.store.records(REDEEMED)) {
      const at = z.object({ at: z.number() }).safeParse(value).data?.at ?? 0
      if (at < before && !kept.has(key)) await this.forget(REDEEMED, key, version)
    }
  }

  private async forget(namespace: string, key: string, expectedVersion: number): Promise<void> {
    await this.store.writeRecords([{ namespace, key, value: null, expectedVersion }])
  }

  private async isHeld({ requests }: CallRecord): Promise<boolean> {
    for (const id of Object.values(requests)) if ((await this.store.get(id)) !== undefined) return true
    return false
  }
}
