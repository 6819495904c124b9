import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { MemoryStore, type InboxStore } from '@handraise/inbox'
import { CommandError } from './command-error.ts'

/** The file that `--db` names, or the one where an inbox is kept when nothing is named. */
export function databaseFile(db: string | undefined, env: NodeJS.ProcessEnv = process.env): string {
  const data = env['XDG_DATA_HOME'] ?? join(homedir(), '.local', 'share')
  return resolve(db ?? join(data, 'handraise', 'inbox.db'))
}

/** Where an inbox is kept, as it is chosen on the command line. */
export interface DatabaseChoice {
  /** The database file. */
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

/** Opens what was chosen for a host that another program starts. Rejects with `BAD_CONFIG` when it cannot be used. */
export async function openHostStore(file: string | undefined): Promise<InboxStore> {
  if (file === undefined) return new MemoryStore()
  try {
    return await openDatabase(file)
  } catch (cause) {
    throw new CommandError('BAD_CONFIG', (cause as Error).message, { cause })
  }
}

/** Opens an inbox to keep requests in; the first time there is none yet. */
export async function openDatabase(file: string): Promise<InboxStore> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  return open(file, '; --memory keeps requests in memory instead')
}

/** Opens an inbox that is there to be looked at: a name that is mistyped makes none. */
export async function openExistingDatabase(file: string): Promise<InboxStore> {
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
