import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InboxService, type InboxRequest } from '@handraise/inbox'
import { openSqliteStore } from '@handraise/inbox-sqlite'
import { UserApprovalService } from '@handraise/user-approvals'
import { UserQuestionError, UserQuestionService, type ProviderRequest } from '@handraise/user-questions'
import { Context } from 'cordis'
import { expect, onTestFinished } from 'vitest'

/** What a model sends, and the person answers. */
export const ASKED = {
  questions: [{ id: 'db', question: 'Which store?', options: [{ label: 'SQLite' }, { label: 'Postgres' }] }],
}
export const ANSWER = { answers: [{ id: 'db', selected: ['SQLite'] }] }
export const ANSWER_TEXT = JSON.stringify(ANSWER)

/** What a model must read of each way in which nothing was answered, all of it different. */
export const FAILURES: ReadonlyArray<readonly [error: UserQuestionError | undefined, text: string]> = [
  [undefined, 'Error: no user-questions provider is registered'],
  ...[
    new UserQuestionError('ASK_DECLINED'),
    new UserQuestionError('ASK_CANCELLED', { answers: [] }),
    new UserQuestionError('ASK_TIMED_OUT'),
    new UserQuestionError('ASK_UNAVAILABLE', { reason: 'not-interactive' }),
  ].map(error => [error, `Error: ${error.message}`] as const),
]

/** A person at a provider, without an inbox: `answer` gives or throws what they do. */
export async function askDirectly(answer?: (request: ProviderRequest) => unknown) {
  const ctx = new Context()
  await ctx.plugin(UserQuestionService)
  const asked: ProviderRequest[] = []
  if (answer !== undefined) {
    ctx.userQuestions.registerProvider({
      ask: async request => {
        asked.push(request)
        return answer(request) as Promise<typeof ANSWER>
      },
    })
  }
  return { ctx, asked, asker: ctx.userQuestions }
}

/** A provider without an inbox, which goes away while it is asked. */
export async function askAndLeave() {
  const ctx = new Context()
  await ctx.plugin(UserQuestionService)
  const leave = ctx.userQuestions.registerProvider({
    ask: () => {
      queueMicrotask(leave)
      return new Promise(() => {})
    },
  })
  return { asker: ctx.userQuestions }
}

/** Someone who ends every ask like that; nobody at all without an error. */
export const failWith = (error: Error | undefined) =>
  error &&
  (async () => {
    throw error
  })

/** A database file that is gone after the test. */
export function databaseFile(): string {
  const directory = mkdtempSync(join(tmpdir(), 'handraise-adapters-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return join(directory, 'inbox.db')
}

/** A host with an inbox and approvals in a file, and the person who answers there. `leave` ends it as a shutdown would. */
export async function startHost(file = databaseFile()) {
  const ctx = new Context()
  await ctx.plugin(UserQuestionService)
  const fiber = await ctx.plugin(InboxService, { store: await openSqliteStore({ file }) })
  await ctx.plugin(UserApprovalService)
  const leave = async (): Promise<void> => {
    await fiber.dispose()
  }
  onTestFinished(leave)
  const inbox = ctx.inbox.core

  const list = async (state: 'pending' | 'settled'): Promise<readonly InboxRequest[]> =>
    (await inbox.list({ state })).requests
  const waiting = async (): Promise<InboxRequest> => {
    await expect.poll(async () => (await list('pending')).length, { interval: 5, timeout: 25_000 }).toBe(1)
    const [request] = await list('pending')
    return request ?? expect.fail('nothing is pending')
  }
  const settle = async (decision: Parameters<typeof inbox.decide>[1]): Promise<void> => {
    const { id } = await waiting()
    await inbox.decide(id, decision, { commandId: crypto.randomUUID(), surface: 'web' })
  }
  return {
    ctx,
    asker: ctx.userQuestions,
    approver: ctx.userApprovals,
    leave,
    list,
    waiting,
    /** Answers the question that waits. */
    answer: (answer = ANSWER) => settle({ outcome: 'answered', answer }),
    /** Chooses in the approval that waits. */
    choose: (choiceId: string, feedback?: string) =>
      settle({ outcome: 'answered', answer: { choiceId, ...(feedback === undefined ? {} : { feedback }) } }),
    dismiss: () => settle({ outcome: 'cancelled' }),
  }
}
