import { MemoryMedium } from '@handraise/inbox'
import { describe, expect, test } from 'vitest'
import { MemoryThread, textOf } from '../src/index.ts'
import { DB, FailingThread, ManualClock, promptOf, settled, startThread } from './host.ts'

const SQLITE = { answers: [{ id: 'db', selected: ['SQLite'] }] }
const APPROVAL = {
  toolName: 'delete',
  subject: { kind: 'fileAccess', access: 'delete', path: '/tmp/a' },
} as const

describe('a reply to a question is read as', () => {
  test.each([
    ['2', { selected: ['SQLite'] }],
    ['postgres', { selected: ['Postgres'] }],
    ['POSTGRES.', { selected: ['Postgres'] }],
    ['the small one', { selected: [], custom: 'the small one' }],
  ])('%s', async (text, expected) => {
    const { ask, ada, prompted } = await startThread()
    const asking = ask()
    await prompted()
    await ada.say(text)
    expect(await asking).toEqual({ answers: [{ id: 'db', ...expected }] })
  })

  test('a command, which is no answer', async () => {
    const { ask, ada, handed, inbox, prompted } = await startThread()
    void ask()
    await prompted()
    await ada.say('/stop')
    await expect.poll(() => handed, { interval: 5 }).toEqual([{ text: '/stop', why: 'command' }])
    expect((await inbox.list({ state: 'pending' })).requests).toHaveLength(1)
  })

  test('the answer to neither of two questions, where each is to be answered', async () => {
    const { ask, ada, handed, inbox, prompted } = await startThread({ several: 'each' })
    void ask([DB, { ...DB, id: 'cache', question: 'Which cache?' }])
    await prompted()
    await ada.say('2')
    expect(textOf(await prompted(2))).toBe('Which store?\n  1. Postgres\n  2. SQLite')
    expect(handed).toEqual([{ text: '2', why: 'several' }])
    expect((await inbox.list({ state: 'pending' })).requests).toHaveLength(1)
  })
})

describe('a reply to an approval', () => {
  test.each(['yes', 'ok', '1', 'approve'])('approves: %s', async text => {
    const { ctx, ada, prompted } = await startThread()
    const asking = ctx.userApprovals.request(APPROVAL)
    await prompted()
    await ada.say(text)
    expect(await asking).toMatchObject({ policyResult: 'allow' })
  })

  test.each(['yes but not now', 'sure?'])('denies, with the words as feedback: %s', async text => {
    const { ctx, ada, prompted } = await startThread()
    const asking = ctx.userApprovals.request(APPROVAL)
    await prompted()
    await ada.say(text)
    expect(await asking).toMatchObject({ policyResult: 'deny', feedback: text })
  })

  test('denies however long it is', async () => {
    const { ctx, ada, prompted } = await startThread()
    const asking = ctx.userApprovals.request(APPROVAL)
    await prompted()
    await ada.say('no '.repeat(10_000))
    expect(await asking).toMatchObject({ policyResult: 'deny' })
  })
})

test('an approval that nobody decides in time is no denial, in the thread neither', async () => {
  const clock = new ManualClock()
  const { ctx, prompted, audited } = await startThread({ inbox: { clock } })
  const asking = ctx.userApprovals.request({ ...APPROVAL, timeoutMs: 60_000 })
  await prompted()
  await clock.advance(60_000)
  expect(await asking).toMatchObject({ outcome: 'timedOut' })
  const item = await audited()
  expect(promptOf(item)).toMatchObject({ prompt_state: 'cancelled', reason: 'timed out' })
  expect(JSON.stringify(item)).not.toContain('denied')
})

test('an approval by a wider choice elsewhere is told as approved', async () => {
  const { ctx, inbox, prompted, audited } = await startThread()
  const asking = ctx.userApprovals.request({ ...APPROVAL, session: 's1' })
  await prompted()
  const [request] = (await inbox.list({ state: 'pending' })).requests
  const answer = { choiceId: 'allow_session' }
  await inbox.decide(request!.id, { outcome: 'answered', answer }, { commandId: 'c', surface: 'web' })
  expect(await asking).toMatchObject({ policyResult: 'allow', scope: 'session' })
  expect(promptOf(await audited())['answers']).toMatchObject([{ answer: ['Approve'] }])
})

test('an approval that cannot be allowed just once is not shown where a word allows', async () => {
  const { ctx, prompts } = await startThread({ inbox: { viewer: 'require' } })
  const choices = [
    { choiceId: 'always', label: 'Always', decision: 'approvedPolicyAmendment', scope: 'localPersistent' },
    { choiceId: 'no', label: 'No', decision: 'denied', scope: 'once', acceptsFeedback: true },
  ] as const
  expect(await ctx.userApprovals.request({ ...APPROVAL, choices })).toMatchObject({
    outcome: 'unavailable',
    reason: 'unsupported-question',
  })
  expect(prompts()).toEqual([])
})

