import {
  InboxError,
  type InboxRequest,
  type ListPage,
  type ListQuery,
  type LogPage,
  type StoredRecord,
} from '@handraise/inbox'
import { z } from 'zod'
import { persist } from './attempts.ts'
import type { Connection, Statement } from './connection.ts'
import { SOON, type DatabaseClock } from './database-clock.ts'
import { decodeText, encodeText, readRecord, readRequest, REQUEST_COLUMNS } from './rows.ts'

const DEFAULT_PAGE = 100
const LONGEST_PAGE = 1_000

const storeRow = z.looseObject({ store: z.string(), position: z.number(), pruned_through: z.number() })
const listRow = z.looseObject({ place: z.string() })
const logRow = z.looseObject({
  log_position: z.number(),
  change: z.enum(['opened', 'engaged', 'settled']),
})
const deadlineRow = z.object({ deadline: z.number().nullable() })
const nameRow = z.object({ name: z.string() })

/** The statements that read, each one by itself, over as many connections as there are. */
export class Reader {
  private readonly connections: readonly Connection[]
  private readonly clock: DatabaseClock
  private readonly waitMs: number
  private readonly ended: AbortSignal

  constructor(connections: readonly Connection[], clock: DatabaseClock, waitMs: number, ended: AbortSignal) {
    this.connections = connections
    this.clock = clock
    this.waitMs = waitMs
    this.ended = ended
  }

  async get(id: string): Promise<InboxRequest | undefined> {
    const [row] = await this.read(GET, encodeText(id))
    return row === undefined ? undefined : readRequest(row, this.clock)
  }

  async list({ state, session, after, limit = DEFAULT_PAGE }: ListQuery): Promise<ListPage> {
    const size = pageSize(Math.min(limit, LONGEST_PAGE))
    if (after !== undefined && !PLACE.test(after))
      throw new InboxError('BAD_REQUEST', { issues: [{ path: 'after', message: 'is no place in the list' }] })
    const from = after ?? (state === 'pending' ? '0' : LAST_POSITION)
    const found =
      session === undefined
        ? await this.read(LIST[state].all, size + 1, from)
        : await this.read(LIST[state].ofSession, size + 1, from, encodeText(session))
    const page = found.slice(0, size)
    const last = page.at(-1)
    return {
      requests: page.map(row => readRequest(row, this.clock)),
      ...(last !== undefined && found.length > size ? { next: listRow.parse(last).place } : {}),
    }
  }

  async end(): Promise<string> {
    const [row] = await this.read(END)
    const { store, position } = storeRow.parse(row)
    return `${store}.${position}`
  }

  async since(cursor: string, limit: number): Promise<LogPage> {
    const [, store, at] = /^([^.]+)\.(\d{1,16})$/u.exec(cursor) ?? []
    if (store === undefined) return { lost: true }
    const from = Number(at)
    const size = pageSize(limit)
    const rows = await this.read(SINCE, size + 1, from)
    const { store: id, position, pruned_through: prunedThrough } = storeRow.parse(rows[0])
    if (store !== id || from < prunedThrough || from > position) return { lost: true }
    const found = rows.flatMap(row => {
      const entry = logRow.safeParse(row)
      return entry.success ? [entry.data] : []
    })
    const entries = found.slice(0, size).map(({ log_position: entryPosition, change, ...row }) => ({
      cursor: `${id}.${entryPosition}`,
      change,
      request: readRequest(row, this.clock),
    }))
    return { entries, cursor: entries.at(-1)?.cursor ?? cursor, more: found.length > size }
  }

  async nextDeadline(): Promise<number | undefined> {
    const [row] = await this.read(NEXT_DEADLINE)
    const { deadline } = deadlineRow.parse(row)
    return deadline === null ? undefined : this.clock.toHost(deadline)
  }

  async due(now: number, limit: number): Promise<string[]> {
    return names(await this.read(DUE, pageSize(limit), this.clock.toDatabase(now)))
  }

  async owners(): Promise<string[]> {
    return names(await this.read(OWNERS))
  }

  async ownedBy(owner: string): Promise<string[]> {
    return names(await this.read(OWNED_BY, encodeText(owner)))
  }

  async record(namespace: string, key: string): Promise<StoredRecord | undefined> {
    const [row] = await this.read(RECORD, encodeText(namespace), encodeText(key))
    return row === undefined ? undefined : readRecord(row)
  }

