import { InboxService, type InboxConfig } from '@handraise/inbox'
import { UserQuestionService } from '@handraise/user-questions'
import { Context } from 'cordis'
import { expect, onTestFinished, test } from 'vitest'
import { acpProvider } from '../src/index.ts'
import { held, STORE } from './asking.ts'
import { connected, FORMS, type ShownForm } from './editor.ts'

async function open(config: InboxConfig = {}): Promise<Context> {
  const ctx = new Context()
  await ctx.plugin(UserQuestionService)
  const fiber = await ctx.plugin(InboxService, config)
  onTestFinished(() => fiber.dispose())
  return ctx
}

/** An editor that shows forms, and does with each what its person does. */
function editor(ctx: Context, act: (form: ShownForm, signal: AbortSignal) => unknown) {
  const both = connected({ form: act })
  const options = { sessionId: 'session-1', capabilities: FORMS, autoAnswerMs: 0 }
  const dispose = ctx.userQuestions.registerProvider(acpProvider(both.ours.client, options))
  return { ...both, dispose }
}

const chosen = { action: 'accept', content: { db: 'SQLite' } }
const answer = { answers: [{ id: 'db', selected: ['SQLite'] }] }

async function pending(ctx: Context): Promise<string[]> {
  return (await ctx.inbox.core.list({ state: 'pending' })).requests.map(({ id }) => id)
}

test('a question that an editor left behind is shown again by the one that comes back, and answered once', async () => {
  const ctx = await open()
  const shown = held<void>()
  const first = editor(ctx, () => {
    shown.resolve()
    return new Promise(() => {})
  })
  const asking = ctx.userQuestions.ask({ questions: [STORE], key: 'call-1', session: 'session-1' })
  await shown.promise
  const before = await pending(ctx)
  first.dispose()
  first.theirs.close()
  first.ours.close()
  expect(await pending(ctx)).toEqual(before)
  const forms: ShownForm[] = []
  editor(ctx, form => {
    forms.push(form)
    return chosen
  })
  expect(await asking).toEqual(answer)
  expect(forms.map(({ message }) => message)).toEqual(['Which store?'])
  // Settled, it is not shown to whoever comes later.
  const later: ShownForm[] = []
  editor(ctx, form => later.push(form))
  expect(await ctx.userQuestions.ask({ questions: [STORE], key: 'call-1', session: 'session-1' })).toEqual(
    answer,
  )
  expect(later).toEqual([])
  expect(await pending(ctx)).toEqual([])
})

test('an answer on the page takes the form down, and what is filled in there later is not used', async () => {
  const ctx = await open()
  const [up, down, late] = [held<void>(), held<void>(), held<unknown>()]
  editor(ctx, (_, signal) => {
    up.resolve()
    signal.addEventListener('abort', () => down.resolve())
    return late.promise
  })
  const asking = ctx.userQuestions.ask({ questions: [STORE] })
  await up.promise
  const [id = ''] = await pending(ctx)
  const command = { commandId: 'c1', surface: 'page' }
  await ctx.inbox.core.decide(id, { outcome: 'answered', answer }, command)
  late.resolve({ action: 'accept', content: { db: 'Postgres' } })
  expect(await asking).toEqual(answer)
  await down.promise
  const { settlement } = await ctx.inbox.core.get(id)
  expect(settlement).toMatchObject({ surface: 'page', answer })
})

test('of an editor and a page that answer at the same time one counts, and everybody gets that one', async () => {
  const ctx = await open()
  const [up, reply] = [held<void>(), held<unknown>()]
  editor(ctx, () => {
    up.resolve()
    return reply.promise
  })
  const asking = ctx.userQuestions.ask({ questions: [STORE] })
  await up.promise
  const [id = ''] = await pending(ctx)
  reply.resolve({ action: 'accept', content: { db: 'Postgres' } })
  await ctx.inbox.core
    .decide(id, { outcome: 'answered', answer }, { commandId: 'c1', surface: 'page' })
    .catch((error: unknown) => expect(error).toMatchObject({ code: 'ALREADY_SETTLED' }))
  const { settlement } = await ctx.inbox.core.get(id)
  expect(await asking).toEqual(settlement?.answer)
})

test('an editor that says it was answered and has none leaves the question without an answer', async () => {
  const ctx = await open({ viewer: 'require' })
  editor(ctx, () => ({ action: 'accept' }))
  await expect(ctx.userQuestions.ask({ questions: [STORE] })).rejects.toMatchObject({
    code: 'PROVIDER_FAILED',
  })
  const { requests } = await ctx.inbox.core.list({ state: 'settled' })
  expect(requests.map(({ settlement }) => settlement?.outcome)).toEqual(['aborted'])
})

test('an editor that can show nothing makes a question unavailable at once, where nobody else is there', async () => {
  const ctx = await open({ viewer: 'require' })
  const { ours } = connected({})
  ctx.userQuestions.registerProvider(acpProvider(ours.client, { sessionId: 'session-1' }))
  await expect(ctx.userQuestions.ask({ questions: [STORE] })).rejects.toMatchObject({
    code: 'ASK_UNAVAILABLE',
    details: { reason: 'no-capable-client' },
  })
  expect(await pending(ctx)).toEqual([])
})
