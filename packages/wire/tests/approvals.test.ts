import { defineTool } from '@handraise/tools'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { calling, TEXT } from './agents.ts'
import { host, type Peer } from './wired.ts'

const shell = defineTool({
  name: 'shell',
  description: 'Runs a command.',
  parameters: z.object({ command: z.string() }),
  permission: ({ command }) => ({ subject: { kind: 'shell' as const, command } }),
  execute: ({ command }) => `ran ${command}`,
  render: text => text,
})

interface Approval {
  readonly sessionId: string
  readonly approvalId: string
  readonly currentRequirementId: { readonly approvalId: string; readonly sourceIndex: number }
  readonly viewCursor: string
  readonly availableChoices: ReadonlyArray<{ readonly choiceId: string; readonly rulePreview?: string }>
}

async function scene(...calls: ReadonlyArray<readonly [string, object]>) {
  const hosted = await host({ agent: calling(...calls) })
  hosted.ctx.tools.register(shell)
  const one = await hosted.peer().start()
  const { session } = (await one.call('session/start', { commandId: one.commandId() })) as {
    session: { sessionId: string }
  }
  const { sessionId } = session
  await one.call('turn/start', { sessionId, commandId: one.commandId(), input: TEXT })
  const decide = (approval: Approval, choiceId: string, more: object = {}) => ({
    sessionId,
    commandId: one.commandId(),
    approvalId: approval.approvalId,
    requirementId: approval.currentRequirementId,
    choiceId,
    ...more,
  })
  return { ...hosted, one, sessionId, decide }
}

async function asked(peer: Peer, from = 0): Promise<Approval> {
  return (await peer.told('approval/request', from)) as unknown as Approval
}

async function callEnd(peer: Peer) {
  const frame = await peer.until(({ method, params }) => {
    const { item } = (params ?? {}) as { item?: { kind?: string } }
    return method === 'item/completed' && item?.kind === 'toolCall'
  })
  return (frame['params'] as { item: Record<string, unknown> }).item
}

const WRITE = ['write_file', { path: 'Cargo.toml' }] as const
const PIPE = ['shell', { command: 'git log | head -3' }] as const

