import { InboxError } from './error.ts'
import { isSettled, type InboxRequest, type SettledRequest } from './request.ts'
import type {
  InboxStore,
  ListPage,
  ListQuery,
  LogEntry,
  LogPage,
  OpenCommand,
  OpenResult,
  RecordWrite,
  SettleCommand,
  SettleResult,
  StoredRecord,
} from './store.ts'

interface Row {
  request: InboxRequest
  readonly digest: string
  readonly owner: string | undefined
  readonly openedPosition: number
  settledPosition: number
  settledDigest: string
}

interface LogRow {
  readonly position: number
  readonly change: LogEntry['change']
  readonly id: string
}

/** What a memory store keeps. Two stores on one medium see the same, as two processes on one file do. */
export class MemoryMedium {
  readonly rows = new Map<string, Row>()
  readonly pending = new Map<string, Row>()
  readonly byKey = new Map<string, Row>()
  readonly records = new Map<string, StoredRecord>()
  /** The last version of each record ever written, deleted ones too: a version once read never comes back. */
  readonly versions = new Map<string, number>()
  readonly watchers = new Set<() => void>()
  readonly id: string = crypto.randomUUID()
  log: LogRow[] = []
  position = 0
  /** The last position whose entry was pruned. */
  prunedThrough = 0
}

/** Keeps requests in this process: as lasting as its medium, for tests and for hosts that want nothing on disk. */
export class MemoryStore implements InboxStore {
  private readonly medium: MemoryMedium
  private readonly watching = new Set<() => void>()
  private closed = false

  constructor(medium: MemoryMedium = new MemoryMedium()) {
    this.medium = medium
  }

  async open({ request, digest, owner, records = [] }: OpenCommand): Promise<OpenResult> {
    const medium = this.live()
    const key = request.key === undefined ? undefined : compound(request.session, request.key)
    const known = key === undefined ? undefined : medium.byKey.get(key)
    if (known !== undefined) {
      return { status: known.digest === digest ? 'joined' : 'keyConflict', request: known.request }
    }
    if (medium.rows.has(request.id)) throw new Error(`a request with the id ${request.id} is kept already`)
    const conflict = this.apply(records)
    if (conflict !== undefined)
      return { status: 'recordConflict', namespace: conflict.namespace, key: conflict.key }
    const position = this.append('opened', request.id)
    const row: Row = {
      request: copy(request),
      digest,
      owner: request.key === undefined ? owner : undefined,
      openedPosition: position,
      settledPosition: 0,
      settledDigest: '',
    }
    medium.rows.set(request.id, row)
    medium.pending.set(request.id, row)
    if (key !== undefined) medium.byKey.set(key, row)
    this.wake()
    return { status: 'opened', request: row.request }
  }

  async settle({ id, settlement, digest, ifDueAt, records = [] }: SettleCommand): Promise<SettleResult> {
    const medium = this.live()
    const row = medium.rows.get(id)
    if (row === undefined) return { status: 'unknown' }
    const { request } = row
    if (isSettled(request)) {
      if (request.settlement.commandId !== settlement.commandId) return { status: 'alreadySettled', request }
      return { status: row.settledDigest === digest ? 'repeated' : 'commandConflict', request }
    }
    if (ifDueAt !== undefined && (request.deadlineAt === undefined || request.deadlineAt > ifDueAt)) {
      return { status: 'notDue', request }
    }
    const conflict = this.apply(records)
    if (conflict !== undefined)
      return { status: 'recordConflict', namespace: conflict.namespace, key: conflict.key }
    const settled: SettledRequest = Object.freeze({ ...request, settlement: copy(settlement) })
    row.request = settled
    row.settledDigest = digest
    row.settledPosition = this.append('settled', id)
    medium.pending.delete(id)
    this.wake()
    return { status: 'settled', request: settled }
  }

  async engage(id: string): Promise<boolean> {
    const row = this.live().pending.get(id)
    if (row?.request.deadlineAt === undefined) return false
    const { deadlineAt: _, ...request } = row.request
    row.request = Object.freeze(request)
    this.append('engaged', id)
    this.wake()
    return true
  }

  async get(id: string): Promise<InboxRequest | undefined> {
    return this.live().rows.get(id)?.request
  }

  async list({ state, session, after, limit = 100 }: ListQuery): Promise<ListPage> {
    const { pending, rows } = this.live()
    const positionOf = (row: Row): number => (state === 'pending' ? row.openedPosition : -row.settledPosition)
    const from = after === undefined ? -Infinity : Number(after)
    const found: Row[] = []
    for (const row of (state === 'pending' ? pending : rows).values()) {
      if (state === 'settled' && !isSettled(row.request)) continue
      if (session !== undefined && row.request.session !== session) continue
      if (positionOf(row) > from) found.push(row)
    }
    found.sort((a, b) => positionOf(a) - positionOf(b))
    const page = found.slice(0, Math.min(limit, 1_000))
    const last = page.at(-1)
    return {
      requests: page.map(row => row.request),
      ...(last !== undefined && found.length > page.length ? { next: String(positionOf(last)) } : {}),
    }
  }

  async end(): Promise<string> {
    return this.cursorAt(this.live().position)
  }

