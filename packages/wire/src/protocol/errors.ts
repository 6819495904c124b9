import type { ErrorData, ErrorObject } from './error-object.ts'

interface ErrorRow {
  readonly code: number
  /** A second code under which the kind may come. */
  readonly otherCode?: number
  /** Whether the same may be sent again, where nothing else is said. Absent: the protocol leaves it open. */
  readonly retryable?: boolean
}

/** Every kind of error with its code. The kind is what to branch on: several share one code. */
export const ERRORS = {
  parseError: { code: -32_700, retryable: false },
  invalidRequest: { code: -32_600, retryable: false },
  notInitialized: { code: -32_600, retryable: false },
  alreadyInitialized: { code: -32_600, retryable: false },
  methodNotFound: { code: -32_601, retryable: false },
  experimentalRequired: { code: -32_601, otherCode: -32_602, retryable: false },
  invalidParams: { code: -32_602, retryable: false },
  internal: { code: -32_603, retryable: false },
  pageEventTooLarge: { code: -32_603, retryable: false },
  outputResultTooLarge: { code: -32_603, retryable: false },
  overloaded: { code: -32_001, retryable: true },
  inputTooLarge: { code: -32_002, retryable: false },
  capabilityRequired: { code: -32_010, retryable: false },
  notFound: { code: -32_011, retryable: false },
  interrupted: { code: -32_013 },
  cancelled: { code: -32_014 },
  sessionNotFound: { code: -32_020, retryable: false },
  sessionInUse: { code: -32_021, retryable: false },
  sessionAmbiguous: { code: -32_022, retryable: false },
  forkBoundaryInvalid: { code: -32_023, retryable: false },
  sessionNotLoaded: { code: -32_024, retryable: false },
  sessionStreamMismatch: { code: -32_025, retryable: false },
  commandRejected: { code: -32_030, retryable: false },
  backpressured: { code: -32_031, retryable: true },
  skillNotFound: { code: -32_032, retryable: false },
  computerUseUnavailable: { code: -32_033, retryable: false },
  uploadNotFound: { code: -32_038, retryable: false },
  viewTruncated: { code: -32_040, retryable: false },
  outputUnavailable: { code: -32_041, retryable: false },
  boundaryPruned: { code: -32_042, retryable: false },
  boundaryUnusable: { code: -32_042, retryable: false },
  noBoundary: { code: -32_042, retryable: false },
  approvalNotFound: { code: -32_050, retryable: false },
  approvalAlreadyResolved: { code: -32_051, retryable: false },
  approvalChoiceInvalid: { code: -32_052, retryable: false },
  approvalRequirementStale: { code: -32_053, retryable: false },
  approvalReviewerUnavailable: { code: -32_054, retryable: false },
  userInputNotFound: { code: -32_055, retryable: false },
  userInputAlreadySettled: { code: -32_056, retryable: false },
  userInputAnswerInvalid: { code: -32_057, retryable: false },
} as const satisfies Record<string, ErrorRow>

export type WireErrorKind = keyof typeof ERRORS

/** The codes under which a kind comes; undefined of an unknown kind. */
export function codesOf(kind: string): readonly number[] | undefined {
  if (!isKnownKind(kind)) return undefined
  const { code, otherCode }: ErrorRow = ERRORS[kind]
  return otherCode === undefined ? [code] : [code, otherCode]
}

/** The members of `ErrorData` besides the kind. */
export type WireErrorDetails = Omit<ErrorData, 'kind'>

export interface WireErrorOptions extends ErrorOptions {
  /** The code with which it came, where that is not the one of its kind. */
  readonly code?: number
}

// A host and a client may each bring a copy of this package, so the class alone does not tell.
const BRAND = Symbol.for('handraise.WireError')

/** An error as it goes over the wire. Branch on `kind`, never on the message. */
export class WireError extends Error {
  override readonly name = 'WireError'
  /** A `WireErrorKind`, or what a newer host says. */
  readonly kind: WireErrorKind | (string & {})
  readonly code: number
  readonly data: ErrorData
  /** Whether the same may be sent again: what `data` says, else what the table says for the kind. */
  readonly retryable: boolean

  constructor(kind: WireErrorKind, message: string, data?: WireErrorDetails, options?: WireErrorOptions) {
    super(message, options)
    const row: ErrorRow | undefined = isKnownKind(kind) ? ERRORS[kind] : undefined
    this.kind = kind
    this.code = options?.code ?? row?.code ?? ERRORS.internal.code
    this.data = { ...data, kind }
    this.retryable = data?.retryable ?? row?.retryable ?? false
    Object.defineProperty(this, BRAND, { value: true })
  }

  /** True of an error of this class, whichever copy of the package made it. */
  static isInstance(value: unknown): value is WireError {
    return typeof value === 'object' && value !== null && BRAND in value
  }

  /**
   * The error that came from the other side, of whatever kind. One without `data`, which this protocol does not send, has
   * the first kind of its code, or the kind `unknown`.
   */
  static fromErrorObject({ code, message, data }: ErrorObject): WireError {
    const { kind, ...rest } = data ?? { kind: kindOfCode(code) ?? 'unknown' }
    // The type is for those who make errors: they are to use a known kind.
    return new WireError(kind as WireErrorKind, message, rest, { code })
  }

  toErrorObject(): ErrorObject {
    return { code: this.code, message: this.message, data: this.data }
  }
}

function isKnownKind(kind: string): kind is WireErrorKind {
  return Object.hasOwn(ERRORS, kind)
}

function kindOfCode(code: number): string | undefined {
  return Object.entries(ERRORS).find(([, row]) => row.code === code)?.[0]
}
