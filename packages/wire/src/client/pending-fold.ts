import { canonicalJson } from '@handraise/user-questions/types'
import type {
  ApprovalListPendingResult,
  ApprovalRequestParams,
  ApprovalResolvedParams,
  ApprovalUpdatedParams,
  UserInputRequestParams,
  UserInputSettledParams,
} from '../protocol/index.ts'
import type { ServerRequest, WireEvent } from './event.ts'

/** How something ended that waited for a person. */
export type Settlement =
  | { readonly kind: 'approval'; readonly params: ApprovalResolvedParams }
  | { readonly kind: 'userInput'; readonly params: UserInputSettledParams }

/** What waits for a person in one session, and how the rest ended. Never changed; a change makes a new one. */
export interface PendingState {
  /** In the order in which they were opened. */
  readonly approvals: readonly ApprovalRequestParams[]
  /** In the order in which they were opened. */
  readonly userInputs: readonly UserInputRequestParams[]
  /** By approval or user input id: the last 1,000. */
  readonly settlements: ReadonlyMap<string, Settlement>
}

export const NOTHING_PENDING: PendingState = { approvals: [], userInputs: [], settlements: new Map() }

const REMEMBERED = 1_000

/**
 * The state after an event, or after a request of the host; the same state where it changes nothing. The first end of a
 * prompt counts, and what was asked is not asked again after it. An update of an approval that is not pending is dropped.
 */
export function foldPending(state: PendingState, event: WireEvent | ServerRequest): PendingState {
  if ('known' in event && !event.known) return state
  switch (event.method) {
    case 'approval/requested':
      return withApproval(state, event.params, known => known)
    case 'approval/request':
      // The host presents it as it is now, perhaps with its next requirement.
      return withApproval(state, event.params, () => event.params)
    case 'approval/updated':
      return withUpdate(state, event.params)
    case 'approval/resolved':
      return settle(state, event.params.approvalId, { kind: 'approval', params: event.params })
    case 'userInput/requested':
    case 'userInput/request':
      return withUserInput(state, event.params)
    case 'userInput/settled':
      return settle(state, event.params.userInputId, { kind: 'userInput', params: event.params })
    default:
      return state
  }
}

/** The state when the host has just listed what is pending: what it did not list is not pending any more. */
export function foldListed(state: PendingState, listed: ApprovalListPendingResult): PendingState {
  return replace(state, {
    approvals: listed.approvals.filter(({ approvalId }) => !state.settlements.has(approvalId)),
    userInputs: listed.userInputs
      .filter(({ userInputId }) => !state.settlements.has(userInputId))
      .map(request => withSource(request, findUserInput(state, request))),
  })
}

function withApproval(
  state: PendingState,
  request: ApprovalRequestParams,
  again: (known: ApprovalRequestParams) => ApprovalRequestParams,
): PendingState {
  const { approvals, settlements } = state
  const { approvalId } = request
  if (settlements.has(approvalId)) return state
  const isKnown = approvals.some(known => known.approvalId === approvalId)
  return replace(state, {
    approvals: isKnown
      ? approvals.map(known => (known.approvalId === approvalId ? again(known) : known))
      : [...approvals, request],
  })
}

function withUpdate(state: PendingState, update: ApprovalUpdatedParams): PendingState {
  const { approvalId, currentRequirementId, subject, availableChoices, subagentOrigin } = update
  return replace(state, {
    approvals: state.approvals.map(known =>
      known.approvalId === approvalId
        ? {
            ...known,
            currentRequirementId,
            subject,
            availableChoices,
            ...(subagentOrigin === undefined ? {} : { subagentOrigin }),
          }
        : known,
    ),
  })
}

function withUserInput(state: PendingState, request: UserInputRequestParams): PendingState {
  const { userInputs, settlements } = state
  if (settlements.has(request.userInputId)) return state
  const known = findUserInput(state, request)
  return replace(state, {
    userInputs:
      known === undefined
        ? [...userInputs, request]
        : userInputs.map(each => (each === known ? withSource(request, known) : each)),
  })
}

function findUserInput(state: PendingState, { userInputId }: UserInputRequestParams) {
  return state.userInputs.find(known => known.userInputId === userInputId)
}

// Only the event says where it came from.
function withSource(
  request: UserInputRequestParams,
  known: UserInputRequestParams | undefined,
): UserInputRequestParams {
  const sourceRange = request.sourceRange ?? known?.sourceRange
  return sourceRange === undefined ? request : { ...request, sourceRange }
}

function settle(state: PendingState, id: string, settlement: Settlement): PendingState {
  if (state.settlements.has(id)) return state
  const settlements = new Map(state.settlements).set(id, settlement)
  const [oldest] = settlements.keys()
  if (settlements.size > REMEMBERED && oldest !== undefined) settlements.delete(oldest)
  return {
    ...replace(state, {
      approvals: state.approvals.filter(({ approvalId }) => approvalId !== id),
      userInputs: state.userInputs.filter(({ userInputId }) => userInputId !== id),
    }),
    settlements,
  }
}

// Keeps what says the same as before, so that a view can see by identity what it need not draw again.
function replace(
  state: PendingState,
  next: Partial<Pick<PendingState, 'approvals' | 'userInputs'>>,
): PendingState {
  const approvals = keep(state.approvals, next.approvals)
  const userInputs = keep(state.userInputs, next.userInputs)
  if (approvals === state.approvals && userInputs === state.userInputs) return state
  return { ...state, approvals, userInputs }
}

function keep<T>(before: readonly T[], after: readonly T[] = before): readonly T[] {
  const isSame =
    after.length === before.length &&
    after.every((each, at) => each === before[at] || canonicalJson(each) === canonicalJson(before[at]))
  return isSame ? before : after
}
