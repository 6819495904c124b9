import { FAILED_COMMAND } from './functions.ts'
import { StoreError, type StoreErrorCode } from '@handraise/inbox'

/** What each code says of a call. */
const MESSAGE: { readonly [C in StoreErrorCode]: string } = {
  /** Nothing of the call was done: the database could not be reached, or took too long, as often as it was tried. */
  DATABASE_UNREACHABLE: 'the database could not be reached; nothing was done, so it may be tried again',
  /** The connection was lost while the call was under way, and what became of it could not be found out. */
  WRITE_UNKNOWN:
    'the database was lost while it wrote, and could not be asked again; the call may have been carried out or not, so ask for the request before you repeat it',
  /** The database refused the call, and nothing of it was done. */
  DATABASE_REFUSED: 'the database refused it; nothing was done',
}

export type PostgresStoreErrorCode = StoreErrorCode

const BRAND = Symbol.for('handraise.PostgresStoreError')

/** What the database did to a call. `cause` is what `pg` said. */
export class PostgresStoreError extends StoreError {
  override readonly name = 'PostgresStoreError'

  constructor(code: PostgresStoreErrorCode, cause: unknown) {
    super(code, {
      message: `${MESSAGE[code]}: ${cause instanceof Error ? cause.message : String(cause)}`,
      cause,
    })
    Object.defineProperty(this, BRAND, { value: true })
  }

  /** True of an error of this class, whichever copy of the package made it. */
  static override isInstance(value: unknown): value is PostgresStoreError {
    return typeof value === 'object' && value !== null && BRAND in value
  }
}

/** What a statement came to that failed. */
export type Failure =
  /** It was never sent, or was taken back: nothing was done, and it may go better next time. */
  | 'notDone'
  /** It was sent, and no answer came. */
  | 'unknown'
  /** It was taken back, and would be again. */
  | 'refused'

/** A connection that could not be made, or that was lost before anything was sent. */
export class NotConnected extends Error {
  override readonly name = 'NotConnected'
}

/** A connection that was lost, or given up, while a statement ran. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost'
}

/** What was given up for the time it took. */
export class TookTooLong extends Error {
  override readonly name = 'TookTooLong'
}

/** The code of SQL for a write on a server that takes none. */
export const READ_ONLY = '25006'

// Of the codes of SQL: what another attempt may find otherwise. A statement that ran too long, waited too long for a
// lock or met another transaction; a server without room; one that became a standby.
const PASSING = /^(?:57014|55P03|40001|40P01|53[0-9A-Z]{3}|25006)$/u
// The server ended the connection, perhaps after the commit.
const ENDED = /^(?:57P0\d|08[0-9A-Z]{3})$/u

/**
 * Whether the server itself took a statement back that it may carry out another time. With several commands in it, one of them
 * may be what it stumbles over each time.
 */
export function isTakenBack(error: unknown): boolean {
  const state = sqlStateOf(error)
  return state !== undefined && state !== READ_ONLY && PASSING.test(state)
}

/** Whether it is for the time it took, or for what somebody else had locked, that the server took a statement back. */
export function isOutOfTime(error: unknown): boolean {
  return /^(?:57014|55P03)$/u.test(sqlStateOf(error) ?? '')
}

const FAILED = new RegExp(`^${FAILED_COMMAND}(\\d+)$`, 'u')

/** Which command of a batch the server said this of, counted from one; 0 where it is none, or not known. */
export function failedCommandOf(error: unknown): number {
  if (sqlStateOf(error) === undefined) return 0
  const { detail } = error as { readonly detail?: unknown }
  return Number(FAILED.exec(String(detail))?.[1] ?? 0)
}

/** Undefined for what is no failure of the database. */
export function failureOf(error: unknown): Failure | undefined {
  if (error instanceof ConnectionLost) return 'unknown'
  const connecting = error instanceof NotConnected
  const code = sqlStateOf(connecting ? error.cause : error)
  if (code === undefined) {
    if (!connecting) return undefined
    return isOfNetwork(error.cause) ? 'notDone' : 'refused'
  }
  if (ENDED.test(code)) return connecting ? 'notDone' : 'unknown'
  return PASSING.test(code) ? 'notDone' : 'refused'
}

// What `pg` says without a code of a server that hung up, was slow, or had no process to spare for TLS.
const PASSING_OF_PG =
  /^(?:Connection terminated|Client (?:has encountered a connection error|was closed)|timeout expired|There was an error establishing an SSL connection)/u

/**
 * Whether a connection may be made another time. What the network did has a code of the system, or none where `pg` only saw
 * the end of it; a URL that is none, a certificate that is not trusted or a server without TLS stay as they are.
 */
function isOfNetwork(cause: unknown): boolean {
  if (cause === undefined || cause instanceof TookTooLong) return true
  if (!(cause instanceof Error)) return false
  if (!('code' in cause)) return PASSING_OF_PG.test(cause.message)
  // A certificate's file is opened by whoever configures the connection.
  return /^E(?!RR_)[A-Z0-9_]+$/u.test(String(cause.code)) && !('syscall' in cause && cause.syscall === 'open')
}

/** The five letters and digits by which PostgreSQL says what was wrong. */
export function sqlStateOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error) || !('severity' in error))
    return undefined
  return typeof error.code === 'string' ? error.code : undefined
}
