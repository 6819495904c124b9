import { agent, methods, type RequestPermissionRequest } from '@agentclientprotocol/sdk'
import { InboxService } from '@handraise/inbox'
import { isAllowed, UserApprovalService, type ApprovalRequest } from '@handraise/user-approvals'
import { UserQuestionService } from '@handraise/user-questions'
import { Context } from 'cordis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { acpProvider, type AcpOptions } from '../src/index.ts'
import { HandClock, held } from './asking.ts'
import { connected, FORMS, initialize, type Editor } from './editor.ts'

const DELETE: ApprovalRequest = {
  toolName: 'delete',
  subject: { kind: 'fileAccess', access: 'delete', path: '/tmp/a' },
  cwd: '/tmp',
}

const selected = (optionId: string) => ({ outcome: { outcome: 'selected', optionId } })
const never = (): Promise<never> => new Promise(() => {})

/** A host whose approvals go to an editor that does this with each. */
async function host(
  permission: NonNullable<Editor['permission']>,
  options: Partial<AcpOptions> = {},
  clock = new HandClock(),
) {
  const requests: RequestPermissionRequest[] = []
  const { ours } = connected({
    permission(request, signal) {
      requests.push(request)
      return permission(request, signal)
    },
  })
  const ctx = new Context()
  await ctx.plugin(UserQuestionService)
  const fiber = await ctx.plugin(InboxService, { viewer: 'require', clock })
  await ctx.plugin(UserApprovalService)
  onTestFinished(() => fiber.dispose())
  const provider = acpProvider(ours.client, {
    sessionId: 'session-1',
    capabilities: FORMS,
    clock,
    autoAnswerMs: 0,
    ...options,
  })
  ctx.userQuestions.registerProvider(provider)
  const ask = (more: Partial<ApprovalRequest> = {}) => ctx.userApprovals.request({ ...DELETE, ...more })
  return { ctx, clock, requests, provider, ask }
}

describe('an approval in the editor', () => {
  test('that nobody decides in time is neither a denial nor an allowance, and is taken down', async () => {
    const [up, down] = [held<void>(), held<void>()]
    const { ask, clock } = await host((_, signal) => {
      up.resolve()
      signal.addEventListener('abort', () => down.resolve())
      return never()
    })
    const asking = ask({ timeoutMs: 60_000 })
    await up.promise
    clock.pass(60_000)
    const outcome = await asking
    expect(outcome.outcome).toBe('timedOut')
    expect(isAllowed(outcome)).toBe(false)
    expect(outcome).not.toHaveProperty('policyResult', 'deny')
    await down.promise
  })

  test('runs the tool only where a person allowed it', async () => {
    const ran: string[] = []
    const outcomes: string[] = []
    for (const [name, reply] of [
      ['allowed', selected('allow_once')],
      ['denied', selected('deny')],
      ['cancelled', { outcome: { outcome: 'cancelled' } }],
      ['garbage', selected('yes')],
    ] as const) {
      const { ask } = await host(() => reply)
      const outcome = await ask()
      outcomes.push(outcome.outcome)
      if (isAllowed(outcome)) ran.push(name)
    }
    expect(ran).toEqual(['allowed'])
    expect(outcomes).toEqual(['decided', 'decided', 'cancelled', 'unavailable'])
  })

  test('is for its exact input: another one is asked about anew', async () => {
    const replies = [selected('allow_once'), selected('deny')]
    const { ask, requests } = await host(() => replies.shift())
    expect(isAllowed(await ask({ callId: 'call-1' }))).toBe(true)
    const other = { kind: 'fileAccess', access: 'delete', path: '/etc/a' } as const
    expect(isAllowed(await ask({ callId: 'call-1', subject: other }))).toBe(false)
    expect(requests).toHaveLength(2)
    expect(JSON.stringify(requests[1])).toContain('/etc/a')
    expect(JSON.stringify(requests[1])).not.toContain('/tmp/a')
  })

  test('is asked once, however often the same call asks', async () => {
    const reply = held<unknown>()
    const { ask, requests } = await host(() => reply.promise)
    const asking = [ask({ callId: 'call-1' }), ask({ callId: 'call-1' })]
    await expect.poll(() => requests.length).toBe(1)
    reply.resolve(selected('allow_once'))
    const outcomes = await Promise.all(asking)
    expect(outcomes.map(isAllowed)).toEqual([true, true])
    expect(isAllowed(await ask({ callId: 'call-1' }))).toBe(true)
    expect(requests).toHaveLength(1)
  })

  test('is not lost when another one beside it is decided: they come one after the other', async () => {
    const replies: ((reply: unknown) => void)[] = []
    const { ask, requests } = await host(() => new Promise(resolve => replies.push(resolve)))
    const path = (name: string) => ({ kind: 'fileAccess', access: 'delete', path: `/tmp/${name}` }) as const
    const asking = ['a', 'b', 'c'].map(name => ask({ callId: name, subject: path(name) }))
    for (const [turn, choice] of ['allow_once', 'deny', 'allow_once'].entries()) {
      await expect.poll(() => requests.length).toBe(turn + 1)
      replies[turn]?.(selected(choice))
    }
    const outcomes = await Promise.all(asking)
    const denied = requests[1]?.toolCall.toolCallId
    expect(outcomes.map(isAllowed)).toEqual(['a', 'b', 'c'].map(name => name !== denied))
    expect(requests.map(({ toolCall }) => toolCall.toolCallId).toSorted()).toEqual(['a', 'b', 'c'])
  })

  test('of a child is shown in the session of the editor, and ends with it', async () => {
    const shown: string[] = []
    const up = held<void>()
    const rootOf = new Map([['child', 'session-1']])
    const { ask, provider } = await host(
      ({ sessionId }) => {
        shown.push(sessionId)
        up.resolve()
        return never()
      },
      { sessionId: ({ session = '' }) => rootOf.get(session) },
    )
    const asking = ask({ session: 'child' })
    await up.promise
    provider.cancelSession('session-1')
    expect((await asking).outcome).toBe('cancelled')
    expect(shown).toEqual(['session-1'])
    // One of nobody's session is nobody's to decide.
    expect((await ask({ session: 'stranger' })).outcome).toBe('unavailable')
  })
})

