import type { ToolResult } from '@handraise/tools'
import type { TurnRecord } from './session-store.ts'
import { TurnStopped } from './turn-stopped.ts'

/** A turn that runs on this host. */
export interface RunningTurn {
  readonly record: TurnRecord
  readonly startedAt: number
  /** What the agent sees; aborts also when this host gives the session up. */
  readonly forAgent: AbortController
  /** What its tools see. A host that goes down leaves what is asked as it is, for the next one to join. */
  readonly forTools: AbortController
  /** The calls that were made, by their ids. */
  readonly calls: Map<string, Promise<ToolResult>>
  /** What ends a call here without ending what it asked. */
  readonly leave: Map<string, AbortController>
  /** What has been told so far of messages that are not whole yet, by their items. */
  readonly streams: Map<string, string>
  stopped: boolean
  /** Set while its end is being recorded. */
  stopping?: Promise<void>
}

export function startTurn(record: TurnRecord, startedAt: number): RunningTurn {
  return {
    record,
    startedAt,
    forAgent: new AbortController(),
    forTools: new AbortController(),
    calls: new Map(),
    leave: new Map(),
    streams: new Map(),
    stopped: false,
  }
}

/** Lets the agent do nothing more, and its tools end. */
export function halt(turn: RunningTurn, reason: string): void {
  turn.forAgent.abort(new TurnStopped(reason))
  turn.forTools.abort(new TurnStopped(reason))
}
