/** What each code carries. */
export interface AskLogErrorDetails {
  LOG_UNUSABLE: { readonly file: string; readonly why: string }
  LOG_FAILED: { readonly file: string; readonly why: string }
  /** How many. */
  LOG_LOST: { readonly file: string; readonly lines: number }
}

export type AskLogErrorCode = keyof AskLogErrorDetails

const MESSAGE: { readonly [C in AskLogErrorCode]: (details: AskLogErrorDetails[C]) => string } = {
  LOG_UNUSABLE: ({ file, why }) => `the log ${JSON.stringify(file)} cannot be written: ${why}`,
  LOG_FAILED: ({ file, why }) =>
    `the log ${JSON.stringify(file)} could not be written: ${why}; answers are given all the same, it is tried again, and nothing more is said of this`,
  LOG_LOST: ({ file, lines }) =>
    `the log ${JSON.stringify(file)} ended without ${lines === 1 ? 'a line' : `${lines} lines`} that could not be written in time`,
}

const BRAND = Symbol.for('handraise.AskLogError')

/** What is wrong with the log. None of it changes what becomes of a question. */
export class AskLogError<C extends AskLogErrorCode = AskLogErrorCode> extends Error {
  override readonly name = 'AskLogError'
  readonly code: C
  readonly details: AskLogErrorDetails[C]

  constructor(code: C, details: AskLogErrorDetails[C], options?: ErrorOptions) {
    super(MESSAGE[code](details), options)
    this.code = code
    this.details = details
    Object.defineProperty(this, BRAND, { value: true })
  }

  /** True of an error of this class, whichever copy of the package made it. Narrows `details` by `code`. */
  static isInstance(value: unknown): value is AnyAskLogError {
    return typeof value === 'object' && value !== null && BRAND in value
  }
}

export type AnyAskLogError = { [C in AskLogErrorCode]: AskLogError<C> }[AskLogErrorCode]
