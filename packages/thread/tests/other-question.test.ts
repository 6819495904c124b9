import { describe, expect, test } from 'vitest'
import { readReply, type Asked, type ThreadAnswer } from '../src/index.ts'
import { DB, promptOf, settled, startThread } from './host.ts'

const entry = (question: string, ...answer: string[]): ThreadAnswer => ({ question, answer })
const approval = (path: string) => ({
  toolName: 'rm',
  subject: { kind: 'fileAccess', access: 'delete', path } as const,
  session: 's',
})

describe('a card of another question', () => {
  test('never approves what is open', async () => {
    const { ctx, inbox, ada, handed, prompted, audited } = await startThread()
    const first = ctx.userApprovals.request(approval('/tmp/scratch'))
    const card = promptOf(await prompted())
    const [{ question } = { question: '' }] = card['questions'] as { question: string }[]
    const second = ctx.userApprovals.request(approval('/home/ada/thesis'))
    const decision = { outcome: 'answered', answer: { choiceId: 'allow_once' } } as const
    await inbox.decide(String(card['prompt_id']).slice(4), decision, { commandId: 'c', surface: 'web' })
    await first
    await audited()
    await prompted(2)
    await ada.say('Approve', { answers: [entry(question, 'Approve')] })
    await expect.poll(() => handed, { interval: 5 }).toEqual([{ text: 'Approve', why: 'other-question' }])
    await ada.say('no')
    expect(await second).toMatchObject({ policyResult: 'deny' })
  })

  test('answers nothing, not even where its text would', async () => {
    const { ask, ada, handed, prompted } = await startThread()
    const asking = ask()
    await prompted()
    await ada.say('2', { answers: [entry('Which region?', '2')] })
    await expect.poll(() => handed, { interval: 5 }).toEqual([{ text: '2', why: 'other-question' }])
    await ada.say('1')
    expect(await asking).toMatchObject({ answers: [{ selected: ['Postgres'] }] })
  })

  test('that asked the same is told by its prompt_id', async () => {
    const { ask, ada, handed, prompted } = await startThread()
    const asking = ask()
    const { prompt_id } = promptOf(await prompted())
    await ada.say('2', { answers: [entry(DB.question, 'SQLite')], prompt_id: 'prm_before' })
    await expect.poll(() => handed, { interval: 5 }).toEqual([{ text: '2', why: 'other-question' }])
    await ada.say('', { answers: [entry(DB.question, 'SQLite')], prompt_id })
    expect(await asking).toMatchObject({ answers: [{ selected: ['SQLite'] }] })
    await settled()
  })
})

describe('an approval', () => {
  const options = [{ label: 'Approve' }, { label: 'Deny' }]
  const asked: Asked = { kind: 'approval', questions: [{ id: 'q', question: 'Run?', options }] }
  const read = (text: string, answers: unknown) =>
    readReply(asked, { content: [{ type: 'text', text }], metadata: { answers } }, 'same')

  test.each([
    [[entry('Run?', 'Approve', 'Deny')]],
    [[entry('Run?')]],
    [[entry('Run?', 'Approve'), entry('Run?', 'Deny')]],
  ])('is not approved by the text of an item whose answers are %j', answers => {
    expect(read('yes', answers)).toEqual({ reads: 'approval', approval: { allowed: false } })
  })

  test('is decided by the text where the answers say nothing, or are none', () => {
    for (const answers of [[], 'yes', null, [{ question: 'Run?', answer: 'Deny' }]])
      expect(read('yes', answers)).toEqual({ reads: 'approval', approval: { allowed: true } })
  })
})
