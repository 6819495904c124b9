import { type Context, Service } from 'cordis'

declare module 'cordis' {
  interface Context {
    agents: AgentRegistry
  }

  interface Events {
    /** An agent has entered. A listener that throws changes nothing. */
    'agent/created'(event: { readonly agent: Agent }): void
    /** An agent has left. A listener that throws changes nothing. */
    'agent/disposed'(event: { readonly agent: Agent }): void
  }
}

/** A live agent: any object with an id. Which agent it is, is decided by `===`. */
export interface Agent {
  readonly id: string
}

interface Entry {
  readonly agent: Agent
  readonly owner: Agent | undefined
}

export type AgentErrorCode = 'BAD_AGENT' | 'DUPLICATE_AGENT' | 'OWNER_NOT_LIVE'

export class AgentError extends Error {
  override readonly name = 'AgentError'
  readonly code: AgentErrorCode

  constructor(code: AgentErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/**
 * `ctx.agents`: the agents that are alive in this process, and which live agent owns which. An agent without a live
 * owner is a root: a child whose owner has left is one, whatever its history. Every look-up costs the same however
 * many agents are alive.
 */
export class AgentRegistry extends Service {
  private readonly entries = new Map<string, Entry>()

  constructor(ctx: Context) {
    super(ctx, 'agents')
    ctx.effect(() => () => this.clear(), 'agents.clear()')
  }

  /**
   * Makes `agent` live, owned by `owner` if one is given, until the returned function is called. Calling it again does
   * nothing, also when another agent lives under the same id by then.
   *
   * Throws `AgentError`: `BAD_AGENT` without a non-blank id, `DUPLICATE_AGENT` when the id is live, `OWNER_NOT_LIVE` when
   * the owner is not the exact live instance.
   */
  enter(agent: Agent, owner?: Agent): () => void {
    if (typeof (agent as Agent | null)?.id !== 'string' || agent.id.trim() === '') {
      throw new AgentError('BAD_AGENT', 'agent.id: expected a string that is not blank')
    }
    if (this.entries.has(agent.id)) {
      throw new AgentError(
        'DUPLICATE_AGENT',
        `an agent with the id ${JSON.stringify(agent.id)} is live already`,
      )
    }
    if (owner !== undefined && !this.isLive(owner)) {
      throw new AgentError(
        'OWNER_NOT_LIVE',
        `the owner given for agent ${JSON.stringify(agent.id)} is not a live agent`,
      )
    }
    const entry: Entry = { agent, owner }
    this.entries.set(agent.id, entry)
    this.tell('agent/created', agent)
    return () => {
      if (this.entries.get(agent.id) !== entry) return
      this.entries.delete(agent.id)
      this.tell('agent/disposed', agent)
    }
  }

  /** As `enter`, and the agent also leaves when the calling plugin is disposed. */
  register(agent: Agent, owner?: Agent): () => void {
    const dispose = this.ctx.effect(() => this.enter(agent, owner), 'agents.register()')
    return () => void dispose()
  }

  get(id: string): Agent | undefined {
    return this.entries.get(id)?.agent
  }

  /** The live agents, in the order in which they entered. */
  list(): Agent[] {
    return Array.from(this.entries.values(), entry => entry.agent)
  }

  /** The live agents that no live agent owns, in the order in which they entered. */
  roots(): Agent[] {
    return this.list().filter(agent => this.isRoot(agent))
  }

  /** True when `agent` is live, this exact instance, and owned by no live agent. */
  isRoot(agent: Agent): boolean {
    const entry = this.entries.get(agent.id)
    if (entry?.agent !== agent) return false
    return entry.owner === undefined || !this.isLive(entry.owner)
  }

  /** The live agent that owns `agent`, if there is one. */
  ownerOf(agent: Agent): Agent | undefined {
    const entry = this.entries.get(agent.id)
    if (entry?.agent !== agent || entry.owner === undefined) return undefined
    return this.isLive(entry.owner) ? entry.owner : undefined
  }

  // Without its registry no agent is live, and whoever waits for one is told.
  private clear(): void {
    const agents = this.list()
    this.entries.clear()
    for (const agent of agents) this.tell('agent/disposed', agent)
  }

  private isLive(agent: Agent): boolean {
    return this.entries.get(agent.id)?.agent === agent
  }

  private tell(name: 'agent/created' | 'agent/disposed', agent: Agent): void {
    // `parallel` calls every listener at once and keeps their failures apart, where `emit` stops at the first.
    this.ctx.parallel(name, { agent }).catch((error: unknown) => {
      for (const reason of error instanceof AggregateError ? error.errors : [error])
        this.ctx.logger.error(reason)
    })
  }
}
