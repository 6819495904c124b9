import { z } from 'zod'
import type { SqliteDatabase, SqliteStatement } from './client.ts'

const versionRow = z.object({ data_version: z.number() })

/** Those who want to know when the log may have grown. */
export class Watchers {
  private readonly watching = new Set<{ readonly wake: () => void }>()
  private readonly db: SqliteDatabase
  private readonly pollMs: number
  private readonly dataVersion: SqliteStatement
  private timer: ReturnType<typeof setInterval> | undefined
  private seen: number | undefined

  constructor(db: SqliteDatabase, pollMs: number) {
    this.db = db
    this.pollMs = pollMs
    this.dataVersion = db.prepare('SELECT data_version FROM pragma_data_version')
  }

  add(wake: () => void): () => void {
    const watcher = { wake }
    this.watching.add(watcher)
    if (this.timer === undefined) {
      this.seen = this.version()
      // It alone keeps no process running.
      this.timer = setInterval(() => this.poll(), this.pollMs).unref()
    }
    return () => {
      this.watching.delete(watcher)
      if (this.watching.size === 0) this.stop()
    }
  }

  wakeAll(): void {
    for (const watcher of this.watching) {
      // By itself, so that one that throws takes no other with it, nor the command that woke it.
      queueMicrotask(() => {
        if (this.watching.has(watcher)) watcher.wake()
      })
    }
  }

  clear(): void {
    this.watching.clear()
    this.stop()
  }

  private stop(): void {
    clearInterval(this.timer)
    this.timer = undefined
  }

  /** Changes with every commit of another connection, and with none of this one's. */
  private version(): number | undefined {
    try {
      return versionRow.parse(this.dataVersion.get()).data_version
    } catch {
      // Locked for a moment, or unreadable: counts as a change, and whoever reads the log then is told.
      return undefined
    }
  }

  private poll(): void {
    if (!this.db.open) return this.stop()
    const version = this.version()
    if (version === this.seen) return
    this.seen = version
    this.wakeAll()
  }
}
