import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { InboxStore } from '@handraise/inbox'
import Database from 'better-sqlite3'
import { openSqliteStore, type SqliteDatabase, type SqliteStoreOptions } from '@handraise/inbox-sqlite'

/** A directory of its own in the system's place for temporary files. */
export function makeDirectory(): { path: string; file: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'handraise-inbox-sqlite-'))
  return { path, file: join(path, 'inbox.db'), remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** `better-sqlite3` that tells which connections it opened, the latest last. */
export function recordingClient() {
  const connections: SqliteDatabase[] = []
  class Recording extends Database {
    constructor(...args: ConstructorParameters<typeof Database>) {
      super(...args)
      connections.push(this)
    }
  }
  return { Client: Recording, connections }
}

/** Opens a store together with the connection under it. */
export async function openWithConnection(
  options: SqliteStoreOptions,
): Promise<{ store: InboxStore; connection: SqliteDatabase }> {
  const { Client, connections } = recordingClient()
  const store = await openSqliteStore({ ...options, database: Client })
  const connection = connections.at(-1)
  if (connection === undefined) throw new Error('the store opened no connection')
  return { store, connection }
}
