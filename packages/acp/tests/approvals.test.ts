import { InboxService } from '@handraise/inbox'
import type { RequestPermissionRequest } from '@agentclientprotocol/sdk'
import { UserApprovalService, type ApprovalRequest } from '@handraise/user-approvals'
import { UserQuestionService } from '@handraise/user-questions'
import { Context } from 'cordis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { acpProvider } from '../src/index.ts'
import { HandClock } from './asking.ts'
import { connected, FORMS, type Editor } from './editor.ts'

const PUSH: ApprovalRequest = {
  toolName: 'shell',
  subject: { kind: 'shell', command: 'git push', cwd: '/tmp' },
  reason: 'The `tests` pass.\n  All of them.',
  callId: 'call-1',
}

const selected = (optionId: string) => ({ outcome: { outcome: 'selected', optionId } })

/** A host whose approvals go to an editor, where a person takes that long and gives that reply. */
async function host(
  reply: unknown,
  { tookMs = 2_000, editor = {} }: { tookMs?: number; editor?: Editor } = {},
) {
  const clock = new HandClock()
  const requests: RequestPermissionRequest[] = []
  const { ours } = connected({
    permission(request) {
      requests.push(request)
      clock.pass(tookMs)
      return reply
    },
    ...editor,
  })
  const ctx = new Context()
  await ctx.plugin(UserQuestionService)
  const fiber = await ctx.plugin(InboxService, { viewer: 'require' })
  await ctx.plugin(UserApprovalService)
  onTestFinished(() => fiber.dispose())
  const provider = acpProvider(ours.client, { sessionId: 'session-1', capabilities: FORMS, clock })
  ctx.userQuestions.registerProvider(provider)
  const ask = (more: Partial<ApprovalRequest> = {}) => ctx.userApprovals.request({ ...PUSH, ...more })
  return { requests, ask, provider }
}

describe('an approval in the editor', () => {
  test('is a permission request for the tool call, with the choices under their own ids', async () => {
    const { requests, ask } = await host(selected('allow_once'))
    expect(await ask({ session: 'session-1' })).toMatchObject({ policyResult: 'allow', scope: 'once' })
    expect(requests).toHaveLength(1)
    const [request] = requests
    expect(request).toMatchObject({
      sessionId: 'session-1',
      toolCall: {
        toolCallId: 'call-1',
        title: 'Allow shell: git push — in /tmp?',
        name: 'shell',
        kind: 'execute',
        status: 'pending',
        rawInput: { kind: 'shell', command: 'git push' },
      },
    })
    expect(request?.options.map(({ optionId, kind }) => [optionId, kind])).toEqual([
      ['allow_once', 'allow_once'],
      ['allow_session', 'allow_always'],
      ['allow_always', 'allow_always'],
      ['deny', 'reject_once'],
    ])
  })

  test('shows every line of what would be done as it is, and the rule that a choice adds', async () => {
    const { requests, ask } = await host(selected('deny'))
    await ask({ subject: { kind: 'shell', command: 'echo ```\n*done*', cwd: '/tmp' } })
    const { toolCall, options } = requests[0] ?? { toolCall: { content: [] }, options: [] }
    const [shown] = toolCall.content ?? []
    const text = shown?.type === 'content' && shown.content.type === 'text' ? shown.content.text : ''
    expect(text).toMatch(/^````\n[^]*\n````$/u)
    expect(text).toContain('*done*')
    expect(text).toContain('|   All of them.')
    const { requests: plain, ask: askPlain } = await host(selected('deny'))
    await askPlain()
    expect(options.every(({ name }) => !name.includes('\n'))).toBe(true)
    expect(JSON.stringify(plain[0])).toContain('run exactly: git push')
  })

  test('is remembered as far as the person said', async () => {
    const { requests, ask } = await host(selected('allow_always'))
    await ask()
    expect(await ask({ callId: 'call-2' })).toMatchObject({ policyResult: 'allow', resolvedBy: 'policy' })
    expect(requests).toHaveLength(1)
  })

  test('is denied by a rejection, and undecided where it is cancelled', async () => {
    const denied = await host(selected('deny'))
    expect(await denied.ask()).toMatchObject({ outcome: 'decided', policyResult: 'deny' })
    const cancelled = await host({ outcome: { outcome: 'cancelled' } })
    expect(await cancelled.ask()).toMatchObject({ outcome: 'cancelled' })
  })

  test('does nothing when what comes back was not offered', async () => {
    for (const reply of [selected('deny_feedback'), selected('approved'), { outcome: 'allow_once' }]) {
      const { ask } = await host(reply)
      expect(await ask()).toMatchObject({ outcome: 'unavailable' })
    }
  })

  test('may be allowed by the settings of the editor, unless it is protected', async () => {
    const usual = await host(selected('allow_once'), { tookMs: 1 })
    expect(await usual.ask()).toMatchObject({ policyResult: 'allow' })
    const kept = await host(selected('allow_once'), { tookMs: 1 })
    expect(await kept.ask({ protected: true })).toMatchObject({ outcome: 'unavailable' })
    const person = await host(selected('allow_once'))
    expect(await person.ask({ protected: true })).toMatchObject({ policyResult: 'allow' })
  })

  test('may be denied by the settings of the editor, unless it is protected', async () => {
    const usual = await host(selected('deny'), { tookMs: 1 })
    expect(await usual.ask()).toMatchObject({ policyResult: 'deny' })
    const kept = await host(selected('deny'), { tookMs: 1 })
    expect(await kept.ask({ protected: true })).toMatchObject({ outcome: 'unavailable' })
    const person = await host(selected('deny'))
    expect(await person.ask({ protected: true })).toMatchObject({ policyResult: 'deny' })
  })

  test.each([['allow_session'], ['allow_always']])(
    'makes no rule by the settings of the editor: %s',
    async choice => {
      const { ask, requests } = await host(selected(choice), { tookMs: 1 })
      const session = 'session-1'
      expect(await ask({ session })).toMatchObject({ outcome: 'unavailable' })
      await ask({ session, callId: 'call-2' })
      expect(requests).toHaveLength(2)
    },
  )

  test('is unavailable where the editor has no permissions', async () => {
    const { ask } = await host(undefined, { editor: { permission: undefined } })
    expect(await ask()).toMatchObject({ outcome: 'unavailable' })
  })

  test.each([
    [{ kind: 'fileAccess', access: 'write', path: '/tmp/a' }, 'edit'],
    [{ kind: 'fileAccess', access: 'delete', path: '/tmp/a' }, 'delete'],
    [{ kind: 'fileAccess', access: 'read', path: '/tmp/a' }, 'read'],
    [{ kind: 'network', host: 'example.com' }, 'fetch'],
    [{ kind: 'tool', toolName: 'shell', input: {} }, 'other'],
  ] as const)('of %j is of the kind %s', async (subject, kind) => {
    const { requests, ask } = await host(selected('deny'))
    await ask({ subject })
    expect(requests[0]?.toolCall.kind).toBe(kind)
  })
})
