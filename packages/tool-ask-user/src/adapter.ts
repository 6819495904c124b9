import {
  UserQuestionError,
  type AskUserQuestionAnswer,
  type UserQuestionErrorCode,
} from '@handraise/user-questions/types'
import {
  runTool,
  toToolSchema,
  type ToolDefinition,
  type ToolResult,
  type ToolSchema,
} from '@handraise/tools'
import type { AskUserArguments } from './arguments.ts'
import type { Asker, RefusedChild } from './tool.ts'

/** What the adapter of a framework is told besides who asks. `Call` is what that framework says of a call. */
export interface AdapterOptions<Call> {
  /**
   * The session of a call. The call's id is the key of its request within it: a call with the id and the questions of an
   * earlier one of its session gets what that one was answered. The ids of the large providers are made to be unique; those
   * of local and scripted models are often `call_0` in each run, so that there each run needs a session of its own, and a run
   * that is gone on with has the one it had.
   */
  readonly session?: string | ((call: Call) => string | undefined) | undefined
  /** The agent that asks: the exact live instance. */
  readonly agent?: { readonly id: string } | undefined
  /** Told of each call that is refused because a live agent owns `agent`. */
  readonly onRefusedChild?: ((refused: RefusedChild) => void) | undefined
}

/** One call, as a framework hands it over. */
export interface AdaptedCall<Call> {
  /** Without one, or with a blank one, the call has nothing by which it could be found again. */
  readonly callId: string | undefined
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
  const call = { callId: namedCall(callId), signal, agent, session: sessionOf(session, from) }
  const result = await runTool(tool, raw, call)
  if (result.isError) signal.throwIfAborted()
  return result
}

/** The id of a call; one of its own for a call that came without. */
export function namedCall(callId: string | undefined): string {
  return callId === undefined || callId.trim() === '' ? crypto.randomUUID() : callId
}

/**
 * Whether a call ended because the host went down while it waited. It is no answer: in an inbox the question waits still, so
 * that the call has to be made again, and not to be told as failed.
 */
export function isLeftOpen(result: ToolResult): result is Extract<ToolResult, { isError: true }> {
  return result.isError && result.error.code === LEFT_OPEN
}

/**
 * Whether a question outlives the provider that shows it. A seam without an inbox asks one provider, and forgets the question
 * with it; an asker that does not tell what it asks is taken at its word.
 */
export function keepsQuestions(asker: Asker): boolean {
  const seam = asker as Asker & { provider?(): object | undefined }
  try {
    if (typeof seam.provider !== 'function') return true
    // An inbox in the place of the one provider takes others.
    return 'registerProvider' in (seam.provider() ?? {})
  } catch {
    // The host is down already, and nothing was kept.
    return false
  }
}

const LEFT_OPEN = 'PROVIDER_GONE' satisfies UserQuestionErrorCode

/** What the model would be told of a call that is left open. */
export const LEFT_OPEN_TEXT = `Error: ${new UserQuestionError(LEFT_OPEN).message}`

/** The tool as the model is told of it. */
export function schemaOf(tool: AskUserTool): ToolSchema {
  return toToolSchema(tool as unknown as ToolDefinition<never, never>)
}

/** What `session` names for a call, else the thread of its run, where the framework knows threads. */
export function sessionOf<Call>(
  session: AdapterOptions<Call>['session'],
  call: Call,
  thread?: string,
): string | undefined {
  return (typeof session === 'function' ? session(call) : session) ?? thread
}

/** A failed call, for frameworks that are told of one by an error. */
export class AskUserToolError extends Error {
  override readonly name: string = 'AskUserToolError'
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
