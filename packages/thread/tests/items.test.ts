import { describe, expect, test } from 'vitest'
import { pendingPromptSchema, promptResolvedSchema, threadAnswersSchema } from '../src/index.ts'
import { promptOf, startThread, TARGET } from './host.ts'

const APPROVAL = { toolName: 'shell', subject: { kind: 'shell', command: 'git push', cwd: '/tmp' } } as const
const NOTE = {
  name: 'note',
  check: (_: unknown, note: unknown) =>
    typeof note === 'string' ? ({ ok: true, answer: note } as const) : ({ ok: false, issues: [] } as const),
  asQuestions: () => [{ id: 'note', question: 'What is to be noted?' }],
  fromAnswers: (_: unknown, [given]: readonly { custom?: string | undefined }[]) => given?.custom ?? '',
}

type Started = Awaited<ReturnType<typeof startThread>>
const asks: [kind: string, ask: (host: Started) => unknown, reply: string][] = [
  ['approval', ({ ctx }) => ctx.userApprovals.request(APPROVAL), 'yes'],
  ['ask_user_question', ({ ask }) => ask([TARGET, { id: 'n', question: 'Notes?' }]), '1'],
  ['text', ({ ctx }) => ctx.inbox.request({ kind: 'note', payload: {} }), 'a note'],
]

test.each(asks)(
  'the items of the kind %s come out of their schemas as they went in',
  async (kind, ask, reply) => {
    const host = await startThread()
    host.ctx.inbox.registerKind(NOTE)
    void ask(host)
    const prompt = await host.prompted()
    await host.ada.say(reply)
    const resolution = await host.audited()
    for (const [schema, { metadata }] of [
      [pendingPromptSchema, prompt],
      [promptResolvedSchema, resolution],
    ] as const) {
      const json: unknown = JSON.parse(JSON.stringify(metadata))
      expect(schema.parse(json)).toEqual(json)
    }
    expect([promptOf(prompt)['kind'], promptOf(resolution)['kind']]).toEqual([kind, kind])
  },
)

describe('the schemas refuse', () => {
  const prompt = { prompt_id: 'prm_1', kind: 'ask_user_question' }
  const resolved = (state: object) => ({ type: 'pending_prompt_resolved', prompt: { ...prompt, ...state } })
  const pending = (more: object) => ({
    type: 'pending_prompt',
    prompt: { ...prompt, prompt_state: 'pending', questions: [{ question: 'Which?' }], ...more },
  })

  test.each([
    ['both an answer and a reason', { prompt_state: 'answered', answers: [], reason: 'x' }],
    ['a reason with answers', { prompt_state: 'cancelled', answers: [], reason: 'x' }],
    ['neither', { prompt_state: 'answered' }],
    ['a third state', { prompt_state: 'expired', reason: 'x' }],
  ])('a resolution with %s', (_, state) => {
    expect(promptResolvedSchema.safeParse(resolved(state)).success).toBe(false)
  })

  test.each([
    ['without a question', { questions: [] }],
    [
      'that is a text with options',
      { kind: 'text', questions: [{ question: '?', options: [{ label: 'a' }] }] },
    ],
    ['that is an approval with other options', { kind: 'approval' }],
    ['that is not pending', { prompt_state: 'answered' }],
    ['of a kind nobody knows', { kind: 'vote' }],
  ])('a prompt %s', (_, more) => {
    expect(pendingPromptSchema.safeParse(pending({})).success).toBe(true)
    expect(pendingPromptSchema.safeParse(pending(more)).success).toBe(false)
  })

  test('structured answers that are no lists', () => {
    const of = (answer: unknown) =>
      threadAnswersSchema.safeParse({ answers: [{ question: '?', answer }] }).success
    expect([of(['a']), of([]), of('a'), of([1])]).toEqual([true, true, false, false])
  })
})
