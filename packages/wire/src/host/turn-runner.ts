import { UserQuestionError } from '@handraise/user-questions/types'
import { v7 as uuidv7 } from 'uuid'
import { WireError, type Item, type TurnError } from '../protocol/index.ts'
import type { AgentTurn, SessionAgent, TurnReport } from './agent.ts'
import type { WireDeps } from './deps.ts'
import { halt, startTurn, type RunningTurn } from './running-turn.ts'
import type { Session } from './session.ts'
import type { TurnRecord } from './session-store.ts'
import { completedItem, INTERRUPTED, type CallEnding } from './tool-item.ts'
import { TurnCalls } from './turn-calls.ts'
import { TurnMessages } from './turn-messages.ts'
import { TurnStopped } from './turn-stopped.ts'
import type { EventDraft } from './view-log.ts'
import { within } from './within.ts'

type TurnEnd = {
  readonly terminal: 'completed' | 'failed' | 'cancelled'
  readonly reason?: string
  readonly error?: TurnError
  readonly usage?: TurnReport['usage']
}

/** How long a stopped turn waits for its tools to end, in milliseconds. */
const TOOLS_GRACE_MS = 5_000

/** Runs the turns of one session, one after the other, and goes on with what another host began. */
export class TurnRunner {
  private readonly session: Session
  private readonly deps: WireDeps
  private readonly agent: SessionAgent
  private readonly calls: TurnCalls
  private readonly messages: TurnMessages
  private running: RunningTurn | undefined

  constructor(session: Session, deps: WireDeps, agent: SessionAgent) {
    this.session = session
    this.deps = deps
    this.agent = agent
    this.messages = new TurnMessages(session, deps)
    this.calls = new TurnCalls(session, deps, turn => {
      this.stopTurn(turn, INTERRUPTED).catch(deps.report)
    })
  }

  get busy(): boolean {
    return this.running !== undefined || this.session.queue.length > 0
  }

  /** The turn that runs, unless it is being stopped. */
  get runningTurn(): TurnRecord | undefined {
    return this.running?.stopped === false ? this.running.record : undefined
  }

  /** Ends the turn that was left, as a client had commanded before its host went away. */
  stopLeft(left: TurnRecord, reason: string): void {
    const turn = startTurn(left, this.session.state.activeTurn?.startedAt ?? this.deps.now())
    this.running = turn
    this.stopTurn(turn, reason).catch(this.deps.report)
  }

  /** Goes on with the turn that was left, or starts the next one that waits. */
  proceed(left?: TurnRecord): void {
    if (this.running !== undefined || this.session.released) return
    const record = left ?? this.session.queue.shift()
    if (record === undefined) return
    const turn = startTurn(record, this.session.state.activeTurn?.startedAt ?? this.deps.now())
    this.running = turn
    this.run(turn, left !== undefined)
      // The next one begins behind its end, however soon the agent notices.
      .then(() => turn.stopping)
      .catch(error => this.deps.report(error))
      .finally(() => {
        if (this.running === turn) this.running = undefined
        this.proceed()
        this.deps.turnEnded(this.session)
      })
  }

  /** Stops the running turn, with what it asked. Resolves when its end is recorded. */
  async stop(reason: string): Promise<void> {
    const turn = this.running
    if (turn !== undefined) await this.stopTurn(turn, reason)
  }

  /** True when the agent takes input into the turn that runs. */
  get steers(): boolean {
    return this.agent.steer !== undefined
  }

  /** Hands input on to the running turn. */
  steer(turnId: string, input: TurnRecord['input']): void {
    const steering = async (): Promise<void> => this.agent.steer?.(turnId, input)
    steering().catch(this.deps.report)
  }

  /** Lets go of the turn without ending it: another host goes on with it. */
  release(): void {
    this.running?.forAgent.abort(new TurnStopped('this host has given the session up'))
    // What is allowed from now on is for the other host to do; a question is only handed on.
    for (const { opened, resolved } of this.session.state.approvals.values())
      if (resolved === undefined)
        this.running?.leave.get(opened.toolCallId)?.abort(new UserQuestionError('PROVIDER_GONE', {}))
  }

  private async run(turn: RunningTurn, resumed: boolean): Promise<void> {
    const { record } = turn
    const { turnId, input } = record
    const { session, agent } = this
    if (!resumed) {
      try {
        await agent.prepare?.({ sessionId: session.id, turnId, input, signal: turn.forAgent.signal })
      } catch (error) {
        // A launch that was called off has not failed.
        if (!turn.stopped) await this.failLaunch(turn, error)
        return
      }
      if (turn.stopped) return
      await session.change(() => session.append(this.opening(record)))
    }
    let end: TurnEnd
    try {
      const report = await agent.run(this.toAgentTurn(turn, resumed))
      const usage = (report as TurnReport | undefined)?.usage
      end = { terminal: 'completed', ...(usage === undefined ? {} : { usage }) }
    } catch (error) {
      end = { terminal: 'failed', reason: messageOf(error), error: failureOf('environmentError', error) }
    }
    if (turn.stopped || session.released) return
    await this.finish(turn, end, 'the turn has ended')
  }

