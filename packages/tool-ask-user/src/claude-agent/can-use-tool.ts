import type { CanUseTool } from '@anthropic-ai/claude-agent-sdk'
import type { Asker } from '../tool.ts'
import { questionAsker, type QuestionOptions } from './ask-questions.ts'
import { QUESTION_TOOL } from './question-input.ts'

/** What the Claude Agent SDK says of a call. */
export type ClaudeAgentCall = Parameters<CanUseTool>[2]

export interface CanUseToolOptions extends QuestionOptions<ClaudeAgentCall> {
  /** Decides about all other tools, such as `approveTools(ctx.userApprovals)`. Default: none of them may be used. */
  readonly otherwise?: CanUseTool | undefined
}

/**
 * The `canUseTool` of a query in which Claude's own `AskUserQuestion` is answered through Handraise. The answers go back in
 * `updatedInput`; whatever else came of it is a denial with the text for the model, and ends the turn where the person
 * stopped it. Rejects with the reason of the signal alone.
 */
export function canUseTool(
  asker: Asker,
  { otherwise = denyUnasked, ...options }: CanUseToolOptions = {},
): CanUseTool {
  const ask = questionAsker(asker, options)
  return async (toolName, input, call) => {
    if (toolName !== QUESTION_TOOL) return otherwise(toolName, input, call)
    const asked = await ask(input, { callId: call.toolUseID, signal: call.signal, from: call })
    return asked.updatedInput === undefined
      ? { behavior: 'deny', message: asked.message, interrupt: asked.stop }
      : { behavior: 'allow', updatedInput: asked.updatedInput }
  }
}

const denyUnasked: CanUseTool = async toolName => ({
  behavior: 'deny',
  message: `nobody can be asked for permission to use ${toolName} here. It was not done, and nobody has denied it.`,
})
