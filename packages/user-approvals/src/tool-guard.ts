import type { Context } from 'cordis'
import type { ToolGuard } from '@handraise/tools'
import { describeOutcome, isAllowed, type ApprovalOutcome } from './outcome.ts'
import { nameOf } from './describe-subject.ts'
import type { ApprovalRequest } from './request.ts'

/** What a tool says of a call in `permission`: what it would do, as a subject, and perhaps more of a request. */
export type Permission = Pick<ApprovalRequest, 'subject'> &
  Partial<Pick<ApprovalRequest, 'reason' | 'choices' | 'protected' | 'requested'>>

/**
 * A plugin that asks before a tool that is marked with `permission` runs, until it is disposed. A denial is a normal result
 * that says what was not done; that nobody decided is an error; neither runs the tool.
 */
export const guardTools = {
  name: 'user-approvals-guard',
  inject: ['tools', 'userApprovals'],
  apply: (ctx: Context): void => void ctx.tools.guard(approvalGuard(ctx.userApprovals)),
}

export interface ApprovalSeam {
  request(request: ApprovalRequest): Promise<ApprovalOutcome>
  redeem(outcome: ApprovalOutcome): Promise<boolean>
}

export function approvalGuard(approvals: ApprovalSeam): ToolGuard {
  return async (tool, permission, { callId, signal, agent, session }) => {
    const asked = permission as Permission
    const outcome = await approvals.request({
      ...asked,
      toolName: tool.name,
      callId,
      signal,
      ...(agent === undefined ? {} : { agent }),
      ...(session === undefined ? {} : { session }),
    })
    const what = `${tool.name}: ${nameOf(asked.subject)}`
    if (isAllowed(outcome)) {
      if (await approvals.redeem(outcome)) return undefined
      const message = `${what} was allowed once and has been started before; whether it ended is not known here. It was not done again: look first, then ask again under a new call.`
      return refused('APPROVAL_USED', message)
    }
    const content = describeOutcome(what, outcome)
    if (outcome.outcome === 'decided') return { isError: false, value: { notDone: true, outcome }, content }
    return refused(
      `APPROVAL_${outcome.outcome.replace(/[A-Z]/gu, letter => `_${letter}`).toUpperCase()}`,
      content,
    )
  }
}

function refused(code: string, message: string) {
  return {
    isError: true as const,
    error: { name: 'UserApprovalError', code, message },
    content: `Error: ${message}`,
  }
}
