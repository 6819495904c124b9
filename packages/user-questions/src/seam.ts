import { Ask } from './ask.ts'
import { refusalOfCaller, type AgentRegistryLike } from './caller.ts'
import type { Clock } from './clock.ts'
import { UserQuestionError, type AnyUserQuestionError } from './error.ts'
import type { Issue } from './issue.ts'
import type { AskUserQuestionAnswer } from './question.ts'
import { checkQuestions, checkTypes, findIntentFault, typeName } from './question-rules.ts'
import type {
  AgentLike,
  AskUserQuestionRequest,
  PendingAsk,
  SettledAsk,
  UserQuestionProvider,
} from './request.ts'

/** What the seam needs from the host it lives in. */
export interface SeamHost {
  readonly clock: Clock
  /** Bounds on the time to wait, in milliseconds, for asks that set one. */
  readonly timeoutBounds: { readonly minMs?: number | undefined; readonly maxMs?: number | undefined }
  agents(): AgentRegistryLike | undefined
  /** Tells listeners, if there are any; `ask` makes the payload only then. */
  asked(ask: () => PendingAsk): void
  settled(ask: () => SettledAsk): void
}

/** What may stand in the place of the one provider: it is asked, takes several providers, and keeps the deadlines. */
export interface SeamInbox extends UserQuestionProvider {
  registerProvider(provider: UserQuestionProvider): () => void
}

interface Registration {
  readonly provider: UserQuestionProvider
  leaveInbox: (() => void) | undefined
}

/**
 * The seam without its host: the one provider, the checks in their order, and the asks in flight. Kept apart from the
 * cordis service, whose members are reached through proxies.
 */
export class Seam {
  private readonly host: SeamHost
  // The first is the one that is asked; more than one only where an inbox was attached.
  private readonly registrations: Registration[] = []
  private inbox: SeamInbox | undefined
  private readonly asks = new Map<string, Ask>()

  constructor(host: SeamHost) {
    this.host = host
  }

  /** What is asked: the inbox while one is attached, else the first registered provider. */
  get current(): UserQuestionProvider | undefined {
    return this.inbox ?? this.registrations[0]?.provider
  }

  /** Registers a provider. Throws `DUPLICATE_PROVIDER` when there is one already, and no inbox to take several. */
  register(provider: UserQuestionProvider): () => void {
    if (this.inbox === undefined && this.registrations.length > 0)
      throw new UserQuestionError('DUPLICATE_PROVIDER')
    if (typeof (provider as UserQuestionProvider | null)?.ask !== 'function') {
      throw new TypeError('registerProvider: expected a provider, an object with a method ask(request)')
    }
    const registration: Registration = { provider, leaveInbox: this.inbox?.registerProvider(provider) }
    this.registrations.push(registration)
    return () => {
      const index = this.registrations.indexOf(registration)
      if (index < 0) return
      this.registrations.splice(index, 1)
      registration.leaveInbox?.()
      this.endAsksOf(provider)
    }
  }

  /**
   * Puts an inbox in the place of the provider: it is asked, and takes the registered providers, those there already
   * and those that come. Detached, the first of them is asked again, and the others wait, in order.
   */
  attach(inbox: SeamInbox): () => void {
    if (this.inbox !== undefined) throw new UserQuestionError('DUPLICATE_PROVIDER')
    this.inbox = inbox
    for (const registration of this.registrations) {
      registration.leaveInbox = inbox.registerProvider(registration.provider)
    }
    return () => {
      if (this.inbox !== inbox) return
      this.inbox = undefined
      for (const registration of this.registrations) {
        registration.leaveInbox?.()
        registration.leaveInbox = undefined
      }
      this.endAsksOf(inbox)
    }
  }

  ask(request: AskUserQuestionRequest): Promise<AskUserQuestionAnswer> {
    let ask: Ask
    try {
      ask = this.admit(request)
    } catch (error) {
      return Promise.reject(UserQuestionError.isInstance(error) ? error : unreadable(error))
    }
    this.asks.set(ask.id, ask)
    return new Promise((resolve, reject) => {
      this.host.asked(() => ask.toPending())
      ask.run(ending => {
        this.asks.delete(ask.id)
        if (ending.answer !== undefined) resolve(ending.answer)
        else reject(ending.error)
        this.host.settled(() => ask.toSettled(ending))
      })
    })
  }

  pending(): PendingAsk[] {
    return [...this.asks.values()].map(ask => ask.toPending())
  }

