import type { RunContext, RunState, RunToolApprovalItem } from '@openai/agents'
import { approveCalls, type ApprovalOptions, type ToolCallToApprove } from '../approve-call.ts'
import type { Approver } from '../approver.ts'
import { isAskTool } from './tool.ts'

/** The state of a run, of any agent and any context. */
export interface ApprovableState extends Pick<
  RunState<never, never>,
  'getInterruptions' | 'approve' | 'reject'
> {
  readonly _context: Pick<RunContext<never>, 'isToolApproved'>
}

/**
 * Asks for every call that interrupted a run, one after the other, and tells its state once all are decided: `state.approve`
 * for what was allowed, else `state.reject` with the text for the model, which says whether it was denied or nobody decided.
 * Run the agent with the state afterwards. A call of a tool that `askUserTool` of this adapter made passes without being asked
 * for, and no other, whatever its name. Rejects with the reason of the signal, and with `ApprovalLeftOpenError` where the host
 * goes down meanwhile; the state is told nothing then, and nothing that was allowed is used up.
 *
 * Throws `TypeError` where a call may not be made that the state was told to make before: it was kept after it had been told,
 * and what it was told cannot be taken back.
 */
export async function answerInterruptions(
  state: ApprovableState,
  approver: Approver,
  options: ApprovalOptions<ToolCallToApprove> = {},
): Promise<void> {
  const items = state.getInterruptions()
  const asked = items.filter(item => !isQuestion(item))
  const calls = asked.map(callOf)
  const approvals = await approveCalls(approver, calls, options)
  const toldBefore = asked.find(
    (item, index) => approvals[index]?.allowed !== true && wasApproved(state, item),
  )
  if (toldBefore !== undefined)
    throw new TypeError(
      `this state was told before that ${toldBefore.name ?? toldBefore.rawItem.type} may be called, which does not hold any more; go on from a state that was kept before`,
    )
  for (const item of items) {
    const approval = approvals[asked.indexOf(item)]
    if (approval === undefined || approval.allowed) state.approve(item)
    else state.reject(item, { message: approval.text })
  }
}

// What a call is named for is the model's, or a server's, to say: only the tool itself tells whose it is.
function isQuestion({ rawItem, agent }: RunToolApprovalItem): boolean {
  if (rawItem.type !== 'function_call' || rawItem.namespace !== undefined) return false
  const named = agent.tools.filter(tool => tool.type === 'function' && tool.name === rawItem.name)
  return named.length > 0 && named.every(isAskTool)
}

function wasApproved(
  { _context: context }: ApprovableState,
  { name, rawItem }: RunToolApprovalItem,
): boolean {
  const callId = 'callId' in rawItem ? rawItem.callId : rawItem.id
  if (name === undefined || callId === undefined) return false
  return context.isToolApproved({ toolName: name, callId }) === true
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
