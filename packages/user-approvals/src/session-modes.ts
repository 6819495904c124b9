import type { InboxStore, RecordWrite } from '@handraise/inbox'
import { z } from 'zod'
import { APPROVAL_MODES, type ApprovalMode } from './mode.ts'

const NAMESPACE = 'approval-modes'

const recordSchema = z.object({ mode: z.enum(APPROVAL_MODES) })

/** Writes a mode, perhaps together with other records. */
export type CommitMode = (write: RecordWrite) => Promise<void>

/** The mode a person set for a session, kept in the inbox's store. */
export class SessionModes {
  private readonly store: InboxStore
  private readonly byDefault: ApprovalMode

  constructor(store: InboxStore, byDefault: ApprovalMode) {
    this.store = store
    this.byDefault = byDefault
  }

  /** A record that cannot be read sets no mode: a person is asked. */
  async get(session: string): Promise<ApprovalMode> {
    const record = await this.store.record(NAMESPACE, session)
    if (record === undefined) return this.byDefault
    return recordSchema.safeParse(record.value).data?.mode ?? 'promptUnmatched'
  }

  /** Returns the mode before. What is pending already is left to be decided as it was asked. */
  async set(
    session: string,
    mode: ApprovalMode,
    commit: CommitMode = async write => void (await this.store.writeRecords([write])),
  ): Promise<ApprovalMode> {
    const before = await this.get(session)
    await commit({ namespace: NAMESPACE, key: session, value: { mode } })
    return before
  }

  async end(session: string): Promise<void> {
    await this.store.writeRecords([{ namespace: NAMESPACE, key: session, value: null }])
  }
}
