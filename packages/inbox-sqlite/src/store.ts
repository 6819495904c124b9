import {
  InboxError,
  isSettled,
  type InboxRequest,
  type InboxStore,
  type ListPage,
  type ListQuery,
  type LogPage,
  type OpenCommand,
  type OpenResult,
  type RecordWrite,
  type SettleCommand,
  type SettleResult,
  type StoredRecord,
  decodeJson,
  encodeInstant,
  encodeJson,
  readSettlement,
} from '@handraise/inbox'
import { failedError, isBusy, untilFree } from './busy.ts'
import type { SqliteDatabase } from './client.ts'
import { GroupCommit } from './group-commit.ts'
import { Reader } from './reader.ts'
import { encodeText } from './rows.ts'
import { Watchers } from './watchers.ts'
import { encodeWrites, Writer, type EncodedWrite } from './writer.ts'

/** Few enough for a transaction of some milliseconds. */
const PRUNE_REQUESTS = 100
const PRUNE_ENTRIES = 1_000

export class SqliteStore implements InboxStore {
  private readonly db: SqliteDatabase
  private readonly lockWaitMs: number
  private readonly reader: Reader
  private readonly writer: Writer
  private readonly commits: GroupCommit
  private readonly watchers: Watchers
  private closing: Promise<void> | undefined

  constructor(db: SqliteDatabase, { pollMs, lockWaitMs }: { pollMs: number; lockWaitMs: number }) {
    this.db = db
    this.lockWaitMs = lockWaitMs
    this.reader = new Reader(db)
    this.writer = new Writer(db)
    this.watchers = new Watchers(db, pollMs)
    this.commits = new GroupCommit(db, this.writer, lockWaitMs, () => this.watchers.wakeAll())
  }

  async open({ request, digest, owner, records }: OpenCommand): Promise<OpenResult> {
    this.assertOpen()
    const { key = null, agent = null, deadlineAt = null } = request
    const row = {
      id: encodeText(request.id),
      kind: encodeText(request.kind),
      session: encodeText(request.session),
      key: key === null ? null : encodeText(key),
      agent: agent === null ? null : encodeText(agent),
      owner: owner === undefined || key !== null ? null : encodeText(owner),
      openedAt: encodeInstant(request.openedAt),
      deadlineAt: deadlineAt === null ? null : encodeInstant(deadlineAt),
      digest: encodeText(digest),
      payload: encodeJson(request.payload),
    }
    const opened = withoutAbsent({ ...request, payload: decodeJson(row.payload) })
    const writes = encodeWrites(records)
    return this.commits.submit((): OpenResult => {
      const known = row.key === null ? undefined : this.writer.findByKey(row.session, row.key)
      if (known !== undefined) {
        return { status: known.digest === digest ? 'joined' : 'keyConflict', request: known.request }
      }
      const conflict = this.writer.findConflict(writes)
      if (conflict !== undefined) return recordConflict(conflict)
      this.writer.insert(row)
      this.writer.writeRecords(writes)
      return { status: 'opened', request: opened }
    })
  }

  async settle({ id, settlement, digest, ifDueAt, records }: SettleCommand): Promise<SettleResult> {
    this.assertOpen()
    const text = encodeJson(settlement)
    const { commandId, settledAt } = settlement
    const settled = readSettlement(text)
    const commandDigest = encodeText(digest)
    const rowId = encodeText(id)
    const writes = encodeWrites(records)
    return this.commits.submit((): SettleResult => {
      const known = this.writer.find(rowId)
      if (known === undefined) return { status: 'unknown' }
      const { request } = known
      if (isSettled(request)) {
        if (request.settlement.commandId !== commandId) return { status: 'alreadySettled', request }
        return { status: known.commandDigest === digest ? 'repeated' : 'commandConflict', request }
      }
      const { deadlineAt = Infinity } = request
      if (ifDueAt !== undefined && deadlineAt > ifDueAt) return { status: 'notDue', request }
      const conflict = this.writer.findConflict(writes)
      if (conflict !== undefined) return recordConflict(conflict)
      this.writer.settle(known.position, text, settledAt, commandDigest)
      this.writer.writeRecords(writes)
      return { status: 'settled', request: { ...request, settlement: settled } }
    })
  }

