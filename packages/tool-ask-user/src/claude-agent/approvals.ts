import type { CanUseTool, PermissionResult } from '@anthropic-ai/claude-agent-sdk'
import { approveCall, type ApprovalOptions } from '../approve-call.ts'
import type { Approver } from '../approver.ts'
import type { ClaudeAgentCall } from './can-use-tool.ts'
import { QUESTION_TOOL } from './question-input.ts'

// The model is told answers that nobody gave where this is allowed as it is.
const UNANSWERED: PermissionResult = {
  behavior: 'deny',
  message: `${QUESTION_TOOL} cannot be answered here, and nobody was asked: the host has to mount \`canUseTool(asker, { otherwise: approveTools(approver) })\` of @handraise/tool-ask-user/claude-agent. Do not assume an answer.`,
}

/**
 * A `canUseTool` that asks for every call the SDK asks about. What is not allowed is a denial with the text for the model,
 * which says whether it was denied or nobody decided, and ends the turn where the person stopped it. The SDK's own rules
 * are left as they are: what is remembered is remembered by the approver. `AskUserQuestion` is denied without being asked for:
 * to allow it is no answer, and only `canUseTool` has one. Rejects with the reason of the signal alone.
 */
export function approveTools(
  approver: Approver,
  options: Omit<ApprovalOptions<ClaudeAgentCall>, 'signal'> = {},
): CanUseTool {
  return async (toolName, input, call) => {
    if (toolName === QUESTION_TOOL) return UNANSWERED
    const { toolUseID: callId, signal } = call
    const approval = await approveCall(approver, { toolName, input, callId }, call, { ...options, signal })
    return approval.allowed
      ? { behavior: 'allow', updatedInput: input }
      : { behavior: 'deny', message: approval.text, interrupt: approval.stop }
  }
}