test('every approval of a session ends when it is cancelled, shown or queued, whatever the editor does', async () => {
  const endings: string[] = []
  const asked: string[] = []
  let shown = 0
  let cancel = (): void => {}
  const app = agent({ name: 'agent' })
    .onRequest(methods.agent.initialize, ({ params }) => ({
      protocolVersion: params.protocolVersion,
      agentCapabilities: {},
    }))
    .onRequest(methods.agent.session.new, () => ({ sessionId: 'session-1' }))
    .onRequest(methods.agent.session.prompt, async ({ params: { sessionId }, client }) => {
      const ctx = new Context()
      await ctx.plugin(UserQuestionService)
      const fiber = await ctx.plugin(InboxService)
      onTestFinished(() => fiber.dispose())
      await ctx.plugin(UserApprovalService)
      const toolCallId = ({ key = '' }: { key?: string | undefined }): string => {
        asked.push(key)
        return key
      }
      const provider = acpProvider(client, { sessionId, toolCallId })
      cancel = () => provider.cancelSession(sessionId)
      ctx.userQuestions.registerProvider(provider)
      const asking = ['one', 'two'].map(callId => ctx.userApprovals.request({ ...DELETE, callId }))
      endings.push(...(await Promise.all(asking)).map(({ outcome }) => outcome))
      return { stopReason: 'cancelled' as const }
    })
    .onNotification(methods.agent.session.cancel, () => cancel())
  const { theirs } = connected(
    {
      permission() {
        shown += 1
        return never()
      },
    },
    app,
  )
  await theirs.agent.request(methods.agent.initialize, initialize)
  await theirs.agent.request(methods.agent.session.new, { cwd: '/tmp', mcpServers: [] })
  const prompt = [{ type: 'text' as const, text: 'Go.' }]
  const prompting = theirs.agent.request(methods.agent.session.prompt, { sessionId: 'session-1', prompt })
  await expect.poll(() => [asked.length, shown]).toEqual([2, 1])
  await theirs.agent.notify(methods.agent.session.cancel, { sessionId: 'session-1' })
  expect(await prompting).toEqual({ stopReason: 'cancelled' })
  expect(endings).toEqual(['cancelled', 'cancelled'])
  expect(shown).toBe(1)
})
