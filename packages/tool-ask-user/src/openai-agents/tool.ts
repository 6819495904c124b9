import { tool, type FunctionTool, type RunContext, type Tool } from '@openai/agents'
import {
  AskUserToolError,
  askForCall,
  isLeftOpen,
  keepsQuestions,
  schemaOf,
  type AdapterOptions,
} from '../adapter.ts'
import { askUserTool as neutralTool, type Asker } from '../tool.ts'

/** What the OpenAI Agents SDK says of a call. */
export interface OpenAiAgentsCall {
  readonly callId: string
  /** The `context` the run was given. */
  readonly context: unknown
}

export interface OpenAiAgentsToolOptions extends AdapterOptions<OpenAiAgentsCall> {
  /**
   * Ends the run with an interruption before it asks, so that its state can be kept (`RunState.toString`) for as long as the
   * question waits; `answerInterruptions` lets the call pass. Default false: the run waits for the answer.
   */
  readonly interrupt?: boolean | undefined
}

interface Details {
  readonly toolCall?: { readonly callId: string }
  readonly signal?: AbortSignal
}

// By what runs them, which copies of a tool share.
const askTools = new WeakSet<FunctionTool['invoke']>()

/** Whether `askUserTool` made a tool, or what it is a copy of. */
export function isAskTool(made: Tool<never>): boolean {
  return made.type === 'function' && askTools.has(made.invoke as FunctionTool['invoke'])
}

/**
 * `ask_user_question` for the OpenAI Agents SDK: `new Agent({ tools: [askUserTool(ctx.userQuestions)] })`. A failure is the
 * output of the call, in the words of the tool: that SDK has no other place for one. Where the host goes down while the
 * question waits, the run rejects, with a `ToolCallError` of the SDK around an `AskUserToolError` of the code `PROVIDER_GONE`.
 */
export function askUserTool<Context = unknown>(
  asker: Asker,
  { interrupt = false, ...options }: OpenAiAgentsToolOptions = {},
): FunctionTool<Context> {
  const neutral = neutralTool(asker, options.onRefusedChild)
  const { name, description, parameters } = schemaOf(neutral)
  const made = tool<undefined, Context>({
    name,
    description,
    parameters: parameters as never,
    // A call is mended, or told all its faults, where it is run.
    strict: false,
    needsApproval: interrupt,
    async execute(input, run?: RunContext<Context>, { toolCall, signal }: Details = {}) {
      const callId = toolCall?.callId
      const call = { callId, signal, from: { callId: callId ?? '', context: run?.context } }
      const isKept = keepsQuestions(asker)
      const result = await askForCall(neutral, input, call, options)
      if (isKept && isLeftOpen(result)) throw new AskUserToolError(result)
      return result.content
    },
    errorFunction(_, error) {
      // What was left open must not be told as failed.
      if (error instanceof AskUserToolError) throw error
      return `Error: ${error instanceof Error ? error.message : String(error)}`
    },
  })
  askTools.add(made.invoke as FunctionTool['invoke'])
  return made
}
