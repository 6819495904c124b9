import { describe, expect, test, vi } from 'vitest'
import { MemoryThread, type ThreadItem } from '../src/index.ts'
import { DB, promptOf, settled, startThread } from './host.ts'

const SQLITE = { answers: [{ id: 'db', selected: ['SQLite'] }] }

/** A thread that delivers what a test puts in it, as a store does that is not careful. */
class DeliveredThread extends MemoryThread {
  readonly more: unknown[] = []
  private wakeAll = (): void => {}

  deliver(...items: unknown[]): void {
    this.more.push(...items)
    this.wakeAll()
  }

  override follow(wake: () => void): () => void {
    this.wakeAll = wake
    return super.follow(wake)
  }

  override async since(...args: Parameters<MemoryThread['since']>): ReturnType<MemoryThread['since']> {
    const page = await super.since(...args)
    return { ...page, items: [...page.items, ...(this.more.splice(0) as ThreadItem[])] }
  }
}

async function start(more: Parameters<typeof startThread>[0] = {}) {
  const chat = new DeliveredThread('agent')
  const host = await startThread({ chat, ...more })
  const asking = host.ask()
  const prompt = await host.prompted()
  const item = (id: string, text: string, members: object = {}) => ({
    id,
    position: prompt.position + 10,
    author: 'ada',
    content: [{ type: 'text', text }],
    ...members,
  })
  const isOpen = async () => (await host.inbox.list({ state: 'pending' })).requests.length === 1
  return { ...host, chat, asking, prompt, item, isOpen }
}

describe('never an answer is', () => {
  test('an item of the worker itself, whatever it says', async () => {
    const { chat, handed, isOpen } = await start()
    await chat.say('2')
    await settled()
    expect([await isOpen(), handed]).toEqual([true, []])
  })

  test('an item of somebody who may not answer', async () => {
    const mayAnswer = (author: string) => author === 'ada'
    const { chat, ada, asking, handed } = await start({ mayAnswer })
    await chat.as('eve').say('1')
    await expect.poll(() => handed, { interval: 5 }).toEqual([{ text: '1', why: 'not-allowed' }])
    await ada.say('2')
    expect(await asking).toEqual(SQLITE)
  })

  test('anybody’s, while it cannot be said who may', async () => {
    const fault = new Error('no directory')
    const { ada, handed, isOpen, reported } = await start({
      mayAnswer: () => {
        throw fault
      },
    })
    await ada.say('2')
    await expect.poll(() => handed, { interval: 5 }).toEqual([{ text: '2', why: 'not-allowed' }])
    expect([await isOpen(), reported.includes(fault)]).toEqual([true, true])
  })

  test('an edited item, and one that was edited after it was seen', async () => {
    const { chat, item, handed, isOpen } = await start()
    chat.deliver(item('a', '2', { edited: true }))
    await settled()
    chat.deliver(item('b', '/wait'))
    await settled()
    chat.deliver(item('b', '2', { edited: true }), item('a', '2'))
    await settled()
    expect(handed.map(({ why }) => why)).toEqual(['edited', 'command', 'edited'])
    expect(await isOpen()).toBe(true)
  })

  test('a second delivery of an item, not even to the next question', async () => {
    const { chat, ask, item, asking, audited, prompted, handed } = await start()
    chat.deliver(item('a', '2'))
    expect(await asking).toEqual(SQLITE)
    await audited()
    const second = ask([{ ...DB, id: 'again' }])
    await prompted(2)
    chat.deliver(item('a', '2'), item('a', '2'))
    await settled()
    expect(handed).toEqual([])
    chat.deliver(item('c', '1', { position: 1_000 }))
    expect(await second).toEqual({ answers: [{ id: 'again', selected: ['Postgres'] }] })
  })

  test('an item from before the question, however late it comes', async () => {
    const { chat, item, prompt, handed, isOpen } = await start()
    chat.deliver(
      item('a', '2', { position: prompt.position - 0.5 }),
      item('b', '2', { position: prompt.position }),
    )
    await expect.poll(() => handed.length, { interval: 5 }).toBe(2)
    expect(handed.map(({ why }) => why)).toEqual(['before-prompt', 'before-prompt'])
    expect(await isOpen()).toBe(true)
  })

  test('a prompt or a resolution that somebody else writes', async () => {
    const { ada, prompt, asking, resolved, handed } = await start()
    const { prompt_id } = promptOf(prompt)
    await ada.post({
      content: [],
      metadata: {
        type: 'pending_prompt_resolved',
        prompt: { prompt_id, kind: 'ask_user_question', prompt_state: 'cancelled', reason: 'x' },
      },
    })
    await ada.post({ content: [], metadata: prompt.metadata })
    await expect.poll(() => handed.length, { interval: 5 }).toBe(2)
    await ada.say('2')
    expect(await asking).toEqual(SQLITE)
    await expect.poll(() => resolved().length, { interval: 5 }).toBe(2)
  })

  test('what is no item: it is reported and skipped', async () => {
    const { chat, item, asking, reported } = await start()
    chat.deliver(null, { id: 7 }, item('', '1'), item('x', '1', { content: 'one' }), item('a', '2'))
    expect(await asking).toEqual(SQLITE)
    const codes = reported.map(error => (error as { code?: string }).code)
    expect(codes).toEqual(['BAD_ITEM', 'BAD_ITEM', 'BAD_ITEM', 'BAD_ITEM'])
  })
})

