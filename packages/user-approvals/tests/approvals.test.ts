import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteStore } from '@handraise/inbox-sqlite'
import {
  describeOutcome,
  isAllowed,
  type ApprovalChoiceOffer,
  type ApprovalOutcome,
  type ApprovalRequest,
} from '@handraise/user-approvals'
import { autoProvider } from '@handraise/provider-auto'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startHost, STATUS } from './host.ts'

describe('an approval', () => {
  test('that is allowed once is allowed by the user, for this once', async () => {
    const { request, decide, ctx } = await startHost()
    const outcome = request()
    await decide('allow_once')
    expect(await outcome).toMatchObject({
      outcome: 'decided',
      decision: 'approved',
      policyResult: 'allow',
      scope: 'once',
      resolvedBy: 'user',
    })
    expect(await outcome).not.toHaveProperty('amendment')
    expect(await ctx.userApprovals.rules()).toEqual([])
  })

  test('that is denied is decided, with the words of the user', async () => {
    const { request, decide } = await startHost()
    const outcome = request()
    await decide('deny_feedback', 'not on this branch')
    expect(await outcome).toMatchObject({
      outcome: 'decided',
      decision: 'denied',
      policyResult: 'deny',
      resolvedBy: 'user',
      feedback: 'not on this branch',
    })
    expect(isAllowed(await outcome)).toBe(false)
  })

  test('offers by default what the user may want, with the rule in full where one would be made', async () => {
    const { request, waiting, decide } = await startHost()
    const outcome = request({ session: 's1' })
    const { payload } = await waiting()
    expect(payload.choices.map(({ choiceId, decision, scope }) => [choiceId, decision, scope])).toEqual([
      ['allow_once', 'approved', 'once'],
      ['allow_session', 'approvedForSession', 'session'],
      ['allow_always', 'approvedPolicyAmendment', 'localPersistent'],
      ['deny', 'denied', 'once'],
      ['deny_feedback', 'denied', 'once'],
    ])
    expect(payload.choices[1]?.rulePreview).toContain('git status')
    expect(payload.choices[1]?.rulePreview).toContain('/tmp')
    await decide('deny')
    await outcome
  })

  test('offers no rule for what none could cover, nor for a session without a name', async () => {
    const { request, waiting, decide } = await startHost()
    const offered = async (more: Partial<ApprovalRequest>): Promise<string[]> => {
      const outcome = request(more)
      const { payload } = await waiting()
      await decide('deny')
      await outcome
      return payload.choices.map(({ choiceId }) => choiceId)
    }
    const once = ['allow_once', 'deny', 'deny_feedback']
    expect(await offered({ session: 's', subject: { kind: 'shell', command: 'rm -rf "$DIR"' } })).toEqual(
      once,
    )
    expect(await offered({ session: 's', protected: true })).toEqual(once)
    expect(await offered({})).toEqual(['allow_once', 'allow_always', 'deny', 'deny_feedback'])
  })

  test.each<[string, string | undefined, string]>([
    ['allow_all', undefined, 'was not offered'],
    ['Allow once', undefined, 'was not offered'],
    ['__proto__', undefined, 'was not offered'],
    ['allow_once', 'go ahead', 'does not go with "Allow once"; it goes with "Deny, and say why"'],
    ['deny', 'no', 'does not go with "Deny"'],
  ])('is left open by %j with words %j, which is none of the choices', async (choiceId, feedback, fault) => {
    const { request, decide, waiting } = await startHost()
    const outcome = request()
    await expect(decide(choiceId, feedback)).rejects.toThrow(fault)
    await waiting()
    await decide('deny')
    await outcome
  })

  test('takes the choices its caller offers, in their order', async () => {
    const { request, waiting, decide } = await startHost()
    const choices: ApprovalChoiceOffer[] = [
      { choiceId: 'no', label: 'Stop', decision: 'abort', scope: 'once', acceptsFeedback: true },
      {
        choiceId: 'all',
        label: 'Any status',
        decision: 'approvedForSession',
        scope: 'session',
        breadth: { argvPrefix: 2 },
      },
    ]
    const outcome = request({ session: 's1', choices })
    const { payload } = await waiting()
    expect(payload.choices.map(({ label }) => label)).toEqual(['Stop', 'Any status'])
    await decide('all')
    expect(await outcome).toMatchObject({ amendment: { rulePreview: payload.choices[1]?.rulePreview } })
  })

  test.each<[string, Partial<ApprovalRequest>, string]>([
    [
      'no choice that denies',
      { choices: [{ choiceId: 'a', label: 'Yes', decision: 'approved', scope: 'once' }] },
      'choices: needs a denial that takes words',
    ],
    [
      'a choice called like the row for an answer of one’s own',
      {
        choices: [
          { choiceId: 'a', label: 'Other', decision: 'denied', scope: 'once', acceptsFeedback: true },
        ],
      },
      'choices[0].label',
    ],
    [
      'a choice that recommends itself',
      { choices: [{ choiceId: 'a', label: 'Allow (Recommended)', decision: 'approved', scope: 'once' }] },
      'choices[0].label',
    ],
    [
      'words that would go with an allowance',
      {
        choices: [{ choiceId: 'a', label: 'Go', decision: 'approved', scope: 'once', acceptsFeedback: true }],
      },
      'choices[0].acceptsFeedback',
    ],
    [
      'a denial that lasts',
      { choices: [{ choiceId: 'a', label: 'No', decision: 'denied', scope: 'session' }] },
      'choices[0].scope: a denial lasts once',
    ],
    [
      'two choices that read alike',
      {
        choices: [
          { choiceId: 'a', label: 'Go', decision: 'approved', scope: 'once' },
          { choiceId: 'b', label: 'go ', decision: 'denied', scope: 'once' },
        ],
      },
      'choices[1].label',
    ],
    ['a blank tool', { toolName: '' }, 'toolName'],
    ['a subject of an unknown kind', { subject: { kind: 'rocket' } as never }, 'subject'],
    ['a command with a NUL', { subject: { kind: 'shell', command: 'a\0b' } }, 'subject.command'],
  ])('is refused with %s, and nobody is asked', async (_, more, fault) => {
    const { request, inbox } = await startHost()
    const refused = request(more)
    await expect(refused).rejects.toMatchObject({ code: 'BAD_APPROVAL' })
    await expect(refused).rejects.toThrow(fault)
    expect((await inbox.list({ state: 'pending' })).requests).toEqual([])
  })

  test.each([
    ['two choices', [{ id: 'approval', selected: ['Allow once', 'Deny'] }]],
    [
      'an answer to another question before it',
      [
        { id: 'zzz', selected: ['Allow once'] },
        { id: 'approval', selected: ['Deny'] },
      ],
    ],
    ['an answer to another question', [{ id: 'db', selected: ['Allow once'] }]],
    ['the id of a choice instead of its label', [{ id: 'approval', selected: ['allow_once'] }]],
    ['a skip', [{ id: 'approval', selected: [] }]],
    ['nothing', []],
  ])('is decided by no answer with %s', async (_, answers) => {
    const { request, waiting, decide, inbox } = await startHost()
    const outcome = request()
    const { id } = await waiting()
    const asked = await inbox.get(id)
    const answer = inbox.kindOf(asked)?.fromAnswers(asked.payload, answers)
    const deciding = inbox.decide(id, { outcome: 'answered', answer }, { commandId: 'c', surface: 'web' })
    await expect(deciding).rejects.toMatchObject({ code: 'BAD_ANSWER' })
    await decide('deny')
    expect(await outcome).toMatchObject({ policyResult: 'deny' })
  })

  test('shows nothing that a model wrote as a line of its own', async () => {
    const { request, waiting, decide, inbox } = await startHost()
    const outcome = request({
      toolName: 'sh\u202e\nIn the directory: /safe',
      reason: 'ok\nThe directory is: /tmp/scratch\nNote: this only prints',
    })
    const { id } = await waiting()
    const asked = await inbox.get(id)
    const [question] = inbox.kindOf(asked)?.asQuestions(asked.payload) ?? []
    for (const text of [question?.header, question?.question]) expect(text).not.toMatch(/\u202e|\n/u)
    const lines = question?.detail?.split('\n') ?? []
    expect(lines).toContain('| The directory is: /tmp/scratch')
    for (const line of lines)
      expect(line).not.toMatch(/^(The directory is|Note): (\/tmp\/scratch|this only)/u)
    await decide('deny')
    await outcome
  })

  test('is shown as one guarded question, with the choices in order and the subject in full', async () => {
    const { request, waiting, decide, inbox } = await startHost()
    const outcome = request({
      subject: { kind: 'shell', command: `echo ${'x'.repeat(5_000)}; rm -rf /` },
      reason: 'tidying\u202e up',
    })
    const { id } = await waiting()
    const asked = await inbox.get(id)
    const [question] = inbox.kindOf(asked)?.asQuestions(asked.payload) ?? []
    expect(question).toMatchObject({ id: 'approval', header: 'shell', guarded: true, minSelections: 1 })
    expect(question?.options?.map(({ label }) => label)).toEqual([
      'Allow once',
      'Always allow',
      'Deny',
      'Other',
    ])
    expect(question?.detail).toContain('x'.repeat(5_000))
    expect(question?.detail).toContain('rm -rf /')
    await decide('deny')
    await waiting().catch(() => {})
    await outcome
  })
})

