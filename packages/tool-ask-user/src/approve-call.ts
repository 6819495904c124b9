import { sessionOf, type AdapterOptions } from './adapter.ts'
import type { Approver, ApproverOutcome, ApproverSubject, Ending, Json, UndecidedEnding } from './approver.ts'

/** What an adapter of approvals is told besides who decides. */
export interface ApprovalOptions<Call> extends Omit<AdapterOptions<Call>, 'onRefusedChild'> {
  /**
   * What a call would do, in more exact terms than that a tool is called: with them the person reads a command or a path,
   * and the rules they made for commands and paths hold. Default: the tool and its input.
   */
  readonly subject?: ((call: ToolCallToApprove) => ApproverSubject | undefined) | undefined
  /** Withdraws what is asked when it aborts. */
  readonly signal?: AbortSignal | undefined
}

export interface ToolCallToApprove {
  readonly toolName: string
  readonly input: unknown
  readonly callId: string
}

/** Whether a call may be made. If not, the text for the model, and whether the person stopped the turn. */
export type CallApproval = { readonly allowed: true } | RefusedCall

interface RefusedCall {
  readonly allowed: false
  readonly text: string
  readonly stop: boolean
}

/** Asks for one call, and claims what is allowed. Rejects with the reason of the signal alone. */
export async function approveCall<Call>(
  approver: Approver,
  call: ToolCallToApprove,
  from: Call,
  options: ApprovalOptions<Call>,
): Promise<CallApproval> {
  const decided = await decideCall(approver, call, from, options)
  return decided.allowed ? claimCall(approver, call, decided.outcome) : decided
}

/**
 * Asks for one call. Nothing but an allowance allows it: what the approver throws keeps the call from being made as well.
 * Rejects with the reason of the signal alone.
 */
export async function decideCall<Call>(
  approver: Approver,
  call: ToolCallToApprove,
  from: Call,
  { subject, session, agent, signal }: ApprovalOptions<Call>,
): Promise<{ readonly allowed: true; readonly outcome: ApproverOutcome } | RefusedCall> {
  const { toolName, input, callId } = call
  signal?.throwIfAborted()
  try {
    const outcome = await approver.request({
      toolName,
      subject: subject?.(call) ?? { kind: 'tool', toolName, input: input as Json },
      callId,
      session: sessionOf(session, from),
      agent,
      signal,
    })
    if (outcome.outcome === 'decided' && outcome.policyResult === 'allow') return { allowed: true, outcome }
    signal?.throwIfAborted()
    return refused(describe(toolName, outcome), outcome.outcome === 'interrupted')
  } catch (error) {
    signal?.throwIfAborted()
    return refused(describe(toolName, { outcome: 'unavailable', reason: inWords(error) }))
  }
}

/** Claims the one effect of what was allowed, right before the call is made. */
export async function claimCall(
  approver: Approver,
  { toolName }: ToolCallToApprove,
  outcome: ApproverOutcome,
): Promise<CallApproval> {
  try {
    if ((await approver.redeem?.(outcome)) !== false) return { allowed: true }
    return refused(
      `${toolName} was allowed once and has been started before; whether it ended is not known here. It was not done again: look first, then ask again under a new call.`,
    )
  } catch (error) {
    return refused(describe(toolName, { outcome: 'unavailable', reason: inWords(error) }))
  }
}

function refused(text: string, stop = false): RefusedCall {
  return { allowed: false, text, stop }
}

function inWords(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

// Only a denial is called one. The words are those of `describeOutcome` in @handraise/user-approvals, which stands above
// this package.
function describe(what: string, outcome: Ending): string {
  if (outcome.outcome === 'decided') {
    const { resolvedBy, why, feedback } = outcome
    const by = resolvedBy === 'user' ? 'the user' : (why ?? 'a policy')
    const words = feedback === undefined ? '' : ` They said: ${JSON.stringify(feedback)}.`
    return `denied by ${by}: ${what}. It was not done.${words} Do not try to do the same in another way.`
  }
  const { reason, text = '' } = outcome
  const because = reason === undefined ? '' : ` (${JSON.stringify(reason)})`
  return `${describeUndecided(outcome.outcome, what, because, text)}. It was not done, and nobody has denied it.`
}

function describeUndecided(
  outcome: UndecidedEnding['outcome'],
  what: string,
  because: string,
  text: string,
): string {
  switch (outcome) {
    case 'unavailable':
      return `Approval unavailable${because}: nobody could be asked about ${what}`
    case 'timedOut':
      return `nobody decided in time about ${what}`
    case 'cancelled':
      return `the user dismissed the approval of ${what} without deciding${because}`
    case 'declined':
      return `the user declined to decide about ${what}${because}`
    case 'clarified':
      return `the user wrote back instead of deciding about ${what}: ${JSON.stringify(text)}`
    case 'interrupted':
      return `the user stopped the turn instead of deciding about ${what}${because}`
    case 'aborted':
      return `the approval of ${what} was withdrawn before anybody decided${because}`
    case 'pending':
      return `the approval of ${what} waits for the user still`
  }
}
