import type { Decision } from '@handraise/inbox'
import { describe, expect, test } from 'vitest'
import { attachThread, MemoryThread, promptResolvedSchema, textOf } from '../src/index.ts'
import { DB, FailingThread, looksAt, ManualClock, promptOf, settled, startThread, TARGET } from './host.ts'

const SQLITE = { answers: [{ id: 'db', selected: ['SQLite'] }] }

describe('how a prompt ended', () => {
  const endings: [what: string, decision: Decision, reason: string][] = [
    ['declined', { outcome: 'declined' }, 'declined'],
    ['declined with a reason', { outcome: 'declined', reason: 'not mine' }, 'declined: not mine'],
    ['cancelled', { outcome: 'cancelled', reason: 'later' }, 'cancelled: later'],
    ['clarified', { outcome: 'clarified', text: 'which is faster?' }, 'clarified: which is faster?'],
    ['interrupted', { outcome: 'interrupted' }, 'interrupted'],
  ]
  test.each(endings)('is told apart when it was %s on another surface', async (_, decision, reason) => {
    const { ask, inbox, prompted, audited } = await startThread()
    void ask()
    const { id = '' } = (await prompted(), (await inbox.list({ state: 'pending' })).requests[0] ?? {})
    await inbox.decide(id, decision, { commandId: 'c', surface: 'web' })
    const item = await audited()
    expect(promptResolvedSchema.safeParse(item.metadata).success).toBe(true)
    expect(promptOf(item)).toEqual({
      prompt_id: `prm_${id}`,
      kind: 'ask_user_question',
      prompt_state: 'cancelled',
      reason,
    })
    expect(textOf(item)).toBe(`✗ Cancelled: ${reason}`)
  })

  test('is told when nobody answered in time, with no answer', async () => {
    const clock = new ManualClock()
    const { ask, prompted, audited } = await startThread({ inbox: { clock } })
    void ask([DB], { timeoutMs: 60_000 })
    await prompted()
    await clock.advance(60_000)
    const item = await audited()
    expect(promptOf(item)).toMatchObject({ prompt_state: 'cancelled', reason: 'timed out' })
    expect(JSON.stringify(promptOf(item))).not.toContain('Postgres')
  })

  test('is told with the defaults that the agent was given when nobody answered in time', async () => {
    const clock = new ManualClock()
    const { ask, prompted, audited } = await startThread({ inbox: { clock } })
    const asking = ask([{ ...DB, default: { selected: ['SQLite'] } }], { timeoutMs: 60_000 })
    await prompted()
    await clock.advance(60_000)
    expect(await asking).toEqual({ answers: [{ id: 'db', selected: ['SQLite'], by: 'default' }] })
    const item = await audited()
    expect(promptOf(item)).toMatchObject({ prompt_state: 'answered', answers: [{ answer: ['SQLite'] }] })
    expect(textOf(item)).toBe('✓ Answered by default: SQLite')
  })

  test('is told when the asker went away', async () => {
    const { ask, prompted, audited } = await startThread()
    const leaving = new AbortController()
    void ask([DB], { signal: leaving.signal })
    await prompted()
    leaving.abort()
    expect(promptOf(await audited())).toMatchObject({
      prompt_state: 'cancelled',
      reason: 'withdrawn: the asker went away',
    })
  })

  test('is told with the answer when it was given on another surface, and a later reply is a message', async () => {
    const { ask, ada, handed, inbox, prompted, audited } = await startThread()
    const asking = ask()
    await prompted()
    const [request] = (await inbox.list({ state: 'pending' })).requests
    const command = { commandId: 'c', surface: 'web' }
    await inbox.decide(request!.id, { outcome: 'answered', answer: SQLITE }, command)
    await ada.say('1')
    expect(await asking).toEqual(SQLITE)
    expect(promptOf(await audited())).toMatchObject({
      prompt_state: 'answered',
      answers: [{ answer: ['SQLite'] }],
    })
    await expect.poll(() => handed.length, { interval: 5 }).toBe(1)
    expect(['already-settled', 'no-prompt']).toContain(handed[0]?.why)
  })

  test('says what was skipped', async () => {
    const { ask, ada, prompted, audited } = await startThread()
    const asking = ask([{ ...DB, multiSelect: true }])
    await prompted()
    await ada.say('none of them', { answers: [{ question: DB.question, answer: [] }] })
    expect(await asking).toEqual({ answers: [{ id: 'db', selected: [] }] })
    const item = await audited()
    expect([textOf(item), promptOf(item)['answers']]).toEqual([
      '✓ Answered: (skipped)',
      [{ question: DB.question, answer: [] }],
    ])
  })
})

