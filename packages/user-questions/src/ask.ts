import { z } from 'zod'
import { checkAnswer, keepValidAnswers, type AnswerCheck } from './answer-rules.ts'
import type { Clock } from './clock.ts'
import {
  INBOX_CODES,
  PROVIDER_CODES,
  UserQuestionError,
  type AnyUserQuestionError,
  type UserQuestionErrorCode,
} from './error.ts'
import type { AskUserQuestionAnswer, Question } from './question.ts'
import type {
  AskUserQuestionRequest,
  PendingAsk,
  ProviderRequest,
  SettledAsk,
  UserQuestionProvider,
} from './request.ts'
import { OUTCOME_OF_CODE } from './settlement.ts'
import { sharedAborts } from './shared-aborts.ts'

/** How an ask ended: with an answer, or with the error it rejects with. */
type Ending =
  | { readonly answer: AskUserQuestionAnswer; readonly timedOut?: boolean; readonly error?: undefined }
  | { readonly error: AnyUserQuestionError; readonly answer?: undefined }

/**
 * One ask in flight. Whatever ends it first wins: the provider, the caller's signal, the deadline, the provider or the
 * agent going away. What comes later is discarded, and nothing it listened to stays behind.
 */
export class Ask {
  readonly id: string
  readonly request: AskUserQuestionRequest
  readonly questions: readonly Question[]
  readonly provider: UserQuestionProvider
  readonly askedAt: number
  private readonly calledAt = performance.now()
  private readonly clock: Clock
  private readonly timeoutMs: number | undefined
  private readonly throughInbox: boolean
  private deadlineAt: number | undefined
  private disarm: (() => void) | undefined
  private controller: AbortController | undefined
  private ending: Ending | undefined
  private withdrawnBy: AnyUserQuestionError | undefined
  private onEnd: ((ending: Ending) => void) | undefined

  constructor(
    id: string,
    request: AskUserQuestionRequest,
    provider: UserQuestionProvider,
    clock: Clock,
    timeoutMs: number | undefined,
    // Then the deadline is in a store, where it outlives this process, and is not kept twice.
    throughInbox: boolean,
  ) {
    this.id = id
    this.request = request
    this.questions = freezeQuestions(request.questions)
    this.provider = provider
    this.clock = clock
    this.timeoutMs = timeoutMs
    this.throughInbox = throughInbox
    this.askedAt = clock.now()
    if (timeoutMs !== undefined) this.deadlineAt = this.askedAt + timeoutMs
  }

  /** Calls the provider; settles once, when anything ends the ask. */
  run(onEnd: (ending: Ending) => void): void {
    this.onEnd = onEnd
    // Whoever heard that it was asked may have ended it already.
    if (this.ending !== undefined) return onEnd(this.ending)
    if (this.request.signal?.aborted === true) return this.abort()
    const { signal } = this.request
    if (signal !== undefined && signal !== null) sharedAborts.add(signal, this.abort)
    if (this.timeoutMs !== undefined && !this.throughInbox)
      this.disarm = this.clock.after(this.timeoutMs, () => this.timeOut())
    let answering: unknown
    try {
      answering = this.provider.ask(this.toProviderRequest())
      if (isThenable(answering)) {
        answering.then(
          value => this.answer(value),
          error => this.fail(error),
        )
        return
      }
    } catch (error) {
      return this.fail(error)
    }
    this.answer(answering)
  }

  /** Ends the ask with an error, unless it has ended. */
  end(error: AnyUserQuestionError): void {
    if (this.ending === undefined) this.withdraw({ error }, error)
  }

  toPending(): PendingAsk {
    const { agent, session, key } = this.request
    return {
      id: this.id,
      questions: this.questions,
      askedAt: this.askedAt,
      ...(agent === undefined ? {} : { agent }),
      ...(session === undefined ? {} : { session }),
      ...(key === undefined ? {} : { key }),
      ...(this.deadlineAt === undefined ? {} : { deadlineAt: this.deadlineAt }),
    }
  }

  toSettled(ending: Ending): SettledAsk {
    const settled = { ...this.toPending(), settledAt: this.clock.now() }
    if (ending.answer !== undefined) {
      const { answers } = ending.answer
      return {
        ...settled,
        outcome: ending.timedOut === true ? 'timedOut' : 'answered',
        answers,
      }
    }
    const { code, details } = ending.error
    return {
      ...settled,
      outcome: OUTCOME_OF_CODE[code],
      code,
      answers: ('answers' in details && details.answers) || [],
      ...('reason' in details && details.reason !== undefined ? { reason: details.reason } : {}),
      ...('text' in details ? { text: details.text } : {}),
    }
  }

  private toProviderRequest(): ProviderRequest {
    const { agent, session, key } = this.request
    const signal = (): AbortSignal => this.signal()
    return Object.freeze({
      id: this.id,
      questions: this.questions,
      agent,
      session,
      key,
      askedAt: this.askedAt,
      calledAt: this.calledAt,
      deadlineAt: this.deadlineAt,
      // Made when it is first read: most providers that answer at once never look at it.
      get signal() {
        return signal()
      },
      engaged: () => this.engage(),
    })
  }

