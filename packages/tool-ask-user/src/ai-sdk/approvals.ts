import type { ModelMessage, ToolApprovalResponse, ToolModelMessage } from 'ai'
import { approveCalls, type ApprovalOptions, type ToolCallToApprove } from '../approve-call.ts'
import type { Approver } from '../approver.ts'
import { partsOfType } from './parts.ts'

/**
 * Asks for every call that waits for approval (a `tool-approval-request` without its response), one after the other. Gives
 * the message with the responses, which has to follow `messages`, or `undefined` where none waits. Nothing but an allowance
 * approves; the reason of what is not approved says whether it was denied or nobody decided, and the model reads it.
 *
 * Where `messages` end with responses, the SDK would make the calls they approve: of a run that ended, by somebody else, or
 * with other arguments than were allowed. The approver is asked for them again, who knows what was allowed and whether it is
 * used up. So call this once before each run, and first of all on a history that comes back.
 *
 * Rejects with the reason of the signal, and with `ApprovalLeftOpenError` where the host goes down meanwhile; nothing that was
 * allowed is used up then.
 */
export async function answerApprovalRequests(
  messages: readonly ModelMessage[],
  approver: Approver,
  options: ApprovalOptions<ToolCallToApprove> = {},
): Promise<ToolModelMessage | undefined> {
  const requests = requestsOf(messages)
  const waiting = requests.filter(({ response }) => response?.approved !== false)
  if (waiting.length === 0) return undefined
  const approvals = await approveCalls(
    approver,
    waiting.map(({ call }) => call),
    options,
  )
  const content = requests.map((request): ToolApprovalResponse => {
    const { approvalId, response, isProviders } = request
    const approval = approvals[waiting.indexOf(request)]
    // Only the last message is read for responses.
    if (approval === undefined && response !== undefined) return response
    const refusal = approval?.allowed === false ? { reason: approval.text } : {}
    return {
      type: 'tool-approval-response',
      approvalId,
      approved: approval?.allowed === true,
      ...refusal,
      ...(isProviders ? { providerExecuted: true } : {}),
    }
  })
  return { role: 'tool', content }
}

interface Request {
  readonly approvalId: string
  readonly call: ToolCallToApprove
  /** The provider makes the call. */
  readonly isProviders: boolean
  /** One that the next run would act on. */
  readonly response: ToolApprovalResponse | undefined
}

/** The requests that have no response, or one that the next run would act on. */
function requestsOf(messages: readonly ModelMessage[]): Request[] {
  const ended = new Set(partsOfType(messages, 'tool-result').map(({ toolCallId }) => toolCallId))
  const calls = new Map(partsOfType(messages, 'tool-call').map(call => [call.toolCallId, call]))
  const byApproval = (told: readonly ModelMessage[]) =>
    new Map(partsOfType(told, 'tool-approval-response').map(response => [response.approvalId, response]))
  const responses = byApproval(messages)
  const last = byApproval(messages.slice(-1))
  return partsOfType(messages, 'tool-approval-request').flatMap(({ approvalId, toolCallId }) => {
    const asked = calls.get(toolCallId)
    if (asked === undefined) return []
    const isProviders = asked.providerExecuted === true
    const response = last.get(approvalId)
    const isOver = response === undefined ? responses.has(approvalId) : isProviders || ended.has(toolCallId)
    const call = { toolName: asked.toolName, input: asked.input, callId: toolCallId }
    return isOver ? [] : [{ approvalId, call, isProviders, response }]
  })
}