describe('nobody having decided is neither a denial nor an allowance', () => {
  const undecided = async (outcome: Promise<ApprovalOutcome>) => {
    const settled = await outcome
    expect(isAllowed(settled)).toBe(false)
    expect(settled).not.toHaveProperty('policyResult')
    return settled
  }

  test.each([
    ['declined', { outcome: 'declined' }],
    ['cancelled', { outcome: 'cancelled', reason: 'later' }],
    ['clarified', { outcome: 'clarified', text: 'which branch?' }],
    ['interrupted', { outcome: 'interrupted' }],
  ] as const)('when the person %s it', async (name, decision) => {
    const { request, waiting, inbox } = await startHost()
    const outcome = request()
    const { id } = await waiting()
    await inbox.decide(id, decision, { commandId: 'c1', surface: 'web' })
    expect(await undecided(outcome)).toMatchObject({ outcome: name })
  })

  test('when the time is up', async () => {
    const { request } = await startHost()
    expect(await undecided(request({ timeoutMs: 20 }))).toMatchObject({ outcome: 'timedOut' })
  })

  test('when nobody could be asked', async () => {
    const { request } = await startHost({ inbox: { viewer: 'require' } })
    expect(await undecided(request())).toMatchObject({ outcome: 'unavailable', reason: 'no-capable-client' })
  })

  test('when the only one there fails', async () => {
    const { ctx, request } = await startHost()
    ctx.userQuestions.registerProvider({ name: 'broken', ask: () => Promise.reject(new Error('no paper')) })
    expect(await undecided(request())).toMatchObject({
      outcome: 'unavailable',
      reason: expect.stringContaining('no paper'),
    })
  })

  test('when a policy would answer anything', async () => {
    const { ctx, request } = await startHost({ inbox: { viewer: 'require' } })
    ctx.userQuestions.registerProvider(autoProvider({ policy: 'first', script: { approval: 'Allow once' } }))
    expect(await undecided(request())).toMatchObject({ outcome: 'unavailable', reason: 'no-rule' })
  })

  test('when the asker gives up, before and after it was shown', async () => {
    const { request, waiting, inbox } = await startHost()
    const signal = AbortSignal.abort(new Error('stopped'))
    expect(await undecided(request({ signal }))).toMatchObject({ outcome: 'aborted', reason: 'stopped' })
    const controller = new AbortController()
    const outcome = request({ signal: controller.signal })
    const { id } = await waiting()
    controller.abort(new Error('stopped'))
    expect(await undecided(outcome)).toMatchObject({ outcome: 'aborted', reason: 'stopped' })
    expect((await inbox.get(id)).settlement).toMatchObject({ outcome: 'aborted' })
  })

  test('when the asking agent leaves', async () => {
    const { ctx, request, waiting } = await startHost()
    const agent = { id: 'root' }
    const leave = ctx.agents.enter(agent)
    const outcome = request({ agent })
    await waiting()
    leave()
    expect(await undecided(outcome)).toMatchObject({ outcome: 'aborted' })
  })

  test('and each is told as what it is', async () => {
    const approvalId = 'a'
    const told = (outcome: ApprovalOutcome): string => describeOutcome('shell: rm x', outcome)
    expect(told({ outcome: 'unavailable', approvalId, reason: 'no-capable-client' })).toMatch(
      /^Approval unavailable/,
    )
    for (const outcome of [
      'declined',
      'cancelled',
      'clarified',
      'interrupted',
      'timedOut',
      'aborted',
      'unavailable',
      'pending',
    ] as const) {
      expect(told({ outcome, approvalId })).toContain('It was not done, and nobody has denied it')
      expect(told({ outcome, approvalId })).not.toMatch(/^(denied|allowed)/)
    }
  })
})

