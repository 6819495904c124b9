import type { InboxStore, JsonValue, RecordWrite } from '@handraise/inbox'
import { z } from 'zod'
import {
  clientInfoSchema,
  turnInputPartSchema,
  type ClientInfo,
  type TurnInputPart,
} from '../protocol/index.ts'

const SESSIONS = 'wire-sessions'

const sessionRecordSchema = z.object({
  sessionId: z.string(),
  /** The command that started it; absent for a session that was found in the inbox. */
  commandId: z.string().optional(),
  createdAt: z.number(),
  workspaceRoot: z.string().nullable(),
  workspaceRoots: z.array(z.string()).optional(),
  modelId: z.string().nullable(),
  providerId: z.string().nullable(),
  createdByClient: clientInfoSchema.optional(),
  /** The host that holds it, while that host lives. */
  owner: z.string().optional(),
})

export type SessionRecord = Omit<
  z.infer<typeof sessionRecordSchema>,
  'createdByClient' | 'workspaceRoots'
> & {
  readonly workspaceRoots?: readonly string[] | undefined
  readonly createdByClient?: ClientInfo | undefined
}

const eventRecordSchema = z.object({
  method: z.string(),
  params: z.record(z.string(), z.unknown()),
  at: z.number(),
})

export type EventRecord = z.infer<typeof eventRecordSchema>

const turnRecordSchema = z.object({
  turnId: z.string(),
  /** Its place among the turns of the session. */
  order: z.number(),
  input: z.array(turnInputPartSchema),
  displayText: z.string().optional(),
})

export type TurnRecord = Readonly<Omit<z.infer<typeof turnRecordSchema>, 'input'>> & {
  readonly input: readonly TurnInputPart[]
}

const stopRecordSchema = z.object({ reason: z.string() })

const resultRecordSchema = z.discriminatedUnion('isError', [
  z.object({ isError: z.literal(false), value: z.unknown(), content: z.string() }),
  z.object({
    isError: z.literal(true),
    error: z.object({ name: z.string(), code: z.string(), message: z.string() }),
    content: z.string(),
  }),
])

export type ResultRecord = z.infer<typeof resultRecordSchema>

export interface Kept<Value> {
  readonly value: Value
  readonly version: number
}

/** What is kept of sessions, as records of the inbox's store: who holds a session, its view, its turns, what its calls gave. */
export class SessionStore {
  readonly store: InboxStore

  constructor(store: InboxStore) {
    this.store = store
  }

  async session(sessionId: string): Promise<Kept<SessionRecord> | undefined> {
    const record = await this.store.record(SESSIONS, sessionId)
    if (record === undefined) return undefined
    return { value: sessionRecordSchema.parse(record.value), version: record.version }
  }

  async sessions(): Promise<readonly SessionRecord[]> {
    const records = await this.store.records(SESSIONS)
    return records.flatMap(({ value }) => sessionRecordSchema.safeParse(value).data ?? [])
  }

  async events(sessionId: string): Promise<readonly EventRecord[]> {
    const records = await this.store.records(viewOf(sessionId))
    return records
      .toSorted((one, other) => Number(one.key) - Number(other.key))
      .map(({ value }) => eventRecordSchema.parse(value))
  }

  async turns(sessionId: string): Promise<readonly TurnRecord[]> {
    const records = await this.store.records(turnsOf(sessionId))
    return records
      .map(({ value }) => turnRecordSchema.parse(value))
      .toSorted((one, other) => one.order - other.order)
  }

  /** The turns that were commanded to stop, with why. */
  async stops(sessionId: string): Promise<ReadonlyMap<string, string>> {
    const records = await this.store.records(stopsOf(sessionId))
    return new Map(records.map(({ key, value }) => [key, stopRecordSchema.parse(value).reason]))
  }

  async result(sessionId: string, callId: string): Promise<ResultRecord | undefined> {
    const record = await this.store.record(resultsOf(sessionId), callId)
    return record === undefined ? undefined : resultRecordSchema.parse(record.value)
  }

  /** Forgets a session with all that is kept of it; nothing when a host has taken it in between. */
  async forget(sessionId: string): Promise<void> {
    const kept = await this.store.record(SESSIONS, sessionId)
    if (kept === undefined) return
    const of = await Promise.all(
      [viewOf, turnsOf, stopsOf, resultsOf].map(namespace => this.store.records(namespace(sessionId))),
    )
    await this.write(
      [kept, ...of.flat()].map(({ namespace, key, version }) => ({
        namespace,
        key,
        value: null,
        expectedVersion: version,
      })),
    )
  }

  /** Writes all or nothing. False when one of the records was written by somebody else in between. */
  async write(writes: readonly RecordWrite[]): Promise<boolean> {
    return (await this.store.writeRecords(writes)) === undefined
  }
}

export function sessionWrite(record: SessionRecord, expectedVersion: number): RecordWrite {
  return { namespace: SESSIONS, key: record.sessionId, value: toJson(record), expectedVersion }
}

/** Fails when another host has written this place of the view: then that one holds the session. */
export function eventWrite(sessionId: string, n: number, event: EventRecord): RecordWrite {
  return {
    namespace: viewOf(sessionId),
    key: String(n).padStart(12, '0'),
    value: toJson(event),
    expectedVersion: 0,
  }
}

export function turnWrite(sessionId: string, turn: TurnRecord): RecordWrite {
  return { namespace: turnsOf(sessionId), key: turn.turnId, value: toJson(turn), expectedVersion: 0 }
}

/** Says that a turn is to stop, whichever host runs it. */
export function stopWrite(sessionId: string, turnId: string, reason: string): RecordWrite {
  return { namespace: stopsOf(sessionId), key: turnId, value: { reason } }
}

export function resultWrite(sessionId: string, callId: string, result: ResultRecord): RecordWrite {
  return { namespace: resultsOf(sessionId), key: callId, value: toJson(result) }
}

function viewOf(sessionId: string): string {
  return `wire-view/${sessionId}`
}

function turnsOf(sessionId: string): string {
  return `wire-turns/${sessionId}`
}

function stopsOf(sessionId: string): string {
  return `wire-stops/${sessionId}`
}

function resultsOf(sessionId: string): string {
  return `wire-results/${sessionId}`
}

// Drops what JSON does not hold, such as members that are undefined.
function toJson(value: object): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue
}
