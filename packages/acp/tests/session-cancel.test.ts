import { InboxService } from '@handraise/inbox'
import { UserApprovalService } from '@handraise/user-approvals'
import { systemClock, UserQuestionService, type Clock } from '@handraise/user-questions'
import { Context } from 'cordis'
import { expect, onTestFinished, test } from 'vitest'
import { acpProvider } from '../src/index.ts'
import { STORE } from './asking.ts'
import { connected, FORMS } from './editor.ts'

async function scene({ clock }: { clock?: Clock } = {}) {
  const shown: unknown[] = []
  const never = (request: unknown): Promise<never> => {
    shown.push(request)
    return new Promise(() => {})
  }
  const { ours } = connected({ permission: never, form: never })
  const ctx = new Context()
  await ctx.plugin(UserQuestionService, { clock })
  const fiber = await ctx.plugin(InboxService, { clock })
  onTestFinished(() => fiber.dispose())
  await ctx.plugin(UserApprovalService)
  const provider = acpProvider(ours.client, { sessionId: 'session-1', capabilities: FORMS, clock })
  ctx.userQuestions.registerProvider(provider)
  const ask = (more: object = {}): Promise<string> =>
    ctx.userQuestions
      .ask({ questions: [STORE], ...more })
      .then(() => 'answered')
      .catch(({ code }: { code: string }) => code)
  return { ctx, provider, ask, shown }
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate)
}

test.each(['approval', 'question'])(
  'an %s that was asked before the session was cancelled is not shown after it',
  async what => {
    const { ctx, provider, ask, shown } = await scene()
    const subject = { kind: 'shell', command: 'git push', cwd: '/tmp' } as const
    const asking =
      what === 'approval'
        ? ctx.userApprovals.request({ toolName: 'shell', subject }).then(({ outcome }) => outcome)
        : ask()
    provider.cancelSession('session-1')
    await turns()
    expect(shown).toEqual([])
    expect(await asking).toMatch(/cancelled/iu)
  },
)

test.each(['in the same millisecond', 'after the clock was set back'])(
  'what is asked after it is shown, %s',
  async when => {
    let now = Date.now()
    const { provider, ask, shown } = await scene({ clock: { ...systemClock, now: () => now } })
    provider.cancelSession('session-1')
    if (when !== 'in the same millisecond') now -= 3_600_000
    void ask()
    await turns()
    expect(shown).toHaveLength(1)
  },
)

test('what waits from before it is shown again when the next turn asks for it under its key', async () => {
  const { ctx, provider, ask, shown } = await scene()
  const before = { kind: 'questions', payload: { questions: [STORE] }, session: 'one', key: 'call-1' }
  await ctx.inbox.core.open(before as never)
  await turns()
  provider.cancelSession('session-1')
  void ask({ session: 'one', key: 'call-1' })
  await turns()
  expect(shown).toHaveLength(1)
})
