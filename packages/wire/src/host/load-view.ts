import type { WireDeps } from './deps.ts'
import { stateOf, waitingOf, type SessionState } from './session-state.ts'
import type { SessionRecord, TurnRecord } from './session-store.ts'
import { ViewLog } from './view-log.ts'

/** A session as it can be looked at without being held. */
export interface LoadedView {
  readonly record: SessionRecord
  readonly log: ViewLog
  readonly state: SessionState
  /** Turns that wait for the one before. */
  readonly waiting: readonly TurnRecord[]
}

/** Reads a session from the store; undefined when nothing is known of it. */
export async function loadView(
  deps: Pick<WireDeps, 'inbox' | 'sessions' | 'now'>,
  sessionId: string,
): Promise<LoadedView | undefined> {
  const { sessions, inbox } = deps
  const kept = await sessions.session(sessionId)
  const record = kept?.value ?? (await recordOfInbox(inbox, sessionId))
  if (record === undefined) return undefined
  const log = new ViewLog(sessionId, await sessions.events(sessionId), () => deps.now())
  const state = stateOf(log.events)
  const waiting = waitingOf(state, await sessions.turns(sessionId))
  return { record, log, state, waiting }
}

/** The session that agents elsewhere ask in, which no client has started; undefined when none does. */
export async function recordOfInbox(
  inbox: WireDeps['inbox'],
  sessionId: string,
): Promise<SessionRecord | undefined> {
  for (const state of ['pending', 'settled'] as const) {
    const { requests } = await inbox.core.list({ state, session: sessionId, limit: 1 })
    const [request] = requests
    if (request === undefined) continue
    const { openedAt: createdAt } = request
    return { sessionId, createdAt, workspaceRoot: null, modelId: null, providerId: null }
  }
  return undefined
}
