import type { RunnableConfig } from '@langchain/core/runnables'
import { AskUserToolError } from '../adapter.ts'

/**
 * Interrupts a graph whose question waits still, as the host went down. LangGraph knows by the name and the flag that the
 * run has stopped for now: no node makes a tool message of it, and `graph.invoke(null, config)` makes the call again.
 */
export class GraphLeftOpenError extends AskUserToolError {
  override readonly name = 'GraphInterrupt'
  readonly is_bubble_up = true
  /** What the graph gives in `__interrupt__`. */
  readonly interrupts = [{ value: { waitsFor: 'answer' } }] as const
}

/**
 * Whether the run can be gone on with: LangGraph tells the tools of a graph where it is kept. Interrupted without that, it
 * would end as if it were done.
 */
export function hasCheckpointer({ configurable }: RunnableConfig): boolean {
  const checkpointer: unknown = configurable?.['__pregel_checkpointer']
  return typeof checkpointer === 'object' && checkpointer !== null
}
