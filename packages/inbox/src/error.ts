import type { Issue } from '@handraise/user-questions/types'
import { describeIssues } from '@handraise/user-questions/types'
import type { SettledRequest } from './request.ts'

/** What each code carries. */
export interface InboxErrorDetails {
  /** No request of that id, or it was settled so long ago that it is forgotten. */
  UNKNOWN_REQUEST: { readonly id: string }
  /** Somebody else decided first. */
  ALREADY_SETTLED: { readonly request: SettledRequest }
  /** The command id was used before, for something else. */
  COMMAND_CONFLICT: { readonly commandId: string; readonly request: SettledRequest }
  /** The key was used before, for other questions. */
  KEY_CONFLICT: { readonly session: string; readonly key: string }
  /** The answer breaks the rules of the request's kind; the request stays pending. */
  BAD_ANSWER: { readonly issues: readonly Issue[] }
  /** Nobody here knows what a request of this kind is. */
  UNKNOWN_KIND: { readonly kind: string }
  /** A record was written in between. */
  RECORD_CONFLICT: { readonly namespace: string; readonly key: string }
  BAD_REQUEST: { readonly issues: readonly Issue[] }
  STORE_CLOSED: object
  /** The file is not a store of this package, or not one this version reads. It was left as it is. */
  STORE_UNREADABLE: { readonly store: string; readonly why: string }
}

export type InboxErrorCode = keyof InboxErrorDetails

const MESSAGE: { readonly [C in InboxErrorCode]: (details: InboxErrorDetails[C]) => string } = {
  UNKNOWN_REQUEST: ({ id }) => `there is no request ${id}; it may have been settled and forgotten`,
  ALREADY_SETTLED: ({ request: { id, settlement } }) =>
    `request ${id} was ${settlement.outcome} already${settlement.surface === undefined ? '' : `, by ${settlement.surface}`}, at ${new Date(settlement.settledAt).toISOString()}`,
  COMMAND_CONFLICT: ({ commandId, request }) =>
    `command ${commandId} settled request ${request.id} before, saying something else; use a new command id for each decision`,
  KEY_CONFLICT: ({ session, key }) =>
    `the key ${JSON.stringify(key)} of session ${JSON.stringify(session)} was used for other questions; use a new key for each request`,
  BAD_ANSWER: ({ issues }) => `the answer does not fit: ${describeIssues(issues)}`,
  UNKNOWN_KIND: ({ kind }) =>
    `nothing here can answer requests of the kind ${JSON.stringify(kind)}; mount what owns it`,
  RECORD_CONFLICT: ({ namespace, key }) =>
    `the record ${namespace}/${key} was changed in between; read it again`,
  BAD_REQUEST: ({ issues }) => `the request cannot be kept: ${describeIssues(issues)}`,
  STORE_CLOSED: () => 'the store is closed',
  STORE_UNREADABLE: ({ store, why }) => `${store} cannot be used: ${why}; it was left as it is`,
}

const BRAND = Symbol.for('handraise.InboxError')

export class InboxError<C extends InboxErrorCode = InboxErrorCode> extends Error {
  override readonly name = 'InboxError'
  readonly code: C
  readonly details: InboxErrorDetails[C]

  constructor(code: C, details: InboxErrorDetails[C], options?: ErrorOptions) {
    super(MESSAGE[code](details), options)
    this.code = code
    this.details = details
    Object.defineProperty(this, BRAND, { value: true })
  }

  /** True of an error of this class, whichever copy of the package made it. Narrows `details` by `code`. */
  static isInstance(value: unknown): value is AnyInboxError {
    return typeof value === 'object' && value !== null && BRAND in value
  }
}

export type AnyInboxError = { [C in InboxErrorCode]: InboxError<C> }[InboxErrorCode]
