import { MemoryMedium } from '@handraise/inbox'
import { describeOutcome } from '@handraise/user-approvals'
import { describe, expect, test } from 'vitest'
import { FailingThread, ManualClock, settled, startThread } from './host.ts'

const APPROVAL = { toolName: 'shell', subject: { kind: 'shell', command: 'git push', cwd: '/tmp' } } as const

async function start(more: Parameters<typeof startThread>[0] = {}) {
  const clock = new ManualClock()
  const chat = new FailingThread('agent')
  const host = await startThread({ chat, inbox: { clock }, ...more })
  return { ...host, clock, chat }
}

describe('a question that cannot be posted', () => {
  test('ends as undeliverable after three tries within two seconds, where the thread is the only route', async () => {
    const { chat, clock, ask, reported } = await start()
    chat.isDown = true
    const ended = ask().catch((error: unknown) => error)
    await clock.advance(2_000)
    expect(await ended).toMatchObject({ code: 'ASK_UNAVAILABLE', details: { reason: 'undeliverable' } })
    expect(String(await ended)).toContain('the chat is down')
    expect(chat.tries).toBe(3)
    expect(reported).toContainEqual(expect.objectContaining({ code: 'STORE_FAILED' }))
  })

  test('ends as undeliverable when the thread cannot even be read', async () => {
    const { chat, clock, ask } = await start()
    await settled()
    chat.isUnreadable = true
    const ended = ask().catch((error: unknown) => error)
    await clock.advance(2_000)
    expect(await ended).toMatchObject({ details: { reason: 'undeliverable' } })
    expect(chat.tries).toBe(0)
  })

  test('ends as undeliverable where the thread could not be read since it was attached', async () => {
    const chat = new FailingThread('agent')
    chat.isUnreadable = true
    const clock = new ManualClock()
    const { ask, prompted } = await startThread({ chat, inbox: { clock } })
    const ended = ask().catch((error: unknown) => error)
    await clock.advance(2_000)
    expect(await ended).toMatchObject({ details: { reason: 'undeliverable' } })
    chat.isUnreadable = false
    void ask([{ id: 'n', question: 'Notes?' }], { key: 'later' })
    await clock.advance(30_000)
    await prompted()
  })

  test('is an approval that was unavailable, and never one that was denied', async () => {
    const { chat, clock, ctx } = await start()
    chat.isDown = true
    const asking = ctx.userApprovals.request(APPROVAL)
    await expect.poll(() => chat.tries, { interval: 5 }).toBe(1)
    await clock.advance(2_000)
    const outcome = await asking
    expect(outcome).toMatchObject({ outcome: 'unavailable', reason: 'undeliverable' })
    const words = describeOutcome('git push', outcome)
    expect(words).toContain('Approval unavailable')
    expect(words).not.toContain('denied by')
  })

  test('is answered by another route, and is posted when that can be done', async () => {
    const { chat, clock, ctx, ask, ada, prompts, prompted, reported } = await start()
    ctx.userQuestions.registerProvider({ name: 'terminal', ask: () => new Promise(() => {}) })
    chat.isDown = true
    const asking = ask()
    await settled()
    await clock.advance(60_000)
    expect(prompts()).toEqual([])
    expect(reported).toContainEqual(expect.objectContaining({ code: 'ASK_UNAVAILABLE' }))
    chat.isDown = false
    await clock.advance(30_000)
    await prompted()
    await ada.say('2')
    expect(await asking).toEqual({ answers: [{ id: 'db', selected: ['SQLite'] }] })
  })

  test('and has a key is posted later all the same, for the agent that asks again', async () => {
    const { chat, clock, ask, ada, prompted, audited } = await start()
    chat.isDown = true
    const ended = ask(undefined, { key: 'call-1' }).catch((error: unknown) => error)
    await clock.advance(2_000)
    expect(await ended).toMatchObject({ code: 'ASK_UNAVAILABLE' })
    chat.isDown = false
    await clock.advance(30_000)
    await prompted()
    await ada.say('1')
    await audited()
    expect(await ask(undefined, { key: 'call-1' })).toEqual({
      answers: [{ id: 'db', selected: ['Postgres'] }],
    })
  })

  test('keeps no other question from being posted', async () => {
    const { chat, clock, ask, ada, prompted } = await start()
    const tooLong = { id: 'long', question: 'x'.repeat(5_000) }
    const post = chat.post.bind(chat)
    chat.post = async draft => {
      if (JSON.stringify(draft).length > 5_000) throw new Error('the text is too long')
      return post(draft)
    }
    const long = ask([tooLong], { key: 'long' }).catch((error: unknown) => error)
    await settled()
    const short = ask()
    await clock.advance(2_000)
    expect(await long).toMatchObject({ details: { reason: 'undeliverable' } })
    await prompted()
    await ada.say('2')
    expect(await short).toEqual({ answers: [{ id: 'db', selected: ['SQLite'] }] })
  })

  test('and is asked again is tried again at once', async () => {
    const { chat, clock, ask, prompted } = await start()
    chat.isDown = true
    ask(undefined, { key: 'k' }).catch(() => {})
    await clock.advance(40_000)
    chat.isDown = false
    void ask(undefined, { key: 'k' })
    await settled()
    await prompted()
  })
})

describe('a post that fails', () => {
  test('after the prompt has landed is not made again', async () => {
    const { chat, clock, ask, ada, prompts, prompted, audited } = await start()
    chat.faults.push('after')
    const asking = ask()
    await settled()
    await clock.advance(250)
    await prompted()
    await ada.say('2')
    expect(await asking).toEqual({ answers: [{ id: 'db', selected: ['SQLite'] }] })
    await audited()
    expect(prompts()).toHaveLength(1)
  })

  test('because nothing comes back that is an item, is tried until it is', async () => {
    const { chat, clock, ask, prompts } = await start()
    const post = chat.post.bind(chat)
    let isVague = true
    chat.post = async draft => {
      if (isVague) return { ok: true } as never
      return post(draft)
    }
    void ask()
    await settled()
    expect(prompts()).toEqual([])
    isVague = false
    await clock.advance(250)
    expect(prompts()).toHaveLength(1)
  })

  test('because it does not end is given up after 30 seconds', async () => {
    const { chat, clock, ask, prompts, reported } = await start()
    const post = chat.post.bind(chat)
    let isHung = true
    chat.post = draft => (isHung ? new Promise(() => {}) : post(draft))
    void ask()
    await settled()
    isHung = false
    await clock.advance(30_250)
    expect(reported).toContainEqual(expect.objectContaining({ code: 'STORE_FAILED' }))
    expect(prompts()).toHaveLength(1)
  })
})

test('a question that is not for this thread is no business of it', async () => {
  const { ask, prompts, inbox } = await startThread({
    medium: new MemoryMedium(),
    takes: ({ session }) => session === 'here',
    inbox: { viewer: 'require' },
  })
  await expect(ask(undefined, { session: 'elsewhere' })).rejects.toMatchObject({
    code: 'ASK_UNAVAILABLE',
    details: { reason: 'no-capable-client' },
  })
  expect(prompts()).toEqual([])
  void ask([{ id: 'n', question: 'Notes?' }], { session: 'here' })
  await expect.poll(() => prompts().length, { interval: 5 }).toBe(1)
  expect((await inbox.list({ state: 'pending' })).requests).toHaveLength(1)
})
