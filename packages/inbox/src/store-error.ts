/** What each code says to whoever made the call, in words that name nothing of the database. */
const ADVICE = {
  /** Nothing of the call was done, and the same may go better another time. */
  DATABASE_UNREACHABLE:
    'the database of this inbox cannot be reached just now; nothing was done, so try again',
  /** The call was under way when the store lost its database: it may have been carried out or not. */
  WRITE_UNKNOWN:
    'the database of this inbox was lost while it wrote, and it is not known whether that was done; look at the request first, or send the same again with the same key or command id, which does it once',
  /** Nothing of the call was done, and the same would end so again. */
  DATABASE_REFUSED:
    'the database of this inbox refused it; nothing was done, and trying again does not help: whoever runs the inbox finds the reason in its log',
} as const

export type StoreErrorCode = keyof typeof ADVICE

const BRAND = Symbol.for('handraise.StoreError')

export interface StoreErrorOptions extends ErrorOptions {
  /** Default: the advice. */
  readonly message?: string | undefined
}

/**
 * What became of a call that a store could not carry out, through no fault of the call. A store whose database is elsewhere
 * rejects with one, or with a class of its own that extends it, and whatever serves the inbox tells clients the code.
 */
export class StoreError extends Error {
  override readonly name: string = 'StoreError'
  readonly code: StoreErrorCode
  /** What whoever made the call can do. */
  readonly advice: string
  /** Whether the same call, with the same key or command id, may be made again. */
  readonly retryable: boolean

  constructor(code: StoreErrorCode, { message, ...options }: StoreErrorOptions = {}) {
    super(message ?? ADVICE[code], options)
    this.code = code
    this.advice = ADVICE[code]
    this.retryable = code !== 'DATABASE_REFUSED'
    Object.defineProperty(this, BRAND, { value: true })
  }

  /** True of an error of this class, whichever copy of the package made it. */
  static isInstance(value: unknown): value is StoreError {
    return typeof value === 'object' && value !== null && BRAND in value
  }
}
