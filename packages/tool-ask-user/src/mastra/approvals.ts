import { z } from 'zod'
import {
  claimCall,
  decideCall,
  orLeftOpen,
  type ApprovalOptions,
  type ToolCallToApprove,
} from '../approve-call.ts'
import type { Approver } from '../approver.ts'

/** A suspended call. One that waits for approval has no payload of its own; that of a sub-agent has the call in it. */
const suspendedSchema = z.object({
  toolCallId: z.string(),
  toolName: z.string(),
  args: z.unknown().optional(),
  suspendPayload: z.unknown().optional(),
})

/** What a run came to, as `agent.generate` gives it. */
export interface MastraOutput {
  readonly runId?: string | undefined
  readonly finishReason?: string | undefined
  readonly suspendPayload?: unknown
}

/** An agent whose runs can be approved. */
export interface ApprovableAgent<Output> {
  approveToolCallGenerate(options: ResumeOptions): Promise<Output>
  declineToolCallGenerate(options: ResumeOptions & { reason?: string }): Promise<Output>
  getMastraInstance?(): { getStorage(): unknown } | undefined
}

interface ResumeOptions {
  runId: string
  toolCallId?: string
  abortSignal?: AbortSignal
}

/**
 * Asks for every call that suspends a run for approval, one after the other, those of its sub-agents as well, and gives what
 * the run came to: pass on what `agent.generate` gave, or `await output.getFullOutput()` of `agent.stream`. What was not
 * allowed is declined with the text for the model, which says whether it was denied or nobody decided. Rejects with the reason
 * of the signal, with `ApprovalLeftOpenError` where the host goes down meanwhile, and with what the agent rejects with.
 *
 * Throws `TypeError` before it asks where the run could not go on: the agent belongs to no `Mastra` with a storage, or the
 * output is the stream itself.
 */
export async function answerApprovals<Given extends MastraOutput, Output extends MastraOutput>(
  agent: ApprovableAgent<Output>,
  output: Given,
  approver: Approver,
  options: ApprovalOptions<ToolCallToApprove> = {},
): Promise<Given | Output> {
  let current: Given | Output = output
  for (let waiting = waitingOf(current); waiting !== undefined; waiting = waitingOf(current)) {
    checkStorage(agent)
    const { runId, toolCallId, call } = waiting
    const decided = orLeftOpen(await decideCall(approver, call, call, options), call)
    const approval = decided.allowed ? await claimCall(approver, call, decided.outcome) : decided
    const { signal } = options
    const resume = { runId, toolCallId, ...(signal === undefined ? {} : { abortSignal: signal }) }
    current = approval.allowed
      ? await agent.approveToolCallGenerate(resume)
      : await agent.declineToolCallGenerate({ ...resume, reason: approval.text })
  }
  return current
}

interface WaitingRun {
  readonly runId: string
  /** Of the call of the run itself, which may be that of a sub-agent. */
  readonly toolCallId: string
  readonly call: ToolCallToApprove
}

function waitingOf({ runId, finishReason, suspendPayload }: MastraOutput): WaitingRun | undefined {
  if (isPromise(finishReason))
    throw new TypeError('answerApprovals takes the full output of a run; of a stream, await getFullOutput()')
  const { data: outer } = suspendedSchema.safeParse(suspendPayload)
  const call = callOf(suspendPayload)
  if (finishReason !== 'suspended' || runId === undefined || outer === undefined) return undefined
  return call && { runId, toolCallId: outer.toolCallId, call }
}

function callOf(payload: unknown): ToolCallToApprove | undefined {
  const { data } = suspendedSchema.safeParse(payload)
  if (data === undefined) return undefined
  const { toolCallId: callId, toolName, args: input, suspendPayload } = data
  if (suspendPayload === undefined) return { toolName, input, callId }
  // Other tools suspend themselves, with whatever they like.
  return toolName.startsWith('agent-') ? callOf(suspendPayload) : undefined
}

// The run was kept nowhere then, and what was allowed for it would be used up for nothing.
function checkStorage(agent: Pick<ApprovableAgent<unknown>, 'getMastraInstance'>): void {
  if (agent.getMastraInstance === undefined || agent.getMastraInstance()?.getStorage() !== undefined) return
  throw new TypeError('the run cannot go on: register the agent with new Mastra({ agents, storage })')
}

function isPromise(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'then' in value
}
