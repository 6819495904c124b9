import {
  UserQuestionError,
  type Answer,
  type AskUserQuestionAnswer,
  type ProviderRequest,
  type UserQuestionProvider,
} from '@handraise/user-questions/types'
import type { SeamInbox } from '@handraise/user-questions'
import type { Command, Decision } from './decision.ts'
import { InboxError } from './error.ts'
import type { Inbox, OpenOptions } from './inbox.ts'
import { answersOf, QUESTIONS, toQuestionsPayload } from './questions-kind.ts'
import { isSettled, type InboxRequest, type SettledRequest } from './request.ts'

/** What becomes of a question while nobody could see it: the ask ends `ASK_UNAVAILABLE`, or it waits. */
export type ViewerPolicy = 'require' | 'wait'

/** How long to wait between tries to keep a decision, in milliseconds. */
const RETRIES_MS = [100, 500, 2_000]

/** One request that somebody in this process waits for, as it is shown by the providers of this process. */
interface Showing {
  readonly request: InboxRequest
  readonly calledAt: number
  readonly routes: Map<UserQuestionProvider, AbortController>
  /** Aborts when no route is left, with the error of the last. */
  readonly unreachable: AbortController
  asks: number
}

/**
 * Asks through the inbox: what the seam is asked is opened there and shown by every provider of this process, beside
 * whatever surfaces the inbox has. The first valid answer settles it; the others are taken down and told who answered.
 */
export class FanOut implements SeamInbox {
  readonly name = 'inbox'
  private readonly inbox: Inbox
  private readonly viewer: ViewerPolicy
  /** How many people could see a request on the surfaces. */
  private readonly viewers: () => number
  /** How many surfaces there are, whether anybody looks at them now or not. */
  private readonly surfaces: () => number
  private readonly report: (error: unknown) => void
  private readonly providers = new Set<UserQuestionProvider>()
  private readonly showings = new Map<string, Showing>()

  constructor(
    inbox: Inbox,
    viewer: ViewerPolicy,
    surfaces: { readonly viewers: () => number; readonly count: () => number },
    report: (error: unknown) => void,
  ) {
    this.inbox = inbox
    this.viewer = viewer
    this.viewers = surfaces.viewers
    this.surfaces = surfaces.count
    this.report = report
  }

  registerProvider(provider: UserQuestionProvider): () => void {
    this.providers.add(provider)
    for (const showing of this.showings.values()) this.route(showing, provider)
    return () => {
      this.providers.delete(provider)
      for (const showing of this.showings.values()) {
        showing.routes.get(provider)?.abort(new UserQuestionError('PROVIDER_GONE'))
        this.lose(showing, provider, new UserQuestionError('PROVIDER_GONE'))
      }
    }
  }

  async ask(request: ProviderRequest): Promise<AskUserQuestionAnswer> {
    const { id, questions, agent, session, key, askedAt: openedAt, calledAt, deadlineAt, signal } = request
    const payload = toQuestionsPayload(questions)
    const opening = { id, kind: QUESTIONS, payload, agent: agent?.id, session, key, openedAt, deadlineAt }
    return toAnswer(await this.request(opening, signal, calledAt).catch(keyConflict))
  }

  /** Opens a request of any kind, shows it, and waits until it is settled. */
  async request(
    opening: OpenOptions,
    signal: AbortSignal,
    calledAt = performance.now(),
  ): Promise<SettledRequest> {
    const { request } = await this.inbox.open(opening)
    if (isSettled(request)) return request
    if (signal.aborted) {
      // Whoever asked has left while it was opened, and others may show it by now.
      await this.leave(request, signal.reason)
      throw signal.reason
    }
    if (this.viewer === 'require' && this.providers.size === 0 && this.viewers() === 0) {
      // After the look whether it was answered before: for that nobody need be there now.
      if (request.key === undefined) await this.inbox.withdraw(request.id, 'nobody could see it')
      throw nobodyLooks()
    }
    const showing = this.show(request, calledAt)
    try {
      return await this.inbox.wait(request.id, AbortSignal.any([signal, showing.unreachable.signal]))
    } catch (error) {
      if (signal.aborted) await this.leave(request, signal.reason)
      else if (showing.unreachable.signal.aborted) await this.withdraw(showing, 'undeliverable')
      throw error
    } finally {
      this.hide(showing)
    }
  }

