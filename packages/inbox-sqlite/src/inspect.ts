import { closeSync, existsSync, openSync, readSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { SqliteClient } from './client.ts'
import { judgeHeader, unreadable, versionOf } from './schema.ts'

const MAGIC = 'SQLite format 3\0'
const HEADER_BYTES = 100
const USER_VERSION_AT = 60
const APPLICATION_ID_AT = 68

/** Up to this size a file is checked as a whole; a larger one only where it is read. */
const WHOLE_CHECK_BYTES = 16 * 1024 * 1024

/**
 * Makes sure that there is a file this package may write to, and returns its real path. A missing one is created,
 * readable by its owner alone. Throws `STORE_UNREADABLE` for any other file and leaves that as it is, with nothing
 * beside it that was not there.
 */
export function prepareFile(Client: SqliteClient, given: string): string {
  if (!existsSync(given)) create(given)
  const file = realpathSync(given)
  const stats = statSync(file)
  if (stats.isDirectory()) throw unreadable(given, 'it is a directory')
  if (!stats.isFile()) throw unreadable(given, 'it is not a file')
  if (stats.size === 0) return file
  // Closing a file drops this process's locks on it, and a database that is open has a `-shm` beside it: then only
  // SQLite may look. Otherwise SQLite may not, as it would create that file.
  if (!existsSync(`${file}-shm`)) judgeBytes(readHeader(file), given)
  checkDatabase(Client, file, given, stats.size)
  return file
}

function create(file: string): void {
  if (!existsSync(dirname(file))) throw unreadable(file, `there is no directory ${dirname(file)}`)
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    // Another process was faster.
    if (!existsSync(file)) throw error
  }
}

function readHeader(file: string): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  const descriptor = openSync(file, 'r')
  try {
    return header.subarray(0, readSync(descriptor, header, 0, HEADER_BYTES, 0))
  } finally {
    closeSync(descriptor)
  }
}

function judgeBytes(header: Buffer, file: string): void {
  if (header.length < HEADER_BYTES || header.toString('latin1', 0, MAGIC.length) !== MAGIC) {
    throw unreadable(file, 'it is not a SQLite database')
  }
  judgeHeader(header.readUInt32BE(APPLICATION_ID_AT), header.readUInt32BE(USER_VERSION_AT), file)
}

function checkDatabase(Client: SqliteClient, file: string, given: string, size: number): void {
  // A connection that may write empties the write-ahead log into the file when it closes.
  const readonly = existsSync(`${file}-wal`)
  const db = new Client(file, { readonly, fileMustExist: true, timeout: 0 })
  try {
    versionOf(db, given)
    const verdict = size > WHOLE_CHECK_BYTES ? 'ok' : db.pragma('quick_check(1)', { simple: true })
    if (verdict !== 'ok') throw unreadable(given, `it is damaged (${String(verdict).trim()})`)
  } finally {
    db.close()
  }
}
