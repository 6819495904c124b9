import type { InboxStore } from '@handraise/inbox'
import pg from 'pg'
import { persist } from './attempts.ts'
import type { PgClientClass } from './client.ts'
import { FIRST_SHARE } from './batches.ts'
import { Connection, statementTime } from './connection.ts'
import { migrate } from './migrate.ts'
import { MIGRATIONS } from './schema.ts'
import { PostgresStore } from './store.ts'

export interface PostgresStoreOptions {
  /** Where the database is, such as `postgres://user:password@host:5432/database`. What it leaves out comes from the environment, as `pg` reads it. */
  readonly url: string
  /** The schema that holds the tables, made when it is missing: lower-case letters, digits and `_`. Default `handraise`. */
  readonly schema?: string | undefined
  /** What makes a connection. Default: `Client` of `pg`. */
  readonly client?: PgClientClass | undefined
  /** How many connections read; one more writes, and one listens. Default 2. */
  readonly readers?: number | undefined
  /** How long a call tries to reach the database, in milliseconds. Default 30,000. */
  readonly waitMs?: number | undefined
  /** How long a connection may take to be made, in milliseconds. Default 5,000. */
  readonly connectTimeoutMs?: number | undefined
  /** How long one statement may take until its connection counts as lost, in milliseconds. Default 10,000. */
  readonly queryTimeoutMs?: number | undefined
  /** How long `close` waits for what is under way, in milliseconds; what is not done by then ends with a code. Default 2,000. */
  readonly closeMs?: number | undefined
  /** How often to look for what nobody told, and whether the connection that listens is alive, in milliseconds. Default 1,000. */
  readonly pollMs?: number | undefined
  /** The clock by which this host gives deadlines, in milliseconds since the Unix epoch. Default `Date.now`. */
  readonly now?: (() => number) | undefined
}

/**
 * Opens the store in a PostgreSQL database. Any number of hosts may hold one database.
 *
 * Rejects with `InboxError` `STORE_UNREADABLE` for a database or schema that is not one of this package or that this version
 * does not know, and leaves it as it is; with `PostgresStoreError` `DATABASE_UNREACHABLE` when it cannot be reached within
 * `waitMs`, and `DATABASE_REFUSED` when it lets this user not in, or the URL, its
 * certificates or TLS could not do at any time.
 */
export async function openPostgresStore({
  url,
  schema = 'handraise',
  client = pg.Client,
  readers = 2,
  waitMs = 30_000,
  connectTimeoutMs = 5_000,
  queryTimeoutMs = 10_000,
  closeMs = 2_000,
  pollMs = 1_000,
  now = Date.now,
}: PostgresStoreOptions): Promise<InboxStore> {
  if (!/^[a-z_][a-z0-9_]{0,62}$/u.test(schema))
    throw new RangeError(`${JSON.stringify(schema)} is no name of a schema: lower-case letters, digits and _`)
  if (!(readers >= 1)) throw new RangeError(`at least one connection must read, not ${readers}`)
  const connect = { Client: client, url, schema, connectTimeoutMs, queryTimeoutMs }
  const writer = new Connection({
    ...connect,
    statementMs: statementTime(queryTimeoutMs, FIRST_SHARE, waitMs),
  })
  const settings = { readers: Math.trunc(readers), waitMs, closeMs, pollMs, now }
  const store = new PostgresStore(connect, writer, settings)
  try {
    const end = performance.now() + waitMs
    const opening = { end, ended: new AbortController().signal }
    const id = await persist(until => migrate(writer, schema, MIGRATIONS, until), opening)
    await persist(until => store.start(`handraise_${id}`, until), opening)
    return store
  } catch (error) {
    await store.close()
    throw error
  }
}
