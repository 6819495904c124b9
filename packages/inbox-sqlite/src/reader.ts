import type { InboxRequest, ListPage, ListQuery, LogPage, StoredRecord } from '@handraise/inbox'
import { z } from 'zod'
import type { SqliteDatabase } from './client.ts'
import { decodeText, encodeText, readRecord, readRequest, REQUEST_COLUMNS } from './rows.ts'
import { END_OF_LOG } from './writer.ts'

const DEFAULT_PAGE = 100
const LONGEST_PAGE = 1_000

const storeRow = z.object({ position: z.number(), pruned_through: z.number(), id: z.string() })
const listRow = z.looseObject({ place: z.number() })
const logRow = z.looseObject({
  log_position: z.number(),
  change: z.enum(['opened', 'engaged', 'settled']),
})
const deadlineRow = z.object({ deadline: z.number().nullable() })
const nameRow = z.object({ name: z.string() })

/** The statements that read. Each method is one statement, or several whose order makes up for what is written between. */
export class Reader {
  private readonly statements

  constructor(db: SqliteDatabase) {
    this.statements = prepare(db)
  }

  get(id: string): InboxRequest | undefined {
    const row = this.statements.get.get(id)
    return row === undefined ? undefined : readRequest(row).request
  }

  list({ state, session, after, limit = DEFAULT_PAGE }: ListQuery): ListPage {
    const size = pageSize(Math.min(limit, LONGEST_PAGE))
    const { all, ofSession } = this.statements[state]
    const start = state === 'pending' ? 0 : Number.MAX_SAFE_INTEGER
    const from = after === undefined ? start : Number(after)
    const found =
      session === undefined ? all.all(from, size + 1) : ofSession.all(encodeText(session), from, size + 1)
    const page = found.slice(0, size)
    const last = page.at(-1)
    return {
      requests: page.map(row => readRequest(row).request),
      ...(last !== undefined && found.length > size ? { next: String(listRow.parse(last).place) } : {}),
    }
  }

  end(): string {
    const { id, position } = this.store()
    return `${id}.${position}`
  }

  since(cursor: string, limit: number): LogPage {
    const [, store, at] = /^(.+)\.(\d+)$/u.exec(cursor) ?? []
    const from = Number(at)
    const size = pageSize(limit)
    const found = Number.isSafeInteger(from) ? this.statements.since.all(from, size + 1) : []
    // Afterwards: what another process pruned before the page was read is seen here.
    const { id, position, pruned_through: prunedThrough } = this.store()
    if (store !== id || from < prunedThrough || from > position) return { lost: true }
    const entries = found.slice(0, size).map(row => {
      const { log_position: entryPosition, change } = logRow.parse(row)
      return { cursor: `${id}.${entryPosition}`, change, request: readRequest(row).request }
    })
    return { entries, cursor: entries.at(-1)?.cursor ?? cursor, more: found.length > size }
  }

  nextDeadline(): number | undefined {
    return deadlineRow.parse(this.statements.nextDeadline.get()).deadline ?? undefined
  }

  due(now: number, limit: number): string[] {
    return names(this.statements.due.all(now, pageSize(limit)))
  }

  owners(): string[] {
    return names(this.statements.owners.all())
  }

  ownedBy(owner: string): string[] {
    return names(this.statements.ownedBy.all(owner))
  }

  record(namespace: string, key: string): StoredRecord | undefined {
    const row = this.statements.record.get(namespace, key)
    return row === undefined ? undefined : readRecord(row)
  }

  /** By key. */
  records(namespace: string): StoredRecord[] {
    return this.statements.records
      .all(namespace)
      .map(readRecord)
      .toSorted((a, b) => (a.key < b.key ? -1 : 1))
  }

  private store(): z.infer<typeof storeRow> {
    return storeRow.parse(this.statements.end.get())
  }
}

function names(rows: readonly unknown[]): string[] {
  return rows.map(row => decodeText(nameRow.parse(row).name))
}

/** SQLite takes a negative limit for none. */
function pageSize(limit: number): number {
  return Math.min(Math.max(0, Math.trunc(limit)), Number.MAX_SAFE_INTEGER - 1)
}

// The planner knows nothing of how many requests are pending, so where it could choose wrongly the index is named.
function prepare(db: SqliteDatabase) {
  const select = (place: string, where: string) =>
    db.prepare(`SELECT ${REQUEST_COLUMNS}, ${place} AS place FROM requests r ${where} LIMIT ?`)
  const pending = 'r.settled_position IS NULL AND r.position > ? ORDER BY r.position'
  const settled = 'r.settled_position < ? ORDER BY r.settled_position DESC'
  const byOwner = 'FROM requests INDEXED BY requests_by_owner WHERE settled_position IS NULL AND owner'
  return {
    get: db.prepare(`SELECT ${REQUEST_COLUMNS} FROM requests r WHERE r.id = ?`),
    pending: {
      all: select('r.position', `INDEXED BY requests_by_settlement WHERE ${pending}`),
      ofSession: select('r.position', `INDEXED BY requests_by_session WHERE r.session = ? AND ${pending}`),
    },
    settled: {
      all: select('r.settled_position', `INDEXED BY requests_by_settlement WHERE ${settled}`),
      ofSession: select(
        'r.settled_position',
        `INDEXED BY requests_by_session WHERE r.session = ? AND ${settled}`,
      ),
    },
    end: db.prepare(END_OF_LOG),
    since: db.prepare(
      `SELECT ${REQUEST_COLUMNS}, l.position AS log_position, l.change FROM log l CROSS JOIN requests r ON r.position = l.request WHERE l.position > ? ORDER BY l.position LIMIT ?`,
    ),
    nextDeadline: db.prepare(
      'SELECT min(deadline_at) AS deadline FROM requests INDEXED BY requests_by_deadline WHERE deadline_at IS NOT NULL AND settled_position IS NULL',
    ),
    due: db.prepare(
      'SELECT id AS name FROM requests INDEXED BY requests_by_deadline WHERE deadline_at <= ? AND settled_position IS NULL ORDER BY deadline_at, position LIMIT ?',
    ),
    // One step of the index for each owner, however many requests each has.
    owners: db.prepare(
      `WITH RECURSIVE next (name) AS (
         SELECT min(owner) ${byOwner} IS NOT NULL
         UNION ALL
         SELECT (SELECT min(owner) ${byOwner} > next.name) FROM next WHERE next.name IS NOT NULL
       ) SELECT name FROM next WHERE name IS NOT NULL`,
    ),
    ownedBy: db.prepare(`SELECT id AS name ${byOwner} = ? ORDER BY position`),
    record: db.prepare('SELECT * FROM records WHERE namespace = ? AND key = ?'),
    records: db.prepare('SELECT * FROM records WHERE namespace = ?'),
  }
}
