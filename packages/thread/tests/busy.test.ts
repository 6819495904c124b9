import { describe, expect, test } from 'vitest'
import { textOf } from '../src/index.ts'
import { DB, FailingThread, ManualClock, promptOf, settled, startThread, TARGET } from './host.ts'

describe('a second question in a busy thread', () => {
  test('waits for its turn, and is posted once the first is answered and that is said', async () => {
    const { chat, ask, ada, prompts, prompted, audited } = await startThread()
    const [first, second] = [ask([DB]), ask([TARGET])]
    await prompted()
    await settled()
    expect(prompts()).toHaveLength(1)
    await ada.say('2')
    expect(await first).toEqual({ answers: [{ id: 'db', selected: ['SQLite'] }] })
    await audited()
    await prompted(2)
    const types = chat.items.map(({ metadata }) => (metadata as { type?: string } | undefined)?.type)
    expect(types).toEqual(['pending_prompt', undefined, 'pending_prompt_resolved', 'pending_prompt'])
    await ada.say('2')
    expect(await second).toEqual({ answers: [{ id: 'target', selected: ['production'] }] })
  })

  test('that is withdrawn before its turn is never posted', async () => {
    const { ask, ada, prompts, prompted, audited } = await startThread()
    const leaving = new AbortController()
    void ask([DB])
    void ask([TARGET], { signal: leaving.signal })
    await prompted()
    leaving.abort()
    await ada.say('2')
    await audited()
    await settled()
    expect(prompts()).toHaveLength(1)
  })

  test('three asked at once get each its own answer', async () => {
    const { ask, ada, prompted } = await startThread()
    const asks = ['a', 'b', 'c'].map(id => ask([{ id, question: `Which ${id}?` }]))
    for (const id of ['a', 'b', 'c']) {
      const prompt = await prompted('abc'.indexOf(id) + 1)
      const [{ question } = { question: '' }] = promptOf(prompt)['questions'] as { question: string }[]
      await ada.say(`to ${question}`)
    }
    expect(await Promise.all(asks)).toEqual(
      ['a', 'b', 'c'].map(id => ({ answers: [{ id, selected: [], custom: `to Which ${id}?` }] })),
    )
  })
})

describe('a second question that supersedes', () => {
  const whenBusy = 'supersede' as const

  test('cancels the first with that reason, says so, and is posted then', async () => {
    const { chat, ask, ada, prompted, audited } = await startThread({ whenBusy })
    const first = ask([DB])
    await prompted()
    const second = ask([TARGET])
    await expect(first).rejects.toMatchObject({
      code: 'ASK_CANCELLED',
      // Nobody dismissed it.
      message: expect.not.stringContaining('the user dismissed'),
      details: { reason: 'a second question superseded it', by: 'policy' },
    })
    expect(promptOf(await audited())).toMatchObject({
      prompt_state: 'cancelled',
      reason: 'cancelled: a second question superseded it',
    })
    await prompted(2)
    const types = chat.items.map(({ metadata }) => (metadata as { type?: string }).type)
    expect(types).toEqual(['pending_prompt', 'pending_prompt_resolved', 'pending_prompt'])
    await ada.say('1')
    expect(await second).toEqual({ answers: [{ id: 'target', selected: ['staging'] }] })
  })

  test('leaves no call hanging when many come at once', async () => {
    const { ask, ada, resolved, prompts } = await startThread({ whenBusy })
    const asks = ['a', 'b', 'c', 'd'].map(id => ask([{ id, question: `Which ${id}?` }]).catch(String))
    await expect.poll(() => prompts().length && textOf(prompts().at(-1)!), { interval: 5 }).toBe('Which d?')
    await settled()
    // Those in between are never shown.
    expect(prompts().length).toBeLessThanOrEqual(2)
    expect(resolved()).toHaveLength(prompts().length - 1)
    await ada.say('this one')
    const ends = await Promise.all(asks)
    expect(ends.filter(end => typeof end === 'string')).toHaveLength(3)
    expect(ends.at(-1)).toEqual({ answers: [{ id: 'd', selected: [], custom: 'this one' }] })
  })

  test('ends as undeliverable when it cannot be said that the first is over', async () => {
    const clock = new ManualClock()
    const chat = new FailingThread('agent')
    const { ask, prompted, prompts } = await startThread({ whenBusy, chat, inbox: { clock } })
    const first = ask([DB])
    await prompted()
    chat.isDown = true
    const second = ask([TARGET]).catch((error: unknown) => error)
    await clock.advance(2_000)
    await expect(first).rejects.toMatchObject({ code: 'ASK_CANCELLED' })
    expect(await second).toMatchObject({ details: { reason: 'undeliverable' } })
    expect(prompts()).toHaveLength(1)
  })
})