  private show(request: InboxRequest, calledAt: number): Showing {
    const known = this.showings.get(request.id)
    if (known !== undefined) {
      known.asks += 1
      return known
    }
    const showing: Showing = {
      request,
      calledAt,
      routes: new Map(),
      unreachable: new AbortController(),
      asks: 1,
    }
    this.showings.set(request.id, showing)
    for (const provider of this.providers) this.route(showing, provider)
    return showing
  }

  private hide(showing: Showing): void {
    showing.asks -= 1
    if (showing.asks > 0) return
    this.showings.delete(showing.request.id)
    const takenDown = new UserQuestionError('ASK_ABORTED', { reason: 'nobody waits for it any more' })
    for (const controller of showing.routes.values()) controller.abort(takenDown)
  }

  private route(showing: Showing, provider: UserQuestionProvider): void {
    const controller = new AbortController()
    showing.routes.set(provider, controller)
    const { calledAt } = showing
    const { id, kind, payload, session, key, openedAt: askedAt, deadlineAt } = showing.request
    const shown: ProviderRequest = Object.freeze({
      id,
      ...(kind === QUESTIONS ? {} : { kind, payload }),
      questions: this.inbox.kindOf(showing.request)?.asQuestions(payload) ?? [],
      agent: showing.request.agent === undefined ? undefined : { id: showing.request.agent },
      session,
      key,
      askedAt,
      calledAt,
      deadlineAt,
      signal: controller.signal,
      engaged: () => void this.inbox.engage(id).catch(this.report),
    })
    // Whichever way it is settled, this provider takes it down and may say by whom.
    this.inbox
      .watch(id, controller.signal)
      .then(({ settlement }) =>
        controller.abort(
          new UserQuestionError('ASK_ABORTED', {
            reason: `${settlement.outcome}${settlement.surface === undefined ? '' : ` by ${settlement.surface}`}`,
          }),
        ),
      )
      .catch(() => {})
    void this.askProvider(showing, provider, shown).catch(this.report)
  }

  private async askProvider(
    showing: Showing,
    provider: UserQuestionProvider,
    request: ProviderRequest,
  ): Promise<void> {
    const surface = provider.name ?? 'provider'
    const command = { commandId: crypto.randomUUID(), surface }
    let decision: Decision | undefined
    let by: 'user' | 'policy' = 'user'
    try {
      const { answers } = await provider.ask(request)
      if (answers.some(answer => answer.by === 'policy')) by = 'policy'
      if (by === 'policy') refusePolicy(provider, showing.request)
      decision = { outcome: 'answered', answer: this.inKind(showing.request, answers) }
    } catch (error) {
      if (request.signal.aborted) return
      decision = toDecision(error)
      if (decision === undefined) return this.lose(showing, provider, toFailure(error, provider.name))
    }
    try {
      await this.decide(request.id, decision, { ...command, by })
    } catch (error) {
      if (!isLost(error)) this.lose(showing, provider, toFailure(error, provider.name))
    }
  }

  private inKind(request: InboxRequest, answers: readonly Answer[]): unknown {
    const kind = this.inbox.kindOf(request)
    return kind === undefined ? { answers } : kind.fromAnswers(request.payload, answers)
  }

  // What a person has decided is not given up for a store that fails just now.
  private async decide(id: string, decision: Decision, command: Command): Promise<void> {
    for (const delayMs of RETRIES_MS) {
      try {
        await this.inbox.decide(id, decision, command)
        return
      } catch (error) {
        if (InboxError.isInstance(error)) throw error
        this.report(error)
        await new Promise<void>(resolve => this.inbox.clock.after(delayMs, resolve))
      }
    }
    await this.inbox.decide(id, decision, command)
  }

  // A provider that fails is one route less; only without any other is nobody left to ask.
  private lose(showing: Showing, provider: UserQuestionProvider, error: UserQuestionError): void {
    if (!showing.routes.delete(provider)) return
    const failed = error.code === 'PROVIDER_FAILED' || error.code === 'BAD_ANSWER'
    if (failed || isUndeliverable(error)) this.report(error)
    if (showing.routes.size > 0 || this.viewers() > 0) return
    if (this.viewer === 'wait') {
      // What could not be delivered waits for nobody, but for whoever opens a surface that is there.
      if (isUndeliverable(error) ? this.surfaces() > 0 : !failed) return
    }
    showing.unreachable.abort(error)
  }

