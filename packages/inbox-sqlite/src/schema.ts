import { InboxError } from '@handraise/inbox'
import type { SqliteDatabase } from './client.ts'

/** "hrib", in the header of every file of this package. */
export const APPLICATION_ID = 0x68_72_69_62

/**
 * What makes each version of the schema from the one before; `user_version` counts those that were run. A released
 * one is never changed.
 *
 * A request's `position` is that of its opening in the log. `settled_position` is null while it is pending, so the
 * indices that begin with it hold the pending requests in the order of their opening, then the settled ones in the
 * order of their settling. Instants are REAL so that any number a clock gives comes back; SQLite stores whole ones as
 * integers. A deleted record leaves its last version, so that none comes back. Where a log entry's request was pruned the entry is unreadable, hence no foreign key.
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE store (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    id TEXT NOT NULL,
    pruned_through INTEGER NOT NULL
  ) STRICT;
  INSERT INTO store VALUES (1, lower(hex(randomblob(16))), 0);

  CREATE TABLE requests (
    position INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    session TEXT NOT NULL,
    key TEXT,
    agent TEXT,
    owner TEXT,
    opened_at REAL NOT NULL,
    deadline_at REAL,
    settled_at REAL,
    settled_position INTEGER,
    digest TEXT NOT NULL,
    command_digest TEXT,
    settlement TEXT,
    payload TEXT NOT NULL,
    CHECK ((settled_position IS NULL) = (settlement IS NULL))
  ) STRICT;
  CREATE UNIQUE INDEX requests_by_key ON requests (session, key) WHERE key IS NOT NULL;
  CREATE INDEX requests_by_settlement ON requests (settled_position);
  CREATE INDEX requests_by_session ON requests (session, settled_position);
  CREATE INDEX requests_by_settled_at ON requests (settled_at) WHERE settled_at IS NOT NULL;
  CREATE INDEX requests_by_deadline ON requests (deadline_at)
    WHERE deadline_at IS NOT NULL AND settled_position IS NULL;
  CREATE INDEX requests_by_owner ON requests (owner) WHERE owner IS NOT NULL AND settled_position IS NULL;

  CREATE TABLE log (
    position INTEGER PRIMARY KEY,
    change TEXT NOT NULL CHECK (change IN ('opened', 'engaged', 'settled')),
    request INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE records (
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (namespace, key)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE deleted_records (
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (namespace, key)
  ) STRICT, WITHOUT ROWID;
  `,
]

/** Brings the file to the latest version, all steps or none. Throws `STORE_UNREADABLE` for a file it must not touch. */
export function migrate(db: SqliteDatabase, file: string, migrations = MIGRATIONS): void {
  db.exec('BEGIN IMMEDIATE')
  try {
    const version = versionOf(db, file, migrations.length)
    if (version < migrations.length) {
      for (const migration of migrations.slice(version)) db.exec(migration)
      db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${migrations.length}`)
    }
    db.exec('COMMIT')
  } catch (error) {
    if (db.inTransaction) db.exec('ROLLBACK')
    throw error
  }
}

/** The version of the schema in a file of this package, 0 for an empty one. Refuses any other file. */
export function versionOf(db: SqliteDatabase, file: string, latest = MIGRATIONS.length): number {
  const application = Number(db.pragma('application_id', { simple: true }))
  const version = Number(db.pragma('user_version', { simple: true }))
  const isEmpty = (): boolean => db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined
  if (application === 0 && version === 0 && isEmpty()) return 0
  judgeHeader(application, version, file, latest)
  return version
}

export function judgeHeader(
  application: number,
  version: number,
  file: string,
  latest = MIGRATIONS.length,
): void {
  if (application !== APPLICATION_ID) throw unreadable(file, 'it is a SQLite database of something else')
  if (version > latest) {
    throw unreadable(
      file,
      `it was written by a newer version of @handraise/inbox-sqlite (its schema is ${version}, the latest known here is ${latest}); update the package`,
    )
  }
}

export function unreadable(store: string, why: string, cause?: unknown): InboxError<'STORE_UNREADABLE'> {
  return new InboxError('STORE_UNREADABLE', { store, why }, cause === undefined ? {} : { cause })
}
