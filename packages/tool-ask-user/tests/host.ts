import { AgentRegistry } from '@handraise/agents'
import * as toolAskUser from '@handraise/tool-ask-user'
import { ToolService, type ToolInvocation, type ToolResult } from '@handraise/tools'
import {
  UserQuestionService,
  type AskUserQuestionAnswer,
  type ProviderRequest,
  type UserQuestionProvider,
} from '@handraise/user-questions'
import { Context, type Fiber } from 'cordis'

export interface Host {
  readonly ctx: Context
  /** The plugin that offers the tool. */
  readonly tool: Fiber
  /** Every request the provider was handed. */
  readonly asked: ProviderRequest[]
  /** Calls `ask_user_question` as a model would. */
  readonly call: (args: unknown, more?: Partial<ToolInvocation>) => Promise<ToolResult>
}

/** A whole stack with the tool on top, and a provider that gives `answer`, or none when it is undefined. */
export async function openHost(answer?: (request: ProviderRequest) => unknown): Promise<Host> {
  const ctx = new Context()
  await ctx.plugin(UserQuestionService)
  await ctx.plugin(AgentRegistry)
  await ctx.plugin(ToolService)
  const tool = await ctx.plugin(toolAskUser)
  const asked: ProviderRequest[] = []
  if (answer !== undefined) {
    const provider: UserQuestionProvider = {
      ask(request) {
        asked.push(request)
        return Promise.resolve(answer(request) as AskUserQuestionAnswer)
      },
    }
    ctx.userQuestions.registerProvider(provider)
  }
  const { tools } = ctx
  return {
    ctx,
    tool,
    asked,
    call: (args, more = {}) =>
      tools.execute({
        name: 'ask_user_question',
        arguments: args,
        callId: 'call-1',
        signal: new AbortController().signal,
        ...more,
      }),
  }
}

/** An answer that skips every question. */
export const skipAll = ({ questions }: ProviderRequest): AskUserQuestionAnswer => ({
  answers: questions.map(({ id }) => ({ id, selected: [] })),
})
