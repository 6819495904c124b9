import { ToolMessage } from '@langchain/core/messages'
import type { RunnableConfig } from '@langchain/core/runnables'
import { tool, type DynamicStructuredTool } from '@langchain/core/tools'
import {
  AskUserToolError,
  askForCall,
  isLeftOpen,
  keepsQuestions,
  namedCall,
  schemaOf,
  sessionOf,
  type AdapterOptions,
} from '../adapter.ts'
import { askUserTool as neutralTool, type Asker } from '../tool.ts'
import { GraphLeftOpenError, hasCheckpointer } from './left-open.ts'

/** What LangChain says of a call: what it is run with. */
export interface LangChainCall extends RunnableConfig {
  readonly toolCall?: { readonly id?: string | undefined } | undefined
}

/** A call made by code. Its name is kept where LangChain makes no tool message of it. */
interface CallByCode {
  readonly id?: undefined
  readonly askedAs?: string | undefined
}

/**
 * `ask_user_question` for LangChain and LangGraph: `createAgent({ tools: [askUserTool(ctx.userQuestions)] })`. A failure is a
 * tool message of status `error` in the words of the tool, which the model reads and no agent ends its run for. The session
 * is the `thread_id` of the run, where `session` does not name another.
 *
 * Where the host goes down while the question waits, the run is interrupted with `{ waitsFor: 'answer' }`, and
 * `graph.invoke(null, config)` makes the call again; without a checkpointer it is a failure like any other. Code that calls the
 * tool, such as another tool that hands its config on, gets the text of the answer, or a rejection with `AskUserToolError`.
 */
export function askUserTool(
  asker: Asker,
  options: AdapterOptions<LangChainCall> = {},
): DynamicStructuredTool {
  const neutral = neutralTool(asker, options.onRefusedChild)
  const { name, description, parameters } = schemaOf(neutral)
  const nameWithin = namesWithin()
  const answer = async (args: unknown, call: LangChainCall): Promise<ToolMessage | string> => {
    const id = call.toolCall?.id
    const callId = id ?? (call.toolCall as CallByCode | undefined)?.askedAs
    const session = sessionOf(options.session, call, threadOf(call))
    const isResumable = keepsQuestions(asker) && hasCheckpointer(call)
    const result = await askForCall(
      neutral,
      args,
      { callId, signal: call.signal, from: call },
      {
        ...options,
        session,
      },
    )
    if (isResumable && isLeftOpen(result)) throw new GraphLeftOpenError(result)
    const { isError, content } = result
    if (id !== undefined)
      return new ToolMessage({ name, content, tool_call_id: id, status: isError ? 'error' : 'success' })
    if (isError) throw new AskUserToolError(result)
    return content
  }
  const made: DynamicStructuredTool = tool(answer, { name, description, schema: parameters })
  const invoke = made.invoke.bind(made) as (input: unknown, config?: LangChainCall) => Promise<unknown>
  // LangChain would hold the call against the schema first, and tell the model no more than that it does not fit.
  const invokeMended = async (input: unknown, given: LangChainCall = {}): Promise<unknown> => {
    const byModel = isToolCall(input)
    const args = byModel ? input.args : input
    const config: LangChainCall = byModel ? given : { ...given, toolCall: nameWithin(given.toolCall) }
    const parsed = neutral.parse?.(args)
    if (parsed?.ok !== true) return answer(args, byModel ? { ...config, toolCall: input } : config)
    return invoke(byModel ? { ...input, args: parsed.args } : parsed.args, config)
  }
  return Object.assign(made, { invoke: invokeMended as typeof made.invoke })
}

// The call of the tool that asks is no call of this one; run again, that tool finds its questions by their order.
function namesWithin(): (outer: LangChainCall['toolCall']) => CallByCode {
  const asked = new WeakMap<object, number>()
  return outer => {
    if (outer?.id === undefined) return {}
    const count = (asked.get(outer) ?? 0) + 1
    asked.set(outer, count)
    return { askedAs: `${namedCall(outer.id)}/${count}` }
  }
}

function isToolCall(input: unknown): input is { readonly type: 'tool_call'; id?: string; args: unknown } {
  return typeof input === 'object' && input !== null && 'type' in input && input.type === 'tool_call'
}

function threadOf({ configurable }: LangChainCall): string | undefined {
  const thread: unknown = configurable?.['thread_id']
  // As a checkpointer takes it.
  return typeof thread === 'string' || typeof thread === 'number' ? String(thread) : undefined
}