  private signal(): AbortSignal {
    this.controller ??= new AbortController()
    if (this.withdrawnBy !== undefined) this.controller.abort(this.withdrawnBy)
    return this.controller.signal
  }

  private engage(): void {
    this.disarm?.()
    this.disarm = undefined
    this.deadlineAt = undefined
  }

  private readonly abort = (): void => {
    this.end(new UserQuestionError('ASK_ABORTED', {}, { cause: this.request.signal?.reason }))
  }

  private timeOut(): void {
    const defaults = this.questions.flatMap(({ id, default: value }) =>
      value === undefined || value === null ? [] : [{ ...value, id, by: 'default' as const }],
    )
    const error = new UserQuestionError('ASK_TIMED_OUT', { timeoutMs: this.timeoutMs })
    const check = checkAnswer(this.questions, { answers: defaults })
    this.withdraw(check.ok ? { answer: check.answer, timedOut: true } : { error }, error)
  }

  // Ends the ask by another way than the provider's answer, and tells the provider so.
  private withdraw(ending: Ending, error: AnyUserQuestionError): void {
    this.withdrawnBy = error
    this.settle(ending)
    this.controller?.abort(error)
  }

  private answer(value: unknown): void {
    if (this.ending !== undefined) return
    let check: AnswerCheck
    try {
      check = checkAnswer(this.questions, value)
    } catch (error) {
      return this.fail(error)
    }
    if (check.ok)
      this.settle({ answer: check.answer, timedOut: this.throughInbox && isDefaulted(check.answer) })
    else this.end(new UserQuestionError('BAD_ANSWER', { provider: this.provider.name, issues: check.issues }))
  }

  private fail(thrown: unknown): void {
    if (this.ending !== undefined) return
    let error: AnyUserQuestionError
    try {
      error = this.readFailure(thrown)
    } catch {
      // Not even its message can be read.
      error = this.providerFailed('it threw what cannot be read', thrown)
    }
    this.end(error)
  }

  // What a provider throws may come from another copy of this package, or only look like an error of it.
  private readFailure(thrown: unknown): AnyUserQuestionError {
    if (!UserQuestionError.isInstance(thrown) || !this.mayEndWith(thrown.code)) {
      return this.providerFailed(faultOf(thrown), thrown)
    }
    const details = endingDetailsSchema.safeParse(thrown.details)
    if (!details.success || (thrown.code === 'ASK_CLARIFIED' && details.data.text === undefined)) {
      return this.providerFailed(`it ended with ${thrown.code} without the details that belong to it`, thrown)
    }
    return this.withCheckedAnswers(thrown)
  }

  private providerFailed(fault: string, cause: unknown): UserQuestionError<'PROVIDER_FAILED'> {
    return new UserQuestionError('PROVIDER_FAILED', { provider: this.provider.name, fault }, { cause })
  }

  private mayEndWith(code: UserQuestionErrorCode): boolean {
    const codes: readonly UserQuestionErrorCode[] = this.throughInbox
      ? [...PROVIDER_CODES, ...INBOX_CODES]
      : PROVIDER_CODES
    return codes.includes(code)
  }

  private withCheckedAnswers(error: AnyUserQuestionError): AnyUserQuestionError {
    if (error.code !== 'ASK_CANCELLED' && error.code !== 'ASK_INTERRUPTED') return error
    const given = error.details.answers
    if (given === undefined) return error
    const answers = keepValidAnswers(this.questions, given)
    if (JSON.stringify(answers) === JSON.stringify(given)) return error
    return new UserQuestionError(error.code, { ...error.details, answers }, { cause: error })
  }

  private settle(ending: Ending): void {
    if (this.ending !== undefined) return
    this.ending = ending
    this.disarm?.()
    const { signal } = this.request
    if (signal !== undefined && signal !== null) sharedAborts.remove(signal, this.abort)
    this.onEnd?.(ending)
  }
}

function faultOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message
  try {
    return String(thrown)
  } catch {
    // An object without a usable `toString`.
    return typeof thrown
  }
}

const endingDetailsSchema = z.looseObject({
  reason: z.string().optional(),
  text: z.string().optional(),
})

// Only the inbox keeps deadlines of its own; another provider's word for it is not taken.
function isDefaulted({ answers }: AskUserQuestionAnswer): boolean {
  return answers.some(answer => answer.by === 'default')
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

// A copy, so that the caller's own objects stay as free as they were.
function freezeQuestions(questions: readonly Question[]): readonly Question[] {
  return Object.freeze(questions.map(freezeCopy))
}

function freezeCopy<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return Object.freeze(value.map(freezeCopy)) as T
  const copy: Record<string, unknown> = { ...(value as Record<string, unknown>) }
  for (const name in copy) {
    const part = copy[name]
    if (typeof part === 'object' && part !== null) copy[name] = freezeCopy(part)
  }
  return Object.freeze(copy) as T
}