  async since(cursor: string, limit = 1_000): Promise<LogPage> {
    const { log, id, position, prunedThrough, rows } = this.live()
    const [, store, at] = /^(.+)\.(\d+)$/u.exec(cursor) ?? []
    const from = Number(at)
    if (store !== id || from < prunedThrough || from > position) return { lost: true }
    const start = firstAfter(log, from)
    const page = log.slice(start, start + limit)
    const last = page.at(-1)
    return {
      entries: page.flatMap(({ position: entryPosition, change, id: requestId }) => {
        const row = rows.get(requestId)
        return row === undefined
          ? []
          : [{ cursor: this.cursorAt(entryPosition), change, request: row.request }]
      }),
      cursor: this.cursorAt(last?.position ?? from),
      more: start + page.length < log.length,
    }
  }

  watch(wake: () => void): () => void {
    const { watchers } = this.live()
    const watcher = (): void => wake()
    watchers.add(watcher)
    this.watching.add(watcher)
    return () => {
      watchers.delete(watcher)
      this.watching.delete(watcher)
    }
  }

  async nextDeadline(): Promise<number | undefined> {
    let next: number | undefined
    for (const { request } of this.live().pending.values()) {
      if (request.deadlineAt !== undefined && (next === undefined || request.deadlineAt < next))
        next = request.deadlineAt
    }
    return next
  }

  async due(now: number, limit: number): Promise<readonly string[]> {
    return Array.from(this.live().pending.values(), row => row.request)
      .filter(({ deadlineAt }) => deadlineAt !== undefined && deadlineAt <= now)
      .toSorted((a, b) => (a.deadlineAt ?? 0) - (b.deadlineAt ?? 0))
      .slice(0, limit)
      .map(({ id }) => id)
  }

  async owners(): Promise<readonly string[]> {
    return [...new Set(Array.from(this.live().pending.values(), row => row.owner ?? []).flat())]
  }

  async ownedBy(owner: string): Promise<readonly string[]> {
    return Array.from(this.live().pending.values()).flatMap(row =>
      row.owner === owner ? [row.request.id] : [],
    )
  }

  async record(namespace: string, key: string): Promise<StoredRecord | undefined> {
    return this.live().records.get(compound(namespace, key))
  }

  async records(namespace: string): Promise<readonly StoredRecord[]> {
    return Array.from(this.live().records.values())
      .filter(record => record.namespace === namespace)
      .toSorted((a, b) => (a.key < b.key ? -1 : 1))
  }

  async writeRecords(writes: readonly RecordWrite[]): Promise<RecordWrite | undefined> {
    this.live()
    return this.apply(writes)
  }

  async prune(before: number): Promise<number> {
    const medium = this.live()
    let pruned = 0
    for (const { request, settledPosition } of medium.rows.values()) {
      if (!isSettled(request) || request.settlement.settledAt >= before) continue
      medium.rows.delete(request.id)
      if (request.key !== undefined) medium.byKey.delete(compound(request.session, request.key))
      medium.prunedThrough = Math.max(medium.prunedThrough, settledPosition)
      pruned += 1
    }
    medium.log = medium.log.filter(
      ({ id, position }) => medium.rows.has(id) && position > medium.prunedThrough,
    )
    return pruned
  }

  async close(): Promise<void> {
    this.closed = true
    for (const watcher of this.watching) this.medium.watchers.delete(watcher)
    this.watching.clear()
  }

  private live(): MemoryMedium {
    if (this.closed) throw new InboxError('STORE_CLOSED', {})
    return this.medium
  }

  private apply(writes: readonly RecordWrite[]): RecordWrite | undefined {
    const { records, versions } = this.medium
    const versionOf = ({ namespace, key }: RecordWrite): number =>
      records.get(compound(namespace, key))?.version ?? 0
    const conflict = writes.find(
      write => write.expectedVersion !== undefined && write.expectedVersion !== versionOf(write),
    )
    if (conflict !== undefined) return conflict
    for (const { namespace, key, value } of writes) {
      const place = compound(namespace, key)
      if (value === null) {
        records.delete(place)
        continue
      }
      const version = (versions.get(place) ?? 0) + 1
      versions.set(place, version)
      records.set(place, Object.freeze({ namespace, key, value: copy(value), version }))
    }
    return undefined
  }

  private append(change: LogEntry['change'], id: string): number {
    const position = (this.medium.position += 1)
    this.medium.log.push({ position, change, id })
    return position
  }

  private wake(): void {
    // Later, so that what a watcher throws is not taken for the write's failure, and does not keep others asleep.
    const { watchers } = this.medium
    for (const watcher of watchers) queueMicrotask(() => watchers.has(watcher) && watcher())
  }

  private cursorAt(position: number): string {
    return `${this.medium.id}.${position}`
  }
}

// The log is in the order of its positions.
function firstAfter(log: readonly LogRow[], position: number): number {
  let low = 0
  let high = log.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((log[middle]?.position ?? 0) > position) high = middle
    else low = middle + 1
  }
  return low
}

function compound(first: string, second: string): string {
  return JSON.stringify([first, second])
}

// What is kept must not change with what the caller does to it, before or after.
function copy<T>(value: T): T {
  return frozen(structuredClone(value))
}

function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const part of Object.values(value)) frozen(part)
  return Object.freeze(value)
}
