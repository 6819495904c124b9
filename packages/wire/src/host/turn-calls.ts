import type { ToolResult } from '@handraise/tools'
import { v7 as uuidv7 } from 'uuid'
import type { AgentToolCall } from './agent.ts'
import type { WireDeps } from './deps.ts'
import type { RunningTurn } from './running-turn.ts'
import type { RunningCall, Session } from './session.ts'
import { resultWrite, type ResultRecord } from './session-store.ts'
import { completedItem, endingOf } from './tool-item.ts'
import { TurnStopped } from './turn-stopped.ts'

/** The tool calls of the turns of one session: each made once under its id, and joined where it was parked. */
export class TurnCalls {
  private readonly session: Session
  private readonly deps: WireDeps
  private readonly onInterruption: (turn: RunningTurn) => void

  constructor(session: Session, deps: WireDeps, onInterruption: (turn: RunningTurn) => void) {
    this.session = session
    this.deps = deps
    this.onInterruption = onInterruption
  }

  async make(turn: RunningTurn, made: AgentToolCall): Promise<ToolResult> {
    turn.forAgent.signal.throwIfAborted()
    const { callId, name, arguments: raw } = made
    const args = typeof raw === 'string' ? raw : (JSON.stringify(raw) ?? '{}')
    const call = this.place(turn, callId, name, args)
    if (call === undefined) return conflict(callId)
    let calling = turn.calls.get(callId)
    if (calling === undefined) {
      calling = this.run(turn, made, call)
      calling.catch(() => {})
      turn.calls.set(callId, calling)
    }
    return calling
  }

  private async run(
    turn: RunningTurn,
    { callId, name, arguments: raw, agent }: AgentToolCall,
    call: RunningCall,
  ): Promise<ToolResult> {
    const { session, deps } = this
    session.calls.set(callId, call)
    const leaving = new AbortController()
    turn.leave.set(callId, leaving)
    try {
      const kept = await deps.sessions.result(session.id, callId)
      if (kept !== undefined) return kept
      const result = await deps.tools.execute({
        callId,
        name,
        arguments: parsed(raw),
        session: session.id,
        signal: AbortSignal.any([turn.forTools.signal, leaving.signal]),
        ...(agent === undefined ? {} : { agent }),
        // Before it has an effect: a host that was taken over finds out here.
        onRun: () => this.begin(turn, call),
      })
      // Another host goes on with the call; what it came to here is nothing to go by.
      if (session.released) turn.forAgent.signal.throwIfAborted()
      const record = toRecord(result)
      await deps.inbox.core.caughtUp()
      await session.change(() => this.end(turn, call, record))
      if (isInterruption(record)) this.onInterruption(turn)
      turn.forAgent.signal.throwIfAborted()
      return result
    } finally {
      turn.leave.delete(callId)
      session.calls.delete(callId)
    }
  }

  private async begin(turn: RunningTurn, call: RunningCall): Promise<void> {
    const { session } = this
    await session.change(() => session.begin(call))
    if (turn.stopped || !session.held) throw new TurnStopped('the turn was stopped, or goes on elsewhere')
  }

  /** A call that was parked by another host goes on in its item. `undefined` where the id is that of another call. */
  private place(turn: RunningTurn, callId: string, tool: string, args: string): RunningCall | undefined {
    const { state, calls } = this.session
    const { turnId } = turn.record
    const running = calls.get(callId)
    if (running !== undefined) return running.tool === tool && running.args === args ? running : undefined
    const itemId = state.itemOfCall.get(callId)
    const item = itemId === undefined ? undefined : state.items.get(itemId)
    if (item === undefined || itemId === undefined)
      return { turnId, itemId: uuidv7(), callId, tool, args, begun: false }
    // What a call asked may be all that was known of it: its host went away before it could record more.
    const isFound = isOfRequest(itemId, state)
    const isSame = item.turnId === turnId && (isFound || (item.tool === tool && item.args === args))
    return isSame ? { turnId, itemId, callId, tool, args, begun: true } : undefined
  }

  private async end(turn: RunningTurn, call: RunningCall, record: ResultRecord): Promise<void> {
    const { session, deps } = this
    const { state } = session
    // Its turn was over before it had begun.
    if (turn.stopped && !call.begun) return
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
}

function isOfRequest(itemId: string, { userInputs, approvals }: Session['state']): boolean {
  if (userInputs.get(itemId)?.requested.itemId === itemId) return true
  return [...approvals.values()].some(({ opened }) => opened.itemId === itemId && opened.taskId === itemId)
}

function conflict(callId: string): ToolResult {
  const message = `the call id ${JSON.stringify(callId)} was used for another call of this session; give each call an id of its own, such as one that starts with the turn's`
  return {
    isError: true,
    error: { name: 'ToolError', code: 'CALL_CONFLICT', message },
    content: `Error: ${message}`,
  }
}

function isInterruption(record: ResultRecord): boolean {
  return (
    record.isError &&
    (record.error.code === 'ASK_INTERRUPTED' || record.error.code === 'APPROVAL_INTERRUPTED')
  )
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

// As it is kept: what JSON does not hold is not handed on after a restart.
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
