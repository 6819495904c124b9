import { InboxError } from '@handraise/inbox'
import { z } from 'zod'
import type { Connection } from './connection.ts'
import { sqlStateOf } from './error.ts'
import { APPLICATION, MIGRATIONS } from './schema.ts'

const marks = z.tuple([
  z.object({ encoding: z.string(), server: z.coerce.number(), store: z.boolean(), others: z.boolean() }),
])
const storeRows = z.tuple([z.object({ application: z.string(), version: z.number(), id: z.string() })])

/** The oldest server this runs on. */
const OLDEST_SERVER = 14

const LOOK = `SELECT current_setting('server_encoding') AS encoding, current_setting('server_version_num') AS server,
  to_regclass(quote_ident($1) || '.store') IS NOT NULL AS store,
  EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1
    AND c.relname IN ('requests', 'log', 'records', 'deleted_records', 'batches', 'positions')) AS others`

/**
 * Brings the schema to the latest version, all steps or none, and returns the id of the store in it. Of hosts that start at
 * once one does it, and the others wait. Rejects with `STORE_UNREADABLE` for a schema it must not touch, and comes to something
 * by the instant `end` of `performance.now()`.
 */
export async function migrate(
  connection: Connection,
  schema: string,
  migrations: readonly string[] = MIGRATIONS,
  end = Infinity,
): Promise<string> {
  const found = await look(connection, schema, migrations.length, end)
  if (found?.version === migrations.length) return found.id
  try {
    await connection.run(scriptOf(schema, migrations), [], { end, share: 1 })
  } catch (error) {
    // One host brought it up while this one waited: what this one went by does not hold any more.
    if (sqlStateOf(error) !== CHANGED_MEANWHILE) throw error
  }
  const made = await look(connection, schema, migrations.length, end)
  if (made === undefined) throw unreadable(schema, 'it was removed while it was made')
  return made.id
}

/** Raised on purpose, and by nothing else in the script. */
const CHANGED_MEANWHILE = 'HR001'

/** One message, so one transaction: a host that ends in the middle leaves nothing. */
function scriptOf(schema: string, migrations: readonly string[]): string {
  const steps = migrations.map(
    (step, version) => `
      DO $guard$ BEGIN IF (SELECT version FROM store) = ${version} THEN
        EXECUTE $migration$${step}$migration$;
        UPDATE store SET version = ${version + 1};
      END IF; END $guard$;`,
  )
  return `SELECT pg_advisory_xact_lock(1752328546, hashtext('${schema}'));
    DO $guard$ BEGIN IF to_regnamespace('"${schema}"') IS NULL THEN CREATE SCHEMA "${schema}"; END IF; END $guard$;
    CREATE TABLE IF NOT EXISTS store (
      one boolean PRIMARY KEY DEFAULT true CHECK (one),
      application text NOT NULL,
      version integer NOT NULL,
      id text NOT NULL,
      pruned_through bigint NOT NULL
    );
    INSERT INTO store (application, version, id, pruned_through)
      VALUES ('${APPLICATION}', 0, replace(gen_random_uuid()::text, '-', ''), 0) ON CONFLICT DO NOTHING;
    DO $guard$ BEGIN IF (SELECT version FROM store) > ${migrations.length} THEN
      RAISE EXCEPTION 'brought up by another host' USING ERRCODE = '${CHANGED_MEANWHILE}';
    END IF; END $guard$;
    ${steps.join('')}`
}

async function look(
  connection: Connection,
  schema: string,
  latest: number,
  end: number,
): Promise<{ version: number; id: string } | undefined> {
  const [mark] = marks.parse(await connection.run(LOOK, [schema], { end }))
  const major = Math.trunc(mark.server / 10_000)
  if (major < OLDEST_SERVER)
    throw unreadable(schema, `the server is PostgreSQL ${major}, and ${OLDEST_SERVER} or newer is needed`)
  if (mark.encoding !== 'UTF8') throw unreadable(schema, `its database is in ${mark.encoding}, not in UTF8`)
  if (!mark.store) {
    if (mark.others) throw unreadable(schema, 'it holds tables of something else')
    return undefined
  }
  const [{ application, version, id }] = await readStore(connection, schema, end)
  if (application !== APPLICATION) throw unreadable(schema, 'its table "store" is of something else')
  if (version < 1) throw unreadable(schema, `it says to be of version ${version}, which there never was`)
  if (version > latest) {
    throw unreadable(
      schema,
      `it was written by a newer version of @handraise/inbox-postgres (its schema is ${version}, the latest known here is ${latest}); update the package`,
    )
  }
  return { version, id }
}

async function readStore(
  connection: Connection,
  schema: string,
  end: number,
): Promise<z.infer<typeof storeRows>> {
  try {
    const rows = await connection.run('SELECT application, version, id FROM store', [], { end })
    const read = storeRows.safeParse(rows)
    if (read.success) return read.data
    throw unreadable(schema, 'its table "store" is of something else', read.error)
  } catch (error) {
    if (sqlStateOf(error) !== '42703') throw error
    throw unreadable(schema, 'its table "store" is of something else', error)
  }
}

export function unreadable(schema: string, why: string, cause?: unknown): InboxError<'STORE_UNREADABLE'> {
  const store = `the schema ${schema}`
  return new InboxError('STORE_UNREADABLE', { store, why }, cause === undefined ? {} : { cause })
}
