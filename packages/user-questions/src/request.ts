import type { Answer, AskUserQuestionAnswer, Question } from './question.ts'
import type { AskOutcome } from './settlement.ts'
import type { UserQuestionErrorCode } from './error.ts'

/** An agent as the seam knows one: an object with an id. Who it is, is decided by `===`. */
export interface AgentLike {
  readonly id: string
}

/** A batch of questions asked together. */
export interface AskUserQuestionRequest {
  readonly questions: readonly Question[]
  /** The asking agent: the exact live instance, and a root. Absent: the host itself asks. */
  readonly agent?: AgentLike | undefined
  /** Aborting it ends the ask with `ASK_ABORTED`, whatever the provider does. */
  readonly signal?: AbortSignal | undefined
  /** The session the question belongs to; names it for surfaces. */
  readonly session?: string | undefined
  /** Makes asking idempotent within the session where an inbox is mounted. The ask tool sets it to the tool call id. */
  readonly key?: string | undefined
  /** How long to wait, in milliseconds. Absent: for ever. */
  readonly timeoutMs?: number | undefined
}

/** What a provider is handed: frozen, with an id of its own. */
export interface ProviderRequest {
  /**
   * A random UUID, the same for as long as the request is asked: an inbox that kept it asks it again under the same one after
   * a restart. It tells nothing, and is no secret: it may be sent to wherever the question is shown.
   */
  readonly id: string
  /**
   * What it is about when it is more than questions, such as `approval`, with what that kind holds. The questions say the
   * same for a provider that does not know the kind.
   */
  readonly kind?: string | undefined
  readonly payload?: unknown
  readonly questions: readonly Question[]
  readonly agent?: AgentLike | undefined
  readonly session?: string | undefined
  readonly key?: string | undefined
  /** When it was asked, in milliseconds since the Unix epoch. */
  readonly askedAt?: number | undefined
  /**
   * When this call to ask was made, in milliseconds as `performance.now()` counts them in this process, whatever becomes of the
   * clock; `askedAt` is that of the first one where it is asked again under its key.
   */
  readonly calledAt?: number | undefined
  /** When the ask ends by itself, in milliseconds since the Unix epoch. */
  readonly deadlineAt?: number | undefined
  /**
   * Aborts when the ask ends by any other way than this provider's answer: take the question down, and reject with its reason.
   * Leave no listener on it, however the ask ended.
   */
  readonly signal: AbortSignal
  /** Says that a person began to answer, which disarms the deadline. May be called any number of times. */
  engaged(): void
}

/** A place where questions are shown and answered. */
export interface UserQuestionProvider {
  /** Named in errors and in the list of what is mounted. */
  readonly name?: string | undefined
  /**
   * The kinds, besides questions, whose requests it may answer by a rule instead of a person (`by: 'policy'`). Default
   * none: a policy made for questions is no permission.
   */
  readonly answersKinds?: readonly string[] | undefined
  /**
   * Shows the questions and resolves with the answers. To end without an answer, reject with a `UserQuestionError` of
   * one of `PROVIDER_CODES`; anything else thrown is `PROVIDER_FAILED`. May be called again before it has settled.
   */
  ask(request: ProviderRequest): Promise<AskUserQuestionAnswer>
}

/** An ask in flight. */
export interface PendingAsk {
  readonly id: string
  readonly questions: readonly Question[]
  readonly agent?: AgentLike | undefined
  readonly session?: string | undefined
  readonly key?: string | undefined
  /** Milliseconds since the Unix epoch. */
  readonly askedAt: number
  /** Milliseconds since the Unix epoch; absent without a deadline and once a person began to answer. */
  readonly deadlineAt?: number | undefined
}

/** How an ask ended. */
export interface SettledAsk extends PendingAsk {
  /** Milliseconds since the Unix epoch. */
  readonly settledAt: number
  readonly outcome: AskOutcome
  /** All of them when answered, those confirmed so far when cancelled or interrupted, else none. */
  readonly answers: readonly Answer[]
  /** The code the ask was rejected with; absent when it resolved. */
  readonly code?: UserQuestionErrorCode | undefined
  /** Why, as far as anybody said. */
  readonly reason?: string | undefined
  /** What the person wrote back, when clarified. */
  readonly text?: string | undefined
}
