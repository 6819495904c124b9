import { setMaxListeners } from 'node:events'
import {
  InboxError,
  type InboxRequest,
  type InboxStore,
  type ListPage,
  type ListQuery,
  type LogPage,
  type OpenCommand,
  type OpenResult,
  type RecordWrite,
  type SettleCommand,
  type SettledRequest,
  type SettleResult,
  type StoredRecord,
  decodeJson,
  encodeInstant,
  readSettlement,
} from '@handraise/inbox'
import { Batches, type Outcome } from './batches.ts'
import { openCommand, settleCommand, writeCommand } from './commands.ts'
import { Connection, type ConnectOptions } from './connection.ts'
import { DatabaseClock } from './database-clock.ts'
import { Listener } from './listener.ts'
import { Reader } from './reader.ts'
import { encodeText, readRequest } from './rows.ts'
import { Watchers } from './watchers.ts'

/** Few enough for a transaction of some milliseconds. */
const PRUNE_REQUESTS = 250
const PRUNE_ENTRIES = 1_000

export interface StoreOptions {
  readonly readers: number
  readonly waitMs: number
  readonly closeMs: number
  readonly pollMs: number
  readonly now: () => number
}

export class PostgresStore implements InboxStore {
  private readonly clock: DatabaseClock
  private readonly writer: Connection
  private readonly reading: readonly Connection[]
  private readonly reader: Reader
  private readonly batches: Batches
  private readonly listener: Listener
  private readonly watchers = new Watchers()
  private readonly ended = new AbortController()
  private readonly closeMs: number
  private closing: Promise<void> | undefined

  /** `writer` is a connection to a schema that is up to date. */
  constructor(
    connect: ConnectOptions,
    writer: Connection,
    { readers, waitMs, closeMs, pollMs, now }: StoreOptions,
  ) {
    const { signal: ended } = this.ended
    // As many listen as there are calls that wait.
    setMaxListeners(0, ended)
    const { wakeAll } = this.watchers
    this.clock = new DatabaseClock(now)
    this.closeMs = closeMs
    this.writer = writer
    this.reading = Array.from({ length: readers }, () => new Connection(connect))
    this.reader = new Reader(this.reading, this.clock, waitMs, ended)
    this.listener = new Listener(connect, pollMs, this.clock, { onLogged: wakeAll, ended })
    const onLogged = (): void => {
      wakeAll()
      this.listener.tell()
    }
    this.batches = new Batches(writer, waitMs, onLogged, ended)
  }

  /** To be called before anything else, with the channel on which writers notify; again if it rejects. It does by `end`. */
  start(channel: string, end: number): Promise<void> {
    return this.listener.start(channel, end)
  }

  async open(command: OpenCommand): Promise<OpenResult> {
    this.assertOpen()
    const encoded = openCommand(command, this.clock)
    const opened = withoutAbsent(command.request, encoded.payload ?? '')
    const { id } = opened
    const { records = [] } = command
    const outcome = await this.batches.submit(encoded)
    switch (outcome.status) {
      case 'opened':
        return { status: 'opened', request: opened }
      case 'joined':
      case 'keyConflict':
        return { status: outcome.status, request: readRequest(outcome, this.clock) }
      case 'recordConflict':
        return recordConflict(conflictOf(outcome, records))
      default:
        throw new Error(`a request with the id ${id} is kept already`)
    }
  }

  async settle(command: SettleCommand): Promise<SettleResult> {
    this.assertOpen()
    const encoded = settleCommand(command, this.clock)
    readSettlement(encoded.settlement ?? '')
    const { records = [] } = command
    const outcome = await this.batches.submit(encoded)
    switch (outcome.status) {
      case 'settled':
      case 'repeated':
      case 'commandConflict':
      case 'alreadySettled':
        return { status: outcome.status, request: readRequest(outcome, this.clock) as SettledRequest }
      case 'notDue':
        return { status: 'notDue', request: readRequest(outcome, this.clock) }
      case 'recordConflict':
        return recordConflict(conflictOf(outcome, records))
      default:
        return { status: 'unknown' }
    }
  }

  async engage(id: string): Promise<boolean> {
    this.assertOpen()
    const { status } = await this.batches.submit({ op: 'engage', id: encodeText(id) })
    return status === 'engaged'
  }

