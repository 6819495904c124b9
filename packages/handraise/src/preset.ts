import { AgentRegistry } from '@handraise/agents'
import * as toolAskUser from '@handraise/tool-ask-user'
import { ToolService } from '@handraise/tools'
import {
  UserQuestionService,
  type UserQuestionConfig,
  type UserQuestionProvider,
} from '@handraise/user-questions'
import type { Context } from 'cordis'

export interface PresetOptions extends UserQuestionConfig {
  /** Where questions are shown, or the words `terminal` for this process's own. Default `terminal`; `null` for none yet. */
  readonly provider?: UserQuestionProvider | 'terminal' | null | undefined
}

export const name = 'handraise'

/**
 * Mounts a whole stack: the seam, the agent registry and the tool runtime where the host has none, the tool
 * `ask_user_question`, and one provider.
 */
export async function apply(
  ctx: Context,
  { provider = 'terminal', ...config }: PresetOptions = {},
): Promise<void> {
  if (ctx.get('agents') === undefined) await ctx.plugin(AgentRegistry)
  if (ctx.get('tools') === undefined) await ctx.plugin(ToolService)
  await ctx.plugin(UserQuestionService, config)
  await ctx.plugin(toolAskUser)
  if (provider === null) return
  if (provider === 'terminal') {
    await ctx.plugin(await import('@handraise/provider-terminal'))
  } else {
    await ctx.plugin({
      name: provider.name ?? 'provider',
      inject: ['userQuestions'],
      apply: (inner: Context) => void inner.userQuestions.registerProvider(provider),
    })
  }
}