  private async leave({ id }: InboxRequest, reason: unknown): Promise<void> {
    // The host goes down: what has a key is kept for the agent to come back to.
    const hostGone = UserQuestionError.isInstance(reason) && reason.code === 'PROVIDER_GONE'
    // Others may wait for the same answer: here, or in another process that joined it by its key.
    if (hostGone || this.inbox.waiting(id) > 0) return
    if (await this.inbox.isJoinedElsewhere(id)) return
    await this.inbox.withdraw(id, 'the asker went away').catch(this.report)
  }

  private async withdraw(showing: Showing, reason: string): Promise<void> {
    if (showing.request.key !== undefined || this.inbox.waiting(showing.request.id) > 0) return
    await this.inbox.withdraw(showing.request.id, reason).catch(this.report)
  }
}

/** What an ask ends with when its request was settled so. */
export function toAnswer({ settlement }: SettledRequest): AskUserQuestionAnswer {
  const { outcome, reason, by, text = '' } = settlement
  const answers = answersOf(settlement.answer).map(answer =>
    by === 'policy' && answer.by === undefined ? { ...answer, by } : answer,
  )
  switch (outcome) {
    case 'answered':
      return { answers }
    case 'timedOut':
      if (answers.length > 0) return { answers }
      throw new UserQuestionError('ASK_TIMED_OUT', {})
    case 'declined':
      throw new UserQuestionError('ASK_DECLINED', { reason })
    case 'clarified':
      throw new UserQuestionError('ASK_CLARIFIED', { text })
    case 'aborted':
      throw new UserQuestionError('ASK_ABORTED', { reason })
    case 'cancelled':
      throw new UserQuestionError('ASK_CANCELLED', {
        reason,
        answers,
        ...(by === 'policy' ? { by } : {}),
      })
    case 'interrupted':
      throw new UserQuestionError('ASK_INTERRUPTED', { reason, answers })
  }
}

// A policy made for questions is no permission.
function refusePolicy(provider: UserQuestionProvider, { kind }: InboxRequest): void {
  if (kind === QUESTIONS || provider.answersKinds?.includes(kind) === true) return
  throw new UserQuestionError('ASK_UNAVAILABLE', {
    reason: 'no-rule',
    advice: `a policy answers no request of the kind ${JSON.stringify(kind)}`,
  })
}

function toDecision(error: unknown): Decision | undefined {
  if (!UserQuestionError.isInstance(error)) return undefined
  const partial = (answers: readonly Answer[] | undefined): object =>
    answers === undefined ? {} : { answer: { answers } }
  switch (error.code) {
    case 'ASK_CANCELLED':
      return { outcome: 'cancelled', reason: error.details.reason, ...partial(error.details.answers) }
    case 'ASK_INTERRUPTED':
      return { outcome: 'interrupted', reason: error.details.reason, ...partial(error.details.answers) }
    case 'ASK_DECLINED':
      return { outcome: 'declined', reason: error.details.reason }
    case 'ASK_CLARIFIED':
      return { outcome: 'clarified', text: error.details.text }
    default:
      return undefined
  }
}

function toFailure(error: unknown, provider: string | undefined): UserQuestionError {
  if (
    UserQuestionError.isInstance(error) &&
    (error.code === 'ASK_UNAVAILABLE' || error.code === 'ASK_TIMED_OUT')
  )
    return error
  if (InboxError.isInstance(error) && error.code === 'BAD_ANSWER') {
    return new UserQuestionError('BAD_ANSWER', { provider, issues: error.details.issues }, { cause: error })
  }
  const fault = error instanceof Error ? error.message : String(error)
  return new UserQuestionError('PROVIDER_FAILED', { provider, fault }, { cause: error })
}

function isUndeliverable(error: UserQuestionError): boolean {
  return (
    UserQuestionError.isInstance(error) &&
    error.code === 'ASK_UNAVAILABLE' &&
    error.details.reason === 'undeliverable'
  )
}

function isLost(error: unknown): boolean {
  return (
    InboxError.isInstance(error) && (error.code === 'ALREADY_SETTLED' || error.code === 'UNKNOWN_REQUEST')
  )
}

function keyConflict(error: unknown): never {
  if (InboxError.isInstance(error) && error.code === 'KEY_CONFLICT') {
    throw new UserQuestionError('KEY_CONFLICT', { key: error.details.key }, { cause: error })
  }
  throw error
}

function nobodyLooks(): UserQuestionError {
  return new UserQuestionError('ASK_UNAVAILABLE', {
    reason: 'no-capable-client',
    advice: 'no provider is registered and no surface is open; open one and ask again',
  })
}
