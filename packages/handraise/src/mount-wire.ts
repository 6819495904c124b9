import { InboxService, type InboxStore } from '@handraise/inbox'
import * as toolAskUser from '@handraise/tool-ask-user'
import { ToolService } from '@handraise/tools'
import { guardTools, UserApprovalService } from '@handraise/user-approvals'
import { UserQuestionService } from '@handraise/user-questions'
import { WireService } from '@handraise/wire'
import type { Context } from 'cordis'
import { mountAgent } from './mount-agent.ts'

/** Mounts an inbox, and all that may ask in it. */
export async function mountStack(ctx: Context, store: InboxStore): Promise<void> {
  await ctx.plugin(UserQuestionService)
  await ctx.plugin(InboxService, { store, viewer: 'wait' })
  await ctx.plugin(UserApprovalService)
  await ctx.plugin(ToolService)
  await ctx.plugin(guardTools)
  await ctx.plugin(toolAskUser)
}

export interface WireChoice {
  /** The module of the agent that runs turns. Without one sessions can only be looked at and answered. */
  readonly agent: string | undefined
  /** The file of the inbox; none for one in memory. */
  readonly file: string | undefined
  /** Goes on at once with the turns that a host that is gone has left. */
  readonly adopt: boolean
}

/** A host of sessions, and what ends it before the rest. */
export interface WireHost {
  readonly service: Pick<WireService, 'serve'>
  dispose(): Promise<void>
}

/** Mounts the host of sessions on what `mountStack` has mounted. */
export async function mountWire(ctx: Context, { agent, file, adopt }: WireChoice): Promise<WireHost> {
  const fiber = await ctx.plugin(WireService, {
    agent: agent === undefined ? undefined : await mountAgent(ctx, agent),
    adopt,
    ...(file === undefined ? { durable: false } : { home: file }),
  })
  const { wire: service } = ctx
  return { service, dispose: () => fiber.dispose() }
}
