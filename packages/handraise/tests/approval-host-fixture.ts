// A host with one guarded tool, whose agent makes the calls it was given and ends its turn. Run by `approval-host.ts`.
import { appendFileSync } from 'node:fs'
import { InboxService } from '@handraise/inbox'
import { openSqliteStore } from '@handraise/inbox-sqlite'
import * as terminal from '@handraise/provider-terminal'
import { defineTool, ToolService } from '@handraise/tools'
import { guardTools, UserApprovalService, type ApprovalSubject } from '@handraise/user-approvals'
import { UserQuestionService } from '@handraise/user-questions'
import { Context } from 'cordis'
import { z } from 'zod'
import type { HostPlan } from './approval-host.ts'

const { file, calls, effects, report, prompts, plain } = JSON.parse(process.argv[2] ?? '{}') as HostPlan

const ctx = new Context()
await ctx.plugin(UserQuestionService)
await ctx.plugin(InboxService, { store: await openSqliteStore({ file }) })
await ctx.plugin(UserApprovalService)
await ctx.plugin(ToolService)
await ctx.plugin(guardTools)
if (prompts) await ctx.plugin(terminal, { plain })

ctx.tools.register(
  defineTool({
    name: 'act',
    description: 'Acts.',
    parameters: z.object({ subject: z.custom<ApprovalSubject>(), reason: z.string().optional() }),
    permission: ({ subject, reason }) => ({ subject, ...(reason === undefined ? {} : { reason }) }),
    execute: (_, { callId }) => {
      appendFileSync(effects, `${callId}\n`)
      return `did ${callId}`
    },
  }),
)

const { signal } = new AbortController()
for (const { callId, session, ...args } of calls) {
  const result = await ctx.tools.execute({ name: 'act', arguments: args, callId, session, signal })
  appendFileSync(report, `${JSON.stringify(result)}\n`)
}
process.stdout.write('the turn is over\n')
await ctx.fiber.dispose()