describe('an approval', () => {
  test('is told as an event and asked as a request of the same members, on an item that names it', async () => {
    const { one } = await scene(WRITE)
    const request = await asked(one)
    expect(await one.told('approval/requested')).toEqual(request)
    const { item } = (await one.told('item/started')) as { item: Record<string, unknown> }
    expect(item).toMatchObject({ tool: 'write_file', status: 'inProgress', approvalId: request.approvalId })
    expect(request).toMatchObject({
      toolName: 'write_file',
      rawArgs: '{"path":"Cargo.toml"}',
      itemId: item['itemId'],
      toolCallId: item['callId'],
      subject: { kind: 'fileAccess', toolName: 'write_file', path: '/srv/proj/Cargo.toml', access: 'write' },
      currentRequirementId: { approvalId: request.approvalId, sourceIndex: 0 },
      protectedWrite: false,
      judgeEscalated: false,
    })
  })

  test('that is allowed for the session tells the rule, and the next call is not asked about', async () => {
    const { one, decide } = await scene(WRITE, WRITE)
    const approval = await asked(one)
    const given = decide(approval, 'allow_session')
    expect(await one.call('approval/decide', given)).toEqual({
      commandId: given.commandId,
      status: 'accepted',
      approvalId: approval.approvalId,
      terminal: true,
    })
    const { rulePreview } =
      approval.availableChoices.find(({ choiceId }) => choiceId === 'allow_session') ?? {}
    expect(await one.told('approval/resolved')).toMatchObject({
      decision: 'approvedForSession',
      policyResult: 'allow',
      resolvedBy: 'user',
      amendment: { durability: 'session', rulePreview },
      decidedByCommandId: given.commandId,
      stageEvidence: [],
    })
    expect(await callEnd(one)).toMatchObject({ status: 'completed', visibleOutput: 'Cargo.toml updated\n' })
    await one.told('turn/completed')
    expect(one.methodsTold().filter(method => method === 'approval/requested')).toHaveLength(1)
  })

  test('that is denied with words lets the turn complete, and the words reach the agent and nobody else', async () => {
    const { one, decide } = await scene(WRITE)
    const given = decide(await asked(one), 'deny_feedback', { feedback: 'leave the manifest alone' })
    await one.call('approval/decide', given)
    const resolved = await one.told('approval/resolved')
    expect(resolved).toMatchObject({ decision: 'denied', policyResult: 'deny', resolvedBy: 'user' })
    expect(resolved).not.toHaveProperty('amendment')
    expect(await callEnd(one)).toMatchObject({
      status: 'rejected',
      failureReason: 'approval denied',
      visibleOutput: 'tool denied: approval denied',
    })
    expect(await one.told('turn/completed')).toMatchObject({ terminal: 'completed' })
    const said = await one.until(({ params }) =>
      JSON.stringify(params ?? {}).includes('leave the manifest alone'),
    )
    expect((said['params'] as { item: { kind: string } }).item.kind).toBe('agentMessage')
  })

  test('is told by its own word when nobody decided', async () => {
    const { one, ctx } = await scene(WRITE)
    const { approvalId } = await asked(one)
    await ctx.inbox.core.decide(
      `${approvalId}.0`,
      { outcome: 'cancelled', reason: 'closed' },
      { commandId: 'c', surface: 'web' },
    )
    expect(await one.told('approval/resolved')).toMatchObject({
      decision: 'cancelled',
      policyResult: 'deny',
      stageEvidence: [],
    })
    expect(await callEnd(one)).toMatchObject({ status: 'cancelled' })
  })

  test('that another one resolved is refused with how', async () => {
    const { one, decide, peer } = await scene(WRITE)
    const approval = await asked(one)
    const other = await peer().start()
    const [first, second] = await Promise.all([
      one.request('approval/decide', decide(approval, 'allow_once')),
      other.request('approval/decide', decide(approval, 'deny')),
    ])
    expect(first).toHaveProperty('result')
    expect(second['error']).toMatchObject({
      code: -32_051,
      data: {
        kind: 'approvalAlreadyResolved',
        approvalId: approval.approvalId,
        resolution: { decision: 'approved', resolvedBy: 'user' },
      },
    })
    await one.told('approval/resolved')
    const late = await one.fails('approval/decide', decide(approval, 'deny'))
    const { viewCursor } = await one.told('approval/resolved')
    expect(late.data).toMatchObject({ resolution: { decision: 'approved', resolvedBy: 'user', viewCursor } })
  })

  test.each([
    ['a choice that was not offered', 'allow_all', {}],
    ['words with a choice that takes none', 'allow_once', { feedback: 'please' }],
  ])('refuses %s', async (_, choiceId, more) => {
    const { one, decide } = await scene(WRITE)
    const approval = await asked(one)
    expect(await one.fails('approval/decide', decide(approval, choiceId, more))).toMatchObject({
      code: -32_052,
      data: { kind: 'approvalChoiceInvalid', approvalId: approval.approvalId, choiceId },
    })
    await one.call('approval/decide', decide(approval, 'allow_once', { feedback: null }))
  })

  test('that there is none of is not found', async () => {
    const { one, decide } = await scene(WRITE)
    const approval = await asked(one)
    const none = {
      ...approval,
      approvalId: 'none',
      currentRequirementId: { approvalId: 'none', sourceIndex: 0 },
    }
    expect(await one.fails('approval/decide', decide(none, 'allow_once'))).toMatchObject({
      code: -32_050,
      data: { kind: 'approvalNotFound', approvalId: 'none' },
    })
  })
})

describe('an approval of several stages', () => {
  test('asks about one after the other under one id, and is resolved with what was decided of each', async () => {
    const { one, decide } = await scene(PIPE)
    const first = await asked(one)
    expect(first).toMatchObject({
      subject: {
        kind: 'shell',
        command: 'git log | head -3',
        stages: [{ argv: ['git', 'log'] }, { argv: ['head', '-3'] }],
      },
    })
    const from = one.frames.length
    const ack = await one.call('approval/decide', decide(first, 'allow_once'))
    expect(ack).toMatchObject({ terminal: false })
    const second = await asked(one, from)
    expect(second.approvalId).toBe(first.approvalId)
    expect(second.currentRequirementId.sourceIndex).toBe(1)
    expect(await one.told('approval/updated')).toMatchObject({
      approvalId: first.approvalId,
      currentRequirementId: second.currentRequirementId,
      change: {
        kind: 'stageResolved',
        requirementId: first.currentRequirementId,
        choiceId: 'allow_once',
        decision: 'approved',
      },
    })
    const given = decide(second, 'allow_once')
    expect(await one.call('approval/decide', given)).toMatchObject({ terminal: true })
    expect(await one.told('approval/resolved')).toMatchObject({
      approvalId: first.approvalId,
      decision: 'approved',
      policyResult: 'allow',
      decidedByCommandId: given.commandId,
      stageEvidence: [
        { argv: ['git', 'log'], position: 0, totalStages: 2, resolution: { kind: 'approved' } },
        { argv: ['head', '-3'], position: 1, totalStages: 2, resolution: { kind: 'approved' } },
      ],
    })
    expect(await callEnd(one)).toMatchObject({ status: 'completed', visibleOutput: 'ran git log | head -3' })
    expect(one.methodsTold().filter(method => method === 'approval/requested')).toHaveLength(1)
  })

  test('refuses a decision about a stage that was decided, with the one that is asked about', async () => {
    const { one, decide } = await scene(PIPE)
    const first = await asked(one)
    const from = one.frames.length
    await one.call('approval/decide', decide(first, 'allow_once'))
    const second = await asked(one, from)
    expect(await one.fails('approval/decide', decide(first, 'deny'))).toMatchObject({
      code: -32_053,
      data: {
        kind: 'approvalRequirementStale',
        approvalId: first.approvalId,
        currentRequirementId: second.currentRequirementId,
      },
    })
    const ahead = { ...first, currentRequirementId: { ...first.currentRequirementId, sourceIndex: 7 } }
    expect(await one.fails('approval/decide', decide(ahead, 'deny'))).toMatchObject({ code: -32_053 })
  })

  test('ends with a denial of any stage', async () => {
    const { one, decide } = await scene(PIPE)
    expect(await one.call('approval/decide', decide(await asked(one), 'deny'))).toMatchObject({
      terminal: true,
    })
    expect(await one.told('approval/resolved')).toMatchObject({ decision: 'denied', policyResult: 'deny' })
    expect(await callEnd(one)).toMatchObject({ status: 'rejected' })
  })

  test('whose rest a rule covers is resolved without another question', async () => {
    const { one, decide } = await scene(['shell', { command: 'git log && git log' }])
    expect(await one.call('approval/decide', decide(await asked(one), 'allow_session'))).toMatchObject({
      terminal: false,
    })
    expect(await one.told('approval/resolved')).toMatchObject({
      policyResult: 'allow',
      stageEvidence: [{ position: 0 }, { position: 1 }],
    })
    expect(one.methodsTold().filter(method => method === 'approval/request')).toHaveLength(1)
  })
})

