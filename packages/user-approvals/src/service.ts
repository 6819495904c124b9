import { Service, type Context, type Events } from 'cordis'
import type {} from '@handraise/inbox'
import { UserQuestionError, type AgentLike, type AgentRegistryLike } from '@handraise/user-questions'
import { approvalKind } from './approval-kind.ts'
import { Approvals } from './approvals.ts'
import { askerOf } from './caller.ts'
import type { ApprovalMode } from './mode.ts'
import { isAllowed, type ApprovalOutcome } from './outcome.ts'
import type { ApprovalRequest } from './request.ts'
import type { CommitMode } from './session-modes.ts'
import type { RememberedRule } from './rule-book.ts'

declare module 'cordis' {
  interface Context {
    userApprovals: UserApprovalService
  }

  interface Events {
    /** An approval came to an outcome, whoever or whatever made it. A listener that throws changes nothing. */
    'user-approvals/ended'(event: {
      readonly request: ApprovalRequest
      readonly outcome: ApprovalOutcome
    }): void
    /** The mode of a session was set. */
    'user-approvals/mode'(event: {
      readonly session: string
      readonly before: ApprovalMode
      readonly mode: ApprovalMode
    }): void
  }
}

export interface UserApprovalConfig {
  /** The mode of sessions for which none was set. Default `promptUnmatched`. */
  readonly mode?: ApprovalMode | undefined
  /** How long what was decided for a call is kept, in milliseconds. Default 30 days. */
  readonly retentionMs?: number | undefined
}

const RETENTION_MS = 30 * 24 * 60 * 60 * 1000

/**
 * `ctx.userApprovals`: permission for one concrete action, decided by a person, a rule a person made, or a mode a person
 * set; by nothing else. Denying is an answer; that nobody decided is neither a denial nor an allowance.
 */
export class UserApprovalService extends Service {
  static readonly inject = ['inbox']

  private readonly approvals: Approvals
  private readonly retentionMs: number
  private readonly asking = new Map<AbortController, AgentLike | undefined>()
  private readonly openRoots = new Map<AgentLike, number>()

  constructor(
    ctx: Context,
    { mode = 'promptUnmatched', retentionMs = RETENTION_MS }: UserApprovalConfig = {},
  ) {
    super(ctx, 'userApprovals')
    this.retentionMs = retentionMs
    const { inbox } = ctx
    this.approvals = new Approvals({
      inbox: inbox.core,
      show: (...given) => inbox.request(...given),
      mode,
    })
    inbox.registerKind(approvalKind(inbox.core.clock))
    // The registry is known by shape, so its event is not among the types this package sees.
    const left = ({ agent }: { readonly agent: AgentLike }): void => {
      for (const [controller, asking] of this.asking)
        if (asking === agent) controller.abort(new Error('the asking agent has left'))
    }
    ctx.on('agent/disposed' as never, left as never)
    ctx.effect(
      () => () => {
        // What belongs to a call is kept for the agent to come back to.
        for (const controller of this.asking.keys())
          controller.abort(new UserQuestionError('PROVIDER_GONE', {}))
      },
      'userApprovals.end()',
    )
  }

  async [Service.init](): Promise<void> {
    await this.approvals.prune(this.ctx.inbox.core.clock.now() - this.retentionMs)
  }

  /**
   * Asks for permission, and always ends with an outcome; `isAllowed` is true of the one on which to act. Rejects with
   * `UserApprovalError` for what cannot be asked: `BAD_APPROVAL`, `CALLER_NOT_LIVE`, `DELEGATED_CALLER`.
   */
  async request(request: ApprovalRequest): Promise<ApprovalOutcome> {
    const { ctx } = this
    const agents = ctx.get('agents') as AgentRegistryLike | undefined
    if (request.signal?.aborted === true) {
      const reason = String((request.signal.reason as Error | undefined)?.message ?? request.signal.reason)
      return this.tell(request, { outcome: 'aborted', approvalId: crypto.randomUUID(), reason })
    }
    const asker = askerOf(agents, request.agent, root => this.openRoots.has(root))
    const controller = new AbortController()
    this.asking.set(controller, request.agent)
    try {
      const signals = [controller.signal, ...(request.signal === undefined ? [] : [request.signal])]
      return this.tell(request, await this.approvals.request(request, asker, AbortSignal.any(signals)))
    } finally {
      this.asking.delete(controller)
    }
  }

  /**
   * Claims the one effect of what was allowed: false when it was claimed before, here or by a process that is gone, as for
   * a call that is resumed after it ran.
   */
  async redeem(outcome: ApprovalOutcome): Promise<boolean> {
    return isAllowed(outcome) && (await this.approvals.redeem(outcome.approvalId))
  }

  /** Lets live children of `root` ask, on its behalf and named, until the returned function is called. */
  takeFromChildren(root: AgentLike): () => void {
    const { openRoots } = this
    const dispose = this.ctx.effect(() => {
      openRoots.set(root, (openRoots.get(root) ?? 0) + 1)
      return () => {
        const left = (openRoots.get(root) ?? 1) - 1
        if (left === 0) openRoots.delete(root)
        else openRoots.set(root, left)
      }
    }, 'userApprovals.takeFromChildren()')
    return () => void dispose()
  }

  mode(session = ''): Promise<ApprovalMode> {
    return this.approvals.modes.get(session)
  }

  /**
   * Sets the mode of a session, for what is asked from now on: what is pending is decided as it was asked. With `commit` the
   * caller writes it, together with records of its own; what that rejects with leaves the mode as it was.
   */
  async setMode(session: string, mode: ApprovalMode, commit?: CommitMode): Promise<void> {
    const before = await this.approvals.modes.set(session, mode, commit)
    this.emit('user-approvals/mode', { session, before, mode })
  }

  /** The remembered rules, or those that hold in a session, the oldest first. */
  rules(session?: string): Promise<RememberedRule[]> {
    return this.approvals.rules.list(session)
  }

  /** Forgets a rule. Rejects with `UNKNOWN_RULE`. */
  revoke(id: string): Promise<RememberedRule> {
    return this.approvals.rules.revoke(id)
  }

  /** Withdraws the approvals of a session that has ended, and forgets its rules and its mode. */
  async endSession(session: string): Promise<void> {
    await this.approvals.withdraw(session)
    await this.approvals.rules.endSession(session)
    await this.approvals.modes.end(session)
  }

  private tell(request: ApprovalRequest, outcome: ApprovalOutcome): ApprovalOutcome {
    this.emit('user-approvals/ended', { request, outcome })
    return outcome
  }

  // Every listener hears of it, and none can stop or change what was decided.
  private emit<Name extends 'user-approvals/ended' | 'user-approvals/mode'>(
    name: Name,
    ...event: Parameters<Events[Name]>
  ): void {
    const { ctx } = this
    ctx.parallel(name, ...event).catch((error: unknown) => {
      for (const reason of error instanceof AggregateError ? error.errors : [error]) ctx.logger.error(reason)
    })
  }
}
