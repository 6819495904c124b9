import { z } from 'zod'
import { namedCall, sessionOf, type AdapterOptions } from './adapter.ts'
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

/** What was decided of a call, before it is claimed. */
export type CallDecision = { readonly allowed: true; readonly outcome: ApproverOutcome } | RefusedCall

interface RefusedCall {
  readonly allowed: false
  readonly text: string
  readonly stop: boolean
  /** The host went down before anybody decided, or before it was claimed: asked again, it is as it was. */
  readonly leftOpen: boolean
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
 * Asks for one call after the other, and claims what was allowed once all are decided: an abort, or an end of the process, on
 * the way uses up nothing. Rejects with the reason of the signal, and with `ApprovalLeftOpenError` where the host goes down
 * before all are claimed.
 */
export async function approveCalls(
  approver: Approver,
  calls: readonly ToolCallToApprove[],
  options: ApprovalOptions<ToolCallToApprove>,
): Promise<CallApproval[]> {
  const decisions: Array<{ readonly call: ToolCallToApprove; readonly decided: CallDecision }> = []
  for (const call of calls) {
    const decided = orLeftOpen(await decideCall(approver, call, call, options), call)
    decisions.push({ call, decided })
  }
  const approvals: CallApproval[] = []
  for (const { call, decided } of decisions)
    approvals.push(
      decided.allowed ? orLeftOpen(await claimCall(approver, call, decided.outcome), call) : decided,
    )
  return approvals
}

/**
 * Asks for one call. Nothing but an allowance allows it: what the approver throws, or gives that is no outcome, keeps the call
 * from being made as well. An approval that was withdrawn, as whoever asked for it before went away, is asked for anew.
 * Rejects with the reason of the signal alone.
 */
export async function decideCall<Call>(
  approver: Approver,
  call: ToolCallToApprove,
  from: Call,
  { subject, session, agent, signal }: ApprovalOptions<Call>,
): Promise<CallDecision> {
  const { toolName, input } = call
  const callId = namedCall(call.callId)
  signal?.throwIfAborted()
  try {
    const request = {
      toolName,
      subject: subject?.(call) ?? { kind: 'tool' as const, toolName, input: asWritten(input) as Json },
      session: sessionOf(session, from),
      agent,
      signal,
    }
    let given = await approver.request({ ...request, callId })
    for (let attempt = 2; isWithdrawnByAsker(given) && attempt <= MOST_ATTEMPTS; attempt += 1) {
      signal?.throwIfAborted()
      given = await approver.request({ ...request, callId: `${callId}#${attempt}` })
    }
    const outcome = endingSchema.safeParse(given)
    if (!outcome.success) throw new TypeError('the approver gave something that is no outcome')
    const { data } = outcome
    if (data.outcome === 'decided' && data.policyResult === 'allow') return { allowed: true, outcome: given }
    signal?.throwIfAborted()
    const leftOpen = data.outcome === 'unavailable' && isHostGone(data.cause)
    return refused(describe(toolName, data), { stop: data.outcome === 'interrupted', leftOpen })
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
  if (approver.redeem === undefined) return { allowed: true }
  try {
    const claimed: unknown = await approver.redeem(outcome)
    if (claimed === true) return { allowed: true }
    if (claimed === false)
      return refused(
        `${toolName} was allowed once and has been started before; whether it ended is not known here. It was not done again: look first, then ask again under a new call.`,
      )
    throw new TypeError('what was allowed could not be claimed')
  } catch (error) {
    const leftOpen = isHostGone(error)
    return refused(describe(toolName, { outcome: 'unavailable', reason: inWords(error) }), { leftOpen })
  }
}

/**
 * The host went down before an approval was decided, which waits still, or before it was claimed: what holds the call is told
 * nothing.
 */
export class ApprovalLeftOpenError extends Error {
  override readonly name = 'ApprovalLeftOpenError'
  readonly code = 'APPROVAL_LEFT_OPEN'
}

/** What stands. Throws `ApprovalLeftOpenError` where the host went down before there was a decision, or a claim. */
export function orLeftOpen<Given extends CallDecision | CallApproval>(
  given: Given,
  { toolName }: ToolCallToApprove,
): Given {
  if (!given.allowed && given.leftOpen)
    throw new ApprovalLeftOpenError(
      `the host went down before it was settled whether ${toolName} may be called`,
    )
  return given
}

/** How often one call may be asked about, where every time before nobody decided until whoever asked went away. */
const MOST_ATTEMPTS = 100

// What the inbox says where the last one who asked has left: a withdrawal by anybody else stands.
function isWithdrawnByAsker(given: unknown): boolean {
  const { data } = endingSchema.safeParse(given)
  return data?.outcome === 'aborted' && data.reason === 'the asker went away'
}

function refused(text: string, { stop = false, leftOpen = false } = {}): RefusedCall {
  return { allowed: false, text, stop, leftOpen }
}

function inWords(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

// As it is kept with the messages: a schema may have made dates of texts.
function asWritten(value: unknown): unknown {
  if (value instanceof Date && Number.isFinite(value.getTime())) return value.toISOString()
  if (value instanceof URL) return value.href
  if (Array.isArray(value)) return value.map(asWritten)
  if (typeof value !== 'object' || value === null) return value
  const prototype: unknown = Object.getPrototypeOf(value)
  // What no text holds is for the approver to refuse.
  if (prototype !== Object.prototype && prototype !== null) return value
  const said = Object.entries(value).filter(([, field]) => field !== undefined)
  return Object.fromEntries(said.map(([name, field]) => [name, asWritten(field)]))
}

// The seam's code, and that of a store which was closed already.
function isHostGone(cause: unknown): boolean {
  const code: unknown =
    typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined
  return code === 'PROVIDER_GONE' || code === 'STORE_CLOSED'
}

const endingSchema = z.discriminatedUnion('outcome', [
  z.object({
    outcome: z.literal('decided'),
    policyResult: z.enum(['allow', 'deny']),
    resolvedBy: z.enum(['user', 'policy']),
    why: z.string().optional(),
    feedback: z.string().optional(),
  }),
  z.object({
    outcome: z.enum([
      'declined',
      'cancelled',
      'clarified',
      'interrupted',
      'timedOut',
      'aborted',
      'unavailable',
      'pending',
    ]),
    reason: z.string().optional(),
    text: z.string().optional(),
    cause: z.unknown().optional(),
  }),
])

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
