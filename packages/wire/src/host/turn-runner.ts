import type { ToolResult } from '@handraise/tools'
import { UserQuestionError } from '@handraise/user-questions/types'
import { v7 as uuidv7 } from 'uuid'
import { WireError, type Item, type TurnError } from '../protocol/index.ts'
import type { AgentMessage, AgentToolCall, AgentTurn, SessionAgent, TurnReport } from './agent.ts'
import type { WireDeps } from './deps.ts'
import type { RunningCall, Session } from './session.ts'
import { resultWrite, type ResultRecord, type TurnRecord } from './session-store.ts'
import { completedItem, endingOf, INTERRUPTED, type CallEnding } from './tool-item.ts'
import { TurnStopped } from './turn-stopped.ts'
import { within } from './within.ts'

interface RunningTurn {
  readonly record: TurnRecord
  readonly startedAt: number
  /** What the agent sees; aborts also when this host gives the session up. */
  readonly forAgent: AbortController
  /** What its tools see. A host that goes down leaves what is asked as it is, for the next one to join. */
  readonly forTools: AbortController
  readonly calls: Map<string, Promise<ToolResult>>
  /** Ends the wait of each call without ending what it asks. */
  readonly leave: Map<string, AbortController>
  stopped: boolean
  /** There once it is stopped from outside: resolves when that is recorded. */
  stopping?: Promise<void>
}

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
  private running: RunningTurn | undefined

  constructor(session: Session, deps: WireDeps, agent: SessionAgent) {
    this.session = session
    this.deps = deps
    this.agent = agent
  }

  get busy(): boolean {
    return this.running !== undefined || this.session.queue.length > 0
  }

  get runningTurn(): string | undefined {
    return this.running?.record.turnId
  }

  /** Goes on with the turn that was left, or starts the next one that waits. */
  proceed(left?: TurnRecord): void {
    if (this.running !== undefined || this.session.released) return
    const record = left ?? this.session.queue.shift()
    if (record === undefined) return
    const turn: RunningTurn = {
      record,
      startedAt: this.session.state.activeTurn?.startedAt ?? this.deps.now(),
      forAgent: new AbortController(),
      forTools: new AbortController(),
      calls: new Map(),
      leave: new Map(),
      stopped: false,
    }
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

  /** Takes a turn that waits out of the queue. Only within a change of the session. */
  async drop(turnId: string, reason: string): Promise<void> {
    const index = this.session.queue.findIndex(turn => turn.turnId === turnId)
    if (index === -1) return
    this.session.queue.splice(index, 1)
    await this.session.append([turnCompleted(turnId, { terminal: 'cancelled', reason })])
  }

  /** Takes input into the running turn. False when the agent does not. */
  steer(turnId: string, input: TurnRecord['input']): boolean {
    if (this.agent.steer === undefined) return false
    this.agent.steer(turnId, input)
    return true
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
    turn.stopped = true
    turn.forAgent.abort(new TurnStopped('the turn has ended'))
    turn.forTools.abort(new TurnStopped('the turn has ended'))
    await this.record(turn, end)
  }

  private opening({ turnId, input, displayText }: TurnRecord) {
    const at = this.deps.now()
    const text = displayText ?? input.flatMap(({ text: part }) => part ?? []).join('\n')
    const item: Item = {
      itemId: uuidv7(),
      kind: 'userMessage',
      turnId,
      revision: 1,
      status: 'completed',
      recordedAt: new Date(at).toISOString(),
      text,
      // A turn goes by the id of the command that started it.
      commandId: turnId,
    }
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
    turn.stopped = true
    turn.forAgent.abort(new TurnStopped(reason))
    turn.forTools.abort(new TurnStopped(reason))
    turn.stopping = this.record(turn, { terminal: 'cancelled', reason })
    await turn.stopping
    // The agent may take its time to notice; what waits does not.
    this.proceed()
    this.deps.turnEnded(this.session)
  }

  private async record(turn: RunningTurn, end: TurnEnd): Promise<void> {
    const { session, deps } = this
    const { turnId } = turn.record
    await within(deps.inbox.core.clock, TOOLS_GRACE_MS, Promise.allSettled(turn.calls.values()))
    await deps.inbox.core.caughtUp()
    await session.change(async () => {
      const open = [...session.state.items.values()].filter(
        item => item.turnId === turnId && item.status === 'inProgress',
      )
      const ending: CallEnding = {
        status: 'cancelled',
        failureReason: end.reason ?? 'the turn has ended',
        visibleOutput: '',
      }
      const closed = open.map(item => ({
        method: 'item/completed',
        body: { item: completedItem(item, ending, deps.now()) },
        turnId,
      }))
      const durationMs = Math.max(0, Math.round(deps.now() - turn.startedAt))
      await session.append([...closed, turnCompleted(turnId, { ...end, durationMs })])
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
      callTool: call => this.callTool(turn, call),
      say: async (text, { id } = {}) => {
        turn.forAgent.signal.throwIfAborted()
        await this.recordMessage(turn, itemIdOf(turnId, id), 1, text)
      },
      stream: ({ id } = {}) => this.stream(turn, itemIdOf(turnId, id)),
    }
  }

  private callTool(turn: RunningTurn, call: AgentToolCall): Promise<ToolResult> {
    const known = turn.calls.get(call.callId)
    if (known !== undefined) return known
    const calling = this.runCall(turn, call)
    calling.catch(() => {})
    turn.calls.set(call.callId, calling)
    return calling
  }

  private async runCall(
    turn: RunningTurn,
    { callId, name, arguments: raw, agent }: AgentToolCall,
  ): Promise<ToolResult> {
    const { session, deps } = this
    turn.forAgent.signal.throwIfAborted()
    const kept = await deps.sessions.result(session.id, callId)
    if (kept !== undefined) return kept
    const call = this.placeCall(
      turn,
      callId,
      name,
      typeof raw === 'string' ? raw : (JSON.stringify(raw) ?? '{}'),
    )
    session.calls.set(callId, call)
    const leaving = new AbortController()
    turn.leave.set(callId, leaving)
    try {
      const result = await deps.tools.execute({
        callId,
        name,
        arguments: parsed(raw),
        session: session.id,
        signal: AbortSignal.any([turn.forTools.signal, leaving.signal]),
        ...(agent === undefined ? {} : { agent }),
        onRun: () => void session.change(() => session.begin(call)).catch(error => deps.report(error)),
      })
      // Another host goes on with the call; what it came to here is nothing to go by.
      if (session.released) turn.forAgent.signal.throwIfAborted()
      const record = toRecord(result)
      await deps.inbox.core.caughtUp()
      await session.change(() => this.endCall(turn, call, record))
      if (isInterruption(record)) {
        this.stopTurn(turn, INTERRUPTED).catch(error => deps.report(error))
      }
      turn.forAgent.signal.throwIfAborted()
      return result
    } finally {
      turn.leave.delete(callId)
      session.calls.delete(callId)
    }
  }

  /** A call that was parked by another host goes on in its item. */
  private placeCall(turn: RunningTurn, callId: string, tool: string, args: string): RunningCall {
    const { state } = this.session
    const itemId = state.itemOfCall.get(callId)
    const { turnId } = turn.record
    return { turnId, itemId: itemId ?? uuidv7(), callId, tool, args, begun: itemId !== undefined }
  }

  private async endCall(turn: RunningTurn, call: RunningCall, record: ResultRecord): Promise<void> {
    const { session, deps } = this
    const { state } = session
    await session.begin(call)
    for (const { requested, settled } of state.userInputs.values())
      if (settled === undefined && requested.toolCallId === call.callId)
        await session.noteById(requested.userInputId)
    const item = state.items.get(call.itemId)
    if (item === undefined || item.status !== 'inProgress') return
    const asked = [...state.userInputs.values()].findLast(
      ({ requested }) => requested.toolCallId === call.callId,
    )
    const approved = [...state.approvals.values()].findLast(({ opened }) => opened.toolCallId === call.callId)
    const ending = endingOf(record, {
      settled: asked?.settled,
      questions: asked?.requested.questions,
      resolved: approved?.resolved,
    })
    // What failed because the turn was stopped was not its own fault.
    const stopped = turn.stopped && record.isError && ending.status === 'failed'
    const body = {
      item: completedItem(item, stopped ? { ...ending, status: 'cancelled' } : ending, deps.now()),
    }
    await session.append(
      [{ method: 'item/completed', body, turnId: call.turnId }],
      [resultWrite(session.id, call.callId, record)],
    )
  }

  private stream(turn: RunningTurn, itemId: string): AgentMessage {
    const { session } = this
    const { turnId } = turn.record
    const kept = session.state.items.has(itemId)
    let text = ''
    if (!kept) {
      const item = { itemId, kind: 'agentMessage', turnId, revision: 1, status: 'inProgress', text }
      session.pass('item/started', { item })
    }
    return {
      delta: piece => {
        turn.forAgent.signal.throwIfAborted()
        text += piece
        if (!kept) session.pass('item/delta', { itemId, field: 'text', delta: piece })
      },
      end: async () => {
        turn.forAgent.signal.throwIfAborted()
        await this.recordMessage(turn, itemId, 2, text)
      },
    }
  }

  private async recordMessage(
    turn: RunningTurn,
    itemId: string,
    revision: number,
    text: string,
  ): Promise<void> {
    const { session, deps } = this
    const { turnId } = turn.record
    await session.change(async () => {
      if (session.state.items.has(itemId)) return
      const recordedAt = new Date(deps.now()).toISOString()
      const item = { itemId, kind: 'agentMessage', turnId, revision, status: 'completed', recordedAt, text }
      await session.append([{ method: 'item/completed', body: { item }, turnId }])
    })
  }
}

function turnCompleted(turnId: string, end: TurnEnd & { readonly durationMs?: number }) {
  return { method: 'turn/completed', body: { turnId, ...end }, turnId }
}

function itemIdOf(turnId: string, id: string | undefined): string {
  return id === undefined ? uuidv7() : `${turnId}/${id}`
}

function isInterruption(record: ResultRecord): boolean {
  return (
    record.isError &&
    (record.error.code === 'ASK_INTERRUPTED' || record.error.code === 'APPROVAL_INTERRUPTED')
  )
}

function failureOf(kind: string, error: unknown): TurnError {
  const retryable =
    typeof error === 'object' && error !== null && 'retryable' in error && error.retryable === true
  return { kind, message: messageOf(error), retryable }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

// A model sends its arguments as text; what is no JSON is for the tool to refuse or to mend.
function parsed(raw: unknown): unknown {
  if (typeof raw !== 'string') return raw
  try {
    return JSON.parse(raw)
  } catch {
    return raw
  }
}

// As it is kept: what JSON does not hold is not handed on after a restart, and is not handed on now either.
function toRecord(result: ToolResult): ResultRecord {
  if (result.isError) return { isError: true, error: { ...result.error }, content: result.content }
  let value: unknown = null
  try {
    value = JSON.parse(JSON.stringify(result.value) ?? 'null')
  } catch {
    // The model reads the content; the value is for the host alone.
  }
  return { isError: false, value, content: result.content }
}
