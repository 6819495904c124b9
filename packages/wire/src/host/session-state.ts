import type {
  ApprovalRequestParams,
  ApprovalResolvedParams,
  ApprovalUpdatedParams,
  Item,
  SessionApprovalModeChangedParams,
  TurnCompletedParams,
  TurnStartedParams,
  UserInputRequestParams,
  UserInputSettledParams,
} from '../protocol/index.ts'
import type { ViewEvent } from './view-log.ts'

/** A question as the view tells of it. */
export interface UserInputView {
  readonly requested: UserInputRequestParams
  /** Its place among what was opened. */
  readonly order: number
  readonly settled?: UserInputSettledParams | undefined
  /** A person began to answer: the window no longer applies. The view itself does not tell. */
  readonly engaged?: boolean | undefined
}

/** An approval as the view tells of it: as it was opened, as it stands, and how it ended. */
export interface ApprovalView {
  readonly opened: ApprovalRequestParams
  readonly current: ApprovalRequestParams
  /** The place of the event that made it so. */
  readonly changed: number
  /** Its place among what was opened. */
  readonly order: number
  readonly resolved?: ApprovalResolvedParams | undefined
}

export interface TurnView {
  readonly turnId: string
  readonly commandId: string
  /** Milliseconds since the Unix epoch. */
  readonly startedAt: number
}

/** What a session has come to, as far as its view tells. */
export interface SessionState {
  readonly items: Map<string, Item>
  /** The item of each tool call. */
  readonly itemOfCall: Map<string, string>
  readonly userInputs: Map<string, UserInputView>
  readonly approvals: Map<string, ApprovalView>
  readonly startedTurns: Set<string>
  readonly endedTurns: Map<string, TurnCompletedParams>
  activeTurn: TurnView | undefined
  lastTurn: TurnCompletedParams | undefined
  modeChange: SessionApprovalModeChangedParams | undefined
}

function emptyState(): SessionState {
  return {
    items: new Map(),
    itemOfCall: new Map(),
    userInputs: new Map(),
    approvals: new Map(),
    startedTurns: new Set(),
    endedTurns: new Map(),
    activeTurn: undefined,
    lastTurn: undefined,
    modeChange: undefined,
  }
}

type Fold = (state: SessionState, params: never, event: ViewEvent) => void

// The host wrote these events itself, so their parameters are of their shapes.
const FOLDS: Readonly<Record<string, Fold>> = {
  'turn/started': (state, { turnId, commandId }: TurnStartedParams, { at }) => {
    state.startedTurns.add(turnId)
    state.activeTurn = { turnId, commandId, startedAt: at }
  },
  'turn/completed': (state, params: TurnCompletedParams) => {
    state.endedTurns.set(params.turnId, params)
    state.lastTurn = params
    if (state.activeTurn?.turnId === params.turnId) state.activeTurn = undefined
  },
  'item/started': foldItem,
  'item/updated': foldItem,
  'item/completed': foldItem,
  'userInput/requested': (state, requested: UserInputRequestParams, { n }) => {
    state.userInputs.set(requested.userInputId, { requested, order: n })
  },
  'userInput/settled': (state, settled: UserInputSettledParams) => {
    const known = state.userInputs.get(settled.userInputId)
    if (known !== undefined) state.userInputs.set(settled.userInputId, { ...known, settled })
  },
  'approval/requested': (state, opened: ApprovalRequestParams, { n }) => {
    state.approvals.set(opened.approvalId, { opened, current: opened, changed: n, order: n })
  },
  'approval/updated': (state, updated: ApprovalUpdatedParams, { n }) => {
    const known = state.approvals.get(updated.approvalId)
    if (known === undefined) return
    const { currentRequirementId, subject, availableChoices, viewCursor, sourceRange } = updated
    const current = {
      ...known.current,
      currentRequirementId,
      subject,
      availableChoices,
      viewCursor,
      sourceRange,
    }
    state.approvals.set(updated.approvalId, { ...known, current, changed: n })
  },
  'approval/resolved': (state, resolved: ApprovalResolvedParams) => {
    const known = state.approvals.get(resolved.approvalId)
    if (known !== undefined) state.approvals.set(resolved.approvalId, { ...known, resolved })
  },
  'session/approvalModeChanged': (state, params: SessionApprovalModeChangedParams) => {
    state.modeChange = params
  },
}

function foldItem(state: SessionState, { item }: { readonly item: Item }): void {
  state.items.set(item.itemId, item)
  if (item.kind === 'toolCall' && item.callId !== undefined) state.itemOfCall.set(item.callId, item.itemId)
}

/** Takes one event into the state. */
export function foldEvent(state: SessionState, event: ViewEvent): void {
  FOLDS[event.method]?.(state, event.params as never, event)
}

/** What the events of a view come to. */
export function stateOf(events: readonly ViewEvent[]): SessionState {
  const state = emptyState()
  for (const event of events) foldEvent(state, event)
  return state
}

/** The turns that were taken in, and have neither begun nor ended. */
export function waitingOf<Turn extends { readonly turnId: string }>(
  { startedTurns, endedTurns }: SessionState,
  turns: readonly Turn[],
): Turn[] {
  return turns.filter(({ turnId }) => !startedTurns.has(turnId) && !endedTurns.has(turnId))
}

/** The questions that wait, in the order in which they were opened. */
export function pendingUserInputs(state: SessionState): UserInputView[] {
  return [...state.userInputs.values()].filter(({ settled }) => settled === undefined)
}

/** The approvals that wait, in the order in which they were opened. */
export function pendingApprovals(state: SessionState): ApprovalView[] {
  return [...state.approvals.values()].filter(({ resolved }) => resolved === undefined)
}
