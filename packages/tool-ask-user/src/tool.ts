import {
  UserQuestionError,
  type AskUserQuestionAnswer,
  type AskUserQuestionRequest,
} from '@handraise/user-questions/types'
import { defineTool, type ToolDefinition } from '@handraise/tools'
import {
  ADVISED,
  argumentsSchema,
  parseAskUserArguments,
  toQuestions,
  type AskUserArguments,
} from './arguments.ts'

const DESCRIPTION = `Ask the user and wait for the answer. Use it only for what you cannot decide or find out yourself. At most ${ADVISED.questions} questions, ${ADVISED.options} options each. Put the option you recommend first and end its label with "(Recommended)". The user can always write a text of their own instead; never offer "Other".`

/** Who asks for the tool: the seam, or anything that takes the same request and gives the same answer. */
export interface Asker {
  ask(request: AskUserQuestionRequest): Promise<AskUserQuestionAnswer>
}

/** What is told of each call that was refused because a live agent owns the caller. */
export interface RefusedChild {
  readonly agent: { readonly id: string }
  /** How often this agent has been refused, this time included. */
  readonly tries: number
}

/**
 * `ask_user_question` as a tool object of its own, for a runtime that is not `ctx.tools`. The tool call id becomes the
 * request's key, so that a call repeated after a restart finds its question again.
 */
export function askUserTool(
  asker: Asker,
  onRefusedChild: (refused: RefusedChild) => void = () => {},
): ToolDefinition<AskUserArguments, AskUserQuestionAnswer> {
  const tries = new WeakMap<object, number>()
  return defineTool({
    name: 'ask_user_question',
    description: DESCRIPTION,
    parameters: argumentsSchema,
    parse: parseAskUserArguments,
    async execute(args, { callId, signal, agent, session }) {
      try {
        return await asker.ask({ questions: toQuestions(args), key: callId, signal, agent, session })
      } catch (error) {
        if (agent !== undefined && isDelegated(error)) {
          tries.set(agent, (tries.get(agent) ?? 0) + 1)
          try {
            onRefusedChild({ agent, tries: tries.get(agent) ?? 1 })
          } catch {
            // The refusal stands, whoever counts it.
          }
        }
        throw error
      }
    },
    renderError: error =>
      isDelegated(error)
        ? `${error.message}. This is final for this run: do not call ask_user_question again.`
        : error.message,
  })
}

function isDelegated(error: unknown): boolean {
  return UserQuestionError.isInstance(error) && error.code === 'DELEGATED_CALLER'
}
