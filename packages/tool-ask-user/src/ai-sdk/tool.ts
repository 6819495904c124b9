import { jsonSchema, tool, type ModelMessage, type Tool, type ToolResultPart } from 'ai'
import type { AskUserQuestionAnswer } from '@handraise/user-questions/types'
import { AskUserToolError, LEFT_OPEN_TEXT, askForCall, schemaOf, type AdapterOptions } from '../adapter.ts'
import { askUserTool as neutralTool, type Asker } from '../tool.ts'
import { callsOf, withResults, type PlacedCall } from './parts.ts'

/** What the AI SDK says of a call, in each of its versions that are adapted. */
export interface AiSdkCall {
  readonly toolCallId: string
  readonly abortSignal?: AbortSignal | undefined
}

/**
 * `ask_user_question` for the AI SDK: `tools: { ask_user_question: askUserTool(ctx.userQuestions) }`. Its output is the
 * answer. A call that fails is a `tool-error`, an `AskUserToolError` with the text for the model.
 */
export function askUserTool(
  asker: Asker,
  options: AdapterOptions<AiSdkCall> = {},
): Tool<unknown, AskUserQuestionAnswer> {
  const neutral = neutralTool(asker, options.onRefusedChild)
  const { description, parameters } = schemaOf(neutral)
  return tool({
    description,
    // Without a validation: a call is mended, or told all its faults, where it is run.
    inputSchema: jsonSchema(parameters),
    execute: async (input: unknown, call: AiSdkCall): Promise<AskUserQuestionAnswer> => {
      const { toolCallId: callId, abortSignal: signal } = call
      const result = await askForCall(neutral, input, { callId, signal, from: call }, options)
      if (result.isError) throw new AskUserToolError(result)
      return result.value
    },
    toModelOutput: ({ output }) => ({ type: 'text', value: JSON.stringify(output) }),
  })
}

/** What `answerOpenCalls` is told besides who asks. */
export interface OpenCallOptions extends AdapterOptions<AiSdkCall> {
  /** The name the tool goes by among the tools. Default `ask_user_question`. */
  readonly toolName?: string | undefined
  readonly abortSignal?: AbortSignal | undefined
}

/**
 * Asks again what an earlier run had asked and did not live to hear the answer of; what was answered meanwhile is there at
 * once. Gives the messages to go on with, each result right behind its call, or `undefined` where no call of the tool is
 * open. A call is open as well whose result tells that the host went down while it waited, which is known by its exact text:
 * the answer takes the place of that result, and what the model said to it at the end is left out. Rejects with the reason of
 * the signal alone; a call whose host goes down again stays open.
 */
export async function answerOpenCalls(
  messages: readonly ModelMessage[],
  asker: Asker,
  { toolName = 'ask_user_question', abortSignal, ...options }: OpenCallOptions = {},
): Promise<ModelMessage[] | undefined> {
  const neutral = neutralTool(asker, options.onRefusedChild)
  const open = callsOf(messages, toolName).filter(
    ({ result }) => result === undefined || isLeftOpenResult(result),
  )
  if (open.length === 0) return undefined
  const answering = open.map(async (placed): Promise<[PlacedCall, ToolResultPart]> => {
    const { toolCallId, input } = placed.call
    const call = { toolCallId, abortSignal }
    const adapted = { callId: toolCallId, signal: abortSignal, from: call }
    const { isError, content } = await askForCall(neutral, input, adapted, options)
    const output = { type: isError ? ('error-text' as const) : ('text' as const), value: content }
    return [placed, { type: 'tool-result', toolCallId, toolName, output }]
  })
  return withResults(messages, new Map(await Promise.all(answering)))
}

function isLeftOpenResult({ output }: ToolResultPart): boolean {
  return output.type === 'error-text' && output.value === LEFT_OPEN_TEXT
}
