import { isSettled, QUESTIONS, type InboxRequest } from '@handraise/inbox'
import { APPROVAL } from '@handraise/user-approvals'
import {
  choiceOf,
  readRequirement,
  toApprovalRequested,
  toApprovalResolved,
  toApprovalUpdate,
} from './approval.ts'
import type { CallPlace } from './call-place.ts'
import type { SessionState } from './session-state.ts'
import { completedItem, endingOfQuestion, notAllowed, startedItem } from './tool-item.ts'
import { questionsOf, toRequested, toSettled } from './user-input.ts'
import type { EventDraft } from './view-log.ts'

/** What a session must know to tell of a request of its inbox. */
export interface RequestContext {
  readonly state: SessionState
  /** The tool call that is run here under this id. */
  readonly callOf: (callId: string) => CallPlace | undefined
  /** The request before this one of the same approval, when there was one. */
  readonly before: InboxRequest | undefined
  /** A turn is about to go on here, whose calls are made again: what it asked is theirs. */
  readonly goesOn?: boolean | undefined
  readonly now: number
}

/** The id of the tool call that asks; a request that came from no call is one of its own. */
export function callIdOf(request: InboxRequest): string {
  if (request.kind !== APPROVAL) return request.key ?? request.id
  return readRequirement(request, true)?.payload.callId ?? request.id
}

/** What the view lacks of a request: its opening, its end, or both. Empty for kinds the protocol does not know. */
export function eventsOf(request: InboxRequest, context: RequestContext): EventDraft[] {
  if (request.kind === QUESTIONS) return eventsOfQuestions(request, context)
  return request.kind === APPROVAL ? eventsOfApproval(request, context) : []
}

function eventsOfQuestions(request: InboxRequest, context: RequestContext): EventDraft[] {
  const { state, now } = context
  const known = state.userInputs.get(request.id)
  if (known?.settled !== undefined) return []
  const place = placeOf(request, context)
  const { turnId } = place
  const requested = toRequested(request, place)
  const drafts: EventDraft[] = []
  if (known === undefined)
    drafts.push(...opening(place, context), { method: 'userInput/requested', body: requested, turnId })
  if (!isSettled(request)) return drafts
  const settled = toSettled(request)
  drafts.push({ method: 'userInput/settled', body: settled, turnId })
  if (isAlone(request, place, context)) {
    const headers = questionsOf(request).map(({ id, header = '' }) => ({ id, header }))
    const item = completedItem(startedItem(place, now), endingOfQuestion(headers, settled), now)
    drafts.push({ method: 'item/completed', body: { item }, turnId })
  }
  return drafts
}

function eventsOfApproval(request: InboxRequest, context: RequestContext): EventDraft[] {
  const { state, now } = context
  const callId = callIdOf(request)
  const { goesOn = false } = context
  const joined = goesOn || context.callOf(callId) !== undefined || state.approvals.has(approvalIdOf(request))
  const requirement = readRequirement(request, joined)
  if (requirement === undefined) return []
  const known = state.approvals.get(requirement.approvalId)
  if (known?.resolved !== undefined) return []
  const place = placeOf(request, context, requirement.payload.toolName)
  const { turnId } = place
  const drafts: EventDraft[] = []
  if (known === undefined) {
    drafts.push(...opening(place, context, requirement.approvalId), {
      method: 'approval/requested',
      body: toApprovalRequested(requirement, place),
      turnId,
    })
  } else if (requirement.ref.sourceIndex > known.current.currentRequirementId.sourceIndex) {
    const body = toApprovalUpdate(requirement, changeBy(context.before, requirement.approvalId))
    drafts.push({ method: 'approval/updated', body, turnId })
  }
  // What becomes of a whole of several stages is told by who asks for it.
  const isWhole = requirement.payload.requirement.total > 1 && requirement.approvalId !== request.id
  if (!isSettled(request) || isWhole) return drafts
  const resolved = toApprovalResolved(requirement, place)
  drafts.push({ method: 'approval/resolved', body: resolved, turnId })
  if (isAlone(request, place, context)) {
    const ending =
      resolved.policyResult === 'allow'
        ? { status: 'completed' as const, visibleOutput: 'allowed' }
        : notAllowed(resolved)
    const item = completedItem(startedItem(place, now, requirement.approvalId), ending, now)
    drafts.push({ method: 'item/completed', body: { item }, turnId })
  }
  return drafts
}

// A call that is made here ends its item itself, also one that was found in the inbox before the call was made again.
function isAlone(
  request: InboxRequest,
  { itemId, callId }: CallPlace,
  { callOf, goesOn = false }: RequestContext,
): boolean {
  return itemId === request.id && callOf(callId) === undefined && !goesOn
}

function approvalIdOf(request: InboxRequest): string {
  return readRequirement(request, true)?.approvalId ?? request.id
}

function changeBy(before: InboxRequest | undefined, approvalId: string) {
  const requirement = before === undefined ? undefined : readRequirement(before, true)
  const choice = requirement === undefined ? undefined : choiceOf(requirement)
  return {
    kind: 'stageResolved',
    ...(requirement === undefined ? {} : { requirementId: { ...requirement.ref, approvalId } }),
    ...(choice === undefined ? {} : { choiceId: choice.choiceId, decision: choice.decision }),
  }
}

function opening(place: CallPlace, { state, now }: RequestContext, approvalId?: string): EventDraft[] {
  if (state.items.has(place.itemId)) return []
  const item = startedItem(place, now, approvalId)
  return [{ method: 'item/started', body: { item }, turnId: place.turnId }]
}

/** Where a request belongs: in the call that is run here, in one the view knows, or in an item of its own. */
function placeOf(
  request: InboxRequest,
  { state, callOf }: RequestContext,
  tool = 'ask_user_question',
): CallPlace {
  const callId = callIdOf(request)
  const running = callOf(callId)
  if (running !== undefined) return running
  const itemId = state.itemOfCall.get(callId)
  const item = itemId === undefined ? undefined : state.items.get(itemId)
  if (item !== undefined) {
    const { turnId, tool: named = tool, args = '{}' } = item
    return { turnId: turnId ?? request.id, itemId: item.itemId, callId, tool: named, args }
  }
  const turnId = state.activeTurn?.turnId ?? request.id
  return { turnId, itemId: request.id, callId, tool, args: JSON.stringify(request.payload) }
}