  async engage(id: string): Promise<boolean> {
    this.assertOpen()
    const rowId = encodeText(id)
    return this.commits.submit(() => this.writer.engage(rowId))
  }

  async get(id: string): Promise<InboxRequest | undefined> {
    return this.read(reader => reader.get(encodeText(id)))
  }

  async list(query: ListQuery): Promise<ListPage> {
    return this.read(reader => reader.list(query))
  }

  async end(): Promise<string> {
    return this.read(reader => reader.end())
  }

  async since(cursor: string, limit = 1_000): Promise<LogPage> {
    return this.read(reader => reader.since(cursor, limit))
  }

  watch(wake: () => void): () => void {
    this.assertOpen()
    return this.watchers.add(wake)
  }

  async nextDeadline(): Promise<number | undefined> {
    return this.read(reader => reader.nextDeadline())
  }

  async due(now: number, limit: number): Promise<readonly string[]> {
    return this.read(reader => reader.due(now, limit))
  }

  async owners(): Promise<readonly string[]> {
    return this.read(reader => reader.owners())
  }

  async ownedBy(owner: string): Promise<readonly string[]> {
    return this.read(reader => reader.ownedBy(encodeText(owner)))
  }

  async record(namespace: string, key: string): Promise<StoredRecord | undefined> {
    return this.read(reader => reader.record(encodeText(namespace), encodeText(key)))
  }

  async records(namespace: string): Promise<readonly StoredRecord[]> {
    return this.read(reader => reader.records(encodeText(namespace)))
  }

  async writeRecords(given: readonly RecordWrite[]): Promise<RecordWrite | undefined> {
    this.assertOpen()
    const writes = encodeWrites(given)
    return this.commits.submit(() => {
      const conflict = this.writer.findConflict(writes)
      if (conflict === undefined) this.writer.writeRecords(writes)
      return conflict?.given
    })
  }

  async prune(before: number): Promise<number> {
    let pruned = 0
    for (;;) {
      this.assertOpen()
      const count = await this.commits.submit(() => this.writer.prune(before, PRUNE_REQUESTS))
      pruned += count
      if (count < PRUNE_REQUESTS) break
    }
    for (;;) {
      this.assertOpen()
      const count = await this.commits.submit(() => this.writer.pruneLog(PRUNE_ENTRIES))
      if (count < PRUNE_ENTRIES) return pruned
    }
  }

  close(): Promise<void> {
    this.closing ??= this.finish()
    return this.closing
  }

  private async finish(): Promise<void> {
    this.watchers.clear()
    await this.commits.idle()
    if (!this.db.open) return
    try {
      this.db.pragma('wal_checkpoint(TRUNCATE)', { simple: true })
    } catch {
      // What was committed is in the write-ahead log; whoever closes or opens the file next moves it over.
    }
    this.db.close()
  }

  private async read<T>(read: (reader: Reader) => T): Promise<T> {
    this.assertOpen()
    try {
      return read(this.reader)
    } catch (error) {
      if (!isBusy(error)) throw failedError('the store could not be read', error)
    }
    return untilFree(() => {
      this.assertOpen()
      return read(this.reader)
    }, this.lockWaitMs)
  }

  private assertOpen(): void {
    if (this.closing !== undefined) throw new InboxError('STORE_CLOSED', {})
  }
}

function recordConflict({ given: { namespace, key } }: EncodedWrite): OpenResult & SettleResult {
  return { status: 'recordConflict', namespace, key }
}

/** As it is read back: what JSON leaves out is absent. */
function withoutAbsent(request: InboxRequest): InboxRequest {
  const { id, kind, payload, session, key, agent, openedAt, deadlineAt } = request
  return {
    id,
    kind,
    payload,
    session,
    ...(key === undefined ? {} : { key }),
    ...(agent === undefined ? {} : { agent }),
    openedAt,
    ...(deadlineAt === undefined ? {} : { deadlineAt }),
  }
}
