import { tool, type FunctionTool, type RunContext } from '@openai/agents'
import { askForCall, schemaOf, type AdapterOptions } from '../adapter.ts'
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

/**
 * `ask_user_question` for the OpenAI Agents SDK: `new Agent({ tools: [askUserTool(ctx.userQuestions)] })`. A failure is the
 * output of the call, in the words of the tool: that SDK has no other place for one.
 */
export function askUserTool<Context = unknown>(
  asker: Asker,
  { interrupt = false, ...options }: OpenAiAgentsToolOptions = {},
): FunctionTool<Context> {
  const neutral = neutralTool(asker, options.onRefusedChild)
  const { name, description, parameters } = schemaOf(neutral)
  return tool<undefined, Context>({
    name,
    description,
    parameters: parameters as never,
    // A call is mended, or told all its faults, where it is run.
    strict: false,
    needsApproval: interrupt,
    async execute(input, run?: RunContext<Context>, { toolCall, signal }: Details = {}) {
      const callId = toolCall?.callId ?? crypto.randomUUID()
      const call = { callId, signal, from: { callId, context: run?.context } }
      return (await askForCall(neutral, input, call, options)).content
    },
  })
}
