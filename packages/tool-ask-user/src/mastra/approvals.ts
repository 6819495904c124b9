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
  // Told of what is listed as suspended alone.
  requiresApproval: z.boolean().optional(),
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
  listSuspendedRuns?(): Promise<{ readonly runs: readonly SuspendedRun[] }>
}

interface SuspendedRun {
  readonly runId: string
  readonly toolCalls: readonly unknown[]
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
 * of the signal, with `ApprovalLeftOpenError` where the host goes down meanwhile, and with what the agent rejects with; but not
 * while another call of the run waits for approval, as an agent rejects between two sub-agents of one step.
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
  let current: Given | Output | MastraOutput = output
  const answered = new Set<string>()
  for (let waiting = waitingOf(current); waiting !== undefined; waiting = waitingOf(current)) {
    checkStorage(agent)
    const { runId, toolCallId, call } = waiting
    const decided = orLeftOpen(await decideCall(approver, call, call, options), call)
    const approval = decided.allowed
      ? orLeftOpen(await claimCall(approver, call, decided.outcome), call)
      : decided
    const { signal } = options
    const resume = { runId, toolCallId, ...(signal === undefined ? {} : { abortSignal: signal }) }
    answered.add(nameOf(waiting))
    try {
      current = approval.allowed
        ? await agent.approveToolCallGenerate(resume)
        : await agent.declineToolCallGenerate({ ...resume, reason: approval.text })
    } catch (error) {
      signal?.throwIfAborted()
      current = (await nextOf(agent, runId, answered)) ?? (await Promise.reject(error))
    }
  }
  // What was put together from the list waits, and what waits was answered.
  return current as Given | Output
}

function nameOf({ toolCallId, call }: WaitingRun): string {
  return JSON.stringify([toolCallId, call.callId])
}

/** A call of the run that waits for approval, and was not answered yet. */
async function nextOf(
  agent: ApprovableAgent<unknown>,
  runId: string,
  answered: ReadonlySet<string>,
): Promise<MastraOutput | undefined> {
  // What the agent rejected with tells more than that it cannot be asked.
  const { runs } = (await agent.listSuspendedRuns?.().catch(() => undefined)) ?? { runs: [] }
  const suspended = runs.filter(run => run.runId === runId).flatMap(({ toolCalls }) => toolCalls)
  return suspended
    .map(suspendPayload => ({ runId, finishReason: 'suspended', suspendPayload }))
    .find(output => {
      const waiting = waitingOf(output)
      return waiting !== undefined && !answered.has(nameOf(waiting))
    })
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
  const { toolCallId: callId, toolName, args: input, requiresApproval = true, suspendPayload } = data
  if (suspendPayload === undefined) return requiresApproval ? { toolName, input, callId } : undefined
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
