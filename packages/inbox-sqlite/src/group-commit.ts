import { failedError, isBusy, lockedError, retryDelayMs, sqliteCodeOf } from './busy.ts'
import type { SqliteDatabase, SqliteStatement } from './client.ts'
import type { Writer } from './writer.ts'

/** How long commands that come one by one may go without a turn of the event loop in between. */
const TURN_MS = 2

/** A batch ends at so many commands, or after so long, so that the event loop gets its turn. */
const BATCH_COMMANDS = 256
const BATCH_MS = 8

interface Job {
  /** Runs once for each try of its transaction. */
  readonly run: () => unknown
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
  readonly givenAt: number
}

type Ending = { readonly value: unknown } | { readonly error: unknown }

/**
 * Runs all commands given in one turn of the event loop in one transaction, in their order, so that they pay for one
 * commit together. Each is all or nothing by itself, and is told its result after the commit.
 */
export class GroupCommit {
  private queue: Job[] = []
  private scheduled = false
  private alone = true
  private turnedAt = -Infinity
  private readonly db: SqliteDatabase
  private readonly writer: Writer
  private readonly lockWaitMs: number
  private readonly onLogged: () => void
  private readonly begin: SqliteStatement
  private readonly commit: SqliteStatement
  private readonly whenIdle: (() => void)[] = []

  /** `onLogged` is called after each commit that made the log grow. */
  constructor(db: SqliteDatabase, writer: Writer, lockWaitMs: number, onLogged: () => void) {
    this.db = db
    this.writer = writer
    this.lockWaitMs = lockWaitMs
    this.onLogged = onLogged
    this.begin = db.prepare('BEGIN IMMEDIATE')
    this.commit = db.prepare('COMMIT')
  }

  /** `run` must decide by reading before it writes, and may be run more than once. */
  submit<T>(run: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const settle = resolve as (value: unknown) => void
      this.queue.push({ run, resolve: settle, reject, givenAt: performance.now() })
      this.schedule()
    })
  }

  /** Resolves when every command was told its result. */
  idle(): Promise<void> {
    return new Promise(resolve => {
      if (this.queue.length === 0) resolve()
      else this.whenIdle.push(resolve)
    })
  }

  private schedule(): void {
    if (this.scheduled) return
    this.scheduled = true
    // Where the last command came alone, this one is not kept waiting for others. Otherwise all that this turn of the
    // event loop brings come together: those that one commit woke, and those whose sockets were ready at once.
    if (this.alone && performance.now() - this.turnedAt < TURN_MS) queueMicrotask(() => this.flush())
    else
      setImmediate(() => {
        this.turnedAt = performance.now()
        this.flush()
      })
  }

  private flush(): void {
    this.scheduled = false
    let logged = false
    let endings: readonly Ending[]
    try {
      const before = this.start()
      endings = this.runBatch()
      logged = this.writer.end > before
    } catch (error) {
      this.rollBack()
      if (isBusy(error)) {
        this.retryLater(error)
        return
      }
      const failed = failedError('the store could not write', error)
      endings = this.queue.slice(0, BATCH_COMMANDS).map(() => ({ error: failed }))
    }
    this.tell(endings)
    if (logged) this.onLogged()
  }

  private start(): number {
    this.rollBack()
    this.begin.run()
    this.writer.refresh()
    return this.writer.end
  }

  private runBatch(): readonly Ending[] {
    const end = performance.now() + BATCH_MS
    const endings: Ending[] = []
    for (const job of this.queue) {
      try {
        endings.push({ value: job.run() })
      } catch (error) {
        if (!this.isOfCommand(error)) throw error
        // What it wrote before it threw goes together with the batch, which is run again with a way back.
        this.rollBack()
        this.start()
        return this.runGuardedBatch(endings.length + 1)
      }
      if (endings.length === BATCH_COMMANDS || performance.now() > end) break
    }
    this.commit.run()
    return endings
  }

  private runGuardedBatch(count: number): readonly Ending[] {
    const endings = this.queue.slice(0, count).map(job => this.runGuarded(job))
    this.commit.run()
    return endings
  }

  private runGuarded({ run }: Job): Ending {
    this.db.exec('SAVEPOINT command')
    let ending: Ending
    try {
      ending = { value: run() }
    } catch (error) {
      if (!this.isOfCommand(error)) throw error
      this.db.exec('ROLLBACK TO command')
      this.writer.refresh()
      ending = { error }
    }
    this.db.exec('RELEASE command')
    return ending
  }

  /** False for what is wrong with the file or the disk, where the commands after this one would fare no better. */
  private isOfCommand(error: unknown): boolean {
    const code = sqliteCodeOf(error)
    const its = code === undefined || /^SQLITE_(?:CONSTRAINT|MISMATCH|RANGE|TOOBIG|ERROR)/u.test(code)
    return its && this.db.open && this.db.inTransaction
  }

  private tell(endings: readonly Ending[]): void {
    const done = this.queue.splice(0, endings.length)
    this.alone = done.length === 1
    for (const [index, { resolve, reject }] of done.entries()) {
      const ending = endings[index]
      if (ending === undefined) continue
      if ('error' in ending) reject(ending.error)
      else resolve(ending.value)
    }
    if (this.queue.length > 0) this.schedule()
    else for (const resolve of this.whenIdle.splice(0)) resolve()
  }

  private retryLater(error: unknown): void {
    this.scheduled = true
    const given = performance.now() - this.lockWaitMs
    const late = this.queue.findIndex(({ givenAt }) => givenAt > given)
    const count = late === -1 ? this.queue.length : late
    this.tell(Array.from({ length: count }, () => ({ error: lockedError(this.lockWaitMs, error) })))
    if (this.queue.length === 0) this.scheduled = false
    else setTimeout(() => this.flush(), retryDelayMs())
  }

  private rollBack(): void {
    if (!this.db.open || !this.db.inTransaction) return
    try {
      this.db.exec('ROLLBACK')
    } catch {
      // Then the next BEGIN fails, and says so to those who wait for it.
    }
  }
}
