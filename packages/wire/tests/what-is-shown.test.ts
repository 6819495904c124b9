import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineTool } from '@handraise/tools'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import type { SessionAgent } from '../src/index.ts'
import { calling, DATABASE, TEXT } from './agents.ts'
import { closedGate } from './fixtures/gate.ts'
import { allowNothingUnhandled } from './fixtures/unhandled.ts'
import { host, type Peer } from './wired.ts'

allowNothingUnhandled()

interface Approval {
  readonly sessionId: string
  readonly approvalId: string
  readonly currentRequirementId: object
  readonly subject: { readonly command?: string; readonly target?: string; readonly path?: string }
  readonly reason?: string
  readonly availableChoices: ReadonlyArray<{ readonly choiceId: string; readonly rulePreview?: string }>
}

/** A tool that does nothing, and says of each call what its arguments say. */
const acting = defineTool({
  name: 'act',
  description: 'Does what it is told to.',
  parameters: z.looseObject({}),
  permission: args => args,
  execute: () => 'done',
  render: text => text,
})

async function begin(agent: SessionAgent) {
  const { ctx, peer } = await host({ agent })
  ctx.tools.register(acting)
  const one = await peer().start()
  const { session } = await one.call('session/start', { commandId: one.commandId() })
  const { sessionId } = session as { sessionId: string }
  const turnId = one.commandId()
  await one.call('turn/start', { sessionId, commandId: turnId, input: TEXT })
  return { ctx, one, sessionId, turnId }
}

async function decide(one: Peer, approval: Approval, choiceId: string): Promise<void> {
  const { sessionId, approvalId, currentRequirementId: requirementId } = approval
  const commandId = one.commandId()
  await one.call('approval/decide', { sessionId, commandId, approvalId, requirementId, choiceId })
}

/** The approvals that a client is asked for, one after the other, each of which it denies. */
async function askedFor(...permissions: readonly object[]): Promise<Approval[]> {
  const { one } = await begin(calling(...permissions.map(permission => ['act', permission] as const)))
  const approvals: Approval[] = []
  for (let from = 0; approvals.length < permissions.length;) {
    const frame = await one.until(({ method }) => method === 'approval/request', from)
    from = one.frames.indexOf(frame) + 1
    const approval = frame['params'] as Approval
    approvals.push(approval)
    await decide(one, approval, 'deny')
  }
  await one.told('turn/completed')
  return approvals
}

function directory(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'handraise-shown-')))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

const shell = (members: object): object => ({ subject: { kind: 'shell', ...members } })

describe('a command', () => {
  test('is shown alike only where it is alike in all it has', async () => {
    const cwd = directory()
    const subjects = [
      { command: `rm -rf ./cache — in ${cwd}` },
      { command: 'rm -rf ./cache', cwd },
      { command: 'rm -rf ./cache' },
      { command: `rm -rf ./cache — with A=1` },
      { command: 'rm -rf ./cache', env: { A: '1' } },
      { command: 'rm -rf ./cache', env: { A: '1 B=2' } },
      { command: 'rm -rf ./cache', env: { A: '1', B: '2' } },
      { command: 'rm -rf ./cache', argv: ['rm', '-rf', './cache'] },
      { command: 'rm -rf ./cache', argv: ['rm', '-rf ./cache'] },
      { command: 'rm -rf ./cache — without a shell' },
      { command: 'rm -rf ./сache' },
      { command: 'rm -rf ./cache\u200b' },
    ]
    const shown = (await askedFor(...subjects.map(shell))).map(({ subject }) => subject.command)
    expect(shown[2]).toBe('rm -rf ./cache')
    expect(shown[1]).toContain(cwd)
    expect(shown[4]).toContain('A=1')
    expect(new Set(shown).size).toBe(subjects.length)
  })

  test('has written out what reorders it or shows nothing', async () => {
    const [approval] = await askedFor(shell({ command: 'ls\u202e\u200b\u2066 -la\u009b2J\nrm x' }))
    const { command = '' } = approval?.subject ?? {}
    expect(command).toContain('ls<U+202E><U+200B><U+2066> -la<U+009B>2J<U+000A>rm x')
    expect(command).toMatch(/^[\u0020-\u007e]*$/u)
  })
})

