import { autoProvider, readScript, type AutoOptions } from '@handraise/provider-auto'
import { UserQuestionService, type Question, type UserQuestionError } from '@handraise/user-questions'
import { Context } from 'cordis'
import { describe, expect, test } from 'vitest'

const DB: Question = {
  id: 'db',
  question: 'Which store?',
  options: [{ label: 'Postgres' }, { label: 'SQLite' }],
}

async function mount(options?: AutoOptions) {
  const ctx = new Context()
  await ctx.plugin(UserQuestionService)
  const provider = autoProvider(options)
  ctx.userQuestions.registerProvider(provider)
  const ask = (...questions: Question[]) => ctx.userQuestions.ask({ questions })
  const refusal = (...questions: Question[]) =>
    ask(...questions).then(
      answer => expect.fail(`answered: ${JSON.stringify(answer)}`),
      (error: unknown) => error as UserQuestionError<'ASK_UNAVAILABLE'>,
    )
  return { ctx, provider, ask, refusal }
}

describe('a script', () => {
  test('answers by id, in the words of the question', async () => {
    const { ask } = await mount({ script: { db: 'sqlite' } })
    expect(await ask(DB)).toEqual({ answers: [{ id: 'db', selected: ['SQLite'], by: 'policy' }] })
  })

  test('answers by header and by pattern', async () => {
    const { ask } = await mount({
      script: [
        { match: { header: 'Deploy' }, answer: 'No' },
        { match: { question: /which store/i }, answer: 'Postgres' },
      ],
    })
    const deploy: Question = {
      id: 'x',
      header: 'Deploy',
      question: 'Now?',
      options: [{ label: 'Yes' }, { label: 'No' }],
    }
    const { answers } = await ask(deploy, DB)
    expect(answers.map(({ selected }) => selected)).toEqual([['No'], ['Postgres']])
  })

  test('answers by function, and leaves what the function does not know to the next rule', async () => {
    const { ask } = await mount({
      script: [
        question => (question.id === 'other' ? 'x' : undefined),
        { match: { id: 'db' }, answer: 'Postgres' },
      ],
    })
    expect((await ask(DB)).answers[0]?.selected).toEqual(['Postgres'])
  })

  test('answers with several labels, with text, and with a skip', async () => {
    const multi: Question = { ...DB, id: 'multi', multiSelect: true }
    const { ask } = await mount({
      script: { multi: { selected: ['SQLite', 'Postgres'], custom: 'both' }, name: 'handraise', db: {} },
    })
    expect((await ask(multi, { id: 'name', question: 'Name?' }, DB)).answers).toEqual([
      { id: 'multi', selected: ['Postgres', 'SQLite'], custom: 'both', by: 'policy' },
      { id: 'name', selected: [], custom: 'handraise', by: 'policy' },
      { id: 'db', selected: [], by: 'policy' },
    ])
  })

  test('refuses a question that no rule covers, and says which', async () => {
    const { refusal } = await mount({ script: { db: 'SQLite' } })
    const error = await refusal({ ...DB, id: 'other' })
    expect(error).toMatchObject({ code: 'ASK_UNAVAILABLE', details: { reason: 'no-rule' } })
    expect(error.message).toContain('"other"')
  })

  test('refuses an answer that the question does not offer', async () => {
    const { refusal } = await mount({ script: { db: 'MySQL' } })
    const error = await refusal(DB)
    expect(error).toMatchObject({ code: 'ASK_UNAVAILABLE', details: { reason: 'rule-not-offered' } })
    expect(error.message).toContain('"MySQL" was not offered')
  })

  test('tells which scripted answers nobody asked for', async () => {
    const { ask, provider } = await mount({ script: { db: 'SQLite', unasked: 'x' } })
    await ask(DB)
    expect(provider.unused()).toEqual([{ match: { id: 'unasked' }, answer: 'x' }])
  })

  test('answers requests made at once, each with its own', async () => {
    const { ask, provider } = await mount({
      script: [
        async question => {
          await Promise.resolve()
          return question.id === 'a' ? 'Postgres' : 'SQLite'
        },
      ],
    })
    const ids = ['a', 'b', 'c']
    const answers = await Promise.all(ids.map(id => ask({ ...DB, id })))
    expect(answers.map(({ answers: [answer] }) => answer?.selected)).toEqual([
      ['Postgres'],
      ['SQLite'],
      ['SQLite'],
    ])
    expect(provider.transcript.map(({ question }) => question.id).toSorted()).toEqual(ids)
  })

  test('that throws fails the ask with the cause kept', async () => {
    const cause = new Error('no such fixture')
    const { refusal } = await mount({
      script: [
        () => {
          throw cause
        },
      ],
    })
    expect(await refusal(DB)).toMatchObject({ code: 'PROVIDER_FAILED', cause })
  })
})

