import { MemoryMedium, MemoryStore } from '@handraise/inbox'
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

test('what ends neither follower nor thread is reported, and keeps nothing from ending', async () => {
  for (const [follow, reports] of [
    [() => () => raise(), 'socket closed'],
    [() => undefined, 'it gave nothing that ends it'],
    [async () => raise(), 'socket closed'],
    [async () => () => {}, 'it gave a promise'],
  ] as const) {
    const chat = Object.assign(new MemoryThread('agent'), { follow: follow as () => () => void })
    const { ctx, attached, ask, reported, handed, ada } = await startThread({ chat })
    await attached.dispose()
    await ada.say('hello')
    void ask([DB], { key: 'k' })
    await settled()
    expect([chat.items.length, handed]).toEqual([1, []])
    expect(reported.map(String).join()).toContain(reports)
    await attachThread(ctx, { store: new MemoryThread('agent') })
  }
})

function raise(): never {
  throw new Error('socket closed')
}

test('a thread is looked at once a minute even if nothing tells that there is more', async () => {
  const clock = new ManualClock()
  const chat = Object.assign(new MemoryThread('agent'), { follow: () => () => {} })
  const { ask, ada, prompted } = await startThread({ chat, inbox: { clock } })
  const asking = ask()
  await prompted()
  await settled()
  await ada.say('2')
  await clock.advance(60_000)
  expect(await asking).toEqual({ answers: [{ id: 'db', selected: ['SQLite'] }] })
})

/** A store of an inbox whose writes of threads fail as they are told to: before they are made, or after. */
class FailingStore extends MemoryStore {
  readonly faults: ('before' | 'after' | 'reading')[] = []
  private isWritten = false

  override async writeRecords(...args: Parameters<MemoryStore['writeRecords']>) {
    const isThread = args[0][0]?.namespace === 'thread'
    const fault = isThread ? this.faults.shift() : undefined
    if (fault === 'before') throw new Error('busy')
    const refused = await super.writeRecords(...args)
    this.isWritten = fault === 'reading'
    if (fault === 'after') throw new Error('connection lost')
    return refused
  }

  override async record(...args: Parameters<MemoryStore['record']>) {
    if (this.isWritten && args[0] === 'thread') {
      this.isWritten = false
      throw new Error('busy')
    }
    return super.record(...args)
  }
}

test.each(['before', 'after', 'reading'] as const)(
  'a thread is not lost to a store of the inbox that fails once (%s)',
  async fault => {
    const store = new FailingStore(new MemoryMedium())
    store.faults.push(fault)
    const { ask, ada, attached, ctx, chat, reported, handed, prompted } = await startThread({
      inbox: { store },
    })
    store.faults.push(fault)
    await ada.say('hello')
    await expect.poll(() => handed.length, { interval: 5 }).toBe(1)
    const asking = ask()
    await prompted()
    await ada.say('2')
    expect(await asking).toEqual({ answers: [{ id: 'db', selected: ['SQLite'] }] })
    await settled()
    expect(reported).toEqual([])
    if (fault !== 'reading') store.faults.push(fault)
    await attached.dispose()
    await attachThread(ctx, { store: chat })
  },
)

describe('when it is disposed', () => {
  test.each(['the attachment', 'the host'])(
    'with %s a post that is on its way lands before another one attaches',
    async what => {
      const chat = new FailingThread('agent')
      let land = (): void => {}
      const first = await startThread({ chat })
      const asking = first.ask([DB], { session: 's', key: 'k' })
      await first.prompted()
      const post = chat.post.bind(chat)
      const landing = new Promise<void>(resolve => (land = resolve))
      let isPosting = false
      chat.post = async draft => {
        isPosting = true
        await landing
        return post(draft)
      }
      await chat.as('ada').say('2')
      await asking
      await expect.poll(() => isPosting, { interval: 5 }).toBe(true)
      const disposing = what === 'the host' ? first.fiber.dispose() : first.attached.dispose()
      const next = (async () => {
        if (what === 'the host') await disposing
        else await settled()
        const { ctx } = what === 'the host' ? await startHost() : first
        await attachThread(ctx, { store: new MemoryThread('agent', chat['medium']) })
      })()
      await settled()
      expect(first.resolved()).toHaveLength(0)
      land()
      await next
      await settled()
      expect(first.resolved()).toHaveLength(1)
    },
  )

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
      const disposing = dispose()
      // A post that is on its way is waited for, but not for ever.
      if (state === 'hung') await clock.advance(5_000)
      await disposing
      await settled()
      expect([state, clock.armed - armed, chat.followers]).toEqual([state, 0, 0])
    }
    leaving.abort()
    await asking
    expect(medium.watchers.size).toBe(1)
  })
})