  /** By key. */
  async records(namespace: string): Promise<StoredRecord[]> {
    const rows = await this.read(RECORDS, encodeText(namespace))
    return rows.map(readRecord).toSorted((a, b) => (a.key < b.key ? -1 : 1))
  }

  private read(statement: Statement, ...values: unknown[]): Promise<readonly unknown[]> {
    return persist(end => this.leastBusy().run(statement, values, { end }), {
      end: performance.now() + this.waitMs,
      ended: this.ended,
    })
  }

  private leastBusy(): Connection {
    return this.connections.reduce((best, next) => (next.load < best.load ? next : best))
  }
}

function names(rows: readonly unknown[]): string[] {
  return rows.map(row => decodeText(nameRow.parse(row).name))
}

function pageSize(limit: number): number {
  return Number.isNaN(limit) ? 0 : Math.min(Math.max(0, Math.trunc(limit)), 1_000_000_000)
}

// Fewer digits than the longest position, so that the database can read it.
const PLACE = /^\d{1,18}$/u
const LAST_POSITION = '9223372036854775807'

const statement = (name: string, text: string): Statement => ({ name, text })

// What tells that a request is pending, or settled, names the index: each has its own way to say it.
const list = (
  name: string,
  place: string,
  { all, ofSession, from }: { all: string; ofSession: string; from: string },
): { all: Statement; ofSession: Statement } => {
  const select = (condition: string): string =>
    `SELECT ${REQUEST_COLUMNS}, ${place}::text AS place FROM requests r WHERE ${condition} AND ${from} LIMIT $1`
  return {
    all: statement(name, select(all)),
    ofSession: statement(`${name}_of_session`, select(`r.session = $3 AND ${ofSession}`)),
  }
}

const GET = statement('get', `SELECT ${REQUEST_COLUMNS} FROM requests r WHERE r.id = $1`)
const LIST = {
  pending: list('pending', 'r.pending_position', {
    all: 'r.settled_position IS NULL',
    ofSession: 'r.settlement IS NULL',
    from: 'r.pending_position > $2 ORDER BY r.pending_position',
  }),
  settled: list('settled', 'r.settled_position', {
    all: 'r.command_id IS NOT NULL',
    ofSession: 'r.settlement IS NOT NULL',
    from: 'r.settled_position < $2 ORDER BY r.settled_position DESC',
  }),
}
/** Where the log ends: entries that were pruned count, so that a cursor at its end stays good. */
const STORE = `SELECT s.id AS store, s.pruned_through::float8,
  greatest(s.pruned_through, (SELECT max(position) FROM log))::float8 AS position`
const END = statement('end', `${STORE} FROM store s`)
const SINCE = statement(
  'since',
  `${STORE}, e.* FROM store s LEFT JOIN LATERAL (
    SELECT l.position::float8 AS log_position, l.change, ${REQUEST_COLUMNS}
    FROM log l JOIN requests r ON r.position = l.request WHERE l.position > $2 ORDER BY l.position LIMIT $1
  ) e ON true ORDER BY e.log_position`,
)
const NEXT_DEADLINE = statement(
  'next_deadline',
  'SELECT min(deadline_at) AS deadline FROM requests WHERE deadline_at IS NOT NULL AND settled_at IS NULL',
)
const DUE = statement(
  'due',
  `SELECT id AS name FROM requests WHERE deadline_at <= (SELECT least($2, ${SOON})) AND deadline_at IS NOT NULL AND settled_at IS NULL
   ORDER BY deadline_at, position LIMIT $1`,
)
const BY_OWNER = 'FROM requests WHERE owner IS NOT NULL AND settled_by IS NULL'
// One step of the index for each owner, however many requests each has.
const OWNERS = statement(
  'owners',
  `WITH RECURSIVE next (name) AS (
     SELECT min(owner) ${BY_OWNER}
     UNION ALL
     SELECT (SELECT min(owner) ${BY_OWNER} AND owner > next.name) FROM next WHERE next.name IS NOT NULL
   ) SELECT name FROM next WHERE name IS NOT NULL`,
)
const OWNED_BY = statement('owned_by', `SELECT id AS name ${BY_OWNER} AND owner = $1 ORDER BY position`)
const RECORD_COLUMNS = 'namespace, key, value, version::float8'
const RECORD = statement('record', `SELECT ${RECORD_COLUMNS} FROM records WHERE namespace = $1 AND key = $2`)
const RECORDS = statement('records', `SELECT ${RECORD_COLUMNS} FROM records WHERE namespace = $1`)
