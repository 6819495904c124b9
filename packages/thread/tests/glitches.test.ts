import { InboxService } from '@handraise/inbox'
import { UserQuestionService } from '@handraise/user-questions'
import { Context } from 'cordis'
import { describe, expect, onTestFinished, test } from 'vitest'
import * as thread from '../src/index.ts'
import { attachThread, MemoryThread, textOf, type ThreadItem, type ThreadPage } from '../src/index.ts'
import { DB, FailingThread, looksAt, ManualClock, promptOf, settled, startHost, startThread } from './host.ts'

const NOTES = { id: 'n', question: 'Notes?' }

describe('a question that waits for its turn', () => {
  test('is not ended by failures that have passed, nor by those while another is open', async () => {
    const clock = new ManualClock()
    const chat = new FailingThread('agent')
    const { ask, ada, prompted } = await startThread({ chat, inbox: { clock } })
    void ask()
    await prompted()
    const second = ask([NOTES])
    for (let glitch = 0; glitch < 4; glitch += 1) {
      chat.isUnreadable = true
      await ada.say('/ping')
      await clock.advance(0)
      chat.isUnreadable = false
      await clock.advance(30_000)
    }
    chat.isUnreadable = true
    await ada.say('2')
    await clock.advance(300_000)
    chat.isUnreadable = false
    await clock.advance(30_000)
    await prompted(2)
    await ada.say('fine')
    expect(await second).toMatchObject({ answers: [{ custom: 'fine' }] })
  })

  test('is not ended by failures of its posts that have nothing to do with each other', async () => {
    const clock = new ManualClock()
    const chat = new FailingThread('agent')
    const { ask, ada, prompted } = await startThread({ chat, inbox: { clock } })
    void ask()
    await prompted()
    await settled()
    // The resolution twice, then the prompt twice.
    chat.faults.push('before', 'before')
    await ada.say('2')
    await settled()
    const second = ask([NOTES])
    await clock.advance(250)
    const post = chat.post.bind(chat)
    let isFirst = true
    chat.post = async draft => {
      if (
        isFirst &&
        draft.metadata !== undefined &&
        JSON.stringify(draft.metadata).includes('"pending_prompt"')
      ) {
        isFirst = false
        chat.faults.push('before')
      }
      return post(draft)
    }
    await clock.advance(30_000)
    await prompted(2)
    await ada.say('fine')
    expect(await second).toMatchObject({ answers: [{ custom: 'fine' }] })
  })

  test('is not ended by a reply to a request of a kind that nobody here knows', async () => {
    const chat = new MemoryThread('agent')
    const first = await startThread({ chat })
    const subject = { kind: 'shell', command: 'git push', cwd: '/tmp' } as const
    void first.ctx.userApprovals.request({ toolName: 'shell', subject, session: 's', callId: 'c' })
    await first.prompted()
    await first.fiber.dispose()
    const clock = new ManualClock()
    const ctx = new Context()
    ctx.logger.exporter({ export: () => {} })
    await ctx.plugin(UserQuestionService)
    const fiber = await ctx.plugin(InboxService, { clock })
    onTestFinished(() => fiber.dispose())
    await ctx.plugin(thread, { store: chat })
    let ended: unknown
    ctx.userQuestions.ask({ questions: [NOTES] }).catch((error: unknown) => (ended = error))
    await chat.as('ada').say('yes')
    await clock.advance(60_000)
    expect(ended).toBeUndefined()
  })
})

test('a long answer is told in short, and in full in the metadata', async () => {
  const { ask, ada, prompted, audited } = await startThread()
  const asking = ask([NOTES])
  await prompted()
  await ada.say('🚀'.repeat(1_995))
  await asking
  const item = await audited()
  expect(Array.from(textOf(item))).toHaveLength(200)
  expect(textOf(item)).toMatch(/^✓ Answered: 🚀+…$/u)
  expect(promptOf(item)['answers']).toEqual([{ question: 'Notes?', answer: ['🚀'.repeat(1_995)] }])
})

test('a long reason is told in short, and in full in the metadata', async () => {
  const { ask, inbox, prompted, audited } = await startThread()
  void ask([NOTES])
  const id = String(promptOf(await prompted())['prompt_id']).slice(4)
  const reason = 'x'.repeat(3_000)
  await inbox.decide(id, { outcome: 'declined', reason }, { commandId: 'c', surface: 'web' })
  const item = await audited()
  expect(textOf(item)).toHaveLength(200)
  expect(promptOf(item)['reason']).toBe(`declined: ${reason}`)
})

test('what an approval allows is in its card as in its text', async () => {
  const { ctx, prompted } = await startThread()
  const command = `echo ${'a'.repeat(300)} && rm -rf "$HOME"`
  const subject = { kind: 'shell', command, cwd: '/tmp' } as const
  void ctx.userApprovals.request({ toolName: 'shell', subject, session: 's' })
  const item = await prompted()
  const [{ detail } = { detail: '' }] = promptOf(item)['questions'] as { detail: string }[]
  expect(detail).toContain('rm -rf "$HOME"')
  expect(textOf(item)).toContain(detail)
})