  async get(id: string): Promise<InboxRequest | undefined> {
    this.assertOpen()
    return this.reader.get(id)
  }

  async list(query: ListQuery): Promise<ListPage> {
    this.assertOpen()
    return this.reader.list(query)
  }

  async end(): Promise<string> {
    this.assertOpen()
    return this.reader.end()
  }

  async since(cursor: string, limit = 1_000): Promise<LogPage> {
    this.assertOpen()
    return this.reader.since(cursor, limit)
  }

  watch(wake: () => void): () => void {
    this.assertOpen()
    return this.watchers.add(wake)
  }

  async nextDeadline(): Promise<number | undefined> {
    this.assertOpen()
    return this.reader.nextDeadline()
  }

  /** By which all hosts go. */
  now(): number {
    return this.clock.read()
  }

  async due(now: number, limit: number): Promise<readonly string[]> {
    this.assertOpen()
    return this.reader.due(now, limit)
  }

  async owners(): Promise<readonly string[]> {
    this.assertOpen()
    return this.reader.owners()
  }

  async ownedBy(owner: string): Promise<readonly string[]> {
    this.assertOpen()
    return this.reader.ownedBy(owner)
  }

  async record(namespace: string, key: string): Promise<StoredRecord | undefined> {
    this.assertOpen()
    return this.reader.record(namespace, key)
  }

  async records(namespace: string): Promise<readonly StoredRecord[]> {
    this.assertOpen()
    return this.reader.records(namespace)
  }

  async writeRecords(writes: readonly RecordWrite[]): Promise<RecordWrite | undefined> {
    this.assertOpen()
    // As they are now: whoever gave them may change them.
    const given = [...writes]
    const outcome = await this.batches.submit(writeCommand(given))
    return outcome.status === 'recordConflict' ? conflictOf(outcome, given) : undefined
  }

  async prune(before: number): Promise<number> {
    const command = {
      op: 'prune',
      before: this.clock.toDatabase(encodeInstant(before)),
      from_now: this.clock.fromNow(before),
      most: PRUNE_REQUESTS,
    } as const
    let pruned = 0
    for (;;) {
      this.assertOpen()
      const { detail } = await this.batches.submit(command)
      pruned += detail ?? 0
      if ((detail ?? 0) < PRUNE_REQUESTS) break
    }
    for (;;) {
      this.assertOpen()
      const { detail } = await this.batches.submit({ op: 'pruneLog', most: PRUNE_ENTRIES })
      if ((detail ?? 0) < PRUNE_ENTRIES) return pruned
    }
  }

  close(): Promise<void> {
    this.closing ??= this.finish()
    return this.closing
  }

  private async finish(): Promise<void> {
    this.watchers.clear()
    const connections = [this.writer, ...this.reading]
    const overdue = setTimeout(() => {
      this.ended.abort()
      for (const each of [this.listener, ...connections]) each.abandon()
    }, this.closeMs)
    await this.batches.idle()
    this.ended.abort()
    await Promise.all([this.listener.stop(), ...connections.map(each => each.close())])
    clearTimeout(overdue)
  }

  private assertOpen(): void {
    if (this.closing !== undefined) throw new InboxError('STORE_CLOSED', {})
  }
}

function conflictOf({ detail }: Outcome, writes: readonly RecordWrite[]): RecordWrite {
  const write = writes[(detail ?? 0) - 1]
  if (write === undefined) throw new Error('the database named a record that was not among the writes')
  return write
}

function recordConflict({ namespace, key }: RecordWrite): OpenResult & SettleResult {
  return { status: 'recordConflict', namespace, key }
}

/** As it is read back: what JSON leaves out is absent, and nothing is shared with whoever gave it. */
function withoutAbsent(request: InboxRequest, payload: string): InboxRequest {
  const { id, kind, session, key, agent, openedAt, deadlineAt } = request
  return {
    id,
    kind,
    payload: decodeJson(payload),
    session,
    ...(key === undefined ? {} : { key }),
    ...(agent === undefined ? {} : { agent }),
    openedAt,
    ...(deadlineAt === undefined ? {} : { deadlineAt }),
  }
}
