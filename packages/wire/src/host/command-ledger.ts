import { createHash } from 'node:crypto'
import type { InboxStore, JsonValue, RecordWrite } from '@handraise/inbox'
import { canonicalJson } from '@handraise/user-questions/types'
import { z } from 'zod'
import { errorObjectSchema, WireError, type ErrorObject } from '../protocol/index.ts'

const COMMANDS = 'wire-commands'

const ackSchema = z.union([
  z.object({ result: z.record(z.string(), z.unknown()) }),
  z.object({ error: errorObjectSchema }),
])

/** What a command was answered with, once and for all. */
export type Ack = { readonly result: object } | { readonly error: ErrorObject }

const recordSchema = z.object({
  method: z.string(),
  digest: z.string(),
  at: z.number(),
  ack: ackSchema.optional(),
})

/** A command that was taken in and has no ack yet. */
export interface Intake {
  readonly commandId: string
  readonly method: string
  readonly digest: string
  readonly at: number
}

/**
 * What came in under which command id (MSP, idempotency). Every command is written down before it is done; the same id
 * with the same payload gets the same ack, across a restart too, and with another payload `command_id_conflict`.
 */
export class CommandLedger {
  private readonly store: InboxStore
  private readonly now: () => number

  constructor(store: InboxStore, now: () => number) {
    this.store = store
    this.now = now
  }

  /**
   * Takes a command in. Returns its ack when it has one; an intake without one is done again, which every command bears:
   * what it did before is found by its id. Rejects with `commandRejected`, reason `command_id_conflict`.
   */
  async take(commandId: string, method: string, params: unknown): Promise<Intake | Ack> {
    const digest = createHash('sha256').update(canonicalJson(params)).digest('base64url')
    const known = await this.read(commandId)
    if (known === undefined) {
      const intake = { method, digest, at: this.now() }
      const write = { namespace: COMMANDS, key: commandId, value: intake, expectedVersion: 0 }
      if ((await this.store.writeRecords([write])) === undefined) return { commandId, ...intake }
      return this.take(commandId, method, params)
    }
    if (known.method !== method || known.digest !== digest) {
      throw new WireError(
        'commandRejected',
        `the command id ${commandId} was used for something else; mint a new one`,
        {
          commandId,
          reason: 'command_id_conflict',
        },
      )
    }
    return known.ack ?? { commandId, method, digest, at: known.at }
  }

  /** The write that gives a command its ack, to be done together with what the command does. */
  ackWrite({ commandId, method, digest, at }: Intake, ack: Ack): RecordWrite {
    const value = { method, digest, at, ack } as unknown as JsonValue
    return { namespace: COMMANDS, key: commandId, value }
  }

  async settle(intake: Intake, ack: Ack): Promise<void> {
    await this.store.writeRecords([this.ackWrite(intake, ack)])
  }

  /** The write that gives a command that was accepted another ack: what it deferred has failed. */
  async rejectionWrite(commandId: string, error: WireError): Promise<readonly RecordWrite[]> {
    const known = await this.read(commandId)
    if (known === undefined) return []
    const value = { ...known, ack: { error: error.toErrorObject() } } as unknown as JsonValue
    return [{ namespace: COMMANDS, key: commandId, value }]
  }

  /** Forgets what came in before `before`, in milliseconds since the Unix epoch. */
  async prune(before: number): Promise<void> {
    for (const { key, value, version } of await this.store.records(COMMANDS)) {
      const at = recordSchema.safeParse(value).data?.at ?? 0
      if (at < before)
        await this.store.writeRecords([{ namespace: COMMANDS, key, value: null, expectedVersion: version }])
    }
  }

  private async read(commandId: string) {
    const record = await this.store.record(COMMANDS, commandId)
    return record === undefined ? undefined : recordSchema.parse(record.value)
  }
}

export function isAck(taken: Intake | Ack): taken is Ack {
  return 'result' in taken || 'error' in taken
}