  /** Ends what `agent` has asked: it has left, or the host is going down. */
  agentLeft(agent: AgentLike, hostRunning: boolean): void {
    this.endWhere(
      ask => ask.request.agent === agent,
      () =>
        hostRunning
          ? new UserQuestionError('ASK_ABORTED', { reason: 'the asking agent left' })
          : new UserQuestionError('PROVIDER_GONE'),
    )
  }

  /** Ends everything in flight: the host is shutting down. */
  close(): void {
    this.registrations.length = 0
    this.inbox = undefined
    this.endWhere(
      () => true,
      () => new UserQuestionError('PROVIDER_GONE'),
    )
  }

  private endAsksOf(provider: UserQuestionProvider): void {
    this.endWhere(
      ask => ask.provider === provider,
      () => new UserQuestionError('PROVIDER_GONE'),
    )
  }

  private endWhere(matches: (ask: Ask) => boolean, error: () => AnyUserQuestionError): void {
    // A listener of the settlement may ask again: that ask is not among those ended here.
    const ending = Array.from(this.asks.values()).filter(matches)
    for (const ask of ending) ask.end(error())
  }

  private admit(request: AskUserQuestionRequest): Ask {
    const refusal = this.refuse(request)
    if (refusal !== undefined) throw refusal
    const provider = this.current
    if (provider === undefined) throw new UserQuestionError('NO_PROVIDER')
    const timeoutMs = this.effectiveTimeoutMs(request)
    const { clock } = this.host
    return new Ask(crypto.randomUUID(), request, provider, clock, timeoutMs, provider === this.inbox)
  }

  // The order is the contract (seed 002, section 3): the first check that fails names the code.
  private refuse(request: AskUserQuestionRequest): AnyUserQuestionError | undefined {
    if (typeof request !== 'object' || request === null) {
      const issues = [{ path: 'request', message: `expected an object, got ${typeName(request)}` }]
      return new UserQuestionError('BAD_QUESTIONS', { issues })
    }
    const { questions, agent } = request
    if (request.signal?.aborted)
      return new UserQuestionError('ASK_ABORTED', {}, { cause: request.signal.reason })
    if (questions === undefined || questions === null || questions.length === 0) {
      return new UserQuestionError('EMPTY_QUESTIONS')
    }
    if (agent !== undefined && agent !== null) {
      const code = refusalOfCaller(this.host.agents(), agent)
      if (code !== undefined) return new UserQuestionError(code)
    }
    const intentFault = Array.isArray(questions) ? findIntentFault(questions) : undefined
    if (intentFault !== undefined) return new UserQuestionError('BAD_INTENT', intentFault)
    const issues: Issue[] = checkQuestions(questions)
    checkTypes(request, { session: 'string', key: 'string' }, '', issues)
    const timeoutIssue = checkTimeout(request.timeoutMs)
    if (timeoutIssue !== undefined) issues.push(timeoutIssue)
    if (request.signal !== undefined && request.signal !== null && !isSignal(request.signal)) {
      issues.push({ path: 'signal', message: `expected an AbortSignal, got ${typeName(request.signal)}` })
    }
    if (issues.length > 0) return new UserQuestionError('BAD_QUESTIONS', { issues })
    return undefined
  }

  private effectiveTimeoutMs({ timeoutMs }: AskUserQuestionRequest): number | undefined {
    if (timeoutMs === undefined || timeoutMs === null) return undefined
    const { minMs = 0, maxMs = Infinity } = this.host.timeoutBounds
    return Math.min(Math.max(timeoutMs, minMs), maxMs)
  }
}

function checkTimeout(timeoutMs: number | undefined | null): Issue | undefined {
  if (timeoutMs === undefined || timeoutMs === null) return undefined
  if (typeof timeoutMs === 'number' && timeoutMs > 0 && timeoutMs < Infinity) return undefined
  const got = typeof timeoutMs === 'number' ? timeoutMs : typeName(timeoutMs)
  return { path: 'timeoutMs', message: `expected a number of milliseconds above 0, got ${got}` }
}

function isSignal(value: unknown): value is AbortSignal {
  if (typeof value !== 'object' || value === null) return false
  return 'aborted' in value && 'addEventListener' in value && typeof value.addEventListener === 'function'
}

// Such as a question that holds itself, or a getter that throws.
function unreadable(error: unknown): UserQuestionError<'BAD_QUESTIONS'> {
  const issues = [{ path: 'request', message: 'is no plain data: it cannot be read' }]
  return new UserQuestionError('BAD_QUESTIONS', { issues }, { cause: error })
}
