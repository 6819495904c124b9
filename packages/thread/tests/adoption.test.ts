import { MemoryMedium, type RequestKind } from '@handraise/inbox'
import { describe, expect, test } from 'vitest'
import { attachThread, MemoryThread } from '../src/index.ts'
import { DB, looksAt, ManualClock, promptOf, settled, startHost, startThread, TARGET } from './host.ts'

const KEYED = { session: 's1', key: 'call-1' }
const SQLITE = { answers: [{ id: 'db', selected: ['SQLite'] }] }
const WEEK_MS = 7 * 24 * 60 * 60 * 1000
const APPROVAL = {
  toolName: 'shell',
  subject: { kind: 'shell', command: 'git push', cwd: '/tmp' },
  session: 's1',
  callId: 'call-1',
} as const

/** A thread in which a question is open whose worker is gone. */
async function leftOpen(more: Parameters<typeof startThread>[0] = {}, opening: object = KEYED) {
  const chat = new MemoryThread('agent')
  const first = await startThread({ chat, ...more })
  void first.ask([DB], opening)
  await first.prompted()
  const [request] = (await first.inbox.list({ state: 'pending' })).requests
  await first.fiber.dispose()
  return { chat, ada: chat.as('ada'), id: request?.id }
}

describe('a prompt that is open when a worker comes back, with nothing but the thread', () => {
  test('is pending again under its id, and is joined by the agent that asks again', async () => {
    const { chat, ada, id } = await leftOpen()
    const { ask, inbox, prompts, audited } = await startThread({ chat })
    expect((await inbox.list({ state: 'pending' })).requests).toMatchObject([{ id, ...KEYED }])
    const asking = ask([DB], KEYED)
    await settled()
    expect(prompts()).toHaveLength(1)
    await ada.say('2')
    expect(await asking).toEqual(SQLITE)
    await audited()
    await settled()
    expect((await inbox.get(id!)).settlement).toMatchObject({ surface: 'thread', by: 'user' })
  })

  test('is answered a week later', async () => {
    const clock = new ManualClock()
    const { chat, ada } = await leftOpen({ inbox: { clock } })
    await clock.advance(WEEK_MS)
    const { ask, audited } = await startThread({ chat, inbox: { clock } })
    const asking = ask([DB], KEYED)
    await ada.say('2')
    expect(await asking).toEqual(SQLITE)
    await audited()
  })

  test('is answered by what was said while nothing ran, in order', async () => {
    const { chat, ada } = await leftOpen()
    await ada.say('/status')
    await ada.say('2')
    await ada.say('and hurry')
    const { ask, handed, audited, resolved } = await startThread({ chat })
    expect(await ask([DB], KEYED)).toEqual(SQLITE)
    await audited()
    await settled()
    expect(resolved()).toHaveLength(1)
    expect(handed).toEqual([
      { text: '/status', why: 'command' },
      { text: 'and hurry', why: 'already-settled' },
    ])
  })

  test('is joined by an agent that asked before the thread could be read', async () => {
    const { chat, ada } = await leftOpen()
    const slow = new MemoryThread('agent')
    let open = (): void => {}
    const gate = new Promise<void>(resolve => (open = resolve))
    Object.assign(slow, {
      post: chat.post.bind(chat),
      follow: chat.follow.bind(chat),
      since: async (...args: Parameters<MemoryThread['since']>) => (await gate, chat.since(...args)),
    })
    const { ctx } = await startHost()
    const attaching = attachThread(ctx, { store: slow })
    const asking = ctx.userQuestions.ask({ questions: [DB], ...KEYED })
    await settled()
    open()
    await attaching
    await ada.say('2')
    expect(await asking).toEqual(SQLITE)
    const { audited, prompts } = looksAt(chat)
    await audited()
    expect(prompts()).toHaveLength(1)
  })

  test('ends as orphaned when it has no key: nobody can come back for it', async () => {
    const first = await startThread()
    void first.ask([DB])
    // As a killed worker leaves it.
    const chat = new MemoryThread('agent')
    await chat.post(await first.prompted())
    const { inbox, audited } = await startThread({ chat })
    expect(promptOf(await audited())).toMatchObject({
      prompt_state: 'cancelled',
      reason: 'withdrawn: orphaned',
    })
    expect((await inbox.list({ state: 'pending' })).requests).toEqual([])
  })

  test('settles by its deadline when that has passed', async () => {
    const clock = new ManualClock()
    const { chat } = await leftOpen({ inbox: { clock } }, { ...KEYED, timeoutMs: 60_000 })
    await chat.as('ada').say('2')
    await clock.advance(WEEK_MS)
    const { inbox, audited, handed } = await startThread({ chat, inbox: { clock } })
    await clock.advance(0)
    expect(handed).toEqual([{ text: '2', why: 'already-settled' }])
    expect((await inbox.list({ state: 'settled' })).requests).toMatchObject([
      { settlement: { outcome: 'timedOut' } },
    ])
    expect(promptOf(await audited())).toMatchObject({ reason: 'timed out' })
  })

  test('is resolved when the agent asks something else under its key', async () => {
    const { chat } = await leftOpen()
    const medium = new MemoryMedium()
    const before = await startThread({ chat: new MemoryThread('agent'), medium, threadId: 'other' })
    void before.ask([TARGET], KEYED)
    await before.prompted()
    await before.fiber.dispose()
    const { audited, prompted, inbox } = await startThread({ chat, medium, takes: () => true })
    expect(promptOf(await audited())).toMatchObject({
      prompt_state: 'cancelled',
      reason: 'withdrawn: its key was used for other questions',
    })
    await prompted(2)
    expect((await inbox.list({ state: 'pending' })).requests).toHaveLength(1)
  })

  test('of an approval is decided by what is said then', async () => {
    const chat = new MemoryThread('agent')
    const first = await startThread({ chat })
    void first.ctx.userApprovals.request(APPROVAL)
    await first.prompted()
    await first.fiber.dispose()
    const { ctx, ada, prompts, audited } = await startThread({ chat })
    const asking = ctx.userApprovals.request(APPROVAL)
    await settled()
    await ada.say('ok')
    expect(await asking).toMatchObject({ outcome: 'decided', policyResult: 'allow' })
    await audited()
    expect(prompts()).toHaveLength(1)
  })

  test('of a kind that is registered after the thread is answered as soon as it is', async () => {
    const note: RequestKind = {
      name: 'note',
      check: (_, text) => (typeof text === 'string' ? { ok: true, answer: text } : { ok: false, issues: [] }),
      asQuestions: () => [{ id: 'note', question: 'What is to be noted?' }],
      fromAnswers: (_, [given]) => given?.custom ?? '',
    }
    const chat = new MemoryThread('agent')
    const opening = { kind: 'note', payload: {}, key: 'n' }
    const first = await startThread({ chat })
    first.ctx.inbox.registerKind(note)
    first.ctx.inbox.request(opening).catch(() => {})
    await first.prompted()
    await first.fiber.dispose()
    await first.ada.say('milk')
    const clock = new ManualClock()
    for (const isLate of [true, false]) {
      const { ctx, handed, fiber } = await startThread({ chat, inbox: { clock } })
      if (!isLate) ctx.inbox.registerKind(note)
      const asking = ctx.inbox.request(opening).catch(() => undefined)
      await clock.advance(10_000)
      if (isLate) expect(handed).toEqual([{ text: 'milk', why: 'unanswerable' }])
      else expect((await asking)?.settlement.answer).toBe('milk')
      await fiber.dispose()
    }
  })

  test('keeps what was answered where the questions are asked one by one', async () => {
    const several = 'each' as const
    const chat = new MemoryThread('agent')
    const first = await startThread({ chat, several })
    void first.ask([DB, TARGET], KEYED)
    await first.prompted()
    await first.ada.say('one', { answers: [{ question: DB.question, answer: ['SQLite'] }] })
    await first.prompted(2)
    await first.fiber.dispose()
    const { ask, ada, prompts } = await startThread({ chat, several })
    const asking = ask([DB, TARGET], KEYED)
    await ada.say('2')
    expect(await asking).toEqual({
      answers: [
        { id: 'db', selected: ['SQLite'] },
        { id: 'target', selected: ['production'] },
      ],
    })
    expect(prompts()).toHaveLength(2)
  })
})

