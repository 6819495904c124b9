/** What each code carries. */
export interface NoticeErrorDetails {
  COMMAND_FAILED: { readonly command: string; readonly why: string }
  COMMAND_TIMED_OUT: { readonly command: string; readonly timeoutMs: number }
  NOTICE_DROPPED: { readonly command: string; readonly id: string; readonly waiting: number }
}

export type NoticeErrorCode = keyof NoticeErrorDetails

const MESSAGE: { readonly [C in NoticeErrorCode]: (details: NoticeErrorDetails[C]) => string } = {
  COMMAND_FAILED: ({ command, why }) =>
    `the notice command ${JSON.stringify(command)} failed: ${why}; the request waits all the same, mend the command`,
  COMMAND_TIMED_OUT: ({ command, timeoutMs }) =>
    `the notice command ${JSON.stringify(command)} was ended after ${timeoutMs} ms; let it end sooner, or allow it more`,
  NOTICE_DROPPED: ({ command, id, waiting }) =>
    `request ${id} was not told to the notice command ${JSON.stringify(command)}: ${waiting} notices wait for it already; let it end sooner`,
}

const BRAND = Symbol.for('handraise.NoticeError')

/** What went wrong with telling. It is reported, and changes nothing about what was asked. */
export class NoticeError<C extends NoticeErrorCode = NoticeErrorCode> extends Error {
  override readonly name = 'NoticeError'
  readonly code: C
  readonly details: NoticeErrorDetails[C]

  constructor(code: C, details: NoticeErrorDetails[C], options?: ErrorOptions) {
    super(MESSAGE[code](details), options)
    this.code = code
    this.details = details
    Object.defineProperty(this, BRAND, { value: true })
  }

  /** True of an error of this class, whichever copy of the package made it. Narrows `details` by `code`. */
  static isInstance(value: unknown): value is AnyNoticeError {
    return typeof value === 'object' && value !== null && BRAND in value
  }
}

export type AnyNoticeError = { [C in NoticeErrorCode]: NoticeError<C> }[NoticeErrorCode]
