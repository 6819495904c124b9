import { InboxError, StoreError, type AnyInboxError } from '@handraise/inbox'
import { describeIssues, type Issue } from '@handraise/user-questions/types'
import { MOST_ISSUES } from './limits.ts'

/** The status of every code this server answers with. */
export const STATUS_OF_CODE = {
  BAD_REQUEST: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN_HOST: 403,
  FORBIDDEN_ORIGIN: 403,
  NOT_FOUND: 404,
  UNKNOWN_REQUEST: 404,
  NOTHING_PENDING: 404,
  METHOD_NOT_ALLOWED: 405,
  ALREADY_SETTLED: 409,
  COMMAND_CONFLICT: 409,
  KEY_CONFLICT: 409,
  RECORD_CONFLICT: 409,
  AMBIGUOUS: 409,
  TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  BAD_ANSWER: 422,
  UNKNOWN_KIND: 422,
  INTERNAL: 500,
  STORE_UNREADABLE: 500,
  DATABASE_REFUSED: 503,
  DATABASE_UNREACHABLE: 503,
  STORE_CLOSED: 503,
  TOO_MANY_STREAMS: 503,
  WRITE_UNKNOWN: 503,
} as const

export type HttpErrorCode = keyof typeof STATUS_OF_CODE

/** A refusal, as the client gets it: the body is `{ code, message }` and the members of `details`. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly code: HttpErrorCode
  readonly details: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: HttpErrorCode,
    message: string,
    details: Readonly<Record<string, unknown>> = {},
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message)
    this.code = code
    this.details = details
    this.headers = headers
  }

  get status(): number {
    return STATUS_OF_CODE[this.code]
  }

  toJSON(): object {
    const { code, message, details } = this
    return { code, message, ...details }
  }

  toResponse(): Response {
    const { status, headers } = this
    return Response.json(this, { status, headers })
  }
}

export function badRequest(issues: readonly Issue[]): HttpError {
  return withIssues('BAD_REQUEST', 'the request cannot be taken', issues)
}

export function badAnswer(issues: readonly Issue[]): HttpError {
  return withIssues('BAD_ANSWER', 'the answer does not fit', issues)
}

function withIssues(code: HttpErrorCode, what: string, all: readonly Issue[]): HttpError {
  const issues = all.slice(0, MOST_ISSUES)
  return new HttpError(code, `${what}: ${describeIssues(issues)}`, { issues })
}

/** After about as long as a database or a server takes to come back, in seconds. */
const RETRY_SOON = { 'Retry-After': '5' }

/** What the client is told of an error. One that is nobody's refusal says nothing of what went on inside. */
export function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error
  if (InboxError.isInstance(error)) return ofInbox(error)
  if (StoreError.isInstance(error)) return ofStore(error)
  return new HttpError('INTERNAL', 'something went wrong here; it was reported to whoever runs this server')
}

/** What a store says of its database is for whoever runs this server; clients are told what they can do. */
function ofStore({ code, advice, retryable }: StoreError): HttpError {
  return new HttpError(code, advice, {}, retryable ? RETRY_SOON : {})
}

function ofInbox(error: AnyInboxError): HttpError {
  switch (error.code) {
    case 'BAD_ANSWER':
      return badAnswer(error.details.issues)
    case 'BAD_REQUEST':
      return badRequest(error.details.issues)
    case 'ALREADY_SETTLED':
    case 'COMMAND_CONFLICT': {
      const { id, settlement } = error.details.request
      return new HttpError(error.code, error.message, { id, settlement })
    }
    case 'STORE_CLOSED':
      return new HttpError(error.code, 'this server is shutting down', {}, RETRY_SOON)
    // Names a file of the machine.
    case 'STORE_UNREADABLE':
      return new HttpError(error.code, 'the store cannot be read')
    case 'UNKNOWN_REQUEST':
    case 'UNKNOWN_KIND':
    case 'KEY_CONFLICT':
    case 'RECORD_CONFLICT':
      return new HttpError(error.code, error.message, error.details)
  }
}
