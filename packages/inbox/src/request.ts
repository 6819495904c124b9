import type { AnsweredBy, Outcome } from '@handraise/user-questions/types'

/** Plain data, as JSON holds it. */
export type JsonValue =
  null | boolean | number | string | readonly JsonValue[] | { readonly [name: string]: JsonValue }

/** How a request ended, once. */
export interface InboxSettlement {
  readonly outcome: Outcome
  /** In the words of the request's kind: all of it when answered, what was confirmed when cancelled or interrupted. */
  readonly answer?: JsonValue | undefined
  readonly reason?: string | undefined
  /** What the person wrote back, when clarified. */
  readonly text?: string | undefined
  readonly by?: AnsweredBy | undefined
  /** Where it was decided, such as `web` or `terminal`. */
  readonly surface?: string | undefined
  /** The command that won. */
  readonly commandId: string
  /** Milliseconds since the Unix epoch. */
  readonly settledAt: number
}

/** A request that was opened: pending without a settlement, and settled for good with one. */
export interface InboxRequest {
  readonly id: string
  /** What it is about; whoever owns the kind knows what `payload` means. */
  readonly kind: string
  readonly payload: JsonValue
  /** The session it belongs to; empty when none was named. */
  readonly session: string
  /** Names it within its session, so that asking again finds it. */
  readonly key?: string | undefined
  /** The id of the agent that asks. */
  readonly agent?: string | undefined
  /** Milliseconds since the Unix epoch. */
  readonly openedAt: number
  /** When it settles by itself, in milliseconds since the Unix epoch. */
  readonly deadlineAt?: number | undefined
  readonly settlement?: InboxSettlement | undefined
}

export interface SettledRequest extends InboxRequest {
  readonly settlement: InboxSettlement
}

export function isSettled(request: InboxRequest): request is SettledRequest {
  return request.settlement !== undefined
}