describe('an approval', () => {
  test('tells what the path leads to, and what the agent says of it', async () => {
    const root = directory()
    mkdirSync(join(root, 'proj'))
    writeFileSync(join(root, 'secret'), '')
    symlinkSync(join(root, 'secret'), join(root, 'proj', 'notes.txt'))
    const subject = { kind: 'fileAccess', access: 'write', path: join(root, 'proj', 'notes.txt') }
    const plain = { kind: 'fileAccess', access: 'write', path: join(root, 'secret') }
    const [link, file] = await askedFor({ reason: 'because', subject }, { subject: plain })
    expect(link).toMatchObject({
      reason: 'because',
      subject: { path: subject.path, target: expect.stringContaining(join(root, 'secret')) },
    })
    expect(link?.subject.target).toContain('The path leads to')
    expect(file).not.toHaveProperty('reason')
    expect(file?.subject).not.toHaveProperty('target')
  })

  test('tells what the host comes to where that is another name', async () => {
    const network = (name: string): object => ({ subject: { kind: 'network', host: name } })
    const [given, plain, posing] = await askedFor(
      network('EXAMPLE.com'),
      network('example.com'),
      // Its first letter is Cyrillic.
      network('\u0430pple.com'),
    )
    expect(given?.subject.target).toBe('The host is: example.com')
    expect(plain?.subject).not.toHaveProperty('target')
    expect(posing?.subject.target).toContain('<U+0430>pple.com')
  })

  test('tells the exact path where what is in it does not show', async () => {
    const path = '/srv/a\u202e/b\u200b'
    const [approval] = await askedFor({ subject: { kind: 'fileAccess', access: 'read', path } })
    expect(approval?.subject).toMatchObject({ path })
    expect(approval?.subject.target).toContain('/srv/a<U+202E>/b<U+200B>')
  })

  test.each([
    [['allow_always', 'allow_session'], 0, 'localPersistent'],
    [['allow_session', 'allow_always'], 1, 'localPersistent'],
    [['allow_session', 'allow_once'], 0, 'session'],
    [['allow_always', 'allow_once'], 0, 'localPersistent'],
  ] as const)(
    'of stages for which %j was chosen tells the rule that lasts longest',
    async (choices, which, durability) => {
      const { one } = await begin(calling(['act', shell({ command: 'make build && git push' })]))
      const previews: unknown[] = []
      for (let from = 0; previews.length < choices.length;) {
        const frame = await one.until(({ method }) => method === 'approval/request', from)
        from = one.frames.indexOf(frame) + 1
        const approval = frame['params'] as Approval
        const choiceId = choices[previews.length] ?? ''
        previews.push(approval.availableChoices.find(choice => choice.choiceId === choiceId)?.rulePreview)
        await decide(one, approval, choiceId)
      }
      expect(await one.told('approval/resolved')).toMatchObject({
        amendment: { durability, rulePreview: previews[which] },
      })
      await one.told('turn/completed')
    },
  )
})

describe('what a tool gave', () => {
  async function outputOf(value: unknown) {
    const gate = closedGate()
    const agent: SessionAgent = {
      async run(turn) {
        await gate.passed
        await turn.callTool({ callId: `${turn.turnId}/1`, name: 'give', arguments: {} })
      },
    }
    const { ctx, one } = await begin(agent)
    ctx.tools.register(
      defineTool({
        name: 'give',
        description: 'Gives something.',
        parameters: z.object({}),
        execute: () => value,
      }),
    )
    gate.open()
    await one.told('turn/completed')
    const frame = one.frames.find(
      ({ method, params }) =>
        method === 'item/completed' && (params as { item: { kind: string } }).item.kind === 'toolCall',
    )
    const { item } = (frame?.['params'] ?? {}) as { item?: { visibleOutput: string; truncated: boolean } }
    return item ?? expect.fail('no call has ended')
  }

  test.each([
    ['the first half of a pair at the end', `${'a'.repeat(65_535)}😀`, 65_535],
    ['a whole pair at the end', `${'a'.repeat(65_534)}😀b`, 65_536],
    ['pairs alone', '😀'.repeat(40_000), 65_536],
    ['pairs behind one character', `a${'😀'.repeat(40_000)}`, 65_535],
  ])('is never cut within a character: %s', async (_, value, length) => {
    const { visibleOutput, truncated } = await outputOf(value)
    expect(visibleOutput).toBe(value.slice(0, length))
    expect(visibleOutput).not.toMatch(/[\uD800-\uDBFF]$/u)
    expect(truncated).toBe(true)
  })

  test('is shown without quotes where it is a text', async () => {
    expect(await outputOf('two\nlines "quoted"')).toMatchObject({ visibleOutput: 'two\nlines "quoted"' })
    expect(await outputOf({ lines: 2 })).toMatchObject({ visibleOutput: '{"lines":2}' })
  })
})

