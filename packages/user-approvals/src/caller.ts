import { refusalOfCaller, type AgentLike, type AgentRegistryLike } from '@handraise/user-questions'
import type { Asker } from './approvals.ts'
import { UserApprovalError } from './error.ts'

/** A registry that also knows who owns whom; without that no child is routed to its root. */
type OwningRegistry = AgentRegistryLike & { ownerOf?(agent: AgentLike): AgentLike | undefined }

/**
 * Who asks, by the rule of questions: the exact live instance, and a root. A live child is let through when its root, the
 * live agent that nobody owns above it, takes the approvals of its children.
 */
export function askerOf(
  agents: OwningRegistry | undefined,
  agent: AgentLike | undefined,
  takesChildren: (root: AgentLike) => boolean,
): Asker {
  if (agent === undefined) return {}
  const refusal = refusalOfCaller(agents, agent)
  if (refusal === undefined) return { agent: agent.id }
  if (refusal === 'CALLER_NOT_LIVE') throw new UserApprovalError('CALLER_NOT_LIVE', {})
  const root = rootOf(agents, agent)
  if (root === undefined || !takesChildren(root)) throw new UserApprovalError('DELEGATED_CALLER', {})
  return { agent: root.id, child: agent.id }
}

function rootOf(agents: OwningRegistry | undefined, agent: AgentLike): AgentLike | undefined {
  const seen = new Set<AgentLike>()
  let root = agent
  for (;;) {
    const owner = agents?.ownerOf?.(root)
    if (owner === undefined) return root === agent ? undefined : root
    // A registry that goes round in circles has no root.
    if (seen.has(owner)) return undefined
    seen.add(owner)
    root = owner
  }
}