describe('a prompt that was resolved before', () => {
  test('gives its recorded answer to an agent that asks again, with nothing but the thread', async () => {
    const chat = new MemoryThread('agent')
    const first = await startThread({ chat })
    const asking = first.ask([DB], KEYED)
    await first.prompted()
    await first.ada.say('2')
    await asking
    await first.audited()
    await first.fiber.dispose()
    const { ask, prompts } = await startThread({ chat })
    expect(await ask([DB], KEYED)).toEqual(SQLITE)
    await settled()
    expect(prompts()).toHaveLength(1)
  })

  test.each([
    ['declined', { outcome: 'declined', reason: 'no' }, { code: 'ASK_DECLINED', details: { reason: 'no' } }],
    [
      'clarified',
      { outcome: 'clarified', text: 'why?' },
      { code: 'ASK_CLARIFIED', details: { text: 'why?' } },
    ],
  ] as const)('gives again that it was %s', async (_, decision, expected) => {
    const chat = new MemoryThread('agent')
    const first = await startThread({ chat })
    void first.ask([DB], KEYED)
    await first.prompted()
    const [request] = (await first.inbox.list({ state: 'pending' })).requests
    await first.inbox.decide(request!.id, decision, { commandId: 'c', surface: 'web' })
    await first.audited()
    await first.fiber.dispose()
    const { ask } = await startThread({ chat })
    await expect(ask([DB], KEYED)).rejects.toMatchObject(expected)
  })
})