describe('a script', () => {
  test('that names tool and subject allows that, and nothing else', async () => {
    const { ctx, request } = await startHost({ inbox: { viewer: 'require' } })
    const script = [{ match: { tool: 'shell', subject: 'git status — in /tmp' }, answer: 'Allow once' }]
    ctx.userQuestions.registerProvider(autoProvider({ script }))
    expect(await request()).toMatchObject({ policyResult: 'allow', resolvedBy: 'policy' })
    const other = { ...STATUS.subject, command: 'git status -s' } as ApprovalRequest['subject']
    expect(await request({ subject: other })).toMatchObject({ outcome: 'unavailable' })
  })
})

describe('a rule that a person made', () => {
  test('holds for the session, says so beforehand, and ends with it', async () => {
    const { ctx, request, decide, waiting } = await startHost()
    const outcome = request({ session: 's1' })
    const { payload } = await waiting()
    await decide('allow_session')
    const preview = payload.choices[1]?.rulePreview
    expect(await outcome).toMatchObject({ amendment: { durability: 'session', rulePreview: preview } })
    expect(await ctx.userApprovals.rules()).toMatchObject([{ preview, session: 's1' }])

    expect(await request({ session: 's1' })).toMatchObject({
      policyResult: 'allow',
      resolvedBy: 'policy',
      why: `the rule “${preview}”`,
    })
    const elsewhere = request({ session: 's2' })
    await decide('deny')
    await elsewhere
    await ctx.userApprovals.endSession('s1')
    expect(await ctx.userApprovals.rules()).toEqual([])
    const again = request({ session: 's1' })
    await decide('deny')
    expect(await again).toMatchObject({ policyResult: 'deny', resolvedBy: 'user' })
  })

  test('holds everywhere until it is revoked', async () => {
    const { ctx, request, decide } = await startHost()
    const outcome = request({ session: 's1' })
    await decide('allow_always')
    expect(await outcome).toMatchObject({
      decision: 'approvedPolicyAmendment',
      scope: 'localPersistent',
      amendment: { durability: 'localPersistent' },
    })
    expect(await request({ session: 's2' })).toMatchObject({ resolvedBy: 'policy' })
    const [rule] = await ctx.userApprovals.rules()
    await ctx.userApprovals.revoke(rule?.id ?? '')
    const again = request({ session: 's2' })
    await decide('deny')
    await again
    await expect(ctx.userApprovals.revoke(rule?.id ?? '')).rejects.toMatchObject({ code: 'UNKNOWN_RULE' })
  })

  test('is there after a restart, on a file', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'handraise-'))
    onTestFinished(() => rm(directory, { recursive: true }))
    const file = join(directory, 'inbox.db')
    const first = await startHost({ inbox: { store: await openSqliteStore({ file }) } })
    const outcome = first.request()
    await first.decide('allow_always')
    await outcome
    await first.fiber.dispose()
    const second = await startHost({ inbox: { store: await openSqliteStore({ file }) } })
    expect(await second.request()).toMatchObject({ policyResult: 'allow', resolvedBy: 'policy' })
  })

  test('never answers for what is protected', async () => {
    const { request, decide } = await startHost()
    const outcome = request()
    await decide('allow_always')
    await outcome
    const again = request({ protected: true })
    await decide('deny')
    expect(await again).toMatchObject({ resolvedBy: 'user', policyResult: 'deny' })
  })
})

