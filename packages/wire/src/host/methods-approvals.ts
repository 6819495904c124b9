import { InboxError, isSettled, type InboxRequest } from '@handraise/inbox'
import { allows, APPROVAL } from '@handraise/user-approvals'
import { WireError } from '../protocol/index.ts'
import { choiceOf, endsApproval, readRequirement, type Requirement } from './approval.ts'
import type { CommandCall, Handlers } from './dispatch.ts'
import { lookOf, modeOf, pendingRequests, type Looked } from './session-view.ts'
import { eventsOf } from './request-events.ts'
import { foldEvent } from './session-state.ts'
import { requestIdOf, type Session } from './session.ts'
import type { WireHost } from './host.ts'

type ApprovalMethod = 'approval/decide' | 'approval/listPending' | 'session/setApprovalMode'

export const approvalMethods: Pick<Handlers, ApprovalMethod> = {
  async 'approval/decide'(call) {
    const { session } = await call.host.loaded(call.params.sessionId)
    await session.command(() => decide(call, session))
  },

  async 'approval/listPending'({ params, host, reply }) {
    const { sessionId } = params
    if (host.isHeld(sessionId)) {
      const { session } = await host.loaded(sessionId)
      reply(await session.change(() => pendingRequests(session.state)))
      return
    }
    const look = await host.look(sessionId)
    await addUnseen(host, look)
    reply(pendingRequests(look.state))
  },

  async 'session/setApprovalMode'(call) {
    const { host, commandId, params, peer } = call
    const { sessionId, mode } = params
    const { deps } = host
    const { session } = await host.loaded(sessionId)
    await session.command(async () => {
      const before = await deps.approvals.mode(sessionId)
      if (before === mode) {
        const effectiveMode = await modeOf(deps, lookOf(session), 'replay')
        const result = { commandId, status: 'accepted', applyOutcome: 'noop', effectiveMode }
        await session.append([], call.ack(result), () => call.reply(result))
        return
      }
      const source = 'approvalReconfigure'
      const effectiveMode = { mode, source, lastCommandId: commandId }
      const result = { commandId, status: 'accepted', applyOutcome: 'completed', effectiveMode }
      const body = { clientName: peer.clientInfo.name, commandId, mode, source }
      const change = { method: 'session/approvalModeChanged', body }
      // The mode is set with its event and its ack, or not at all.
      await deps.approvals.setMode(sessionId, mode, write =>
        session.append([change], [write, ...call.ack(result)], () => call.reply(result)),
      )
    })
  },
}

async function decide(call: CommandCall<'approval/decide'>, session: Session): Promise<void> {
  const { host, commandId } = call
  const { approvalId, requirementId, choiceId, feedback } = call.params
  const { core } = host.deps.inbox
  const known = session.state.approvals.get(approvalId)
  if (known === undefined)
    throw new WireError('approvalNotFound', 'there is no such approval in this session', { approvalId })
  const { currentRequirementId } = known.current
  const id = requestIdOf(approvalId, requirementId.sourceIndex)
  const request = await core.store.get(id)
  if (request !== undefined) await session.note(request)
  if (requirementId.approvalId !== approvalId || request === undefined || request.kind !== APPROVAL)
    throw stale(approvalId, currentRequirementId)
  const requirement = readRequirement(request, approvalId !== request.id)
  if (requirement === undefined) throw stale(approvalId, currentRequirementId)
  if (isSettled(request) && request.settlement.commandId !== commandId)
    throw refusalOfSettled(session, requirement)
  const resolved = session.state.approvals.get(approvalId)?.resolved
  if (!isSettled(request)) {
    if (resolved !== undefined) throw refusalOfSettled(session, requirement)
    if (requirementId.sourceIndex !== currentRequirementId.sourceIndex)
      throw stale(approvalId, currentRequirementId)
  }
  const choice = requirement.payload.choices.find(each => each.choiceId === choiceId)
  if (choice === undefined) {
    const offered = requirement.payload.choices.map(each => JSON.stringify(each.choiceId)).join(', ')
    throw new WireError('approvalChoiceInvalid', `no such choice was offered; offered: ${offered}`, {
      approvalId,
      choiceId,
    })
  }
  if (feedback !== undefined && feedback !== null && choice.acceptsFeedback !== true)
    throw new WireError('approvalChoiceInvalid', 'this choice takes no feedback', { approvalId, choiceId })
  const { index, total } = requirement.payload.requirement
  // More stages are looked at after this one; whether a person is asked about them is for the rules to say.
  const terminal = !allows(choice) || approvalId === request.id || index + 1 === total
  const result = { commandId, status: 'accepted', approvalId, terminal }
  const words = feedback === undefined || feedback === null ? {} : { feedback }
  try {
    const command = { commandId, surface: 'wire', records: call.ack(result) }
    const { repeated } = await core.decide(
      id,
      { outcome: 'answered', answer: { choiceId, ...words } },
      command,
    )
    if (repeated) await call.acknowledge(result)
  } catch (error) {
    throw await refusalOf(error, session, requirement, { commandId, choiceId })
  }
  call.reply(result)
}