describe('with an inbox that was kept', () => {
  test('an answer given elsewhere while the thread was not attached is told when it is', async () => {
    const medium = new MemoryMedium()
    const { chat, id } = await leftOpen({ medium })
    const away = await startThread({
      chat: new MemoryThread('agent'),
      medium,
      threadId: 'other',
      takes: () => false,
    })
    const command = { commandId: 'c', surface: 'web' }
    await away.inbox.decide(id!, { outcome: 'answered', answer: SQLITE }, command)
    await away.fiber.dispose()
    const { audited, ask } = await startThread({ chat, medium })
    expect(promptOf(await audited())['answers']).toMatchObject([{ answer: ['SQLite'] }])
    expect(await ask([DB], KEYED)).toEqual(SQLITE)
  })

  test('reading goes on where it stopped: nothing is handed on twice, and nothing is missed', async () => {
    const medium = new MemoryMedium()
    const chat = new MemoryThread('agent')
    const ada = chat.as('ada')
    await ada.say('before anything')
    const first = await startThread({ chat, medium })
    await ada.say('one')
    await expect.poll(() => first.handed.length, { interval: 5 }).toBe(1)
    await settled()
    await first.fiber.dispose()
    await ada.say('two')
    const second = await startThread({ chat, medium })
    await expect.poll(() => second.handed.length, { interval: 5 }).toBe(1)
    await settled()
    expect([first.handed, second.handed]).toEqual([
      [{ text: 'one', why: 'no-prompt' }],
      [{ text: 'two', why: 'no-prompt' }],
    ])
  })

  test('a reply that was posted while nothing ran answers, and what was handled before does not', async () => {
    const medium = new MemoryMedium()
    const { chat, ada } = await leftOpen({ medium })
    await ada.say('2')
    const { ask, audited, handed } = await startThread({ chat, medium })
    expect(await ask([DB], KEYED)).toEqual(SQLITE)
    await audited()
    expect(handed).toEqual([])
  })
})

describe('a prompt of another implementation', () => {
  const questions = [
    { question: 'Deploy?', multiSelect: false, options: [{ label: 'Yes' }, { label: 'No' }] },
  ]
  const foreign = (kind: string, of: unknown[] = questions) => ({
    type: 'pending_prompt',
    prompt: { prompt_id: 'prm_01J', kind, prompt_state: 'pending', questions: of },
  })

  test('is adopted from its questions, under its own id as the key', async () => {
    const chat = new MemoryThread('agent')
    await chat.say('Deploy?\n  1. Yes\n  2. No', foreign('ask_user_question'))
    const { ada, inbox, audited } = await startThread({ chat })
    const [request] = (await inbox.list({ state: 'pending' })).requests
    expect(request).toMatchObject({ kind: 'questions', key: 'prm_01J', session: '' })
    await ada.say('2')
    expect(promptOf(await audited())).toEqual({
      prompt_id: 'prm_01J',
      kind: 'ask_user_question',
      prompt_state: 'answered',
      answers: [{ question: 'Deploy?', answer: ['No'] }],
    })
    expect((await inbox.get(request!.id)).settlement).toMatchObject({
      answer: { answers: [{ id: 'q1', selected: ['No'] }] },
    })
  })

  test('that is an approval is decided by the words of one', async () => {
    const chat = new MemoryThread('agent')
    const options = [{ label: 'Approve' }, { label: 'Deny' }]
    await chat.say('Push?', foreign('approval', [{ question: 'Push?', options }]))
    const { ada, audited } = await startThread({ chat })
    await ada.say('maybe later')
    expect(promptOf(await audited())).toMatchObject({ kind: 'approval', answers: [{ answer: ['Deny'] }] })
  })

  test('that was resolved is known as settled', async () => {
    const chat = new MemoryThread('agent')
    await chat.say('Deploy?', foreign('ask_user_question'))
    await chat.say('✓', {
      type: 'pending_prompt_resolved',
      prompt: {
        prompt_id: 'prm_01J',
        kind: 'ask_user_question',
        prompt_state: 'answered',
        answers: [{ question: 'Deploy?', answer: ['Yes'] }],
      },
    })
    const { inbox } = await startThread({ chat })
    expect((await inbox.list({ state: 'settled' })).requests).toMatchObject([
      { key: 'prm_01J', settlement: { outcome: 'answered', answer: { answers: [{ selected: ['Yes'] }] } } },
    ])
  })
})
