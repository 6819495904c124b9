import type { CanUseTool } from '@anthropic-ai/claude-agent-sdk'
import { approveCall, type ApprovalOptions } from '../approve-call.ts'
import type { Approver } from '../approver.ts'
import type { ClaudeAgentCall } from './can-use-tool.ts'

/**
 * A `canUseTool` that asks for every call the SDK asks about. What is not allowed is a denial with the text for the model,
 * which says whether it was denied or nobody decided, and ends the turn where the person stopped it. The SDK's own rules
 * are left as they are: what is remembered is remembered by the approver. Rejects with the reason of the signal alone.
 */
export function approveTools(
  approver: Approver,
  options: Omit<ApprovalOptions<ClaudeAgentCall>, 'signal'> = {},
): CanUseTool {
  return async (toolName, input, call) => {
    const { toolUseID: callId, signal } = call
    const approval = await approveCall(approver, { toolName, input, callId }, call, { ...options, signal })
    return approval.allowed
      ? { behavior: 'allow', updatedInput: input }
      : { behavior: 'deny', message: approval.text, interrupt: approval.stop }
  }
}