test('a question that is shown in two threads is answered in one, and told in both', async () => {
  const first = await startThread()
  const other = new MemoryThread('agent')
  await attachThread(first.ctx, { store: other, threadId: 'other' })
  const asking = first.ask()
  await first.prompted()
  const there = looksAt(other)
  await there.prompted()
  await other.as('ben').say('2')
  expect(await asking).toEqual(SQLITE)
  for (const { audited } of [first, there])
    expect(promptOf(await audited())['answers']).toMatchObject([{ answer: ['SQLite'] }])
})

test('the agent has its answer before the thread is told', async () => {
  const order: string[] = []
  const chat = new FailingThread('agent')
  const { ask, ada, prompted, audited } = await startThread({ chat })
  const post = chat.post.bind(chat)
  chat.post = async draft => {
    order.push('posted')
    return post(draft)
  }
  const asking = ask().then(() => order.push('answered'))
  await prompted()
  await ada.say('2')
  await asking
  await audited()
  expect(order).toEqual(['posted', 'answered', 'posted'])
})

describe('a resolution that cannot be posted', () => {
  test('is reported and tried again ever later, and no other prompt is posted before it', async () => {
    const clock = new ManualClock()
    const chat = new FailingThread('agent')
    const { ask, ada, prompts, resolved, prompted, reported, inbox } = await startThread({
      chat,
      inbox: { clock },
    })
    const asking = ask([DB])
    await prompted()
    await clock.advance(0)
    chat.isDown = true
    await ada.say('2')
    expect(await asking).toEqual(SQLITE)
    await expect.poll(() => chat.tries, { interval: 5 }).toBe(2)
    const second = ask([TARGET], { key: 'k' }).catch((error: unknown) => error)
    await clock.advance(5 * 60_000)
    expect(await second).toMatchObject({ details: { reason: 'undeliverable' } })
    expect([prompts().length, resolved().length]).toEqual([1, 0])
    // Five within about a minute, then one each half minute.
    expect(chat.tries).toBeGreaterThan(8)
    expect(chat.tries).toBeLessThan(20)
    expect(
      reported.filter(error => (error as { code?: string }).code === 'STORE_FAILED').length,
    ).toBeGreaterThan(8)
    chat.isDown = false
    await clock.advance(30_000)
    expect([prompts().length, resolved().length]).toEqual([2, 1])
    expect((await inbox.list({ state: 'pending' })).requests).toMatchObject([{ key: 'k' }])
  })

  test('but has landed is not posted twice', async () => {
    const clock = new ManualClock()
    const chat = new FailingThread('agent')
    const { ask, ada, resolved, prompted } = await startThread({ chat, inbox: { clock } })
    const asking = ask([DB])
    await prompted()
    chat.faults.push('after')
    await ada.say('2')
    await asking
    await clock.advance(60_000)
    expect(resolved()).toHaveLength(1)
  })

  test('leaves what is said meanwhile as ordinary messages', async () => {
    const clock = new ManualClock()
    const chat = new FailingThread('agent')
    const { ask, ada, handed, resolved, prompted } = await startThread({ chat, inbox: { clock } })
    const asking = ask([DB])
    await prompted()
    chat.isDown = true
    const say = (text: string) => chat.as('ada').say(text)
    await ada.say('2')
    await asking
    await say('1')
    await expect.poll(() => handed, { interval: 5 }).toEqual([{ text: '1', why: 'already-settled' }])
    chat.isDown = false
    await clock.advance(30_000)
    expect(promptOf(resolved()[0]!)['answers']).toMatchObject([{ answer: ['SQLite'] }])
    await settled()
    expect(resolved()).toHaveLength(1)
  })
})
