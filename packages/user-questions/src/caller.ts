import type { AgentLike } from './request.ts'

/** The live-agent registry, by shape, so that a host's own fits. `isRoot` is preferred: it costs the same however many live. */
export type AgentRegistryLike = {
  get(id: string): AgentLike | undefined
} & ({ isRoot(agent: AgentLike): boolean } | { roots(): readonly AgentLike[] })

/**
 * The code with which a caller is refused, if it is. Ownership at run time decides, never stored lineage: an owned
 * child has no person to answer it and would wait for ever (seed 002, section 4).
 */
export function refusalOfCaller(
  agents: AgentRegistryLike | undefined,
  agent: AgentLike,
): 'CALLER_NOT_LIVE' | 'DELEGATED_CALLER' | undefined {
  if (agents === undefined || agents.get(agent.id) !== agent) return 'CALLER_NOT_LIVE'
  const isRoot = 'isRoot' in agents ? agents.isRoot(agent) : agents.roots().includes(agent)
  return isRoot ? undefined : 'DELEGATED_CALLER'
}