describe('a policy', () => {
  const recommended: Question = { ...DB, options: [{ label: 'Postgres' }, { label: 'SQLite (Recommended)' }] }

  test('refuses by default', async () => {
    const { refusal, provider } = await mount()
    expect(await refusal(DB)).toMatchObject({ code: 'ASK_UNAVAILABLE', details: { reason: 'no-rule' } })
    expect(provider.transcript).toMatchObject([
      { question: { id: 'db' }, refused: expect.stringContaining('"db"') },
    ])
  })

  test('takes the recommended option with its label as offered', async () => {
    const { ask } = await mount({ policy: 'recommended' })
    expect((await ask(recommended)).answers).toEqual([
      { id: 'db', selected: ['SQLite (Recommended)'], by: 'policy' },
    ])
  })

  test('refuses a question without a recommendation', async () => {
    const { refusal } = await mount({ policy: 'recommended' })
    expect(await refusal(recommended, { ...DB, id: 'plain' })).toMatchObject({
      details: { reason: 'no-rule' },
    })
  })

  test('takes every recommended option of a multi-select', async () => {
    const { ask } = await mount({ policy: 'recommended' })
    const question: Question = {
      id: 'm',
      question: 'Which?',
      multiSelect: true,
      options: [{ label: 'A (Recommended)' }, { label: 'B' }, { label: 'C（推荐）' }],
    }
    expect((await ask(question)).answers[0]?.selected).toEqual(['A (Recommended)', 'C（推荐）'])
  })

  test('takes the first option', async () => {
    const { ask } = await mount({ policy: 'first' })
    expect((await ask(DB)).answers[0]?.selected).toEqual(['Postgres'])
  })

  test('never answers a question without options, nor a guarded one', async () => {
    const { refusal } = await mount({ policy: 'first' })
    expect(await refusal({ id: 'name', question: 'Name?' })).toMatchObject({ details: { reason: 'no-rule' } })
    expect(await refusal({ ...DB, guarded: true })).toMatchObject({ details: { reason: 'no-rule' } })
  })

  test('answers only what the script leaves', async () => {
    const { ask, provider } = await mount({ script: { db: 'SQLite' }, policy: 'first' })
    await ask(DB, { ...DB, id: 'rest' })
    expect(provider.transcript.map(({ by }) => by)).toEqual([
      { match: { id: 'db' }, answer: 'SQLite' },
      'first',
    ])
  })
})

describe('a script file', () => {
  test('holds answers by id, or rules with patterns', () => {
    expect(readScript({ db: 'SQLite', skipped: {} })).toEqual({ db: 'SQLite', skipped: {} })
    expect(readScript([{ match: { question: '/deploy/i' }, answer: ['No'] }])).toEqual([
      { match: { question: /deploy/i }, answer: ['No'] },
    ])
  })

  test.each<[unknown, string]>([
    [[{ match: {}, answer: 'x' }], '[0].match: needs at least one'],
    [[{ match: { id: '/(/' }, answer: 'x' }], '[0].match.id: is no regular expression'],
    [[{ match: { id: 'a' } }], '[0].answer: expected a label'],
    [{ a: 7 }, 'a: expected a label'],
    [{ a: { selected: 'x' } }, 'a: expected a label'],
    [7, 'expected record'],
  ])('that says %j is refused, naming the place', (script, message) => {
    expect(() => readScript(script)).toThrow(message)
  })
})

test('a function that returns no answer fails the ask, and the transcript says so', async () => {
  for (const returned of [7, null, { chosen: 'x' }]) {
    const { refusal, provider } = await mount({ script: [() => returned as never] })
    expect(await refusal(DB)).toMatchObject({ code: 'PROVIDER_FAILED' })
    expect(provider.transcript).toMatchObject([{ refused: expect.stringContaining('returned no answer') }])
  }
})

test('a policy or a script that is none is refused at once', () => {
  expect(() => autoProvider({ policy: 'always' as never })).toThrow('refuse, recommended, first')
  expect(() => autoProvider({ script: 7 as never })).toThrow('script')
})

test('two recommendations for one choice are no recommendation', async () => {
  const { refusal } = await mount({ policy: 'recommended' })
  const options = [{ label: 'A (Recommended)' }, { label: 'B (Recommended)' }]
  expect(await refusal({ ...DB, options })).toMatchObject({ details: { reason: 'no-rule' } })
})
