import type { SqliteDatabase, SqliteStatement } from './client.ts'

/** Those who want to know when the log may have grown. */
export class Watchers {
  private readonly watching = new Set<{ readonly wake: () => void }>()
  private readonly db: SqliteDatabase
  private readonly pollMs: number
  private readonly dataVersion: SqliteStatement
  private timer: ReturnType<typeof setInterval> | undefined
  private seen: unknown

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
  private version(): unknown {
    const row = this.dataVersion.get()
    return typeof row === 'object' && row !== null && 'data_version' in row ? row.data_version : row
  }

  private poll(): void {
    if (!this.db.open) return this.stop()
    let version: unknown
    try {
      version = this.version()
    } catch {
      // Locked for a moment, or unreadable: whoever reads the log will be told.
      version = undefined
    }
    if (version === this.seen) return
    this.seen = version
    this.wakeAll()
  }
}
