import { AgentRegistry } from '@handraise/agents'
import {
  InboxService,
  MemoryMedium,
  MemoryStore,
  type InboxConfig,
  type InboxRequest,
} from '@handraise/inbox'
import { ToolService } from '@handraise/tools'
import {
  guardTools,
  readPayload,
  UserApprovalService,
  type ApprovalPayload,
  type ApprovalRequest,
  type UserApprovalConfig,
} from '@handraise/user-approvals'
import { UserQuestionService } from '@handraise/user-questions'
import { Context } from 'cordis'
import { expect, onTestFinished } from 'vitest'

export const STATUS: ApprovalRequest = {
  toolName: 'shell',
  subject: { kind: 'shell', command: 'git status', cwd: '/tmp' },
}

/** A host with an inbox and approvals, on a medium that outlives it. */
export async function startHost({
  medium = new MemoryMedium(),
  inbox: inboxConfig = {},
  ...config
}: UserApprovalConfig & { medium?: MemoryMedium; inbox?: InboxConfig } = {}) {
  const ctx = new Context()
  const reported: unknown[] = []
  ctx.logger.exporter({ export: message => void reported.push(...message.args) })
  await ctx.plugin(AgentRegistry)
  await ctx.plugin(ToolService)
  await ctx.plugin(UserQuestionService)
  const fiber = await ctx.plugin(InboxService, { store: new MemoryStore(medium), ...inboxConfig })
  await ctx.plugin(UserApprovalService, config)
  await ctx.plugin(guardTools)
  onTestFinished(() => fiber.dispose())
  const inbox = ctx.inbox.core

  const pending = async (count = 1): Promise<InboxRequest[]> => {
    await expect.poll(async () => (await inbox.list({ state: 'pending' })).requests.length).toBe(count)
    return [...(await inbox.list({ state: 'pending' })).requests]
  }
  /** The one approval that waits. */
  const waiting = async (): Promise<{ id: string; payload: ApprovalPayload }> => {
    const [request] = await pending()
    const payload = readPayload(request?.payload)
    if (request === undefined || payload === undefined) return expect.fail('no approval is waiting')
    return { id: request.id, payload }
  }
  const decide = async (choiceId: string, feedback?: string) => {
    const { id } = await waiting()
    const answer = { choiceId, ...(feedback === undefined ? {} : { feedback }) }
    return inbox.decide(
      id,
      { outcome: 'answered', answer },
      { commandId: crypto.randomUUID(), surface: 'web' },
    )
  }
  const request = (more: Partial<ApprovalRequest> = {}) => ctx.userApprovals.request({ ...STATUS, ...more })
  return { ctx, fiber, inbox, medium, reported, pending, waiting, decide, request }
}
