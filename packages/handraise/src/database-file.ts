import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { MemoryStore, StoreError, type InboxStore } from '@handraise/inbox'
import { CommandError } from './command-error.ts'

/**
 * The file that `--db` names, or the one where an inbox is kept when nothing is named. What this machine keeps for itself
 * stands beside it; where `--db` is the address of a database server, the name is one for that alone.
 */
export function databaseFile(db: string | undefined, env: NodeJS.ProcessEnv = process.env): string {
  const data = env['XDG_DATA_HOME'] ?? join(homedir(), '.local', 'share')
  if (!isAddress(db)) return resolve(db ?? join(data, 'handraise', 'inbox.db'))
  const { host, pathname } = addressOf(db)
  const digest = createHash('sha256').update(`${host}${pathname}`).digest('hex').slice(0, 12)
  return join(data, 'handraise', `postgres-${digest}`)
}

/** Where requests are kept, for people to read: of an address, nothing that lets anybody in. */
export function shownDatabase(db: string | undefined, file: string): string {
  if (!isAddress(db)) return file
  const { protocol, host, pathname } = addressOf(db)
  return `${protocol}//${host}${pathname}`
}

/** Whether `--db` names a database server, which other machines may use as well. */
export function isAddress(db: string | undefined): db is string {
  return db !== undefined && /^postgres(?:ql)?:\/\//u.test(db)
}

function addressOf(db: string): URL {
  if (URL.canParse(db)) return new URL(db)
  throw new CommandError(
    'BAD_USAGE',
    '--db is no address of a database: postgres://USER:PASSWORD@HOST/DATABASE',
  )
}

/** Where an inbox is kept, as it is chosen on the command line. */
export interface DatabaseChoice {
  /** The database file, or the address of a PostgreSQL database. */
  readonly db?: string | undefined
  /** Keeps nothing on disk. */
  readonly memory?: boolean | undefined
}

/** The file that was chosen; none for an inbox in memory. Throws `BAD_USAGE` where both were. */
export function chosenFile({ db, memory }: DatabaseChoice): string | undefined {
  if (memory !== true) return databaseFile(db)
  if (db === undefined) return undefined
  throw new CommandError('BAD_USAGE', '--memory goes without --db')
}

/**
 * Opens what was chosen for a host that another program starts. Rejects with `BAD_CONFIG` when it cannot be used, and with the code of the
 * store where it is the database that is away or refuses it.
 */
export async function openHostStore(file: string | undefined, db?: string): Promise<InboxStore> {
  if (file === undefined) return new MemoryStore()
  try {
    return await openDatabase(file, db)
  } catch (cause) {
    if (cause instanceof CommandError && StoreError.isInstance(cause.cause)) throw cause
    throw new CommandError('BAD_CONFIG', (cause as Error).message, { cause })
  }
}

/** Opens an inbox to keep requests in; the first time there is none yet. */
export async function openDatabase(file: string, db?: string): Promise<InboxStore> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  if (isAddress(db)) return openAddress(db)
  return open(file, '; --memory keeps requests in memory instead')
}

/** Opens an inbox that is there to be looked at: a name that is mistyped makes none. */
export async function openExistingDatabase(file: string, db?: string): Promise<InboxStore> {
  if (isAddress(db)) return openAddress(db)
  if (!existsSync(file))
    throw new CommandError('BAD_INPUT', `there is no inbox in ${file}; name one with --db`)
  return open(file, '')
}

async function open(file: string, advice: string): Promise<InboxStore> {
  try {
    const { openSqliteStore } = await import('@handraise/inbox-sqlite')
    return await openSqliteStore({ file })
  } catch (error) {
    throw new CommandError('INTERNAL', `${(error as Error).message}${advice}`, { cause: error })
  }
}

async function openAddress(url: string): Promise<InboxStore> {
  try {
    const { openPostgresStore } = await import('@handraise/inbox-postgres')
    return await openPostgresStore({ url })
  } catch (error) {
    throw ofStore(error) ?? new CommandError('INTERNAL', (error as Error).message, { cause: error })
  }
}

/** What became of a call on the database, in the store's own words: of whoever runs this command it is no secret. */
export function ofStore(error: unknown): CommandError | undefined {
  if (!StoreError.isInstance(error)) return undefined
  return new CommandError(error.code, error.message, { cause: error })
}