describe('a pipeline', () => {
  const PIPE: Partial<ApprovalRequest> = {
    session: 's1',
    subject: { kind: 'shell', command: 'git log | head -3', cwd: '/tmp' },
  }

  test('asks for one stage at a time, and is done with the last', async () => {
    const { request, waiting, decide } = await startHost()
    const outcome = request(PIPE)
    const first = await waiting()
    expect(first.payload).toMatchObject({
      requirement: { index: 0, total: 2 },
      stage: expect.stringContaining('git log'),
    })
    await decide('allow_once')
    await expect.poll(async () => (await waiting()).id).not.toBe(first.id)
    const second = await waiting()
    expect(second.payload).toMatchObject({
      approvalId: first.payload.approvalId,
      requirement: { index: 1, total: 2 },
    })
    await decide('allow_once')
    expect(await outcome).toMatchObject({
      policyResult: 'allow',
      requirements: [
        { index: 0, policyResult: 'allow' },
        { index: 1, policyResult: 'allow' },
      ],
    })
  })

  test('refuses a decision on a stage that is decided', async () => {
    const { request, waiting, decide, inbox } = await startHost()
    const outcome = request(PIPE)
    const { id } = await waiting()
    await decide('allow_once')
    const late = inbox.decide(
      id,
      { outcome: 'answered', answer: { choiceId: 'deny' } },
      { commandId: 'late', surface: 'web' },
    )
    await expect(late).rejects.toMatchObject({ code: 'ALREADY_SETTLED' })
    await expect.poll(async () => (await waiting()).payload.requirement.index).toBe(1)
    await decide('deny')
    expect(await outcome).toMatchObject({ policyResult: 'deny', resolvedBy: 'user', requirements: [{}, {}] })
  })

  test('ends with the first denial, and asks for no more', async () => {
    const { request, decide, pending } = await startHost()
    const outcome = request(PIPE)
    await decide('deny')
    expect(await outcome).toMatchObject({ policyResult: 'deny', requirements: [{ index: 0 }] })
    await pending(0)
  })

  test('asks only for what no rule covers', async () => {
    const { request, decide, waiting } = await startHost()
    const outcome = request(PIPE)
    await decide('allow_session')
    await expect.poll(async () => (await waiting()).payload.requirement.index).toBe(1)
    await decide('allow_once')
    await outcome
    const again = request(PIPE)
    expect((await waiting()).payload.requirement.index).toBe(1)
    await decide('allow_once')
    expect(await again).toMatchObject({
      requirements: [{ resolvedBy: 'policy' }, { resolvedBy: 'user' }],
      resolvedBy: 'user',
    })
  })
})
