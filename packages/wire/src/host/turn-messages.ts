import { v7 as uuidv7 } from 'uuid'
import type { AgentMessage } from './agent.ts'
import type { WireDeps } from './deps.ts'
import type { RunningTurn } from './running-turn.ts'
import type { Session } from './session.ts'
import type { EventDraft } from './view-log.ts'

/** What the agent of a session says: each message recorded once, whole. */
export class TurnMessages {
  private readonly session: Session
  private readonly deps: WireDeps

  constructor(session: Session, deps: WireDeps) {
    this.session = session
    this.deps = deps
  }

  async say(turn: RunningTurn, text: string, id: string | undefined): Promise<void> {
    turn.forAgent.signal.throwIfAborted()
    await this.record(turn, itemIdOf(turn, id), 1, text)
  }

  stream(turn: RunningTurn, id: string | undefined): AgentMessage {
    const { session } = this
    const { turnId } = turn.record
    turn.forAgent.signal.throwIfAborted()
    const itemId = itemIdOf(turn, id)
    const kept = session.state.items.has(itemId)
    let text = ''
    if (!kept) {
      turn.streams.set(itemId, text)
      const item = { itemId, kind: 'agentMessage', turnId, revision: 1, status: 'inProgress', text }
      session.pass('item/started', { item })
    }
    return {
      delta: piece => {
        turn.forAgent.signal.throwIfAborted()
        text += piece
        if (kept) return
        turn.streams.set(itemId, text)
        session.pass('item/delta', { itemId, field: 'text', delta: piece })
      },
      end: async () => {
        turn.forAgent.signal.throwIfAborted()
        turn.streams.delete(itemId)
        await this.record(turn, itemId, 2, text)
      },
    }
  }

  /** What a turn that is over leaves of messages that never became whole. */
  leftOf(turn: RunningTurn, status: string): EventDraft[] {
    return [...turn.streams].map(([itemId, text]) => this.toEvent(turn, itemId, 2, text, status))
  }

  private async record(turn: RunningTurn, itemId: string, revision: number, text: string): Promise<void> {
    const { session } = this
    await session.change(async () => {
      if (!session.state.items.has(itemId) && !turn.stopped)
        await session.append([this.toEvent(turn, itemId, revision, text, 'completed')])
    })
  }

  private toEvent(
    { record: { turnId } }: RunningTurn,
    itemId: string,
    revision: number,
    text: string,
    status: string,
  ): EventDraft {
    const recordedAt = new Date(this.deps.now()).toISOString()
    const item = { itemId, kind: 'agentMessage', turnId, revision, status, recordedAt, text }
    return { method: 'item/completed', body: { item }, turnId }
  }
}

function itemIdOf({ record: { turnId } }: RunningTurn, id: string | undefined): string {
  return id === undefined ? uuidv7() : `${turnId}/${id}`
}
