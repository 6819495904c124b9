import { describe, expect, test } from 'vitest'
import { textOf } from '../src/index.ts'
import { DB, promptOf, settled, startThread, TARGET } from './host.ts'

const APPROVAL = { toolName: 'shell', subject: { kind: 'shell', command: 'git push', cwd: '/tmp' } } as const
const answer = (more: object) => ({ answers: [{ id: 'target', ...more }] })

describe('a prompt', () => {
  test('is an item with the question, its numbered options, and nothing else', async () => {
    const { ask, prompted, inbox } = await startThread()
    void ask([TARGET]).catch(() => {})
    const item = await prompted()
    const [request] = (await inbox.list({ state: 'pending' })).requests
    expect(item.content).toEqual([
      {
        type: 'text',
        text: [
          "What's the deployment target?",
          '  1. staging — push to staging.example.com',
          '  2. production — push to www.example.com',
        ].join('\n'),
      },
    ])
    expect(item.metadata).toMatchObject({ type: 'pending_prompt' })
    expect(promptOf(item)).toEqual({
      prompt_id: `prm_${request?.id}`,
      kind: 'ask_user_question',
      prompt_state: 'pending',
      questions: [
        {
          question: "What's the deployment target?",
          multiSelect: false,
          options: [
            { label: 'staging', description: 'push to staging.example.com' },
            { label: 'production', description: 'push to www.example.com' },
          ],
        },
      ],
    })
  })

  test('of several questions numbers the options of each anew', async () => {
    const { ask, prompted } = await startThread()
    const checks = { id: 'c', question: 'Which checks?', options: [{ label: 'Lint' }], multiSelect: true }
    void ask([DB, checks, { id: 'n', question: 'Notes?' }]).catch(() => {})
    const item = await prompted()
    const text = 'Which store?\n  1. Postgres\n  2. SQLite\n\nWhich checks?\n  1. Lint\n\nNotes?'
    expect(textOf(item)).toBe(text)
    expect(promptOf(item)['questions']).toMatchObject([{}, { multiSelect: true }, { multiSelect: false }])
  })

  test('of an approval is one question, Approve or Deny, with the exact subject', async () => {
    const { ctx, prompted } = await startThread()
    void ctx.userApprovals.request(APPROVAL)
    const item = await prompted()
    expect(promptOf(item)).toMatchObject({
      kind: 'approval',
      questions: [{ multiSelect: false, options: [{ label: 'Approve' }, { label: 'Deny' }] }],
    })
    expect(textOf(item)).toContain('git push')
    expect(textOf(item)).toMatch(/\n {2}1\. Approve\n {2}2\. Deny$/u)
  })
})

describe('the resolution', () => {
  test('of an answered prompt carries the answers, and no reason', async () => {
    const { ask, ada, prompted, audited } = await startThread()
    const asking = ask([TARGET])
    const prompt = await prompted()
    await ada.say('1')
    expect(await asking).toEqual(answer({ selected: ['staging'] }))
    const item = await audited()
    expect(textOf(item)).toBe('✓ Answered: staging')
    expect(item.metadata).toMatchObject({ type: 'pending_prompt_resolved' })
    expect(promptOf(item)).toEqual({
      prompt_id: promptOf(prompt)['prompt_id'],
      kind: 'ask_user_question',
      prompt_state: 'answered',
      answers: [{ question: "What's the deployment target?", answer: ['staging'] }],
    })
  })

  test('of a prompt that was given structured answers sums them up', async () => {
    const { ask, ada, prompted, audited } = await startThread()
    const source = { id: 'a', question: 'Where from?', options: [{ label: 'CSV import' }] }
    const sections = ['KPI cards', 'Table', 'Chart'].map(label => ({ label }))
    const which = { id: 'b', question: 'Which sections?', options: sections, multiSelect: true }
    const asking = ask([source, which, { id: 'c', question: 'Any style?' }])
    await prompted()
    await ada.say('a summary', {
      answers: [
        { question: 'Where from?', answer: ['CSV import'] },
        { question: 'Which sections?', answer: ['KPI cards', 'Table'] },
        { question: 'Any style?', answer: ['dark theme'] },
      ],
    })
    expect(await asking).toEqual({
      answers: [
        { id: 'a', selected: ['CSV import'] },
        { id: 'b', selected: ['KPI cards', 'Table'] },
        { id: 'c', selected: [], custom: 'dark theme' },
      ],
    })
    expect(textOf(await audited())).toBe('✓ Answered: CSV import · KPI cards, Table · dark theme')
  })
})

const numbered = { ...TARGET, multiSelect: true }
const free = { id: 'target', question: 'Anything else?' }

