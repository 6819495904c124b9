import type { Answer, Issue, Question } from '@handraise/user-questions/types'
import type { InboxRequest, JsonValue } from './request.ts'
import type { RecordWrite } from './store.ts'

export type KindCheck =
  | { readonly ok: true; readonly answer: JsonValue }
  | { readonly ok: false; readonly issues: readonly Issue[] }

/**
 * What the inbox must know of a kind of request, brought by whoever owns the kind. Payloads and answers are plain data
 * from a store or a client: every function parses what it is given, and never throws.
 */
export interface RequestKind {
  readonly name: string
  /** Only the code of a host opens requests of this kind, and no client from outside. Default false. */
  readonly hostOpens?: boolean | undefined
  /** The answer as it is kept, or every fault that keeps it from being one. */
  check(payload: JsonValue, answer: unknown): KindCheck
  /** What is written with the settlement, all or nothing, when it is answered. Default: nothing. */
  recordsOf?(request: InboxRequest, answer: JsonValue): readonly RecordWrite[]
  /** What of an unfinished answer may be kept with a cancellation. Default: nothing. */
  keepPartial?(payload: JsonValue, answer: unknown): JsonValue | undefined
  /** The answer at the deadline, if the asker named one. */
  atDeadline?(payload: JsonValue): JsonValue | undefined
  /** The request as questions, for a provider or surface that does not know the kind. */
  asQuestions(payload: JsonValue): readonly Question[]
  /** The answers to those questions as an answer of this kind. */
  fromAnswers(payload: JsonValue, answers: readonly Answer[]): JsonValue
}
