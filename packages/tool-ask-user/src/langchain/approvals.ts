import { z } from 'zod'
import {
  claimCall,
  decideCall,
  type ApprovalOptions,
  type CallApproval,
  type ToolCallToApprove,
} from '../approve-call.ts'
import type { Approver } from '../approver.ts'

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
 * the interrupt: `new Command({ resume: await answerInterrupts(result.__interrupt__, ctx.userApprovals) })`. What was not
 * allowed is rejected with the text for the model, which says whether it was denied or nobody decided. The middleware makes
 * no call of a step of which one is rejected, so that the others of that step are rejected as well, in words of their own,
 * and those that come later are not asked for. Interrupts of another kind are left out.
 *
 * Throws `TypeError` before it asks where a call may not be both approved and rejected; rejects with the reason of the signal.
 */
export async function answerInterrupts(
  interrupts: readonly InterruptLike[],
  approver: Approver,
  options: ApprovalOptions<ToolCallToApprove> = {},
): Promise<Record<string, ReviewDecisions>> {
  const reviews = interrupts.flatMap(({ id, value }) => {
    const { data } = reviewSchema.safeParse(value)
    return id === undefined || data === undefined ? [] : [{ id, ...data }]
  })
  for (const { reviewConfigs } of reviews) reviewConfigs.forEach(checkDecisions)
  const answers: Record<string, ReviewDecisions> = {}
  for (const { id, actionRequests } of reviews) {
    // The middleware does not say which call it is; its interrupt has the same id whenever the graph comes to it.
    const calls = actionRequests.map(({ name, args }, index) => ({
      toolName: name,
      input: args,
      callId: `${id}/${index}`,
    }))
    answers[id] = { decisions: await decideStep(calls, approver, options) }
  }
  return answers
}

async function decideStep(
  calls: readonly ToolCallToApprove[],
  approver: Approver,
  options: ApprovalOptions<ToolCallToApprove>,
): Promise<ReviewDecisions['decisions']> {
  const claims: Array<() => Promise<CallApproval>> = []
  const rejectAll = (at: number, text: string): ReviewDecisions['decisions'] =>
    calls.map(({ toolName }, index) => ({
      type: 'reject',
      message: index === at ? text : notDone(toolName, index < claims.length),
    }))
  for (const [index, call] of calls.entries()) {
    const decided = await decideCall(approver, call, call, options)
    if (!decided.allowed) return rejectAll(index, decided.text)
    claims.push(() => claimCall(approver, call, decided.outcome))
  }
  for (const [index, claim] of claims.entries()) {
    const claimed = await claim()
    if (!claimed.allowed) return rejectAll(index, claimed.text)
  }
  return calls.map(() => ({ type: 'approve' }))
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
