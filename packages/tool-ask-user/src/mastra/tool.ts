import { createTool, type Tool } from '@mastra/core/tools'
import { AskUserToolError, askForCall, schemaOf, type AdapterOptions } from '../adapter.ts'
import { withPatience } from '../patience.ts'
import { askUserTool as neutralTool, type Asker } from '../tool.ts'
import { shownOnly } from './shown-only.ts'

/** What Mastra says of a call. */
export interface MastraCall {
  readonly toolCallId: string
  readonly threadId?: string | undefined
  readonly resourceId?: string | undefined
}

export interface MastraToolOptions extends AdapterOptions<MastraCall> {
  /**
   * How long a run waits for the answer before it is suspended, in milliseconds; it needs a storage, and an inbox in which
   * the question stays open. `agent.resumeGenerate({}, { runId, toolCallId })` goes on with it, and gives the answer, or is
   * suspended once more. Default: the run waits for the answer.
   */
  readonly patienceMs?: number | undefined
}

/**
 * `ask_user_question` for Mastra: `new Agent({ tools: { ask_user_question: askUserTool(ctx.userQuestions) } })`. The session
 * of a call is the thread of its run, where `session` does not name another. A call that fails throws an `AskUserToolError`,
 * of which the model reads the message, and the run goes on.
 */
export function askUserTool(asker: Asker, { patienceMs, ...options }: MastraToolOptions = {}): Tool {
  const neutral = neutralTool(asker, options.onRefusedChild)
  const { name, description, parameters } = schemaOf(neutral)
  return createTool({
    id: name,
    description,
    // A call is mended, or told all its faults, where it is run.
    inputSchema: shownOnly(parameters),
    async execute(input, { agent, abortSignal }) {
      const { toolCallId = crypto.randomUUID(), threadId, resourceId, suspend } = agent ?? {}
      const ask = (signal: AbortSignal | undefined) => {
        const call = { callId: toolCallId, signal, from: { toolCallId, threadId, resourceId } }
        return askForCall(neutral, input, call, { session: ({ threadId: thread }) => thread, ...options })
      }
      const result =
        patienceMs === undefined || suspend === undefined
          ? await ask(abortSignal)
          : await withPatience(patienceMs, abortSignal, ask)
      if (result === undefined) return suspend?.({ waitsFor: 'answer' })
      if (result.isError) throw new AskUserToolError(result)
      return result.value
    },
    toModelOutput: output => ({ type: 'text', value: JSON.stringify(output) }),
  })
}
