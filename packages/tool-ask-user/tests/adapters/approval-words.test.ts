import { approveTools } from '@handraise/tool-ask-user/claude-agent'
import { describeOutcome, type ApprovalOutcome } from '@handraise/user-approvals'
import { expect, test } from 'vitest'

const decided = {
  outcome: 'decided',
  approvalId: '1',
  decision: 'denied',
  policyResult: 'deny',
  scope: 'once',
  requirements: [],
} as const
const undecided = [
  'declined',
  'cancelled',
  'interrupted',
  'timedOut',
  'aborted',
  'unavailable',
  'pending',
] as const

const OUTCOMES: readonly ApprovalOutcome[] = [
  { ...decided, resolvedBy: 'user' },
  { ...decided, resolvedBy: 'user', feedback: 'Say "please".' },
  { ...decided, resolvedBy: 'policy' },
  { ...decided, resolvedBy: 'policy', why: 'a rule' },
  ...undecided.flatMap(outcome => [
    { outcome, approvalId: '1' },
    { outcome, approvalId: '1', reason: 'gone' },
  ]),
  { outcome: 'clarified', approvalId: '1', text: 'Why?' },
]

const decide = (outcome: ApprovalOutcome, more: object = {}) =>
  approveTools({ request: async () => outcome, ...more })(
    'Bash',
    { command: 'ls' },
    { signal: new AbortController().signal, toolUseID: '1' },
  )

test.each(OUTCOMES)('what is not allowed is told as the approvals tell it: %o', async outcome => {
  expect(await decide(outcome)).toMatchObject({ behavior: 'deny', message: describeOutcome('Bash', outcome) })
})

test('an allowance that cannot be claimed is none', async () => {
  const allowed = { ...decided, decision: 'approved', policyResult: 'allow', resolvedBy: 'user' } as const
  expect(await decide(allowed)).toMatchObject({ behavior: 'allow' })
  expect(await decide(allowed, { redeem: async () => true })).toMatchObject({ behavior: 'allow' })
  expect(await decide(allowed, { redeem: async () => false })).toMatchObject({
    behavior: 'deny',
    message: expect.stringContaining('has been started before'),
  })
  expect(await decide(allowed, { redeem: async () => undefined })).toMatchObject({
    behavior: 'deny',
    message: expect.stringContaining('could not be claimed'),
  })
  const broken = async () => {
    throw new Error('the store is closed')
  }
  expect(await decide(allowed, { redeem: broken })).toMatchObject({
    behavior: 'deny',
    message: expect.stringContaining('"the store is closed"'),
  })
})

test.each([
  undefined,
  null,
  {},
  { outcome: 'allow' },
  { outcome: 'decided', policyResult: 'ALLOW', resolvedBy: 'user' },
  { outcome: 'a new one', approvalId: '1' },
])('what is no outcome allows nothing, and is told as that: %o', async outcome => {
  expect(await decide(outcome as never)).toMatchObject({
    behavior: 'deny',
    message: expect.stringMatching(/something that is no outcome.*nobody has denied it\.$/u),
  })
})

test('what a call would do may be told in more exact terms, and what cannot be told is not asked', async () => {
  const asked: unknown[] = []
  const approver = {
    request: async (request: object): Promise<ApprovalOutcome> => {
      asked.push(request)
      return { outcome: 'unavailable', approvalId: '1' }
    },
  }
  const call = { signal: new AbortController().signal, toolUseID: '1' }
  const subject = ({ input }: { input: unknown }) =>
    ({ kind: 'shell', command: (input as { command: string }).command, cwd: '/srv' }) as const
  await approveTools(approver, { subject, session: 's1' })('Bash', { command: 'ls' }, call)
  expect(asked).toMatchObject([
    { toolName: 'Bash', callId: '1', session: 's1', subject: { kind: 'shell', command: 'ls', cwd: '/srv' } },
  ])
  const broken = () => {
    throw new Error('no such tool')
  }
  expect(await approveTools(approver, { subject: broken })('Bash', {}, call)).toMatchObject({
    behavior: 'deny',
    message: expect.stringContaining('"no such tool"'),
  })
  expect(asked).toHaveLength(1)
})
