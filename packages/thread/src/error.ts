import { describeIssues, type Issue } from '@handraise/user-questions/types'

/** What each code carries. */
export interface ThreadErrorDetails {
  /** Another attachment, here or in another process on the same inbox, asks in the thread. */
  THREAD_IN_USE: { readonly threadId: string; readonly host: string }
  /** Another host took the thread over: this one was silent for longer than its lease. */
  THREAD_TAKEN: { readonly threadId: string }
  /** A call of the store failed, did not end, or gave what is no item or no page. Tried again. */
  STORE_FAILED: {
    readonly threadId: string
    readonly call: 'post' | 'since' | 'follow'
    readonly fault: string
  }
  /** The store delivered what is no item; it was skipped. */
  BAD_ITEM: { readonly threadId: string; readonly issues: readonly Issue[] }
  /** A function of the host gave what is neither true nor false; it counts as false. */
  BAD_OPTION: { readonly threadId: string; readonly option: 'takes' | 'mayAnswer'; readonly given: string }
  /** The cursor was not given by this thread. */
  BAD_CURSOR: { readonly cursor: string }
}

export type ThreadErrorCode = keyof ThreadErrorDetails

const MESSAGE: { readonly [C in ThreadErrorCode]: (details: ThreadErrorDetails[C]) => string } = {
  THREAD_IN_USE: ({ threadId, host }) =>
    `the thread ${JSON.stringify(threadId)} is in use by the host ${host}; close that attachment first, or give this one another store or threadId`,
  THREAD_TAKEN: ({ threadId }) =>
    `the thread ${JSON.stringify(threadId)} was taken over by another host; nothing is posted or read here any more, attach again when that host has ended`,
  STORE_FAILED: ({ threadId, call, fault }) =>
    `${call} of the store of the thread ${JSON.stringify(threadId)} failed: ${fault}; it is tried again`,
  BAD_ITEM: ({ threadId, issues }) =>
    `an item of the thread ${JSON.stringify(threadId)} was skipped: ${describeIssues(issues)}`,
  BAD_OPTION: ({ threadId, option, given }) =>
    `${option} of the thread ${JSON.stringify(threadId)} gave no boolean but ${given}, which counts as false; it must not be asynchronous`,
  BAD_CURSOR: ({ cursor }) =>
    `the cursor ${JSON.stringify(cursor)} is not of this thread; read it from its beginning`,
}

const BRAND = Symbol.for('handraise.ThreadError')

export class ThreadError<C extends ThreadErrorCode = ThreadErrorCode> extends Error {
  override readonly name = 'ThreadError'
  readonly code: C
  readonly details: ThreadErrorDetails[C]

  constructor(code: C, details: ThreadErrorDetails[C], options?: ErrorOptions) {
    super(MESSAGE[code](details), options)
    this.code = code
    this.details = details
    Object.defineProperty(this, BRAND, { value: true })
  }

  /** True of an error of this class, whichever copy of the package made it. Narrows `details` by `code`. */
  static isInstance(value: unknown): value is AnyThreadError {
    return typeof value === 'object' && value !== null && BRAND in value
  }
}

export type AnyThreadError = { [C in ThreadErrorCode]: ThreadError<C> }[ThreadErrorCode]