test('a message that the service refuses, and one for which it has no id, were never asked', async () => {
  for (const post of [
    () => Promise.reject(new Error('channel_not_found')),
    () => Promise.resolve(undefined),
  ]) {
    const clock = new ManualClock()
    const chat = new FailingThread('agent')
    chat.post = post as () => Promise<never>
    const { ask, inbox } = await startThread({ chat, inbox: { clock } })
    const ended = ask().catch((error: unknown) => error)
    await clock.advance(2_000)
    expect(await ended).toMatchObject({ code: 'ASK_UNAVAILABLE', details: { reason: 'undeliverable' } })
    expect((await inbox.list({ state: 'pending' })).requests).toEqual([])
  }
})

test('a question with a deadline is told as timed out, with nothing chosen', async () => {
  const clock = new ManualClock()
  const { ask, prompted, audited } = await startThread({ inbox: { clock } })
  const recommended = { ...DB, options: [{ label: 'Postgres (Recommended)' }, { label: 'SQLite' }] }
  const ended = ask([recommended], { timeoutMs: 60_000 }).catch((error: unknown) => error)
  await prompted()
  await clock.advance(60_000)
  expect(await ended).toMatchObject({ code: 'ASK_TIMED_OUT' })
  expect(textOf(await audited())).not.toContain('Postgres')
})

test('a question whose asker is gone for good is taken down at the next start', async () => {
  const medium = new MemoryMedium()
  const chat = new MemoryThread('agent')
  const first = await startThread({ chat, medium })
  void first.ask()
  await first.prompted()
  // A killed host settles nothing and says nothing.
  const kept = structuredClone(chat.items)
  await first.fiber.dispose()
  const again = new MemoryThread('agent')
  for (const item of kept) await again.post(item)
  const { audited, handed } = await startThread({ chat: again, medium })
  expect(promptOf(await audited())).toMatchObject({ reason: 'withdrawn: orphaned' })
  await again.as('ada').say('2')
  await expect.poll(() => handed, { interval: 5 }).toEqual([{ text: '2', why: 'no-prompt' }])
})

test('a reply in the thread and an answer elsewhere at once: one wins, and everybody holds that one', async () => {
  const { ask, ada, inbox, prompted, audited } = await startThread()
  const asking = ask()
  await prompted()
  const [{ id } = { id: '' }] = (await inbox.list({ state: 'pending' })).requests
  const command = { commandId: 'c', surface: 'web' }
  const answer = { answers: [{ id: 'db', selected: ['Postgres'] }] }
  await Promise.all([
    ada.say('2'),
    inbox.decide(id, { outcome: 'answered', answer }, command).catch((error: unknown) => error),
  ])
  const given = await asking
  expect((await inbox.get(id)).settlement?.answer).toEqual(given)
  expect(promptOf(await audited())['answers']).toMatchObject([{ answer: given.answers[0]?.selected }])
})

test('a comma in a label parts nothing', async () => {
  const options = [{ label: 'Yes, always' }, { label: 'No' }]
  const { ask, ada, prompted, audited } = await startThread()
  const asking = ask([{ id: 'a', question: 'Keep?', options, multiSelect: true }])
  await prompted()
  await ada.say('yes, always')
  expect(await asking).toEqual({ answers: [{ id: 'a', selected: ['Yes, always'] }] })
  expect(promptOf(await audited())['answers']).toEqual([{ question: 'Keep?', answer: ['Yes, always'] }])
})

test('control codes of a question are shown and not obeyed, and the answer is the label as it was', async () => {
  const label = 'Safe\u001b[2K\u0007\u202e'
  const { ask, ada, prompted, audited } = await startThread()
  const question = 'Which\u0000 one?\r\u001b]8;;http://x\u0007'
  const asking = ask([{ id: 'a', question, detail: 'see\u0008', options: [{ label }] }])
  const prompt = await prompted()
  await ada.say('1')
  expect(await asking).toEqual({ answers: [{ id: 'a', selected: [label] }] })
  const shown = textOf(prompt) + textOf(await audited())
  expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/u)
  expect(shown).toContain('\\u001b')
})

test('a question that nobody looks at waits in the thread, where it is answered whenever that is', async () => {
  const { ask, ada, inbox, prompted } = await startThread({ inbox: { viewer: 'require' } })
  const asking = ask()
  await prompted()
  await settled()
  expect((await inbox.list({ state: 'pending' })).requests).toHaveLength(1)
  await ada.say('2')
  expect(await asking).toEqual(SQLITE)
})