test('of two replies that come in the other order the first in the thread answers', async () => {
  const { chat, item, prompt, asking, handed } = await start()
  chat.deliver(
    item('b', '1', { position: prompt.position + 2 }),
    item('a', '2', { position: prompt.position + 1 }),
  )
  expect(await asking).toEqual(SQLITE)
  await expect.poll(() => handed, { interval: 5 }).toEqual([{ text: '1', why: 'already-settled' }])
})

test('of two people who answer at once one counts, and the other’s is a message', async () => {
  const { chat, asking, handed, audited } = await start()
  await Promise.all([chat.as('ada').say('2'), chat.as('ben').say('1')])
  expect(await asking).toEqual(SQLITE)
  expect(promptOf(await audited())['answers']).toMatchObject([{ answer: ['SQLite'] }])
  await expect.poll(() => handed, { interval: 5 }).toEqual([{ text: '1', why: 'already-settled' }])
})

describe('what answered nothing is handed on', () => {
  test('in order, one after the other, though the handler takes its time and throws', async () => {
    const seen: string[] = []
    let busy = 0
    const onMessage = async ({ content }: ThreadItem): Promise<void> => {
      busy += 1
      expect(busy).toBe(1)
      await settled()
      seen.push(content[0]?.text ?? '')
      busy -= 1
      if (seen.length === 2) throw new Error('cannot')
    }
    const { ada, reported } = await startThread({ onMessage })
    for (const text of ['a', 'b', 'c']) await ada.say(text)
    await expect.poll(() => seen, { interval: 5 }).toEqual(['a', 'b', 'c'])
    expect(reported).toContainEqual(expect.objectContaining({ message: 'cannot' }))
  })

  test('to a handler that may ask in the thread itself', async () => {
    let ask: Awaited<ReturnType<typeof startThread>>['ask'] | undefined
    const answers: unknown[] = []
    const host = await startThread({ onMessage: async () => void answers.push(await ask?.()) })
    ;({ ask } = host)
    await host.ada.say('deploy it')
    await host.prompted()
    await host.ada.say('2')
    await expect.poll(() => answers, { interval: 5 }).toEqual([SQLITE])
  })

  test('again after a restart, when it was not handled to its end', async () => {
    const onMessage = vi.fn<(item: ThreadItem) => Promise<void>>(() => new Promise(() => {}))
    const first = await startThread({ onMessage })
    await first.ada.say('long work')
    await first.ada.say('next')
    await settled()
    expect(onMessage).toHaveBeenCalledOnce()
    await first.fiber.dispose()
    const { handed } = await startThread({ chat: first.chat, medium: first.medium })
    await expect.poll(() => handed.map(({ text }) => text), { interval: 5 }).toEqual(['long work', 'next'])
  })

  test('from the beginning of the thread where that is asked for', async () => {
    const chat = new MemoryThread('agent')
    await chat.as('ada').say('old')
    const { handed } = await startThread({ chat, from: 'start' })
    await expect.poll(() => handed, { interval: 5 }).toEqual([{ text: 'old', why: 'no-prompt' }])
  })
})