describe('a message that never became whole', () => {
  const half = (more: (turn: Parameters<SessionAgent['run']>[0]) => Promise<void>): SessionAgent => ({
    async run(turn) {
      const message = turn.stream({ id: 'said' })
      message.delta('half a ')
      message.delta('sentence')
      await more(turn)
    },
  })

  const messages = ({ frames }: Peer) =>
    frames.flatMap(({ method, params }) => {
      const { item } = (params ?? {}) as { item?: { kind: string; status: string; text: string } }
      return item?.kind === 'agentMessage' ? [{ method, status: item.status, text: item.text }] : []
    })

  test.each([
    ['completed', 'completed', () => Promise.resolve()],
    ['failed', 'cancelled', () => Promise.reject(new Error('no more'))],
  ] satisfies Array<[string, string, () => Promise<void>]>)(
    'is completed with what was told when the turn has %s',
    async (terminal, status, more) => {
      const { one } = await begin(half(more))
      expect(await one.told('turn/completed')).toMatchObject({ terminal })
      expect(messages(one)).toEqual([
        { method: 'item/started', status: 'inProgress', text: '' },
        { method: 'item/completed', status, text: 'half a sentence' },
      ])
      expect(one.methodsTold().at(-1)).toBe('turn/completed')
    },
  )

  test('is cancelled with what was told when the turn was stopped', async () => {
    const agent = half(turn => new Promise(resolve => turn.signal.addEventListener('abort', () => resolve())))
    const { one, sessionId } = await begin(agent)
    await one.until(({ method, params }) => {
      return method === 'item/delta' && (params as { delta: string }).delta === 'sentence'
    })
    await one.call('turn/interrupt', { sessionId, commandId: one.commandId() })
    await one.told('turn/completed')
    expect(messages(one).at(-1)).toEqual({
      method: 'item/completed',
      status: 'cancelled',
      text: 'half a sentence',
    })
    const { session, history } = await one.call('session/read', { sessionId })
    expect(session).toMatchObject({ status: 'idle' })
    expect(JSON.stringify(history)).toContain('half a sentence')
  })
})

test('the window of a question is the one that was asked for, however long it takes to be opened', async () => {
  // A millisecond passes each time somebody looks at the clock.
  let time = 1_700_000_000_000
  const clock = { now: () => (time += 1), after: () => () => {} }
  const { ctx, peer } = await host({ clock })
  const one = await peer().start()
  const windows = Array.from({ length: 60 }, (_, index) => (index % 2 === 0 ? 60_000 : 30_007))
  const asking = windows.map((timeoutMs, index) =>
    ctx.userQuestions.ask({ key: `k${index}`, session: 'elsewhere', timeoutMs, questions: [DATABASE] }),
  )
  await expect
    .poll(async () => (await ctx.inbox.core.list({ state: 'pending', session: 'elsewhere' })).requests.length)
    .toBe(windows.length)
  await one.call('session/resume', { sessionId: 'elsewhere', commandId: one.commandId() })
  const { userInputs } = (await one.call('approval/listPending', { sessionId: 'elsewhere' })) as {
    userInputs: Array<{ userInputId: string; toolCallId: string; autoResolutionMs: number }>
  }
  const told = userInputs
    .toSorted((a, b) => Number(a.toolCallId.slice(1)) - Number(b.toolCallId.slice(1)))
    .map(({ autoResolutionMs }) => autoResolutionMs)
  expect(told).toEqual(windows)
  for (const { userInputId } of userInputs) await ctx.inbox.core.withdraw(userInputId, 'the test is over')
  await Promise.allSettled(asking)
})
