import { z } from 'zod'
import {
  claimCall,
  decideCall,
  orLeftOpen,
  type ApprovalOptions,
  type ToolCallToApprove,
} from '../approve-call.ts'
import type { Approver, ApproverOutcome } from '../approver.ts'

/** What `humanInTheLoopMiddleware` interrupts a run with. */
const reviewSchema = z.object({
  actionRequests: z.array(z.object({ name: z.string(), args: z.unknown() })),
  reviewConfigs: z.array(z.object({ actionName: z.string(), allowedDecisions: z.array(z.string()) })),
})

/** What that middleware takes to go on. */
export interface ReviewDecisions {
  decisions: Array<{ type: 'approve' } | { type: 'reject'; message: string }>
}

/** An interrupt, as a graph gives it in `__interrupt__`. */
export interface InterruptLike {
  readonly id?: string | undefined
  readonly value?: unknown
}

/**
 * Asks for every call that `humanInTheLoopMiddleware` holds, one after the other, and gives what to resume with, by the id of
 * the interrupt: `new Command({ resume })`. `undefined` where no interrupt is of that middleware: those of another kind are
 * left out, and wait for whoever knows what they ask for. What was not allowed is rejected with the text for the model, which
 * says whether it was denied or nobody decided. The middleware makes no call of a step of which one is rejected, so that the
 * others of that step are rejected as well, in words of their own, and those that come later are not asked for.
 *
 * Throws `TypeError` before it asks where a call may not be both approved and rejected; rejects with the reason of the signal,
 * and with `ApprovalLeftOpenError` where the host goes down meanwhile. What was allowed by then is not used up.
 */
export async function answerInterrupts(
  interrupts: readonly InterruptLike[],
  approver: Approver,
  options: ApprovalOptions<ToolCallToApprove> = {},
): Promise<Record<string, ReviewDecisions> | undefined> {
  const reviews = interrupts.flatMap(({ id, value }) => {
    const { data } = reviewSchema.safeParse(value)
    return id === undefined || data === undefined ? [] : [{ id, ...data }]
  })
  for (const { reviewConfigs } of reviews) reviewConfigs.forEach(checkDecisions)
  const steps = []
  for (const { id, actionRequests } of reviews) {
    // The middleware does not say which call it is; its interrupt has the same id whenever the graph comes to it.
    const calls = actionRequests.map(({ name, args }, index) => ({
      toolName: name,
      input: args,
      callId: `${id}/${index}`,
    }))
    steps.push({ id, calls, decided: await decideStep(calls, approver, options) })
  }
  // Claimed last, so that an abort on the way uses up nothing that was allowed.
  const answers: Record<string, ReviewDecisions> = {}
  for (const { id, calls, decided } of steps)
    answers[id] = { decisions: await claimStep(calls, approver, decided) }
  return steps.length === 0 ? undefined : answers
}

interface DecidedStep {
  readonly allowed: ReadonlyArray<{ readonly call: ToolCallToApprove; readonly outcome: ApproverOutcome }>
  /** Of the first call that was not allowed: those after it are not asked for. */
  readonly refusal?: string | undefined
}

async function decideStep(
  calls: readonly ToolCallToApprove[],
  approver: Approver,
  options: ApprovalOptions<ToolCallToApprove>,
): Promise<DecidedStep> {
  const allowed = []
  for (const call of calls) {
    const decided = orLeftOpen(await decideCall(approver, call, call, options), call)
    if (!decided.allowed) return { allowed, refusal: decided.text }
    allowed.push({ call, outcome: decided.outcome })
  }
  return { allowed }
}

async function claimStep(
  calls: readonly ToolCallToApprove[],
  approver: Approver,
  { allowed, refusal }: DecidedStep,
): Promise<ReviewDecisions['decisions']> {
  const rejectAll = (at: number, text: string): ReviewDecisions['decisions'] =>
    calls.map(({ toolName }, index) => ({
      type: 'reject',
      message: index === at ? text : notDone(toolName, index < allowed.length),
    }))
  if (refusal !== undefined) return rejectAll(allowed.length, refusal)
  for (const [index, { call, outcome }] of allowed.entries()) {
    const claimed = orLeftOpen(await claimCall(approver, call, outcome), call)
    if (!claimed.allowed) return rejectAll(index, claimed.text)
  }
  return allowed.map(() => ({ type: 'approve' }))
}

function notDone(toolName: string, wasAllowed: boolean): string {
  const so = wasAllowed ? 'was allowed' : 'was not asked about'
  return `${toolName} ${so}, and was not done, as another call of the same step was not allowed. Nobody has denied it: call it again if it is needed still.`
}

function checkDecisions({
  actionName,
  allowedDecisions,
}: z.infer<typeof reviewSchema>['reviewConfigs'][number]): void {
  for (const decision of ['approve', 'reject']) {
    if (!allowedDecisions.includes(decision))
      throw new TypeError(`${actionName} must allow the decision "${decision}" for a person to be asked`)
  }
}