async function refusalOf(
  error: unknown,
  session: Session,
  { approvalId, ...requirement }: Requirement,
  { commandId, choiceId }: { readonly commandId: string; readonly choiceId: string },
): Promise<unknown> {
  if (!InboxError.isInstance(error)) return error
  switch (error.code) {
    case 'BAD_ANSWER':
      return new WireError('approvalChoiceInvalid', error.message, { approvalId, choiceId })
    case 'ALREADY_SETTLED': {
      const { request } = error.details
      await session.note(request)
      return refusalOfSettled(session, { ...requirement, approvalId, request })
    }
    case 'COMMAND_CONFLICT':
      return new WireError('commandRejected', error.message, { commandId, reason: 'command_id_conflict' })
    case 'UNKNOWN_KIND':
      return new WireError('approvalReviewerUnavailable', 'this host cannot decide approvals', { approvalId })
    default:
      return error
  }
}

/** What is told to whoever decides what was decided: that the approval is over, or that another stage is asked about. */
function refusalOfSettled(session: Session, requirement: Requirement): WireError {
  const { approvalId } = requirement
  const known = session.state.approvals.get(approvalId)
  const resolved = known?.resolved
  if (resolved === undefined && !endsApproval(requirement))
    return stale(approvalId, known?.current.currentRequirementId ?? requirement.ref)
  const { settlement } = requirement.request
  const { decision, resolvedBy, viewCursor } = resolved ?? {
    decision: choiceOf(requirement)?.decision ?? settlement?.outcome ?? 'aborted',
    resolvedBy: settlement?.by === 'user' ? 'user' : 'policy',
    viewCursor: session.log.cursor,
  }
  return new WireError('approvalAlreadyResolved', `the approval was resolved before: ${decision}`, {
    approvalId,
    resolution: { decision, resolvedBy, viewCursor },
  })
}

function stale(
  approvalId: string,
  currentRequirementId: { readonly approvalId: string; readonly sourceIndex: number },
): WireError {
  return new WireError(
    'approvalRequirementStale',
    'another requirement of the approval is asked about by now',
    {
      approvalId,
      currentRequirementId: { ...currentRequirementId },
    },
  )
}

/** Adds what waits in a session of which nobody has recorded it yet, without recording it. */
async function addUnseen(host: WireHost, { record, log, state }: Looked): Promise<void> {
  const { core } = host.deps.inbox
  const settledBy = async (id: string): Promise<InboxRequest | undefined> => core.store.get(id)
  for (const [id, view] of state.userInputs) {
    const request = view.settled === undefined ? await settledBy(id) : undefined
    if (request !== undefined && isSettled(request)) state.userInputs.delete(id)
  }
  for (const [id, { current, resolved }] of state.approvals) {
    const index = current.currentRequirementId.sourceIndex
    const request = resolved === undefined ? await settledBy(requestIdOf(id, index)) : undefined
    if (request !== undefined && isSettled(request)) state.approvals.delete(id)
  }
  for (let after: string | undefined, more = true; more; more = after !== undefined) {
    const page = await core.list({ state: 'pending', session: record.sessionId, limit: 1_000, after })
    for (const request of page.requests) {
      const known = state.userInputs.get(request.id)
      if (known !== undefined && request.deadlineAt === undefined)
        state.userInputs.set(request.id, { ...known, engaged: true })
      const drafts = eventsOf(request, {
        state,
        callOf: () => undefined,
        before: undefined,
        now: request.openedAt,
      })
      for (const event of log.preview(drafts)) foldEvent(state, event)
    }
    after = page.next
  }
}
