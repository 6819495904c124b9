import { describeIssues, type Issue } from '@handraise/user-questions/types'

/** What each code carries. All are faults of the caller; how an approval ends is an outcome. */
export interface UserApprovalErrorDetails {
  BAD_APPROVAL: { readonly issues: readonly Issue[] }
  CALLER_NOT_LIVE: object
  DELEGATED_CALLER: object
  UNKNOWN_RULE: { readonly id: string }
}

export type UserApprovalErrorCode = keyof UserApprovalErrorDetails

const MESSAGE: { readonly [C in UserApprovalErrorCode]: (details: UserApprovalErrorDetails[C]) => string } = {
  BAD_APPROVAL: ({ issues }) => `the approval cannot be asked for: ${describeIssues(issues)}`,
  CALLER_NOT_LIVE: () => 'an approval requires the exact live calling agent when an agent is supplied',
  DELEGATED_CALLER: () =>
    "approval is unavailable while the calling agent is owned by another live agent; include what needs permission in the child agent's final result",
  UNKNOWN_RULE: ({ id }) => `there is no rule ${JSON.stringify(id)}; list them to see what is remembered`,
}

const BRAND = Symbol.for('handraise.UserApprovalError')

export class UserApprovalError<C extends UserApprovalErrorCode = UserApprovalErrorCode> extends Error {
  override readonly name = 'UserApprovalError'
  readonly code: C
  readonly details: UserApprovalErrorDetails[C]

  constructor(code: C, details: UserApprovalErrorDetails[C], options?: ErrorOptions) {
    super(MESSAGE[code](details), options)
    this.code = code
    this.details = details
    Object.defineProperty(this, BRAND, { value: true })
  }

  /** True of an error of this class, whichever copy of the package made it. Narrows `details` by `code`. */
  static isInstance(value: unknown): value is AnyUserApprovalError {
    return typeof value === 'object' && value !== null && BRAND in value
  }
}

export type AnyUserApprovalError = {
  [C in UserApprovalErrorCode]: UserApprovalError<C>
}[UserApprovalErrorCode]
