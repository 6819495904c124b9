import { describeIssues, type Issue } from './issue.ts'
import type { Answer } from './question.ts'
import type { IntentFault } from './question-rules.ts'

/** Why nobody could be asked. */
export type UnavailableReason =
  /** No person is at the terminal: a pipe, a background job, CI. */
  | 'not-interactive'
  /** Answers come from rules, and none covers the question. */
  | 'no-rule'
  /** A rule covers it, with an answer the question does not allow. */
  | 'rule-not-offered'
  /** No connected client can show a question. */
  | 'no-capable-client'
  /** What asks can show questions, and not this one: it would have to cut it, or lacks a way to answer it. */
  | 'unsupported-question'
  /** The question could not be delivered. */
  | 'undeliverable'

/** What each code carries. */
export interface UserQuestionErrorDetails {
  ASK_ABORTED: { readonly reason?: string | undefined }
  EMPTY_QUESTIONS: object
  CALLER_NOT_LIVE: object
  DELEGATED_CALLER: object
  BAD_INTENT: IntentFault
  BAD_QUESTIONS: { readonly issues: readonly Issue[] }
  NO_PROVIDER: object
  DUPLICATE_PROVIDER: object
  ASK_CANCELLED: {
    readonly reason?: string | undefined
    readonly answers?: readonly Answer[] | undefined
    /** `policy` where a rule of the host withdrew the questions, and no person. Default `user`. */
    readonly by?: 'user' | 'policy' | undefined
  }
  ASK_DECLINED: { readonly reason?: string | undefined }
  ASK_CLARIFIED: { readonly text: string }
  ASK_INTERRUPTED: { readonly reason?: string | undefined; readonly answers?: readonly Answer[] | undefined }
  ASK_TIMED_OUT: { readonly timeoutMs?: number | undefined }
  ASK_UNAVAILABLE: { readonly reason: UnavailableReason; readonly advice?: string | undefined }
  PROVIDER_GONE: object
  PROVIDER_FAILED: { readonly provider?: string | undefined; readonly fault: string }
  BAD_ANSWER: { readonly provider?: string | undefined; readonly issues: readonly Issue[] }
  KEY_CONFLICT: { readonly key: string }
}

export type UserQuestionErrorCode = keyof UserQuestionErrorDetails

/** The codes with which a provider may end an ask itself. */
export const PROVIDER_CODES = [
  'ASK_CANCELLED',
  'ASK_DECLINED',
  'ASK_CLARIFIED',
  'ASK_INTERRUPTED',
  'ASK_TIMED_OUT',
  'ASK_UNAVAILABLE',
] as const satisfies readonly UserQuestionErrorCode[]

type MessageOf = { readonly [C in UserQuestionErrorCode]: (details: UserQuestionErrorDetails[C]) => string }