describe('what waits', () => {
  test('is listed with the parameters of its requests, whether a client has subscribed or not', async () => {
    const { one, sessionId, peer } = await scene(WRITE)
    const approval = await asked(one)
    const other = await peer().start()
    expect(await other.call('approval/listPending', { sessionId })).toEqual({
      approvals: [approval],
      userInputs: [],
    })
    expect(other.methodsTold()).toEqual([])
  })

  test('is asked again of who resumes, under the same id', async () => {
    const { one, sessionId, peer, decide } = await scene(PIPE)
    const first = await asked(one)
    const from = one.frames.length
    await one.call('approval/decide', decide(first, 'allow_once'))
    const second = await asked(one, from)
    const other = await peer().start()
    const resumed = await other.call('session/resume', { sessionId, commandId: other.commandId() })
    expect(resumed['pendingRequests']).toEqual([
      { kind: 'approval', approvalId: first.approvalId, viewCursor: first.viewCursor },
    ])
    expect(await asked(other)).toEqual(second)
  })
})

describe('the approval mode', () => {
  test('is set for what is asked from now on, and told to all', async () => {
    const { one, sessionId, decide } = await scene(WRITE, ['write_file', { path: 'other' }])
    const approval = await asked(one)
    const commandId = one.commandId()
    const effectiveMode = { mode: 'allowAll', source: 'approvalReconfigure', lastCommandId: commandId }
    const params = { sessionId, commandId, mode: 'allowAll' }
    const ack = await one.call('session/setApprovalMode', params)
    expect(ack).toEqual({ commandId, status: 'accepted', applyOutcome: 'completed', effectiveMode })
    expect(await one.call('session/setApprovalMode', params)).toEqual(ack)
    expect(await one.told('session/approvalModeChanged')).toMatchObject({
      clientName: 'test_client',
      commandId,
      mode: 'allowAll',
      source: 'approvalReconfigure',
    })
    const again = { sessionId, commandId: one.commandId(), mode: 'allowAll' }
    expect(await one.call('session/setApprovalMode', again)).toMatchObject({
      applyOutcome: 'noop',
      effectiveMode,
    })
    // What was asked before is decided as it was asked.
    await one.call('approval/decide', decide(approval, 'allow_once'))
    await one.told('turn/completed')
    expect(one.methodsTold().filter(method => method === 'approval/request')).toHaveLength(1)
  })

  test('that denies what no rule covers rejects the call without asking', async () => {
    const hosted = await host({ agent: calling(WRITE) })
    const one = await hosted.peer().start()
    const started = (await one.call('session/start', {
      commandId: one.commandId(),
      approvalMode: 'denyUnmatched',
    })) as {
      session: { sessionId: string; approvalMode: { mode: string } }
    }
    expect(started.session.approvalMode.mode).toBe('denyUnmatched')
    const { sessionId } = started.session
    await one.call('turn/start', { sessionId, commandId: one.commandId(), input: TEXT })
    expect(await callEnd(one)).toMatchObject({ status: 'rejected', failureReason: 'approval denied' })
    await one.told('turn/completed')
    expect(one.methodsTold()).not.toContain('approval/requested')
  })

  test.each(['allow', 'AllowAll', 7])('cannot be %s', async mode => {
    const { one, sessionId } = await scene(WRITE)
    const error = await one.fails('session/setApprovalMode', { sessionId, commandId: one.commandId(), mode })
    expect(error).toMatchObject({ code: -32_602 })
  })
})
