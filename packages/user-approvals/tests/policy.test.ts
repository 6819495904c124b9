import { APPROVAL_MODES, decideByPolicy, isAllowed, type ApprovalMode } from '@handraise/user-approvals'
import { describe, expect, test } from 'vitest'
import { startHost } from './host.ts'

const cases: ReadonlyArray<
  [ApprovalMode, { matched?: true; protected?: true; requested?: true }, 'allow' | 'deny' | 'ask']
> = [
  ['allowAll', {}, 'allow'],
  ['allowAll', { matched: true }, 'allow'],
  ['allowAll', { requested: true }, 'allow'],
  ['allowAll', { protected: true }, 'ask'],
  ['allowAll', { protected: true, matched: true }, 'ask'],
  ['promptUnmatched', {}, 'ask'],
  ['promptUnmatched', { requested: true }, 'ask'],
  ['promptUnmatched', { matched: true }, 'allow'],
  ['promptUnmatched', { protected: true, matched: true }, 'ask'],
  ['onRequest', {}, 'allow'],
  ['onRequest', { requested: true }, 'ask'],
  ['onRequest', { requested: true, matched: true }, 'allow'],
  ['onRequest', { protected: true }, 'ask'],
  ['denyUnmatched', {}, 'deny'],
  ['denyUnmatched', { requested: true }, 'deny'],
  ['denyUnmatched', { matched: true }, 'allow'],
  ['denyUnmatched', { protected: true }, 'deny'],
  ['denyUnmatched', { protected: true, matched: true }, 'deny'],
]

test.each(cases)('the mode %s, with %j, comes to %s', (mode, facts, verdict) => {
  const all = { matched: false, protected: false, requested: false, ...facts }
  expect(decideByPolicy(mode, all)).toBe(verdict)
})

describe('the mode of a session', () => {
  test.each([
    ['allowAll', 'allow', 'the mode allowAll'],
    ['denyUnmatched', 'deny', 'the mode denyUnmatched'],
    ['onRequest', 'allow', 'the mode onRequest'],
  ] as const)('%s decides before anybody is asked, and says so', async (mode, policyResult, why) => {
    const { ctx, request, inbox } = await startHost()
    await ctx.userApprovals.setMode('s1', mode)
    const outcome = await request({ session: 's1' })
    expect(outcome).toMatchObject({ outcome: 'decided', policyResult, resolvedBy: 'policy', why })
    expect((await inbox.list({ state: 'pending' })).requests).toEqual([])
    expect((await inbox.list({ state: 'settled' })).requests).toEqual([])
  })

  test('is its own: other sessions keep theirs, and its end takes it away', async () => {
    const { ctx, request, decide } = await startHost({ mode: 'denyUnmatched' })
    await ctx.userApprovals.setMode('s1', 'promptUnmatched')
    expect(await request({ session: 's2' })).toMatchObject({ policyResult: 'deny' })
    const outcome = request({ session: 's1' })
    await decide('allow_once')
    expect(isAllowed(await outcome)).toBe(true)
    await ctx.userApprovals.endSession('s1')
    expect(await ctx.userApprovals.mode('s1')).toBe('denyUnmatched')
  })

  test('that is changed decides nothing that is pending', async () => {
    const { ctx, request, waiting, decide } = await startHost()
    const outcome = request({ session: 's1', callId: 'call-1' })
    const { id } = await waiting()
    for (const mode of APPROVAL_MODES) await ctx.userApprovals.setMode('s1', mode)
    await ctx.userApprovals.setMode('s1', 'allowAll')
    expect((await waiting()).id).toBe(id)
    const again = request({ session: 's1', callId: 'call-1' })
    await decide('deny')
    expect(await outcome).toMatchObject({ policyResult: 'deny', resolvedBy: 'user' })
    expect(await again).toMatchObject({ policyResult: 'deny', resolvedBy: 'user' })
  })

  test('and a rule, however wide, answer no question', async () => {
    const { ctx, request, decide, pending, inbox } = await startHost({ mode: 'allowAll' })
    await ctx.userApprovals.setMode('', 'promptUnmatched')
    const outcome = request()
    await decide('allow_always')
    await outcome
    await ctx.userApprovals.setMode('', 'allowAll')
    const asked = ctx.userQuestions.ask({
      questions: [
        { id: 'db', question: 'Which store?', options: [{ label: 'Postgres' }, { label: 'SQLite' }] },
      ],
    })
    const [question] = await pending()
    const answer = { answers: [{ id: 'db', selected: ['SQLite'] }] }
    await inbox.decide(
      question?.id ?? '',
      { outcome: 'answered', answer },
      { commandId: 'c', surface: 'web' },
    )
    expect(await asked).toEqual({ answers: [{ id: 'db', selected: ['SQLite'] }] })
  })

  test('that cannot be read asks a person', async () => {
    const { ctx, request, decide, inbox } = await startHost({ mode: 'allowAll' })
    await inbox.store.writeRecords([{ namespace: 'approval-modes', key: 's1', value: { mode: 'yolo' } }])
    expect(await ctx.userApprovals.mode('s1')).toBe('promptUnmatched')
    const outcome = request({ session: 's1' })
    await decide('deny')
    expect(await outcome).toMatchObject({ resolvedBy: 'user' })
  })
})
