import {
  encodeInstant,
  encodeJson,
  InboxError,
  type OpenCommand,
  type RecordWrite,
  type SettleCommand,
} from '@handraise/inbox'
import type { DatabaseClock } from './database-clock.ts'
import { encodeText } from './rows.ts'

/** A command as `apply_commands` takes it. */
export interface Command {
  readonly op: 'open' | 'settle' | 'engage' | 'write' | 'prune' | 'pruneLog'
  readonly payload?: string
  readonly settlement?: string
  readonly records?: readonly EncodedRecord[]
  /** How far its deadline, its settlement or what it prunes before is from when it is sent, in milliseconds. */
  readonly from_now?: number
  readonly [member: string]: unknown
}

interface EncodedRecord {
  readonly namespace: string
  readonly key: string
  /** `null` deletes. */
  readonly value: string | null
  readonly expected?: number
}

/** An index of PostgreSQL holds no entry longer than a third of a page; two of these go into one. */
const LONGEST_NAME_BYTES = 1_000

export function openCommand({ request, digest, owner, records }: OpenCommand, clock: DatabaseClock): Command {
  const { key, agent, deadlineAt } = request
  return {
    op: 'open',
    id: encodeName('id', request.id),
    kind: encodeText(request.kind),
    session: encodeName('session', request.session),
    ...(key === undefined ? {} : { key: encodeName('key', key) }),
    ...(agent === undefined ? {} : { agent: encodeText(agent) }),
    // Who waits for a request with a key may be any process.
    ...(owner === undefined || key !== undefined ? {} : { owner: encodeName('owner', owner) }),
    opened_at: encodeInstant(request.openedAt),
    ...(deadlineAt === undefined
      ? {}
      : { deadline_at: clock.toDatabase(encodeInstant(deadlineAt)), from_now: clock.fromNow(deadlineAt) }),
    digest: encodeText(digest),
    payload: encodeJson(request.payload),
    ...encodeRecords(records),
  }
}

export function settleCommand(
  { id, settlement, digest, ifDueAt, records }: SettleCommand,
  clock: DatabaseClock,
): Command {
  return {
    op: 'settle',
    id: encodeText(id),
    settlement: encodeJson(settlement),
    // By which it is pruned; the settlement tells it as the host says.
    settled_at: clock.toDatabase(encodeInstant(settlement.settledAt)),
    from_now: clock.fromNow(settlement.settledAt),
    command_id: encodeText(settlement.commandId),
    digest: encodeText(digest),
    ...(ifDueAt === undefined ? {} : { due_at: clock.toDatabase(encodeInstant(ifDueAt)) }),
    ...encodeRecords(records),
  }
}

export function writeCommand(writes: readonly RecordWrite[]): Command {
  return { op: 'write', records: [], ...encodeRecords(writes) }
}

function encodeRecords(writes: readonly RecordWrite[] = []): { readonly records?: readonly EncodedRecord[] } {
  if (writes.length === 0) return {}
  return {
    records: writes.map(({ namespace, key, value, expectedVersion }) => ({
      namespace: encodeName('namespace', namespace),
      key: encodeName('key', key),
      value: value === null ? null : encodeJson(value),
      ...(expectedVersion === undefined ? {} : { expected: encodeVersion(expectedVersion) }),
    })),
  }
}

/** What is no version is that of no record, and JSON would make null of NaN. */
function encodeVersion(version: number): number {
  return Number.isSafeInteger(version) ? version : -1
}

function encodeName(path: string, name: string): string {
  const text = encodeText(name)
  if (Buffer.byteLength(text) <= LONGEST_NAME_BYTES) return text
  const message = `is longer than ${LONGEST_NAME_BYTES} bytes, which an index of the database cannot hold`
  throw new InboxError('BAD_REQUEST', { issues: [{ path, message }] })
}
