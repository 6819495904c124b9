import type { ToolResult } from '@handraise/tools'
import type { Item, TokenUsage, TurnInputPart } from '../protocol/index.ts'

/** A call of a tool, as the model made it. */
export interface AgentToolCall {
  /** Unique within the session. A call that is made again under its id is joined, not repeated. */
  readonly callId: string
  readonly name: string
  /** What the model sent: JSON as text, or parsed. */
  readonly arguments: unknown
  /** The agent that calls, where the host knows agents. */
  readonly agent?: { readonly id: string } | undefined
}

/** A message that is told piece by piece. */
export interface AgentMessage {
  delta(text: string): void
  /** Resolves when the whole message is recorded. */
  end(): Promise<void>
}

/** One turn of a session, from the agent's side. Once the turn has ended every call rejects with the signal's reason. */
export interface AgentTurn {
  readonly sessionId: string
  readonly turnId: string
  readonly workspaceRoot: string | null
  readonly input: readonly TurnInputPart[]
  /** A host that is gone began this turn. What was said and done in it is in `items`; calls are made again under their ids. */
  readonly resumed: boolean
  /** All items of the session so far, in the order in which they began. */
  readonly items: readonly Item[]
  /** Aborts when the turn is stopped, or when this host gives the session up. */
  readonly signal: AbortSignal
  /**
   * Runs a tool of `ctx.tools`: its item begins and ends in the view, and what it asks waits in the session. A call under an
   * id that has ended gives the result it had; one that was parked when its host went away is made again, and what it asked
   * is joined. An id that was used for another tool, other arguments or another turn fails as `CALL_CONFLICT`. Rejects when
   * the turn is stopped, as when a person interrupts it instead of answering.
   */
  callTool(call: AgentToolCall): Promise<ToolResult>
  /** What a call of this session that has ended gave, of whichever turn: what its item shows is for people. */
  resultOf(callId: string): Promise<ToolResult | undefined>
  /** Records a message of the agent. With an id it is recorded once, however often it is said. */
  say(text: string, options?: { readonly id?: string | undefined }): Promise<void>
  /** Tells a message piece by piece, and records it at its end. */
  stream(options?: { readonly id?: string | undefined }): AgentMessage
}

/** What an agent reports at the end of a turn. */
export interface TurnReport {
  readonly usage?: TokenUsage | undefined
}

/** An agent as a session runs it. */
export interface SessionAgent {
  /** What is shown as the model of new sessions. */
  readonly model?: { readonly modelId: string; readonly providerId?: string | undefined } | undefined
  /** Called before a turn is said to have started; what it throws keeps the turn from starting. */
  prepare?(turn: Pick<AgentTurn, 'sessionId' | 'turnId' | 'input' | 'signal'>): Promise<void> | void
  /** Runs a turn to its end. What it throws fails the turn. */
  run(turn: AgentTurn): Promise<TurnReport | void> | TurnReport | void
  /**
   * Takes input into the running turn; it is among the items of the turn as well, for a host that goes on with it. Absent: such
   * input waits for a turn of its own.
   */
  steer?(turnId: string, input: readonly TurnInputPart[]): Promise<void> | void
  /** Answers a method that the host does not have, such as `model/list`. `undefined`: it is not known here either. */
  request?(
    method: string,
    params: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<object | undefined> | object | undefined
}