describe('a text answer is mapped', () => {
  test.each([
    ['a bare number, to the label of that option', TARGET, '2', { selected: ['production'] }],
    ['a label in any case, to that label', TARGET, 'STAGING', { selected: ['staging'] }],
    ['anything else, to the raw text', TARGET, 'the blue one', { selected: [], custom: 'the blue one' }],
    ['a number there is no option of, to the raw text', TARGET, '3', { selected: [], custom: '3' }],
    ['several numbers by comma', numbered, '2, 1', { selected: ['staging', 'production'] }],
    ['several numbers by space', numbered, '1 2', { selected: ['staging', 'production'] }],
    ['one number of many that could be', numbered, '1', { selected: ['staging'] }],
    ['free text, word for word', free, 'Dark, please.', { selected: [], custom: 'Dark, please.' }],
  ])('%s', async (_, question, text, expected) => {
    const { ask, ada, prompted } = await startThread()
    const asking = ask([question])
    await prompted()
    await ada.say(text)
    expect(await asking).toEqual(answer(expected))
  })

  test('of several questions, against each by itself', async () => {
    const { ask, ada, prompted, audited } = await startThread()
    const asking = ask([TARGET, DB, { id: 'n', question: 'Notes?' }])
    await prompted()
    await ada.say('2')
    expect(await asking).toEqual({
      answers: [
        { id: 'target', selected: ['production'] },
        { id: 'db', selected: ['SQLite'] },
        { id: 'n', selected: [], custom: '2' },
      ],
    })
    expect(textOf(await audited())).toBe('✓ Answered: production · SQLite · 2')
  })

  test.each(['approve', 'approved', 'yes', 'y', 'ok', 'allow', '1', ' YES ', 'Approve'])(
    'an approval by %j, to Approve',
    async word => {
      const { ctx, ada, prompted, audited } = await startThread()
      const asking = ctx.userApprovals.request(APPROVAL)
      await prompted()
      await ada.say(word)
      expect(await asking).toMatchObject({ outcome: 'decided', policyResult: 'allow', scope: 'once' })
      const item = await audited()
      expect(promptOf(item)['answers']).toMatchObject([{ answer: ['Approve'] }])
      expect(textOf(item)).toBe('✓ Answered: Approve')
    },
  )

  test.each([
    ['yes but not now', 'yes but not now'],
    ['sure?', 'sure?'],
    ['Yes.', 'Yes.'],
    ['no', undefined],
    ['Deny', undefined],
    ['2', undefined],
    ['11', '11'],
    ['/approve', '/approve'],
  ])('an approval by %j, to Deny', async (word, feedback) => {
    const { ctx, ada, prompted, audited } = await startThread()
    const asking = ctx.userApprovals.request(APPROVAL)
    await prompted()
    await ada.say(word)
    const outcome = await asking
    expect(outcome).toMatchObject({ outcome: 'decided', policyResult: 'deny', resolvedBy: 'user' })
    expect('feedback' in outcome ? outcome.feedback : undefined).toBe(feedback)
    expect(promptOf(await audited())['answers']).toMatchObject([{ answer: ['Deny'] }])
  })

  test('a prompt of the kind text, to what was written, as it stands', async () => {
    const { ctx, ada, prompted, audited } = await startThread()
    ctx.inbox.registerKind({
      name: 'note',
      check: (_, note) => (typeof note === 'string' ? { ok: true, answer: note } : { ok: false, issues: [] }),
      asQuestions: () => [{ id: 'note', question: 'What is to be noted?' }],
      fromAnswers: (__, [given]) => given?.custom ?? '',
    })
    const asking = ctx.inbox.request({ kind: 'note', payload: {} })
    expect(promptOf(await prompted())['kind']).toBe('text')
    await ada.say('/tmp is full ')
    expect((await asking).settlement.answer).toBe('/tmp is full ')
    expect(promptOf(await audited())).toMatchObject({
      kind: 'text',
      answers: [{ question: 'What is to be noted?', answer: ['/tmp is full '] }],
    })
  })

  test('an item without text answers nothing, not even an approval', async () => {
    const { ctx, ada, handed, prompted, prompts, resolved } = await startThread()
    void ctx.userApprovals.request(APPROVAL)
    await prompted()
    await ada.say('  ')
    await ada.post({ content: [{ type: 'image' }] })
    await expect.poll(() => handed.length).toBe(2)
    expect(handed.map(({ why }) => why)).toEqual(['empty', 'empty'])
    await settled()
    expect([prompts().length, resolved().length]).toEqual([1, 0])
  })
})
