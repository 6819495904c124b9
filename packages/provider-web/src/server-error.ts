/** What each code carries. */
export interface InboxServerErrorDetails {
  /** The port that was asked for is taken: by the process named, when it is a server of the same state file. */
  PORT_IN_USE: {
    readonly port: number
    readonly host: string
    readonly pid?: number | undefined
    readonly url?: string | undefined
  }
  /** The host is not this machine alone, which must be asked for. */
  REMOTE_NOT_ALLOWED: { readonly host: string }
  /** The state file is not one, or not one this version reads. It was left as it is. */
  STATE_UNREADABLE: { readonly file: string; readonly why: string }
  TOKEN_UNREADABLE: { readonly file: string; readonly why: string }
}

export type InboxServerErrorCode = keyof InboxServerErrorDetails

const MESSAGE: {
  readonly [C in InboxServerErrorCode]: (details: InboxServerErrorDetails[C]) => string
} = {
  PORT_IN_USE: ({ port, host, pid, url }) =>
    pid === undefined
      ? `port ${port} of ${host} is in use by another program; choose another one`
      : `port ${port} of ${host} is held by the inbox of process ${pid}, at ${url}; use that one, or end it first`,
  REMOTE_NOT_ALLOWED: ({ host }) =>
    `${host} can be reached from other machines; allow that with allowRemote, or listen on 127.0.0.1`,
  STATE_UNREADABLE: ({ file, why }) =>
    `${file} does not hold the state of an inbox server: ${why}; it was left as it is, move it away or name another`,
  TOKEN_UNREADABLE: ({ file, why }) => `no token can be read from ${file}: ${why}`,
}

const BRAND = Symbol.for('handraise.InboxServerError')

/** Why a server could not be started. */
export class InboxServerError<C extends InboxServerErrorCode = InboxServerErrorCode> extends Error {
  override readonly name = 'InboxServerError'
  readonly code: C
  readonly details: InboxServerErrorDetails[C]

  constructor(code: C, details: InboxServerErrorDetails[C], options?: ErrorOptions) {
    super(MESSAGE[code](details), options)
    this.code = code
    this.details = details
    Object.defineProperty(this, BRAND, { value: true })
  }

  /** True of an error of this class, whichever copy of the package made it. Narrows `details` by `code`. */
  static isInstance(value: unknown): value is AnyInboxServerError {
    return typeof value === 'object' && value !== null && BRAND in value
  }
}

export type AnyInboxServerError = { [C in InboxServerErrorCode]: InboxServerError<C> }[InboxServerErrorCode]