// The first six, and DUPLICATE_PROVIDER, are the messages of seed 002.
const MESSAGE: MessageOf = {
  ASK_ABORTED: () => 'ask_user_question was aborted before the user answered',
  EMPTY_QUESTIONS: () => 'ask_user_question requires at least one question',
  CALLER_NOT_LIVE: () => 'human interaction requires the exact live calling agent when an agent is supplied',
  DELEGATED_CALLER: () =>
    "human interaction is unavailable while the calling agent is owned by another live agent; include the unresolved question or decision in the child agent's final result",
  BAD_INTENT: ({ question, kind, approve, fault }) =>
    fault === 'approve'
      ? `question ${question} declares intent ${kind} whose approve label ${JSON.stringify(approve)} is none of its options`
      : `question ${question} declares intent ${kind} without the detail it reviews`,
  NO_PROVIDER: () => 'no user-questions provider is registered',
  DUPLICATE_PROVIDER: () => 'a user-questions provider is already registered',
  BAD_QUESTIONS: ({ issues }) => `the questions cannot be asked: ${describeIssues(issues)}`,
  ASK_CANCELLED: ({ reason, answers, by }) =>
    `${by === 'policy' ? 'the questions were withdrawn before the user decided' : 'the user dismissed the questions without deciding'}${because(reason)}${soFar(answers)}; do not assume an answer, go on without it or ask again when it is needed`,
  ASK_DECLINED: ({ reason }) =>
    `the user declined to answer${because(reason)}; do not ask the same again, go on without the answer or stop`,
  ASK_CLARIFIED: ({ text }) =>
    `the user wrote back instead of choosing: ${JSON.stringify(text)}; read it, then ask again if a decision is still needed`,
  ASK_INTERRUPTED: ({ reason, answers }) =>
    `the user stopped the turn${because(reason)}${soFar(answers)}; stop and wait for the user`,
  ASK_TIMED_OUT: ({ timeoutMs }) =>
    `nobody answered${timeoutMs === undefined ? ' in time' : ` within ${timeoutMs} ms`}; nothing was chosen, do not assume an answer`,
  ASK_UNAVAILABLE: ({ reason, advice }) =>
    `nobody could be asked (${reason})${advice === undefined ? '' : `: ${advice}`}; nobody has seen the question, do not assume an answer`,
  PROVIDER_GONE: () =>
    'the place where the question was shown went away before the user answered; nothing was chosen, ask again later',
  PROVIDER_FAILED: ({ provider, fault }) =>
    `the question could not be completed: ${named(provider)} failed: ${fault}; nothing was chosen`,
  BAD_ANSWER: ({ provider, issues }) =>
    `the question could not be completed: ${named(provider)} gave an answer that does not fit: ${describeIssues(issues)}; nothing was chosen`,
  KEY_CONFLICT: ({ key }) =>
    `the key ${JSON.stringify(key)} was used for other questions before; ask under a new tool call id`,
}

/** The codes with which an inbox in the provider's place may end an ask besides: what it replays, and its own. */
export const INBOX_CODES = ['ASK_ABORTED', 'KEY_CONFLICT'] as const satisfies readonly UserQuestionErrorCode[]

function because(reason: string | undefined): string {
  return reason === undefined || reason === '' ? '' : ` (${reason})`
}

function soFar(answers: readonly Answer[] | undefined): string {
  return answers === undefined || answers.length === 0
    ? ''
    : `, with ${answers.length} answered so far: ${JSON.stringify(answers)}`
}

function named(provider: string | undefined): string {
  return provider === undefined ? 'the provider' : `the provider ${provider}`
}

type DetailsArguments<C extends UserQuestionErrorCode> = object extends UserQuestionErrorDetails[C]
  ? [details?: UserQuestionErrorDetails[C], options?: ErrorOptions]
  : [details: UserQuestionErrorDetails[C], options?: ErrorOptions]

// A plugin may bring its own copy of this package, so the class alone does not tell.
const BRAND = Symbol.for('handraise.UserQuestionError')

/** Every way an ask can fail to bring an answer. Branch on `code`; the message is for the model. */
export class UserQuestionError<C extends UserQuestionErrorCode = UserQuestionErrorCode> extends Error {
  override readonly name = 'UserQuestionError'
  readonly code: C
  readonly details: UserQuestionErrorDetails[C]

  constructor(code: C, ...[details, options]: DetailsArguments<C>) {
    const given = (details ?? {}) as UserQuestionErrorDetails[C]
    super(MESSAGE[code](given), options)
    this.code = code
    this.details = given
    Object.defineProperty(this, BRAND, { value: true })
  }

  /** True of an error of this class, whichever copy of the package made it. Narrows `details` by `code`. */
  static isInstance(value: unknown): value is AnyUserQuestionError {
    return typeof value === 'object' && value !== null && BRAND in value
  }
}

export type AnyUserQuestionError = {
  [C in UserQuestionErrorCode]: UserQuestionError<C>
}[UserQuestionErrorCode]
