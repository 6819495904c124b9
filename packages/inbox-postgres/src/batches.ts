import { InboxError } from '@handraise/inbox'
import { z } from 'zod'
import { persist } from './attempts.ts'
import type { Command } from './commands.ts'
import type { Connection } from './connection.ts'
import { PostgresStoreError } from './error.ts'
import { loneCommand } from './lone-command.ts'

/** A batch ends at so many commands, or at so many characters, so that those of other hosts get their turn. */
const BATCH_COMMANDS = 256
const BATCH_CHARACTERS = 4_000_000

const outcomeRow = z.looseObject({
  status: z.enum([
    'opened',
    'joined',
    'keyConflict',
    'idTaken',
    'recordConflict',
    'unknown',
    'alreadySettled',
    'repeated',
    'commandConflict',
    'notDue',
    'settled',
    'engaged',
    'none',
    'written',
    'pruned',
  ]),
  detail: z.number().nullable(),
})

/** What a command came to, with the columns of its request where that was there before, or is settled now. */
export type Outcome = z.infer<typeof outcomeRow>

interface Job {
  readonly command: Command
  /** Names the command, so that it is known again when its answer was lost. */
  readonly token: string
  /** True of what can only be told from the batch if it was carried out. */
  readonly kept: boolean
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
  readonly givenAt: number
}

const APPLY = { name: 'apply', text: 'SELECT * FROM apply_commands($1, $2, $3, $4)' }
/** Those whose request tells that they were carried out. */
const TRACED = new Set<Command['op']>(['open', 'settle'])
/** Those after which the log is longer. */
const LOGGED = new Set<Outcome['status']>(['opened', 'engaged', 'settled'])

/**
 * Sends commands in batches, one at a time: all that were given while the one before was under way share one round trip and
 * one commit. Each is all or nothing by itself, and is told its outcome after the commit.
 */
export class Batches {
  private readonly writer = crypto.randomUUID()
  private readonly connection: Connection
  private readonly waitMs: number
  private readonly onLogged: () => void
  private readonly ended: AbortSignal
  private readonly queue: Job[] = []
  private sending = false
  private number = 0
  private readonly whenIdle: (() => void)[] = []

  /** `onLogged` is called after each commit that made the log grow. When `ended` aborts, nothing is tried again. */
  constructor(connection: Connection, waitMs: number, onLogged: () => void, ended: AbortSignal) {
    this.connection = connection
    this.waitMs = waitMs
    this.onLogged = onLogged
    this.ended = ended
  }

  submit(command: Command): Promise<Outcome> {
    const token = crypto.randomUUID()
    const kept = command.records !== undefined || !TRACED.has(command.op)
    return new Promise((resolve, reject) => {
      this.queue.push({ command, token, kept, resolve, reject, givenAt: performance.now() })
      if (this.sending) return
      this.sending = true
      // All that is given in this turn goes together.
      queueMicrotask(() => void this.sendAll())
    })
  }

  /** Resolves when every command was told its outcome. */
  idle(): Promise<void> {
    return new Promise(resolve => {
      if (this.sending) this.whenIdle.push(resolve)
      else resolve()
    })
  }

  private async sendAll(): Promise<void> {
    while (this.queue.length > 0) await this.sendOrSplit(this.take())
    this.sending = false
    for (const resolve of this.whenIdle.splice(0)) resolve()
  }

  private take(): Job[] {
    let characters = 0
    const end = this.queue.findIndex(({ command }, index) => {
      characters += lengthOf(command)
      return index > 0 && (index === BATCH_COMMANDS || characters > BATCH_CHARACTERS)
    })
    return this.queue.splice(0, end === -1 ? this.queue.length : end)
  }

  private async sendOrSplit(jobs: readonly Job[]): Promise<void> {
    try {
      this.tell(jobs, await this.send(jobs))
    } catch (error) {
      // One command that the database refuses is to take no other with it.
      const refused = PostgresStoreError.isInstance(error) && error.code === 'DATABASE_REFUSED'
      if (refused && jobs.length > 1) for (const job of jobs) await this.sendOrSplit([job])
      else for (const { reject } of jobs) reject(error)
    }
  }

  private send(jobs: readonly Job[]): Promise<readonly Outcome[]> {
    if (this.ended.aborted) throw new InboxError('STORE_CLOSED', {})
    const end = (jobs[0]?.givenAt ?? 0) + this.waitMs
    this.number += 1
    const { number } = this
    return persist(
      async until => z.array(outcomeRow).parse(await this.attempt(jobs, number, until)),
      end,
      this.ended,
    )
  }

  private async attempt(jobs: readonly Job[], number: number, end: number): Promise<readonly unknown[]> {
    const [first] = jobs
    const lone = first && jobs.length === 1 ? loneCommand(first.command, first.token) : undefined
    if (lone !== undefined) {
      const rows = await this.connection.run(lone.statement, lone.values, { end })
      if (rows.length > 0) return rows
    }
    const kept = jobs.some(job => job.kept)
    const commands = `[${jobs.map(({ command, token }) => JSON.stringify({ ...command, token })).join(',')}]`
    return this.connection.run(APPLY, [this.writer, number, kept, commands], { end })
  }

  private tell(jobs: readonly Job[], outcomes: readonly Outcome[]): void {
    if (outcomes.some(({ status }) => LOGGED.has(status))) this.onLogged()
    for (const [index, { resolve, reject }] of jobs.entries()) {
      const outcome = outcomes[index]
      if (outcome === undefined) reject(new Error('the database told no outcome'))
      else resolve(outcome)
    }
  }
}

/** Of what may be long. */
function lengthOf({ payload, settlement, records = [] }: Command): number {
  return [payload, settlement, ...records.map(record => record.value)].reduce<number>(
    (sum, text) => sum + (text?.length ?? 0),
    0,
  )
}
