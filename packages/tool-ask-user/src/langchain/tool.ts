import { ToolMessage } from '@langchain/core/messages'
import type { RunnableConfig } from '@langchain/core/runnables'
import { tool, type DynamicStructuredTool } from '@langchain/core/tools'
import { AskUserToolError, askForCall, schemaOf, type AdapterOptions } from '../adapter.ts'
import { askUserTool as neutralTool, type Asker } from '../tool.ts'

/** What LangChain says of a call: what it is run with. */
export interface LangChainCall extends RunnableConfig {
  readonly toolCall?: { readonly id?: string | undefined } | undefined
}

/**
 * `ask_user_question` for LangChain and LangGraph: `createAgent({ tools: [askUserTool(ctx.userQuestions)] })`. A failure is a
 * tool message of status `error` in the words of the tool, which the model reads and no agent ends its run for. The session
 * is the `thread_id` of the run, where `session` does not name another.
 */
export function askUserTool(
  asker: Asker,
  options: AdapterOptions<LangChainCall> = {},
): DynamicStructuredTool {
  const neutral = neutralTool(asker, options.onRefusedChild)
  const { name, description, parameters } = schemaOf(neutral)
  const answer = async (args: unknown, call: LangChainCall): Promise<ToolMessage | string> => {
    const id = call.toolCall?.id
    const adapted = { callId: id ?? crypto.randomUUID(), signal: call.signal, from: call }
    const result = await askForCall(neutral, args, adapted, { session: threadOf, ...options })
    const { isError, content } = result
    if (id !== undefined)
      return new ToolMessage({ name, content, tool_call_id: id, status: isError ? 'error' : 'success' })
    // It was code that called, and no model.
    if (isError) throw new AskUserToolError(result)
    return content
  }
  const made: DynamicStructuredTool = tool(answer, { name, description, schema: parameters })
  const invoke = made.invoke.bind(made) as (input: unknown, config?: LangChainCall) => Promise<unknown>
  // LangChain would hold the call against the schema first, and tell the model no more than that it does not fit.
  const invokeMended = async (input: unknown, config: LangChainCall = {}): Promise<unknown> => {
    const toolCall = isToolCall(input) ? input : config.toolCall
    const args = isToolCall(input) ? input.args : input
    const parsed = neutral.parse?.(args)
    if (parsed?.ok !== true) return answer(args, { ...config, toolCall })
    return invoke(isToolCall(input) ? { ...input, args: parsed.args } : parsed.args, config)
  }
  return Object.assign(made, { invoke: invokeMended as typeof made.invoke })
}

function isToolCall(input: unknown): input is { readonly type: 'tool_call'; id?: string; args: unknown } {
  return typeof input === 'object' && input !== null && 'type' in input && input.type === 'tool_call'
}

function threadOf({ configurable }: LangChainCall): string | undefined {
  const thread: unknown = configurable?.['thread_id']
  return typeof thread === 'string' ? thread : undefined
}
