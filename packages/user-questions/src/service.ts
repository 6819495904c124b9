import { type Context, Service } from 'cordis'
import type { AgentRegistryLike } from './caller.ts'
import { systemClock, type Clock } from './clock.ts'
import type { AskUserQuestionAnswer } from './question.ts'
import type {
  AgentLike,
  AskUserQuestionRequest,
  PendingAsk,
  SettledAsk,
  UserQuestionProvider,
} from './request.ts'
import { Seam, type SeamInbox } from './seam.ts'

declare module 'cordis' {
  interface Context {
    userQuestions: UserQuestionService
  }

  interface Events {
    /** Once for each ask, before its provider is called. A listener that throws or is slow changes nothing. */
    'user-questions/asked'(ask: PendingAsk): void
    /** Once for each ask that was announced, when it ended. */
    'user-questions/settled'(ask: SettledAsk): void
  }
}

export interface UserQuestionConfig {
  /** Bounds on `timeoutMs` of the asks that set one. Default: none. */
  readonly timeoutBounds?:
    { readonly minMs?: number | undefined; readonly maxMs?: number | undefined } | undefined
  /** Default: the system's. */
  readonly clock?: Clock | undefined
}

/**
 * `ctx.userQuestions`: pauses for a person's answer. One provider at a time shows the questions; every ask ends, with a
 * checked answer or with the code that says why not.
 */
export class UserQuestionService extends Service {
  private readonly seam: Seam

  constructor(ctx: Context, config: UserQuestionConfig = {}) {
    super(ctx, 'userQuestions')
    // Cordis would wrap `this` once more for each call, for services that reach others through it. This one does not, and
    // an ask costs a fifth less without.
    ;(this as unknown as Record<symbol, { noShadow?: boolean }>)[Service.tracker]!.noShadow = true
    // Taken once: a look-up through the context costs more than all the checks of an ask together.
    const { reflect, events } = ctx
    const listeners = events._hooks
    // What holds the registry, not the registry: its owner may put another in its place.
    let agents: ReturnType<typeof reflect._getImpl>
    ctx.on('internal/service', name => {
      if (name === 'agents') agents = undefined
    })
    const seam = new Seam({
      clock: config.clock ?? systemClock,
      timeoutBounds: config.timeoutBounds ?? {},
      agents: () => (agents ??= reflect._getImpl('agents'))?.value as AgentRegistryLike | undefined,
      asked: ask => tell('user-questions/asked', ask),
      settled: ask => tell('user-questions/settled', ask),
    })
    const tell = <K extends keyof Told>(name: K, payload: () => Told[K]): void => {
      if (!listeners[name]?.length) return
      // `parallel` calls every listener at once and keeps their failures apart, where `emit` stops at the first.
      events.parallel(name, payload()).catch((error: unknown) => {
        for (const reason of error instanceof AggregateError ? error.errors : [error])
          ctx.logger.error(reason)
      })
    }
    this.seam = seam
    const onAgentDisposed = ({ agent }: { readonly agent: AgentLike }): void =>
      seam.agentLeft(agent, !isShuttingDown(ctx))
    // The registry is known by shape, so its event is not among the types this package sees.
    ctx.on('agent/disposed' as never, onAgentDisposed as never)
    ctx.effect(() => () => seam.close(), 'userQuestions.close()')
  }

  /**
   * Makes `provider` the one that is asked, until the returned function is called or the calling plugin is disposed;
   * what it has not answered by then ends `PROVIDER_GONE`. Throws `DUPLICATE_PROVIDER` when one is registered already,
   * and leaves that one in place.
   */
  registerProvider(provider: UserQuestionProvider): () => void {
    const { seam } = this
    const dispose = this.ctx.effect(() => seam.register(provider), 'userQuestions.registerProvider()')
    return () => void dispose()
  }

  /**
   * Asks the person, and always settles: with a checked answer, or by rejecting with a `UserQuestionError`.
   *
   * Refused before the provider is called, in this order: `ASK_ABORTED` (the signal is aborted already),
   * `EMPTY_QUESTIONS`, `CALLER_NOT_LIVE`, `DELEGATED_CALLER`, `BAD_INTENT`, `BAD_QUESTIONS`, `NO_PROVIDER`.
   * Afterwards: `ASK_ABORTED`, `ASK_CANCELLED`, `ASK_DECLINED`, `ASK_CLARIFIED`, `ASK_INTERRUPTED`, `ASK_TIMED_OUT`,
   * `ASK_UNAVAILABLE`, `PROVIDER_GONE`, `PROVIDER_FAILED`, `BAD_ANSWER`.
   *
   * When the deadline passes and every question names a default, it resolves with those, each marked `by: 'default'`.
   */
  ask(request: AskUserQuestionRequest): Promise<AskUserQuestionAnswer> {
    return this.seam.ask(request)
  }

  /** The asks in flight, oldest first. */
  pending(): PendingAsk[] {
    return this.seam.pending()
  }

  /**
   * For an inbox alone: stands in the place of the one provider until the returned function is called or the calling
   * plugin is disposed. Meanwhile several providers may register, and the inbox shows each question to all of them.
   */
  attach(inbox: SeamInbox): () => void {
    const { seam } = this
    const dispose = this.ctx.effect(() => seam.attach(inbox), 'userQuestions.attach()')
    return () => void dispose()
  }

  /** What is asked: the inbox while one is attached, else the registered provider, if there is one. */
  provider(): UserQuestionProvider | undefined {
    return this.seam.current
  }
}

type Told = { 'user-questions/asked': PendingAsk; 'user-questions/settled': SettledAsk }

// `FiberState` is a constant enumeration, which isolated modules cannot import.
const DISPOSED = 4
const UNLOADING = 5

function isShuttingDown(ctx: Context): boolean {
  for (let { fiber } = ctx; ; fiber = fiber.parent.fiber) {
    if ((fiber.state as number) === UNLOADING || (fiber.state as number) === DISPOSED) return true
    if (fiber === fiber.parent.fiber) return false
  }
}
