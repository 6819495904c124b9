import type { InboxRequest, InboxSettlement, JsonValue, SettledRequest } from './request.ts'

/** A record besides the requests: a rule, a session, a lease. Known by namespace and key. */
export interface StoredRecord {
  readonly namespace: string
  readonly key: string
  readonly value: JsonValue
  /** Grows with every write of this record, and never goes back, not even when it was deleted in between. */
  readonly version: number
}

/** A write of a record that holds only if nobody wrote it in between. Each record at most once among the writes of a call. */
export interface RecordWrite {
  readonly namespace: string
  readonly key: string
  /** `null` deletes the record. */
  readonly value: JsonValue
  /** The version read before, 0 for a record that must not exist; absent writes whatever is there. */
  readonly expectedVersion?: number | undefined
}

export interface OpenCommand {
  readonly request: Omit<InboxRequest, 'settlement'>
  /** Tells whether two requests of one key ask the same. */
  readonly digest: string
  /** The running host that waits for a request without a key; when it is gone, nobody waits any more. */
  readonly owner?: string | undefined
  readonly records?: readonly RecordWrite[] | undefined
}

export type OpenResult =
  /** It is new, and pending. */
  | { readonly status: 'opened'; readonly request: InboxRequest }
  /** The key was there with the same digest: the request as it stands, pending or settled. */
  | { readonly status: 'joined'; readonly request: InboxRequest }
  /** The key was there with another digest. */
  | { readonly status: 'keyConflict'; readonly request: InboxRequest }
  /** A record was written in between; nothing was done. */
  | { readonly status: 'recordConflict'; readonly namespace: string; readonly key: string }

export interface SettleCommand {
  readonly id: string
  readonly settlement: InboxSettlement
  /** Tells whether a repeated command says the same. */
  readonly digest: string
  /** Settles only if the request's deadline is at or before this instant, in milliseconds since the Unix epoch. */
  readonly ifDueAt?: number | undefined
  readonly records?: readonly RecordWrite[] | undefined
}

export type SettleResult =
  | { readonly status: 'settled'; readonly request: SettledRequest }
  /** This very command settled it before. */
  | { readonly status: 'repeated'; readonly request: SettledRequest }
  /** The command's id settled it before, saying something else. */
  | { readonly status: 'commandConflict'; readonly request: SettledRequest }
  /** Another command settled it. */
  | { readonly status: 'alreadySettled'; readonly request: SettledRequest }
  /** `ifDueAt` did not hold. */
  | { readonly status: 'notDue'; readonly request: InboxRequest }
  | { readonly status: 'unknown' }
  | { readonly status: 'recordConflict'; readonly namespace: string; readonly key: string }

/** One change, as the log holds it, with the request as it is when read. */
export interface LogEntry {
  /** Where the log stands after this entry. */
  readonly cursor: string
  /** `engaged`: a person began to answer, so the deadline no longer applies. */
  readonly change: 'opened' | 'engaged' | 'settled'
  readonly request: InboxRequest
}

export type LogPage =
  | {
      readonly entries: readonly LogEntry[]
      /** Where to read on. */ readonly cursor: string
      readonly more: boolean
    }
  /** The cursor is not of this store, or what followed it was pruned: list anew. */
  | { readonly lost: true }

export interface ListQuery {
  readonly state: 'pending' | 'settled'
  readonly session?: string | undefined
  /** Where the page before ended. */
  readonly after?: string | undefined
  /** At most 1,000. Default 100. */
  readonly limit?: number | undefined
}

/** Pending requests come in the order of the log, settled ones in its reverse. */
export interface ListPage {
  readonly requests: readonly InboxRequest[]
  /** Where the next page starts; absent on the last one. */
  readonly next?: string | undefined
}

/**
 * Where requests are kept. Every promise of a store, each with a case in `storeSuite` of `@handraise/inbox/testing`:
 *
 * - A write is atomic: all of it, its records and its log entry, or nothing. It is durable once its promise resolves,
 *   and nobody sees it before.
 * - Of all commands that would settle a request one wins; the others are told which.
 * - The log has one order. A cursor never passes a place where an entry may still appear.
 * - A value comes back as it was given, and nobody who holds it can change what is kept.
 * - Records are written only with a request that was opened or settled by that very call.
 * - To open under an id that is kept already is the caller's fault: it rejects, and changes nothing.
 *
 * After `close` every call rejects with `InboxError` `STORE_CLOSED` (`watch` throws it); closing again does nothing.
 *
 * A store that could not carry out a call for want of its database rejects with a `StoreError`, whose code says whether anything
 * was done.
 */
export interface InboxStore {
  open(command: OpenCommand): Promise<OpenResult>
  settle(command: SettleCommand): Promise<SettleResult>
  /** Takes the deadline off a pending request. False when it had none, is settled or unknown: then nothing was logged. */
  engage(id: string): Promise<boolean>

  get(id: string): Promise<InboxRequest | undefined>
  list(query: ListQuery): Promise<ListPage>
  /** Where the log ends: a reader who lists after this call, then reads the log from here, misses nothing. */
  end(): Promise<string>
  /** What followed `cursor`, oldest first. At most `limit` entries, default 1,000. */
  since(cursor: string, limit?: number): Promise<LogPage>
  /** Calls `wake` when the log may have grown, whoever wrote. Returns what ends that. */
  watch(wake: () => void): () => void

  /**
   * The time that all who share the store go by, in milliseconds since the Unix epoch, where their own clocks may differ.
   * Absent where they have one clock.
   */
  now?(): number
  /** The earliest deadline of a pending request, in milliseconds since the Unix epoch. */
  nextDeadline(): Promise<number | undefined>
  /** The ids of pending requests whose deadline is at or before `now`, the earliest first. */
  due(now: number, limit: number): Promise<readonly string[]>
  /** The owners of pending requests without a key. */
  owners(): Promise<readonly string[]>
  /** The ids of the pending requests of an owner. */
  ownedBy(owner: string): Promise<readonly string[]>

  record(namespace: string, key: string): Promise<StoredRecord | undefined>
  records(namespace: string): Promise<readonly StoredRecord[]>
  /** Writes all or none. Returns the first write that did not hold, if one did not. */
  writeRecords(writes: readonly RecordWrite[]): Promise<RecordWrite | undefined>

  /** Forgets requests that were settled before `before`, and their keys. Returns how many. */
  prune(before: number): Promise<number>
  close(): Promise<void>
}
