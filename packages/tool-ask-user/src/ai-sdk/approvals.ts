import type { ModelMessage, ToolApprovalResponse, ToolModelMessage } from 'ai'
import { claimCall, decideCall, type ApprovalOptions, type ToolCallToApprove } from '../approve-call.ts'
import type { Approver } from '../approver.ts'
import { partsOfType } from './parts.ts'

/**
 * Asks for every call that waits for approval (a `tool-approval-request` without its response), one after the other. Gives
 * the message with the responses, which has to follow `messages`, or `undefined` where none waits. Nothing but an allowance
 * approves; the reason of what is not approved says whether it was denied or nobody decided, and the model reads it.
 * Rejects with the reason of the signal alone.
 */
export async function answerApprovalRequests(
  messages: readonly ModelMessage[],
  approver: Approver,
  options: ApprovalOptions<ToolCallToApprove> = {},
): Promise<ToolModelMessage | undefined> {
  const responded = new Set(
    partsOfType(messages, 'tool-approval-response').map(({ approvalId }) => approvalId),
  )
  const calls = new Map(partsOfType(messages, 'tool-call').map(call => [call.toolCallId, call]))
  const decisions = []
  for (const { approvalId, toolCallId } of partsOfType(messages, 'tool-approval-request')) {
    const asked = calls.get(toolCallId)
    if (responded.has(approvalId) || asked === undefined) continue
    const call = { toolName: asked.toolName, input: asked.input, callId: toolCallId }
    const decision = await decideCall(approver, call, call, options)
    decisions.push({ approvalId, asked, call, decision })
  }
  // Claimed last, so that an abort on the way uses up nothing that was allowed.
  const content: ToolApprovalResponse[] = []
  for (const { approvalId, asked, call, decision } of decisions) {
    const approval = decision.allowed ? await claimCall(approver, call, decision.outcome) : decision
    content.push({
      type: 'tool-approval-response',
      approvalId,
      approved: approval.allowed,
      ...(approval.allowed ? {} : { reason: approval.text }),
      ...(asked.providerExecuted === true ? { providerExecuted: true } : {}),
    })
  }
  return content.length === 0 ? undefined : { role: 'tool', content }
}
