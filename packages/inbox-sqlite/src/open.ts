import { resolve } from 'node:path'
import { InboxError, type InboxStore } from '@handraise/inbox'
import { codeOf, isBusy, untilFree } from './busy.ts'
import { loadClient, type SqliteClient, type SqliteDatabase } from './client.ts'
import { prepareFile } from './inspect.ts'
import { migrate, unreadable } from './schema.ts'
import { SqliteStore } from './store.ts'

export interface SqliteStoreOptions {
  /** The database file, created when it is missing; `:memory:` keeps nothing. Its directory must exist. */
  readonly file: string
  /** What opens a connection. Default: the default export of `better-sqlite3`, loaded when this is called. */
  readonly database?: SqliteClient | undefined
  /** How often to look for what other processes wrote, while somebody watches. 1 to 50 ms, default 20. */
  readonly pollMs?: number | undefined
  /** How long to wait for another process that holds the file locked. Default 30,000 ms. */
  readonly lockWaitMs?: number | undefined
}

const IN_MEMORY = ':memory:'

/**
 * Opens the store in a SQLite file. Several processes may hold one file.
 *
 * Rejects with `InboxError` `STORE_UNREADABLE` for a file that is not a store of this package, or is damaged, or
 * cannot be read and written; that file is left as it is.
 */
export async function openSqliteStore({
  file,
  database,
  pollMs = 20,
  lockWaitMs = 30_000,
}: SqliteStoreOptions): Promise<InboxStore> {
  if (!(pollMs >= 1 && pollMs <= 50)) throw new RangeError(`pollMs must be from 1 to 50, not ${pollMs}`)
  const Client = database ?? (await loadClient())
  const connectTo = file === IN_MEMORY ? connectInMemory : connect
  const db = await untilFree(() => connectTo(Client, file), lockWaitMs)
  return new SqliteStore(db, { pollMs, lockWaitMs })
}

function connect(Client: SqliteClient, file: string): SqliteDatabase {
  // better-sqlite3 would trim the name by itself.
  const given = resolve(file.trim())
  try {
    const path = prepareFile(Client, given)
    return setUp(new Client(path, { fileMustExist: true, timeout: 0 }), given)
  } catch (error) {
    if (isBusy(error) || InboxError.isInstance(error)) throw error
    throw unreadable(given, whyOf(error), error)
  }
}

function connectInMemory(Client: SqliteClient): SqliteDatabase {
  return setUp(new Client(IN_MEMORY, { timeout: 0 }), IN_MEMORY)
}

function setUp(db: SqliteDatabase, file: string): SqliteDatabase {
  try {
    // The build's own default is NORMAL once the file has a write-ahead log, and is per connection.
    db.exec('PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON')
    // Before the write-ahead log, so that the file itself says whose it is from its first commit on.
    migrate(db, file)
    const mode = db.pragma('journal_mode = WAL', { simple: true })
    if (file !== IN_MEMORY && mode !== 'wal') {
      throw unreadable(
        file,
        `its file system allows no write-ahead log (the journal mode stays ${String(mode)})`,
      )
    }
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

function whyOf(error: unknown): string {
  const code = codeOf(error) ?? ''
  const said = error instanceof Error ? error.message : String(error)
  if (code.startsWith('SQLITE_NOTADB')) return 'it is not a SQLite database'
  if (code.startsWith('SQLITE_CORRUPT')) return `it is damaged (${said})`
  if (/^(?:SQLITE_(?:CANTOPEN|PERM|READONLY)|EACCES|EPERM|EROFS)/u.test(code))
    return `this user may not read and write it and its directory (${said})`
  return said
}
