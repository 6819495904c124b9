import type { WireDeps } from './deps.ts'
import { loadView } from './load-view.ts'

/**
 * Forgets the sessions in which nothing has happened since `before`, in milliseconds since the Unix epoch: but none that a
 * host holds, none whose turn was left or waits, and none in which something waits for a person.
 */
export async function forgetSessions(
  deps: Pick<WireDeps, 'inbox' | 'sessions' | 'now'>,
  before: number,
): Promise<void> {
  const { sessions, inbox } = deps
  for (const { sessionId, createdAt, owner } of await sessions.sessions()) {
    if (createdAt >= before) continue
    if (owner !== undefined && (await inbox.core.goneHosts([owner])).length === 0) continue
    const view = await loadView(deps, sessionId)
    const last = view?.log.events.at(-1)?.at ?? createdAt
    if (last >= before || view?.state.activeTurn !== undefined || view?.waiting.length !== 0) continue
    const { requests } = await inbox.core.list({ state: 'pending', session: sessionId, limit: 1 })
    if (requests.length === 0) await sessions.forget(sessionId)
  }
}
