import { InboxService } from '@handraise/inbox'
import { UserApprovalService } from '@handraise/user-approvals'
import { UserQuestionService } from '@handraise/user-questions'
import { Context } from 'cordis'
import { expect, onTestFinished, test } from 'vitest'
import { acpProvider } from '../src/index.ts'
import { STORE } from './asking.ts'
import { connected, FORMS } from './editor.ts'

test.each(['approval', 'question'])(
  'an %s that was asked before the session was cancelled is not shown after it',
  async what => {
    const shown: unknown[] = []
    const never = (request: unknown): Promise<never> => {
      shown.push(request)
      return new Promise(() => {})
    }
    const { ours } = connected({ permission: never, form: never })
    const ctx = new Context()
    await ctx.plugin(UserQuestionService)
    const fiber = await ctx.plugin(InboxService)
    onTestFinished(() => fiber.dispose())
    await ctx.plugin(UserApprovalService)
    const provider = acpProvider(ours.client, {
      sessionId: 'session-1',
      capabilities: FORMS,
    })
    ctx.userQuestions.registerProvider(provider)
    const subject = {
      kind: 'shell',
      command: 'git push',
      cwd: '/tmp',
    } as const
    const asking =
      what === 'approval'
        ? ctx.userApprovals.request({ toolName: 'shell', subject }).then(({ outcome }) => outcome)
        : ctx.userQuestions.ask({ questions: [STORE] }).catch(({ code }: { code: string }) => code)
    provider.cancelSession('session-1')
    for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate)
    expect(shown).toEqual([])
    expect(await asking).toMatch(/cancelled/iu)
  },
)
