import { z } from 'zod'
import { approveCall, type ApprovalOptions, type ToolCallToApprove } from '../approve-call.ts'
import type { Approver } from '../approver.ts'

/** A run that waits for approval. A tool that suspended itself has a payload of its own. */
const approvalSchema = z.object({
  toolCallId: z.string(),
  toolName: z.string(),
  args: z.unknown(),
  suspendPayload: z.undefined().optional(),
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
}

interface ResumeOptions {
  runId: string
  toolCallId?: string
  abortSignal?: AbortSignal
}

/**
 * Asks for every call that suspends a run for approval, one after the other, and gives what the run came to: pass on what
 * `agent.generate` gave. What was not allowed is declined with the text for the model, which says whether it was denied or
 * nobody decided. Rejects with the reason of the signal, and with what the agent rejects with.
 */
export async function answerApprovals<Given extends MastraOutput, Output extends MastraOutput>(
  agent: ApprovableAgent<Output>,
  output: Given,
  approver: Approver,
  options: ApprovalOptions<ToolCallToApprove> = {},
): Promise<Given | Output> {
  let current: Given | Output = output
  for (let call = callOf(current); call !== undefined; call = callOf(current)) {
    const { runId, ...toApprove } = call
    const approval = await approveCall(approver, toApprove, toApprove, options)
    const { signal } = options
    const resume = {
      runId,
      toolCallId: toApprove.callId,
      ...(signal === undefined ? {} : { abortSignal: signal }),
    }
    current = approval.allowed
      ? await agent.approveToolCallGenerate(resume)
      : await agent.declineToolCallGenerate({ ...resume, reason: approval.text })
  }
  return current
}

function callOf({ runId, finishReason, suspendPayload }: MastraOutput) {
  const { data } = approvalSchema.safeParse(suspendPayload)
  if (finishReason !== 'suspended' || runId === undefined || data === undefined) return undefined
  return { runId, toolName: data.toolName, input: data.args, callId: data.toolCallId }
}
