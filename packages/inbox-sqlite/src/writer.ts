import { encodeJson, type LogEntry, type RecordWrite } from '@handraise/inbox'
import { z } from 'zod'
import { sqliteCodeOf } from './busy.ts'
import type { SqliteDatabase } from './client.ts'
import { decodeText, encodeText, readRequest, REQUEST_COLUMNS, type StoredRequest } from './rows.ts'

/** A write of a record, as it was when the command was given. */
export interface EncodedWrite {
  readonly given: RecordWrite
  readonly namespace: string
  readonly key: string
  /** `null` deletes. */
  readonly value: string | null
  readonly expectedVersion: number | undefined
}

export function encodeWrites(writes: readonly RecordWrite[] = []): EncodedWrite[] {
  return writes.map(given => ({
    given,
    namespace: encodeText(given.namespace),
    key: encodeText(given.key),
    value: given.value === null ? null : encodeJson(given.value),
    expectedVersion: given.expectedVersion,
  }))
}

const positionRow = z.object({ position: z.number() })
const versionRow = z.object({ version: z.number() })

/** The statements of a write transaction. What they read is what the commands before them in it left. */
export class Writer {
  private readonly statements
  private position = 0

  constructor(db: SqliteDatabase) {
    this.statements = prepare(db)
  }

  /** Where the log ends. Read once for each transaction, as nobody else writes during it. */
  get end(): number {
    return this.position
  }

  /** To be called when a transaction began, and when a part of it was taken back. */
  refresh(): void {
    this.position = positionRow.parse(this.statements.end.get()).position
  }

  append(change: LogEntry['change'], requestPosition?: number): number {
    const position = this.position + 1
    this.statements.append.run(position, change, requestPosition ?? position)
    this.position = position
    return position
  }

  find(id: string): StoredRequest | undefined {
    return this.read(this.statements.byId.get(id))
  }

  findByKey(session: string, key: string): StoredRequest | undefined {
    return this.read(this.statements.byKey.get(session, key))
  }

  insert(row: NewRequest): void {
    const { id, kind, session, key, agent, owner, openedAt, deadlineAt, digest, payload } = row
    const position = this.append('opened')
    try {
      this.statements.insert.run(
        position,
        id,
        kind,
        session,
        key,
        agent,
        owner,
        openedAt,
        deadlineAt,
        digest,
        payload,
      )
    } catch (error) {
      if (sqliteCodeOf(error) !== 'SQLITE_CONSTRAINT_UNIQUE') throw error
      throw new Error(`a request with the id ${decodeText(id)} is kept already`, { cause: error })
    }
  }

  settle(position: number, settlement: string, settledAt: number, commandDigest: string): void {
    const settledPosition = this.append('settled', position)
    this.statements.settle.run(settledPosition, settledAt, commandDigest, settlement, position)
  }

  /** False when the request has no deadline, is settled or unknown. */
  engage(id: string): boolean {
    const row = this.statements.engage.get(id)
    if (row === undefined) return false
    this.append('engaged', positionRow.parse(row).position)
    return true
  }

  /** The first write that would not hold. */
  findConflict(writes: readonly EncodedWrite[]): EncodedWrite | undefined {
    return writes.find(
      write => write.expectedVersion !== undefined && write.expectedVersion !== this.versionOf(write),
    )
  }

  writeRecords(writes: readonly EncodedWrite[]): void {
    for (const { namespace, key, value } of writes) {
      if (value === null) {
        this.statements.keepVersion.run(namespace, key)
        this.statements.deleteRecord.run(namespace, key)
      } else this.statements.putRecord.run(namespace, key, value)
    }
  }

  /** Forgets at most `limit` requests. Returns how many. */
  prune(before: number, limit: number): number {
    const pruned = z.array(positionRow).parse(this.statements.prune.all(before, limit))
    if (pruned.length > 0) {
      this.statements.prunedThrough.run(Math.max(...pruned.map(({ position }) => position)))
    }
    return pruned.length
  }

  /** Removes at most `limit` entries that no reader gets any more. Returns how many. */
  pruneLog(limit: number): number {
    return this.statements.pruneLog.run(limit).changes
  }

  private versionOf({ namespace, key }: EncodedWrite): number {
    const row = this.statements.version.get(namespace, key)
    return row === undefined ? 0 : versionRow.parse(row).version
  }

  private read(row: unknown): StoredRequest | undefined {
    return row === undefined ? undefined : readRequest(row)
  }
}

/** The columns of a request that is opened. */
export interface NewRequest {
  readonly id: string
  readonly kind: string
  readonly session: string
  readonly key: string | null
  readonly agent: string | null
  readonly owner: string | null
  readonly openedAt: number
  readonly deadlineAt: number | null
  readonly digest: string
  readonly payload: string
}

/** Where the log ends: entries that were pruned count, so that no position is given twice. */
export const END_OF_LOG =
  'SELECT max(pruned_through, coalesce((SELECT max(position) FROM log), 0)) AS position, pruned_through, id FROM store'

function prepare(db: SqliteDatabase) {
  return {
    end: db.prepare(END_OF_LOG),
    append: db.prepare('INSERT INTO log (position, change, request) VALUES (?, ?, ?)'),
    byId: db.prepare(`SELECT ${REQUEST_COLUMNS} FROM requests r WHERE r.id = ?`),
    byKey: db.prepare(`SELECT ${REQUEST_COLUMNS} FROM requests r WHERE r.session = ? AND r.key = ?`),
    insert: db.prepare(
      'INSERT INTO requests (position, id, kind, session, key, agent, owner, opened_at, deadline_at, digest, payload) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    ),
    settle: db.prepare(
      'UPDATE requests SET settled_position = ?, settled_at = ?, command_digest = ?, settlement = ? WHERE position = ?',
    ),
    engage: db.prepare(
      'UPDATE requests SET deadline_at = NULL WHERE id = ? AND deadline_at IS NOT NULL AND settled_position IS NULL RETURNING position',
    ),
    version: db.prepare('SELECT version FROM records WHERE namespace = ? AND key = ?'),
    keepVersion: db.prepare(
      'INSERT OR REPLACE INTO deleted_records (namespace, key, version) SELECT namespace, key, version FROM records WHERE namespace = ? AND key = ?',
    ),
    deleteRecord: db.prepare('DELETE FROM records WHERE namespace = ? AND key = ?'),
    putRecord: db.prepare(
      `INSERT INTO records (namespace, key, value, version)
       SELECT namespace, key, value, 1 + coalesce(version, 0)
       FROM (SELECT ? AS namespace, ? AS key, ? AS value) LEFT JOIN deleted_records USING (namespace, key) WHERE true
       ON CONFLICT DO UPDATE SET value = excluded.value, version = records.version + 1`,
    ),
    prune: db.prepare(
      'DELETE FROM requests WHERE position IN (SELECT position FROM requests INDEXED BY requests_by_settled_at WHERE settled_at < ? ORDER BY settled_at LIMIT ?) RETURNING settled_position AS position',
    ),
    prunedThrough: db.prepare('UPDATE store SET pruned_through = max(pruned_through, ?)'),
    pruneLog: db.prepare(
      'DELETE FROM log WHERE position IN (SELECT position FROM log WHERE position <= (SELECT pruned_through FROM store) ORDER BY position LIMIT ?)',
    ),
  }
}
