import { MemoryMedium } from '@handraise/inbox'
import { describe, expect, test } from 'vitest'
import * as thread from '../src/index.ts'
import { attachThread, MemoryThread, ThreadError } from '../src/index.ts'
import { DB, FailingThread, ManualClock, settled, startHost, startThread } from './host.ts'

/** A thread that counts who follows it. */
class CountedThread extends FailingThread {
  followers = 0

  override follow(wake: () => void): () => void {
    const stop = super.follow(wake)
    this.followers += 1
    return () => {
      this.followers -= 1
      stop()
    }
  }
}

describe('a thread', () => {
  test('is asked in by one host at a time', async () => {
    const medium = new MemoryMedium()
    const chat = new MemoryThread('agent')
    const first = await startThread({ chat, medium })
    const second = await startHost({ medium })
    const attaching = attachThread(second.ctx, { store: chat })
    await expect(attaching).rejects.toMatchObject({
      code: 'THREAD_IN_USE',
      details: { threadId: 'thread', host: first.inbox.hostId },
    })
    expect(ThreadError.isInstance(await attaching.catch((error: unknown) => error))).toBe(true)
    await expect(attachThread(first.ctx, { store: chat })).rejects.toMatchObject({ code: 'THREAD_IN_USE' })
    await attachThread(second.ctx, { store: new MemoryThread('agent'), threadId: 'other' })
    await first.attached.dispose()
    await attachThread(second.ctx, { store: chat })
  })

  test('is taken over from a host that is gone, which notices when it was only slow', async () => {
    const medium = new MemoryMedium()
    const chat = new MemoryThread('agent')
    const clock = new ManualClock()
    const slow = await startThread({ chat, medium, inbox: { clock: new ManualClock(), leaseMs: 1_000 } })
    await startHost({ medium, inbox: { clock } })
    await clock.advance(5_000)
    const next = await startThread({ chat, medium, inbox: { clock } })
    void next.ask([DB], { key: 'k' })
    await next.prompted()
    const asking = slow.ask([{ id: 'n', question: 'Notes?' }])
    await next.ada.say('2')
    await next.audited()
    await expect
      .poll(() => slow.reported, { interval: 5 })
      .toContainEqual(expect.objectContaining({ code: 'THREAD_TAKEN' }))
    await expect(asking).rejects.toMatchObject({ details: { reason: 'undeliverable' } })
    await settled()
    expect(next.resolved()).toHaveLength(1)
  })

  test('that cannot be read at first is attached all the same, and read later', async () => {
    const clock = new ManualClock()
    const chat = new FailingThread('agent')
    chat.isUnreadable = true
    const { handed, reported } = await startThread({ chat, inbox: { clock }, from: 'start' })
    expect(reported).toContainEqual(expect.objectContaining({ code: 'STORE_FAILED' }))
    await chat.as('ada').say('hello')
    chat.isUnreadable = false
    await clock.advance(250)
    expect(handed).toEqual([{ text: 'hello', why: 'no-prompt' }])
  })

  test('that is given up while it is being attached is free', async () => {
    const chat = new MemoryThread('agent')
    const { ctx } = await startHost()
    const attaching = ctx.plugin(thread, { store: chat })
    await attaching.dispose()
    await settled()
    await attachThread(ctx, { store: chat })
  })

  test('that cannot be followed is not attached, and leaves nothing behind', async () => {
    const chat = new MemoryThread('agent')
    const { ctx } = await startHost()
    const broken = Object.assign(new MemoryThread('agent'), {
      follow: () => {
        throw new Error('no socket')
      },
    })
    await expect(attachThread(ctx, { store: broken })).rejects.toMatchObject({ code: 'STORE_FAILED' })
    await attachThread(ctx, { store: chat })
  })
})

describe('when it is disposed', () => {
  test('nothing is posted any more, and what has a key stays pending', async () => {
    const clock = new ManualClock()
    const chat = new CountedThread('agent')
    const { ask, ada, attached, inbox, prompted, handed } = await startThread({ chat, inbox: { clock } })
    void ask([DB], { key: 'k' })
    await prompted()
    await attached.dispose()
    const { tries } = chat
    await ada.say('2')
    void ask([{ id: 'n', question: 'Notes?' }], { key: 'n' })
    await clock.advance(60_000)
    expect([chat.tries, chat.followers, handed]).toEqual([tries, 0, []])
    expect((await inbox.list({ state: 'pending' })).requests.map(({ key }) => key)).toEqual(['k', 'n'])
  })

  test('no timer, follower or listener stays behind, in whatever state it was', async () => {
    const clock = new ManualClock()
    const { ctx, medium } = await startHost({ inbox: { clock } })
    await settled()
    const armed = clock.armed
    const leaving = new AbortController()
    const asking = ctx.userQuestions.ask({ questions: [DB], signal: leaving.signal }).catch(() => {})
    for (const state of ['open', 'down', 'unreadable', 'hung'] as const) {
      const chat = new CountedThread('agent')
      chat.isDown = state === 'down'
      chat.isUnreadable = state === 'unreadable'
      if (state === 'hung') chat.post = () => new Promise(() => {})
      const dispose = await attachThread(ctx, { store: chat, threadId: state })
      await settled()
      await dispose()
      await settled()
      // The limit of the call that hangs.
      expect([state, clock.armed - armed, chat.followers]).toEqual([state, state === 'hung' ? 1 : 0, 0])
    }
    leaving.abort()
    await asking
    expect(medium.watchers.size).toBe(1)
  })
})
