import type { AskUserQuestionAnswer } from '@handraise/user-questions/types'
import {
  runTool,
  toToolSchema,
  type ToolDefinition,
  type ToolResult,
  type ToolSchema,
} from '@handraise/tools'
import type { AskUserArguments } from './arguments.ts'
import type { RefusedChild } from './tool.ts'

/** What the adapter of a framework is told besides who asks. `Call` is what that framework says of a call. */
export interface AdapterOptions<Call> {
  /**
   * The session of a call. The call's id is the key of its request within it, so that two runs need sessions of their own
   * where a model may give both the same id.
   */
  readonly session?: string | ((call: Call) => string | undefined) | undefined
  /** The agent that asks: the exact live instance. */
  readonly agent?: { readonly id: string } | undefined
  /** Told of each call that is refused because a live agent owns `agent`. */
  readonly onRefusedChild?: ((refused: RefusedChild) => void) | undefined
}

/** One call, as a framework hands it over. */
export interface AdaptedCall<Call> {
  readonly callId: string
  /** Absent where the framework runs without one. */
  readonly signal: AbortSignal | undefined
  readonly from: Call
}

export type AskUserTool = ToolDefinition<AskUserArguments, AskUserQuestionAnswer>

/**
 * Runs one call of the ask tool: its result, with the text for the model. Rejects with the reason of the signal alone: a run
 * that was stopped is told so in the framework's own way, never by a result.
 */
export async function askForCall<Call>(
  tool: AskUserTool,
  raw: unknown,
  { callId, signal = new AbortController().signal, from }: AdaptedCall<Call>,
  { session, agent }: AdapterOptions<Call>,
): Promise<ToolResult<AskUserQuestionAnswer>> {
  const result = await runTool(tool, raw, { callId, signal, agent, session: sessionOf(session, from) })
  if (result.isError) signal.throwIfAborted()
  return result
}

/** The tool as the model is told of it. */
export function schemaOf(tool: AskUserTool): ToolSchema {
  return toToolSchema(tool as unknown as ToolDefinition<never, never>)
}

export function sessionOf<Call>(session: AdapterOptions<Call>['session'], call: Call): string | undefined {
  return typeof session === 'function' ? session(call) : session
}

/** A failed call, for frameworks that are told of one by an error. */
export class AskUserToolError extends Error {
  override readonly name = 'AskUserToolError'
  /** The code of the seam, or of the tool runtime. */
  readonly code: string

  /** The message is the text for the model. */
  constructor({ content, error }: Extract<ToolResult, { isError: true }>) {
    super(content)
    this.code = error.code
  }

  /** The text for the model as well: some frameworks write the whole error out for it. */
  override toString(): string {
    return this.message
  }
}
