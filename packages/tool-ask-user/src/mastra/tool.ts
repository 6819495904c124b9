import { createTool, type Tool } from '@mastra/core/tools'
import type { AskUserQuestionAnswer } from '@handraise/user-questions/types'
import type { ToolResult } from '@handraise/tools'
import {
  AskUserToolError,
  askForCall,
  isLeftOpen,
  keepsQuestions,
  schemaOf,
  sessionOf,
  type AdapterOptions,
} from '../adapter.ts'
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
   * How long a run waits for the answer before it is suspended, in milliseconds; where the host goes down it is suspended at
   * once. It needs an agent of a `Mastra` with a storage, without which the run cannot go on, and an inbox in which the
   * question stays open. `agent.resumeGenerate({}, { runId, toolCallId })` goes on with it, and gives the answer, or is
   * suspended once more. Default: the run waits for the answer.
   */
  readonly patienceMs?: number | undefined
}

/**
 * `ask_user_question` for Mastra: `new Agent({ tools: { ask_user_question: askUserTool(ctx.userQuestions) } })`. The session
 * of a call is the thread of its run, where `session` does not name another. A call that fails throws an `AskUserToolError`,
 * of which the model reads the message, and the run goes on; so does one whose host goes down while it waits, where
 * `patienceMs` is not given.
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
      const { toolCallId = '', threadId, resourceId, suspend } = agent ?? {}
      const from = { toolCallId, threadId, resourceId }
      const session = sessionOf(options.session, from, threadId)
      const ask = (signal: AbortSignal | undefined) =>
        askForCall(neutral, input, { callId: toolCallId, signal, from }, { ...options, session })
      if (patienceMs === undefined || suspend === undefined) return outputOf(await ask(abortSignal))
      const isKept = keepsQuestions(asker)
      const result = await withPatience(patienceMs, abortSignal, ask)
      const isWaiting = result === undefined || (isKept && isLeftOpen(result))
      return isWaiting ? suspend({ waitsFor: 'answer' }) : outputOf(result)
    },
    toModelOutput: output => ({ type: 'text', value: JSON.stringify(output) }),
  })
}

function outputOf(result: ToolResult<AskUserQuestionAnswer>): AskUserQuestionAnswer {
  if (result.isError) throw new AskUserToolError(result)
  return result.value
}
