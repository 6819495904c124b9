import { describeIssues, type Issue } from '@handraise/user-questions/types'

/** What each code carries. All are faults of the host or of its handler; how a person answers is never one. */
export interface PauseErrorDetails {
  /** What a handler wants to ask for, no client could ask. */
  BAD_INPUT_REQUEST: { readonly issues: readonly Issue[] }
  /** The file with the key cannot be read or written, or is of something else. It was left as it is. */
  KEY_UNREADABLE: { readonly file: string; readonly why: string }
  /** Others than its owner may read or write the file with the key. */
  KEY_EXPOSED: { readonly file: string; readonly mode: number }
}

export type PauseErrorCode = keyof PauseErrorDetails

const MESSAGE: { readonly [C in PauseErrorCode]: (details: PauseErrorDetails[C]) => string } = {
  BAD_INPUT_REQUEST: ({ issues }) => `the input cannot be asked for: ${describeIssues(issues)}`,
  KEY_UNREADABLE: ({ file, why }) => `the key in ${file} cannot be used: ${why}; it was left as it is`,
  KEY_EXPOSED: ({ file, mode }) =>
    `the key in ${file} may be read or changed by others (mode ${(mode & 0o777).toString(8)}): remove the file, so that a new key is made, or, if you are sure that nobody read it, run chmod 600 on it`,
}

const BRAND = Symbol.for('handraise.PauseError')

export class PauseError<C extends PauseErrorCode = PauseErrorCode> extends Error {
  override readonly name = 'PauseError'
  readonly code: C
  readonly details: PauseErrorDetails[C]

  constructor(code: C, details: PauseErrorDetails[C], options?: ErrorOptions) {
    super(MESSAGE[code](details), options)
    this.code = code
    this.details = details
    Object.defineProperty(this, BRAND, { value: true })
  }

  /** True of an error of this class, whichever copy of the package made it. Narrows `details` by `code`. */
  static isInstance(value: unknown): value is AnyPauseError {
    return typeof value === 'object' && value !== null && BRAND in value
  }
}

export type AnyPauseError = { [C in PauseErrorCode]: PauseError<C> }[PauseErrorCode]
