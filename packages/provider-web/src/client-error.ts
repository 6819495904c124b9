import type { PublicSettlement } from './schemas.ts'

const BRAND = Symbol.for('handraise.InboxClientError')

export interface InboxClientErrorOptions extends ErrorOptions {
  readonly code: string
  readonly status: number
  readonly body?: Readonly<Record<string, unknown>> | undefined
  readonly retryAfterMs?: number | undefined
}

/** A refusal of the server, or that it could not be reached. */
export class InboxClientError extends Error {
  override readonly name = 'InboxClientError'
  /** The server's code, such as `ALREADY_SETTLED` or `DATABASE_UNREACHABLE`; when it did not say, `UNREACHABLE` or `BAD_RESPONSE`, or `WRITE_UNKNOWN` where it may have carried out what was sent. */
  readonly code: string
  /** The HTTP status; 0 when there was no response. */
  readonly status: number
  /** All that the server said. */
  readonly body: Readonly<Record<string, unknown>>
  /** When the same may go better, in milliseconds from now, if the server said so. */
  readonly retryAfterMs: number | undefined

  constructor(
    message: string,
    { code, status, body = {}, retryAfterMs, ...options }: InboxClientErrorOptions,
  ) {
    super(message, options)
    this.retryAfterMs = retryAfterMs
    this.code = code
    this.status = status
    this.body = body
    Object.defineProperty(this, BRAND, { value: true })
  }

  /** The faults of what was sent, by path. */
  get issues(): ReadonlyArray<{ readonly path: string; readonly message: string }> {
    const { issues } = this.body
    return Array.isArray(issues) ? issues : []
  }

  /** How the request had been settled, and by whom, when that is why the server refused. */
  get settlement(): PublicSettlement | undefined {
    return this.body['settlement'] as PublicSettlement | undefined
  }

  /** True of an error of this class, whichever copy of the package made it. */
  static isInstance(value: unknown): value is InboxClientError {
    return typeof value === 'object' && value !== null && BRAND in value
  }
}