  // A turn goes by the id of the command that started it.
  private opening(record: TurnRecord): EventDraft[] {
    const { turnId } = record
    const item = userMessage(record, { turnId, commandId: turnId, at: this.deps.now() })
    return [
      { method: 'turn/started', body: { turnId, commandId: turnId }, turnId },
      { method: 'item/completed', body: { item }, turnId },
    ]
  }

  // The command was accepted, and is rejected from now on: what it deferred could not be done.
  private async failLaunch(turn: RunningTurn, error: unknown): Promise<void> {
    const { turnId } = turn.record
    const { session, deps } = this
    const message = `queued turn launch failed: ${messageOf(error)}`
    const rejection = new WireError('commandRejected', message, {
      commandId: turnId,
      reason: 'deferred_start_failed',
    })
    turn.stopped = true
    const launch = { ...failureOf('launchError', error), message }
    await session.change(async () => {
      const records = await deps.ledger.rejectionWrite(turnId, rejection)
      await session.append(
        [turnCompleted(turnId, { terminal: 'failed', reason: message, error: launch })],
        records,
      )
    })
  }

  private async stopTurn(turn: RunningTurn, reason: string): Promise<void> {
    if (turn.stopped) return
    turn.stopping = this.finish(turn, { terminal: 'cancelled', reason }, reason)
    await turn.stopping
    // The agent may take its time to notice; what waits does not.
    this.proceed()
    this.deps.turnEnded(this.session)
  }

  private async finish(turn: RunningTurn, end: TurnEnd, reason: string): Promise<void> {
    const { session, deps } = this
    const { turnId } = turn.record
    turn.stopped = true
    turn.forAgent.abort(new TurnStopped(reason))
    // This host holds the session: nobody else waits for what its turn asked, whoever opened it.
    await session.change(() => session.withdraw(turnId, reason))
    halt(turn, reason)
    await within(deps.inbox.core.clock, TOOLS_GRACE_MS, Promise.allSettled(turn.calls.values()))
    await deps.inbox.core.caughtUp()
    await session.change(async () => {
      await session.withdraw(turnId, reason)
      const ending: CallEnding = {
        status: 'cancelled',
        failureReason: end.reason ?? 'the turn has ended',
        visibleOutput: '',
      }
      const closed = session.openItems(turnId).map(item => ({
        method: 'item/completed',
        body: { item: completedItem(item, ending, deps.now()) },
        turnId,
      }))
      const left = this.messages.leftOf(turn, end.terminal === 'completed' ? 'completed' : 'cancelled')
      const durationMs = Math.max(0, Math.round(deps.now() - turn.startedAt))
      await session.append([...left, ...closed, turnCompleted(turnId, { ...end, durationMs })])
    })
    if (this.running === turn) this.running = undefined
  }

  private toAgentTurn(turn: RunningTurn, resumed: boolean): AgentTurn {
    const { session } = this
    const { turnId, input } = turn.record
    return {
      sessionId: session.id,
      turnId,
      workspaceRoot: session.record.workspaceRoot,
      input,
      resumed,
      get items() {
        return [...session.state.items.values()]
      },
      signal: turn.forAgent.signal,
      callTool: call => this.calls.make(turn, call),
      resultOf: callId => this.deps.sessions.result(session.id, callId),
      say: (text, { id } = {}) => this.messages.say(turn, text, id),
      stream: ({ id } = {}) => this.messages.stream(turn, id),
    }
  }
}

/** What a person said, as an item. */
export function userMessage(
  { input, displayText }: Pick<TurnRecord, 'input' | 'displayText'>,
  { turnId, commandId, at }: { readonly turnId: string; readonly commandId: string; readonly at: number },
): Item {
  return {
    itemId: uuidv7(),
    kind: 'userMessage',
    turnId,
    revision: 1,
    status: 'completed',
    recordedAt: new Date(at).toISOString(),
    text: displayText ?? input.flatMap(({ text }) => text ?? []).join('\n'),
    commandId,
  }
}

/** The end of a turn, as an event. */
export function turnCompleted(turnId: string, end: TurnEnd & { readonly durationMs?: number }) {
  return { method: 'turn/completed', body: { turnId, ...end }, turnId }
}

function failureOf(kind: string, error: unknown): TurnError {
  const retryable =
    typeof error === 'object' && error !== null && 'retryable' in error && error.retryable === true
  return { kind, message: messageOf(error), retryable }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
