import { z } from 'zod'
import { delayBefore, pause } from './attempts.ts'
import { attemptBatch, leastTime, type BatchEnd } from './batch-attempts.ts'
import { CommandOrder } from './command-order.ts'
import type { Command } from './commands.ts'
import type { Connection, RunLimits } from './connection.ts'
import { PostgresStoreError } from './error.ts'
import { loneCommand } from './lone-command.ts'

/** A batch ends at so many commands, or at so many characters, so that those of other hosts get their turn. */
const BATCH_COMMANDS = 256
const BATCH_CHARACTERS = 4_000_000
/** The share of the usual time that the server lets what is sent first run. A full batch takes some milliseconds. */
export const FIRST_SHARE = 1 / 8

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

const outcomeRows = z.array(outcomeRow)

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
  /** How often it was what the server stumbled over. From then on it takes no other command with it. */
  failedAlone: number
  /** With how many it may be sent at most, itself counted: fewer while it is looked for what the server stumbles over. */
  company: number
  /** Whether it waits for its next attempt. */
  pausing: boolean
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
  /** What comes to nothing by itself, and waits for its next attempt. */
  private readonly aside = new Set<Job>()
  /** Those of them whose next attempt is due. */
  private readonly due: Job[] = []
  private readonly order = new CommandOrder<Job>()
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
      this.give({
        command,
        token,
        kept,
        resolve,
        reject,
        givenAt: performance.now(),
        failedAlone: 0,
        company: BATCH_COMMANDS,
        pausing: false,
      })
    })
  }

  /** Resolves when every command was told its outcome. */
  idle(): Promise<void> {
    return new Promise(resolve => {
      if (this.sending || this.aside.size > 0) this.whenIdle.push(resolve)
      else resolve()
    })
  }

  private give(job: Job): void {
    this.queue.push(job)
    this.begin()
  }

  private begin(): void {
    if (this.sending) return
    this.sending = true
    // All that is given in this turn goes together.
    queueMicrotask(() => void this.sendAll())
  }

  private async sendAll(): Promise<void> {
    while (this.queue.length > 0 || this.due.length > 0) {
      if (this.queue.length > 0) await this.sendOrSplit(this.take())
      const job = this.due.shift()
      if (job !== undefined) await this.sendOrSplit([job])
    }
    this.sending = false
    this.tellIdle()
  }

  private tellIdle(): void {
    if (this.sending || this.aside.size > 0) return
    for (const resolve of this.whenIdle.splice(0)) resolve()
  }

  private take(): Job[] {
    let characters = 0
    let most = BATCH_COMMANDS
    const end = this.queue.findIndex(({ command, company }, index) => {
      characters += lengthOf(command)
      most = Math.min(most, company)
      return index > 0 && (index >= most || characters > BATCH_CHARACTERS)
    })
    return this.queue.splice(0, end === -1 ? this.queue.length : end)
  }

  private async sendOrSplit(given: readonly Job[]): Promise<void> {
    const batch = given.filter(job => this.aside.has(job) || !this.order.goesBehind(job))
    if (batch.length === 0) return
    try {
      const end = await this.send(batch)
      if (end.kind === 'done') this.tell(end.jobs, end.result)
      if (end.kind === 'stumbled') this.goOnWithout(end)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
    // Whatever it was told.
    for (const job of batch) if (this.aside.has(job) && !job.pausing) this.takeBack(job)
  }

  /** One command that the database does not take is to take no other with it. */
  private goOnWithout(end: BatchEnd<Job, unknown> & { kind: 'stumbled' }): void {
    const { jobs, at, refused, cause } = end
    if (at === undefined) for (const job of jobs) job.company = Math.ceil(jobs.length / 2)
    else if (refused) at.reject(new PostgresStoreError('DATABASE_REFUSED', cause))
    else void this.setAside(at, end)
    this.queue.unshift(...jobs.filter(job => job !== at))
  }

  /** Lets the others go on, until it is this one's turn again. What touches the same waits for that. */
  private async setAside(job: Job, { cause, tookMs }: { cause: unknown; tookMs: number }): Promise<void> {
    job.failedAlone += 1
    if (!this.aside.has(job)) {
      this.aside.add(job)
      this.order.hold(job)
    }
    // The others have the log for at least as long as this one had it locked for nothing.
    const waitMs = Math.max(delayBefore(job.failedAlone), tookMs)
    job.pausing = true
    if (performance.now() + waitMs + leastTime(this.waitMs) <= job.givenAt + this.waitMs) {
      await pause(waitMs, [this.ended])
      if (!this.ended.aborted) {
        job.pausing = false
        this.due.push(job)
        this.begin()
        return
      }
    }
    job.reject(new PostgresStoreError('DATABASE_UNREACHABLE', cause))
    this.takeBack(job)
  }

  /** It has come to something, and what went behind it goes on. */
  private takeBack(job: Job): void {
    this.aside.delete(job)
    this.queue.unshift(...this.order.release(job))
    if (this.queue.length > 0) this.begin()
    else this.tellIdle()
  }

  private send(jobs: readonly Job[]): Promise<BatchEnd<Job, readonly Outcome[]>> {
    if (this.ended.aborted) throw new PostgresStoreError('DATABASE_UNREACHABLE', 'the store was closed')
    this.number += 1
    const { number, ended, waitMs } = this
    return attemptBatch(jobs, {
      attempt: async (sent, end) => outcomeRows.parse(await this.attempt(sent, number, end)),
      waitMs,
      ended,
      once: (jobs[0]?.company ?? 0) < BATCH_COMMANDS,
    })
  }

  private async attempt(jobs: readonly Job[], number: number, end: number): Promise<readonly unknown[]> {
    const [first] = jobs
    // With the log locked every host waits for it. What takes long by itself is given longer each time.
    const limits: RunLimits = { end, share: Math.min(1, FIRST_SHARE * 2 ** (first?.failedAlone ?? 0)) }
    const commands = jobs.map(job => this.commandNow(job))
    const lone = first && commands[0] && jobs.length === 1 ? loneCommand(commands[0], first.token) : undefined
    if (lone !== undefined) {
      const rows = await this.connection.run(lone.statement, lone.values, limits)
      if (rows.length > 0) return rows
    }
    const kept = jobs.some(job => job.kept)
    const text = `[${commands.map((command, index) => JSON.stringify({ ...command, token: jobs[index]?.token })).join(',')}]`
    return this.connection.run(APPLY, [this.writer, number, kept, text], limits)
  }

  private commandNow({ command, givenAt }: Job): Command {
    const { from_now: fromNow } = command
    return fromNow === undefined ? command : { ...command, from_now: fromNow - (performance.now() - givenAt) }
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
