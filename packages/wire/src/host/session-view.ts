import type {
  ApprovalRequestParams,
  EffectiveApprovalModeState,
  HistoryPreference,
  LastTurn,
  PendingRequestPointer,
  Session as WireSession,
  SessionHistory,
  SessionStatusChangedParams,
  UserInputRequestParams,
  ViewSnapshot,
} from '../protocol/index.ts'
import type { WireDeps } from './deps.ts'
import {
  pendingApprovals,
  pendingUserInputs,
  type SessionState,
  type UserInputView,
} from './session-state.ts'
import type { Session } from './session.ts'
import type { LoadedView } from './load-view.ts'

/** A session, held here or only looked at. */
export type Looked = LoadedView

export function lookOf(session: Session): Looked {
  const { record, log, state, queue } = session
  return { record, log, state, waiting: queue }
}

/** The mode of a session, with who set it: `replay` for one that was there when this host took the session. */
export async function modeOf(
  deps: WireDeps,
  { record, state }: Looked,
  source: 'startup' | 'replay',
): Promise<EffectiveApprovalModeState> {
  const mode = await deps.approvals.mode(record.sessionId)
  const { modeChange } = state
  // It may have been set by another way than the wire since.
  if (modeChange?.mode === mode)
    return { mode, source: modeChange.source, lastCommandId: modeChange.commandId }
  return { mode, source, lastCommandId: null }
}

export function toWireSession(
  deps: Pick<WireDeps, 'pathOf'>,
  { record, log, state }: Looked,
  approvalMode: EffectiveApprovalModeState,
  held: boolean,
): WireSession {
  const { sessionId, createdAt, workspaceRoot, providerId, modelId } = record
  const last = log.events.at(-1)?.at ?? createdAt
  return {
    sessionId,
    status: held ? statusOf(state) : 'notLoaded',
    activeTurnId: state.activeTurn?.turnId ?? null,
    turnCount: state.endedTurns.size,
    path: deps.pathOf(sessionId),
    createdAt: toRfc3339(createdAt),
    updatedAt: toRfc3339(last),
    workspaceRoot,
    providerId,
    modelId,
    approvalMode,
    forkedFrom: null,
  }
}

function statusOf(state: SessionState): 'running' | 'idle' {
  return state.activeTurn === undefined ? 'idle' : 'running'
}

export function toStatusChanged(session: Session): SessionStatusChangedParams {
  const attention = session.attention()
  return {
    sessionId: session.id,
    status: statusOf(session.state),
    viewCursor: session.log.cursor,
    ...(attention.length === 0 ? {} : { attention }),
  }
}

/** What waits, by its durable ids, in the order in which it was opened. */
export function pointersOf(state: SessionState): PendingRequestPointer[] {
  const approvals = pendingApprovals(state).map(({ opened: { approvalId, viewCursor }, order }) => ({
    order,
    pointer: { kind: 'approval', approvalId, viewCursor },
  }))
  const inputs = pendingUserInputs(state).map(({ requested: { userInputId, viewCursor }, order }) => ({
    order,
    pointer: { kind: 'userInput', userInputId, viewCursor },
  }))
  return [...approvals, ...inputs]
    .toSorted((one, other) => one.order - other.order)
    .map(({ pointer }) => pointer)
}

/** What waits, as the requests by which clients are asked. */
export function pendingRequests(state: SessionState): {
  readonly approvals: ApprovalRequestParams[]
  readonly userInputs: UserInputRequestParams[]
} {
  return {
    approvals: pendingApprovals(state).map(({ current }) => current),
    userInputs: pendingUserInputs(state).map(toRequestParams),
  }
}

/** A question as it is asked of a client: where it comes from is told with the event alone (MSP transcripts). */
export function toRequestParams({ requested, engaged }: UserInputView): UserInputRequestParams {
  const { sourceRange: _, autoResolutionMs, ...params } = requested
  return autoResolutionMs === undefined || engaged === true ? params : { ...params, autoResolutionMs }
}

export function lastTurnOf({ lastTurn }: SessionState): LastTurn | undefined {
  if (lastTurn === undefined) return undefined
  const { turnId, terminal, error, reason } = lastTurn
  return {
    turnId,
    terminal,
    ...(error === undefined ? {} : { error }),
    ...(reason === undefined ? {} : { reason }),
  }
}

/** The history of a session in the form that was asked for: its items, a snapshot, or none, with the reason. */
export function historyOf(
  look: Looked,
  approvalMode: EffectiveApprovalModeState,
  wanted: {
    readonly excludeItems?: boolean | undefined
    readonly cursor?: string | null | undefined
    readonly history?: HistoryPreference | undefined
  },
): SessionHistory {
  const none = (noneReason: string): SessionHistory => ({
    mode: 'none',
    items: null,
    snapshot: null,
    noneReason,
  })
  if (wanted.excludeItems === true) return none('excluded')
  if (wanted.cursor !== undefined && wanted.cursor !== null) return none('cursorSuffix')
  // There are no compactions here to anchor a snapshot at.
  if (wanted.history === 'snapshot' || wanted.history === 'anchored')
    return { mode: 'snapshot', items: null, snapshot: toSnapshot(look, approvalMode) }
  return { mode: 'inline', items: [...look.state.items.values()], snapshot: null }
}

function toSnapshot(
  { record, log, state, waiting }: Looked,
  approvalMode: EffectiveApprovalModeState,
): ViewSnapshot {
  const { modelId, providerId } = record
  const { activeTurn } = state
  return {
    schemaVersion: 1,
    viewCursor: log.cursor,
    state: {
      items: [...state.items.values()],
      activeTurn:
        activeTurn === undefined ? null : { turnId: activeTurn.turnId, commandId: activeTurn.commandId },
      queuedTurns: waiting.map(({ turnId, displayText }) => ({
        turnId,
        commandId: turnId,
        ...(displayText === undefined ? {} : { displayText }),
      })),
      pendingApprovals: pendingApprovals(state).map(({ opened: { approvalId, itemId, viewCursor } }) => ({
        approvalId,
        itemId,
        viewCursor,
      })),
      pendingUserInputs: pendingUserInputs(state).map(
        ({ requested: { userInputId, itemId, viewCursor } }) => ({
          userInputId,
          itemId,
          viewCursor,
        }),
      ),
      approvalMode,
      effectiveModel: modelId === null ? null : { modelId, providerId, source: 'default' },
      goal: null,
      todoList: null,
      branch: null,
      // Nothing here counts tokens over a session.
      tokenUsage: { promptTokens: 0, outputTokens: 0, totalTokens: 0 },
      turnCount: state.endedTurns.size,
    },
  }
}

function toRfc3339(at: number): string {
  return new Date(at).toISOString()
}
