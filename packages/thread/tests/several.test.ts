import { describe, expect, test } from 'vitest'
import { textOf } from '../src/index.ts'
import { DB, ManualClock, promptOf, settled, startThread, TARGET } from './host.ts'

const NOTES = { id: 'notes', question: 'Notes?' }
const ALL = [DB, TARGET, NOTES]
const entry = (question: string, ...answer: string[]) => ({ question, answer })
const questionsOf = (item: Parameters<typeof promptOf>[0]) =>
  (promptOf(item)['questions'] as { question: string }[]).map(({ question }) => question)

describe('of several questions, asked for one by one', () => {
  const several = 'each' as const

  test('a text that does not say which it answers answers none, and the first is asked by itself', async () => {
    const { ask, ada, handed, prompts, prompted, audited, resolved } = await startThread({ several })
    const asking = ask(ALL)
    const first = await prompted()
    await ada.say('2')
    const second = await prompted(2)
    expect(promptOf(second)['prompt_id']).toBe(promptOf(first)['prompt_id'])
    expect(textOf(second)).toBe('Which store?\n  1. Postgres\n  2. SQLite')
    await ada.say('2')
    expect(questionsOf(await prompted(3))).toEqual([TARGET.question])
    await ada.say('staging')
    expect(questionsOf(await prompted(4))).toEqual(['Notes?'])
    await ada.say('none')
    expect(await asking).toEqual({
      answers: [
        { id: 'db', selected: ['SQLite'] },
        { id: 'target', selected: ['staging'] },
        { id: 'notes', selected: [], custom: 'none' },
      ],
    })
    expect(promptOf(await audited())['answers']).toEqual([
      entry(DB.question, 'SQLite'),
      entry(TARGET.question, 'staging'),
      entry('Notes?', 'none'),
    ])
    await settled()
    expect([prompts().length, resolved().length]).toEqual([4, 1])
    expect(handed).toEqual([{ text: '2', why: 'several' }])
  })

  test('what a set answers is kept, and only what is missing is asked', async () => {
    const { ask, ada, handed, prompted } = await startThread({ several })
    const asking = ask(ALL)
    await prompted()
    await ada.say('the target', { answers: [entry(TARGET.question, 'production')] })
    expect(questionsOf(await prompted(2))).toEqual([DB.question])
    await ada.say('rest', { answers: [entry('Notes?', 'all fine'), entry(DB.question, 'SQLite')] })
    expect(await asking).toEqual({
      answers: [
        { id: 'db', selected: ['SQLite'] },
        { id: 'target', selected: ['production'] },
        { id: 'notes', selected: [], custom: 'all fine' },
      ],
    })
    expect(handed).toEqual([])
  })

  test('the card of a question that was answered already answers nothing', async () => {
    const { ask, ada, handed, prompted } = await startThread({ several })
    const asking = ask([DB, NOTES])
    await prompted()
    const card = { answers: [entry(DB.question, 'SQLite')] }
    await ada.say('SQLite', card)
    await prompted(2)
    await ada.say('SQLite', card)
    await expect.poll(() => handed, { interval: 5 }).toEqual([{ text: 'SQLite', why: 'other-question' }])
    await ada.say('fine')
    expect(await asking).toMatchObject({ answers: [{ selected: ['SQLite'] }, { custom: 'fine' }] })
  })

  test('a second text before the next question is there answers nothing', async () => {
    const { ask, ada, handed, prompted } = await startThread({ several })
    const asking = ask([DB, TARGET])
    await prompted()
    // Both are there when the thread is read next.
    await Promise.all([ada.say('2'), ada.say('1')])
    expect(questionsOf(await prompted(2))).toEqual([DB.question])
    expect(handed.map(({ why }) => why)).toEqual(['several', 'several'])
    await ada.say('2')
    await prompted(3)
    await ada.say('1')
    expect(await asking).toMatchObject({ answers: [{ selected: ['SQLite'] }, { selected: ['staging'] }] })
  })

  test('one who began to answer is not timed out', async () => {
    const clock = new ManualClock()
    const { ask, ada, prompted, inbox } = await startThread({ several, inbox: { clock } })
    const asking = ask([DB, TARGET], { timeoutMs: 60_000 })
    await prompted()
    await ada.say('hm')
    await prompted(2)
    await clock.advance(120_000)
    expect((await inbox.list({ state: 'pending' })).requests).toHaveLength(1)
    await ada.say('1')
    await prompted(3)
    await ada.say('1')
    expect(await asking).toMatchObject({ answers: [{ id: 'db' }, { id: 'target' }] })
  })

  test('a reply with too few choices is no answer, and asks for nothing again', async () => {
    const checks = { id: 'c', question: 'Checks?', multiSelect: true, minSelections: 2 }
    const options = ['Lint', 'Types', 'Tests'].map(label => ({ label }))
    const { ask, ada, handed, prompts, prompted } = await startThread({ several })
    const asking = ask([{ ...checks, options }, NOTES])
    await prompted()
    await ada.say('hm')
    await prompted(2)
    await ada.say('1')
    await expect.poll(() => handed.length, { interval: 5 }).toBe(2)
    expect(prompts()).toHaveLength(2)
    await ada.say('1 3')
    await prompted(3)
    await ada.say('none')
    expect(await asking).toMatchObject({ answers: [{ selected: ['Lint', 'Tests'] }, { custom: 'none' }] })
    expect(handed.map(({ why }) => why)).toEqual(['several', 'bad-answer'])
  })
})

describe('of several questions, as the seed has it', () => {
  test('a partial set is refused, and the text is mapped to each question', async () => {
    const { ask, ada, prompted } = await startThread()
    const asking = ask([DB, NOTES])
    await prompted()
    await ada.say('2', { answers: [entry(DB.question, 'Postgres')] })
    expect(await asking).toEqual({
      answers: [
        { id: 'db', selected: ['SQLite'] },
        { id: 'notes', selected: [], custom: '2' },
      ],
    })
  })

  test('a partial set without a text answers nothing', async () => {
    const { ask, ada, handed, prompted, inbox } = await startThread()
    void ask([DB, NOTES])
    await prompted()
    await ada.post({ content: [], metadata: { answers: [entry(DB.question, 'Postgres')] } })
    await expect.poll(() => handed.map(({ why }) => why), { interval: 5 }).toEqual(['empty'])
    expect((await inbox.list({ state: 'pending' })).requests).toHaveLength(1)
  })

  test('entries of equal questions are matched in their order', async () => {
    const twins = ['a', 'b'].map(id => ({ ...DB, id }))
    const { ask, ada, prompted } = await startThread()
    const asking = ask(twins)
    await prompted()
    await ada.say('', { answers: [entry(DB.question, 'SQLite'), entry(DB.question, 'postgres')] })
    expect(await asking).toMatchObject({
      answers: [
        { id: 'a', selected: ['SQLite'] },
        { id: 'b', selected: ['Postgres'] },
      ],
    })
  })
})
