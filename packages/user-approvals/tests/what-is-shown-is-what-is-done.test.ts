import { defineTool } from '@handraise/tools'
import { autoProvider } from '@handraise/provider-auto'
import {
  isAllowed,
  readPayload,
  resolveSubject,
  ruleFor,
  type ApprovalRequest,
} from '@handraise/user-approvals'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { startHost } from './host.ts'

describe('what is shown is what is done', () => {
  test('when whoever asked changes the request afterwards', async () => {
    const { request, waiting, decide } = await startHost()
    const subject = { kind: 'shell' as const, command: 'rm -rf /tmp/x', cwd: '/tmp' }
    const outcome = request({ subject })
    subject.command = 'ls'
    expect((await waiting()).payload.subject).toMatchObject({ command: 'rm -rf /tmp/x' })
    await decide('deny')
    await outcome
  })

  test('when somebody changes the arguments of a call that waits for permission', async () => {
    const { ctx, decide, waiting } = await startHost()
    const execute = vi.fn(({ input }: { input: { env: string } }) => input.env)
    ctx.tools.register(
      defineTool({
        name: 'deploy',
        description: '',
        parameters: z.object({ input: z.any() }),
        permission: ({ input }) => ({ subject: { kind: 'tool', toolName: 'deploy', input } }),
        execute,
      }),
    )
    const input = { env: 'staging' }
    const { signal } = new AbortController()
    const result = ctx.tools.execute({ callId: 'c', name: 'deploy', arguments: { input }, signal })
    expect((await waiting()).payload.subject).toMatchObject({ input: { env: 'staging' } })
    input.env = 'production'
    await decide('allow_once')
    expect(await result).toMatchObject({ value: 'staging' })
  })

  test('since a payload whose choices could be taken for each other is none', () => {
    const choices = (second: object) => [
      { choiceId: 'z', label: 'Allow once', decision: 'approved', scope: 'once' },
      { choiceId: 'y', label: 'Deny', decision: 'denied', scope: 'once', acceptsFeedback: true, ...second },
    ]
    const payload = (second: object) => ({
      version: 1,
      approvalId: 'a',
      requirement: { index: 0, total: 1 },
      toolName: 't',
      subject: { kind: 'shell', command: 'ls' },
      subjectName: 'ls',
      inputDigest: 'd',
      choices: choices(second),
    })
    expect(readPayload(payload({}))).toBeDefined()
    expect(readPayload(payload({ choiceId: 'z' }))).toBeUndefined()
    expect(readPayload(payload({ label: 'allow once' }))).toBeUndefined()
    expect(readPayload(payload({ decision: 'approved' }))).toBeUndefined()
  })
})

test('a mode that is set after something was asked does not decide it', async () => {
  const { ctx, request, decide } = await startHost()
  const outcome = request({ session: 's1' })
  await ctx.userApprovals.setMode('s1', 'allowAll')
  await decide('deny')
  expect(await outcome).toMatchObject({ policyResult: 'deny', resolvedBy: 'user' })
})

test('a session that ends takes what waits in it along, so that no rule is made for it afterwards', async () => {
  const { ctx, request, waiting, pending } = await startHost()
  const outcome = request({ session: 's1' })
  await waiting()
  await ctx.userApprovals.endSession('s1')
  expect(await outcome).toMatchObject({ outcome: 'aborted' })
  await pending(0)
})

test('an allowance of one agent is none of another that calls by the same name', async () => {
  const { ctx, request, decide, pending, inbox } = await startHost()
  const [one, other] = [{ id: 'one' }, { id: 'other' }]
  ctx.agents.enter(one)
  ctx.agents.enter(other)
  const outcomes = [one, other].map(agent => request({ agent, callId: 'call_0' }))
  await pending(2)
  await inbox.decide(
    (await pending(2)).find(({ agent }) => agent === 'one')?.id ?? '',
    { outcome: 'answered', answer: { choiceId: 'allow_once' } },
    { commandId: 'c', surface: 'web' },
  )
  expect(isAllowed(await outcomes[0]!)).toBe(true)
  await decide('deny')
  expect(isAllowed(await outcomes[1]!)).toBe(false)
})

test('only what was allowed can be claimed', async () => {
  const { ctx, request, decide } = await startHost()
  const call: Partial<ApprovalRequest> = { callId: 'c', session: 's1' }
  const open = await request({ ...call, patienceMs: 5 })
  expect(await ctx.userApprovals.redeem(open)).toBe(false)
  await decide('allow_once')
  const allowed = await request(call)
  expect(await ctx.userApprovals.redeem(allowed)).toBe(true)
  const denied = request({ ...call, callId: 'd' })
  await decide('deny')
  expect(await ctx.userApprovals.redeem(await denied)).toBe(false)
})

test('a claim lasts as long as what was allowed', async () => {
  const first = await startHost()
  const outcome = first.request({ callId: 'c' })
  await first.decide('allow_once')
  expect(await first.ctx.userApprovals.redeem(await outcome)).toBe(true)
  await first.fiber.dispose()
  const second = await startHost({ medium: first.medium, retentionMs: 1 })
  const again = await second.request({ callId: 'c' })
  expect(await second.ctx.userApprovals.redeem(again)).toBe(false)
})

test('scripts that name commands alone do not allow them one behind the other', async () => {
  const { ctx, request } = await startHost({ inbox: { viewer: 'require' } })
  const script = ['cat x', 'sh'].map(command => ({
    match: { tool: 'shell', subject: `${command} — in /tmp` },
    answer: 'Allow once',
  }))
  ctx.userQuestions.registerProvider(autoProvider({ script }))
  const outcome = await request({ subject: { kind: 'shell', command: 'cat x | sh', cwd: '/tmp' } })
  expect(isAllowed(outcome)).toBe(false)
})

test('words that mean more to a shell are remembered for no program of that name', async () => {
  for (const argv of [
    ['eval', 'rm -rf /tmp/x'],
    ['.', '/tmp/evil.sh'],
    ['source', 'x'],
  ]) {
    const resolved = await resolveSubject({ kind: 'shell', command: argv.join(' '), argv, cwd: '/tmp' })
    expect(ruleFor('shell', resolved)).toBeUndefined()
  }
})

test('a command of more stages than a person reads is not asked about', async () => {
  const { request, inbox } = await startHost()
  const outcome = await request({
    subject: { kind: 'shell', command: Array.from({ length: 101 }, () => 'ls').join(';') },
  })
  expect(outcome).toMatchObject({ outcome: 'unavailable' })
  expect((await inbox.list({ state: 'pending' })).requests).toEqual([])
})