test.each(['mayAnswer', 'takes'] as const)(
  'a %s that does not say true says no, and is reported',
  async option => {
    const { ask, ada, handed, prompts, reported } = await startThread({
      [option]: (async () => true) as unknown as () => boolean,
    })
    void ask(undefined, { key: 'k' }).catch(() => {})
    await settled()
    await ada.say('2')
    await settled()
    expect(handed.map(({ why }) => why)).toEqual([option === 'takes' ? 'no-prompt' : 'not-allowed'])
    expect(prompts()).toHaveLength(option === 'takes' ? 0 : 1)
    expect(reported).toContainEqual(expect.objectContaining({ code: 'BAD_OPTION' }))
  },
)

describe('what is in the thread', () => {
  test('of another implementation may hold null for what is absent', async () => {
    const chat = new MemoryThread('agent')
    const options = [
      { label: 'a', description: null },
      { label: 'b', description: null },
    ]
    const questions = [{ question: 'Deploy?', multiSelect: null, detail: null, options }]
    const prompt = { prompt_id: 'p1', kind: 'ask_user_question', prompt_state: 'pending', questions }
    await chat.say('Deploy?', { type: 'pending_prompt', prompt })
    await chat.as('ada').say('2')
    const { audited } = await startThread({ chat })
    expect(promptOf(await audited())['answers']).toEqual([{ question: 'Deploy?', answer: ['b'] }])
  })

  test('and says that it asks, but not what, is reported once', async () => {
    const chat = new MemoryThread('agent')
    await chat.say('?', { type: 'pending_prompt', prompt: { prompt_id: 'p1', kind: 'confirm' } })
    const { reported } = await startThread({ chat, from: 'start' })
    await settled()
    expect(reported).toMatchObject([{ code: 'BAD_ITEM' }])
  })

  test('and was said to a question that is over is no message, where all is read from the start', async () => {
    const chat = new MemoryThread('agent')
    await chat.as('ada').say('before')
    const first = await startThread({ chat })
    void first.ask([DB], { session: 's', key: 'k' })
    await first.prompted()
    await first.ada.say('2')
    await first.audited()
    await first.ada.say('after')
    await first.fiber.dispose()
    const { handed } = await startThread({ chat, from: 'start' })
    await settled()
    expect(handed.map(({ text }) => text)).toEqual(['before', 'after'])
  })

  test('and was resolved is never heard of as pending by whoever follows the inbox', async () => {
    const chat = new MemoryThread('agent')
    const first = await startThread({ chat })
    for (const key of ['a', 'b', 'c']) {
      const count = first.resolved().length + 1
      void first.ask([DB], { session: 's', key })
      await first.prompted(count)
      await first.ada.say('2')
      await first.audited(count)
    }
    await first.fiber.dispose()
    const { ctx, inbox } = await startHost()
    const pending: string[] = []
    const shown: string[] = []
    await inbox.follow({
      entry: ({ request }) => void (request.settlement ?? pending.push(request.id)),
      lost() {},
    })
    const opened = ({ id }: { id: string }) => void shown.push(id)
    await ctx.inbox.attachSurface({ name: 'page', viewers: () => 0, opened, settled: () => {} })
    await attachThread(ctx, { store: chat })
    expect((await inbox.list({ state: 'settled' })).requests).toHaveLength(3)
    expect([pending, shown]).toEqual([[], []])
    const again = ctx.userQuestions.ask({ questions: [DB], session: 's', key: 'b' })
    expect(await again).toEqual({ answers: [{ id: 'db', selected: ['SQLite'] }] })
  })
})

/** A thread whose cursors go round, or that delivers the same again. */
class RoundThread extends MemoryThread {
  reads = 0
  readonly bad: unknown[] = []

  constructor(private readonly goesRound: boolean) {
    super('agent')
  }

  override async since(...args: Parameters<MemoryThread['since']>): Promise<ThreadPage> {
    this.reads += 1
    if (this.goesRound) return { items: [], cursor: String(this.reads % 3), more: true }
    const page = await super.since(...args)
    return { ...page, items: [...page.items, ...(this.bad as ThreadItem[])] }
  }
}

test('a store whose cursors go round is not read for ever', async () => {
  const chat = new RoundThread(true)
  const { reported } = await startThread({ chat, inbox: { clock: new ManualClock() } })
  await settled()
  expect(chat.reads).toBeLessThan(10)
  expect(reported).toContainEqual(expect.objectContaining({ code: 'STORE_FAILED' }))
})

test('an item that is none is reported once, however often it is delivered', async () => {
  const chat = new RoundThread(false)
  chat.bad.push({ id: 7 })
  const { reported, ada } = await startThread({ chat })
  for (let count = 0; count < 3; count += 1) {
    await ada.say('hello')
    await settled()
  }
  expect(reported).toMatchObject([{ code: 'BAD_ITEM' }])
  expect(looksAt(chat).prompts()).toEqual([])
})
