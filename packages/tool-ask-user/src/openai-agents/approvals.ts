import type { RunState, RunToolApprovalItem } from '@openai/agents'
import { approveCall, type ApprovalOptions, type ToolCallToApprove } from '../approve-call.ts'
import type { Approver } from '../approver.ts'

const ASK_TOOL = 'ask_user_question'

/**
 * Asks for every call that interrupted a run, one after the other, and tells its state: `state.approve` for what was allowed,
 * else `state.reject` with the text for the model, which says whether it was denied or nobody decided. Run the agent with
 * the state afterwards. A call of the ask tool passes without being asked for. Rejects with the reason of the signal alone;
 * what was not decided by then waits still.
 */
export async function answerInterruptions(
  // Of any agent and any context.
  state: Pick<RunState<never, never>, 'getInterruptions' | 'approve' | 'reject'>,
  approver: Approver,
  options: ApprovalOptions<ToolCallToApprove> = {},
): Promise<void> {
  for (const item of state.getInterruptions()) {
    const call = callOf(item)
    const approval =
      call.toolName === ASK_TOOL
        ? ({ allowed: true } as const)
        : await approveCall(approver, call, call, options)
    if (approval.allowed) state.approve(item)
    else state.reject(item, { message: approval.text })
  }
}

function callOf({ rawItem, name, arguments: text }: RunToolApprovalItem): ToolCallToApprove {
  const callId = 'callId' in rawItem ? rawItem.callId : rawItem.id
  return {
    toolName: name ?? rawItem.type,
    input: text === undefined ? inputOf(rawItem) : parseJson(text),
    callId: callId ?? crypto.randomUUID(),
  }
}

// What the calls that have no arguments would do instead: a shell's, an editor's, a computer's.
function inputOf(rawItem: RunToolApprovalItem['rawItem']): unknown {
  const { action, actions, operation } = rawItem as Record<string, unknown>
  return parseJson(JSON.stringify(action ?? actions ?? operation ?? {}))
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
