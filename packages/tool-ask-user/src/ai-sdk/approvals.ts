import type { ModelMessage, ToolApprovalResponse, ToolCallPart, ToolModelMessage } from 'ai'
import {
  approveCalls,
  type ApprovalOptions,
  type CallApproval,
  type ToolCallToApprove,
} from '../approve-call.ts'
import type { Approver } from '../approver.ts'
import { partsOfType } from './parts.ts'

/**
 * Asks for every call that waits for approval (a `tool-approval-request` without its response), one after the other. Gives
 * the message with the responses, which has to follow `messages`, or `undefined` where none waits. Nothing but an allowance
 * approves; the reason of what is not approved says whether it was denied or nobody decided, and the model reads it.
 *
 * Where `messages` end with responses, the SDK would make the calls they approve, or have the provider make them: of a run that
 * ended, by somebody else, or with other arguments than were allowed. The approver is asked for them again, who knows what was
 * allowed and whether it is used up. So call this once before each run, and first of all on a history that comes back.
 *
 * Rejects with the reason of the signal, and with `ApprovalLeftOpenError` where the host goes down meanwhile; nothing that was
 * allowed is used up then, but what was claimed before the host went down. Throws `TypeError` where a call of the provider's
 * may not be made that `messages` approve at their end: the provider reads every response, and keeps to the first.
 */
export async function answerApprovalRequests(
  messages: readonly ModelMessage[],
  approver: Approver,
  options: ApprovalOptions<ToolCallToApprove> = {},
): Promise<ToolModelMessage | undefined> {
  const requests = requestsOf(messages)
  const waiting = requests.filter(({ response }) => response?.approved !== false)
  if (waiting.length === 0) return undefined
  // The SDK makes a call once, however many requests there are for it.
  const calls = new Map(waiting.map(({ call }) => [call.toolCallId, toApprove(call)]))
  const told = await approveCalls(approver, [...calls.values()], options)
  const approvals = new Map([...calls.keys()].map((id, index) => [id, told[index]]))
  const content = requests.flatMap((request): ToolApprovalResponse[] => {
    const { approvalId, response, call } = request
    // Only the last message is read for responses.
    if (response?.approved === false) return [response]
    const approval = approvals.get(call.toolCallId)
    // The provider reads all messages, and has its response.
    if (response !== undefined && isProviders(call, approval)) return []
    const refusal = approval?.allowed === false ? { reason: approval.text } : {}
    const isExecuted = call.providerExecuted === true ? { providerExecuted: true } : {}
    const approved = approval?.allowed === true
    return [{ type: 'tool-approval-response', approvalId, approved, ...refusal, ...isExecuted }]
  })
  return content.length === 0 ? undefined : { role: 'tool', content }
}

interface Request {
  readonly approvalId: string
  readonly call: ToolCallPart
  /** One that the next run would act on. */
  readonly response: ToolApprovalResponse | undefined
}

/**
 * The requests that have no response, or one that the next run would act on. They are read as the SDK reads them: it takes
 * the last call and the last request of an id, and acts on the responses of the last message, but where that has the result.
 */
function requestsOf(messages: readonly ModelMessage[]): Request[] {
  const calls = new Map(partsOfType(messages, 'tool-call').map(call => [call.toolCallId, call]))
  const last = messages.slice(-1)
  const ended = new Set(partsOfType(last, 'tool-result').map(({ toolCallId }) => toolCallId))
  const requests = new Map<string, Request>()
  for (const [index, message] of messages.entries()) {
    const later = messages.slice(index + 1)
    for (const { approvalId, toolCallId } of partsOfType([message], 'tool-approval-request')) {
      requests.delete(approvalId)
      const call = calls.get(toolCallId)
      if (call === undefined) continue
      const response = actedOn(last, approvalId)
      const isOver =
        response === undefined
          ? partsOfType(later, 'tool-approval-response').some(part => part.approvalId === approvalId) ||
            partsOfType(later, 'tool-result').some(part => part.toolCallId === toolCallId)
          : ended.has(toolCallId)
      if (!isOver) requests.set(approvalId, { approvalId, call, response })
    }
  }
  return [...requests.values()]
}

// Of several, whichever lets the call pass.
function actedOn(last: readonly ModelMessage[], approvalId: string): ToolApprovalResponse | undefined {
  const responses = partsOfType(last, 'tool-approval-response').filter(part => part.approvalId === approvalId)
  return responses.find(({ approved }) => approved) ?? responses[0]
}

function toApprove({ toolName, input, toolCallId: callId }: ToolCallPart): ToolCallToApprove {
  return { toolName, input, callId }
}

/** Whether the provider makes a call, which it was told to make. Throws where it may not. */
function isProviders(
  { toolName, providerExecuted }: ToolCallPart,
  approval: CallApproval | undefined,
): boolean {
  if (providerExecuted !== true) return false
  if (approval?.allowed === true) return true
  throw new TypeError(
    `these messages tell the provider that ${toolName} may be called, which does not hold any more; go on from messages that were kept before`,
  )
}
