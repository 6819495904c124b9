import { MemoryMedium, MemoryStore, type InboxStore } from '@handraise/inbox'
import { autoProvider } from '@handraise/provider-auto'
import {
  APPROVAL_MODES,
  readPayload,
  type ApprovalMode,
  type ApprovalOutcome,
  type ApprovalRequest,
} from '@handraise/user-approvals'
import type { UserQuestionProvider } from '@handraise/user-questions'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { startHost } from './host.ts'

const SESSIONS = ['', 's1', 's2']
const COMMANDS = ['git status', 'git status -s', 'git log | head', 'rm -rf "$X"', 'git status; rm -rf /']

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('ask' as const),
      host: fc.nat(1),
      settles: fc.integer({ min: 0, max: 4 }).map(number => number > 0),
      // The first ones more often, so that what was decided before has something to act on.
      command: fc.constantFrom('git status', 'git status', 'git log | head', 'git log | head', ...COMMANDS),
      session: fc.constantFrom('s1', 's1', ...SESSIONS),
      callId: fc.constantFrom(undefined, undefined, 'call-1', 'call-2'),
      requested: fc.boolean(),
      protected: fc.integer({ min: 0, max: 3 }).map(number => number === 0),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('decide' as const),
      host: fc.nat(1),
      pick: fc.nat(5),
      choice: fc.constantFrom(
        'allow_once',
        'allow_session',
        'allow_session',
        'allow_always',
        'deny',
        'deny_feedback',
        'nonsense',
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('end' as const),
      host: fc.nat(1),
      pick: fc.nat(5),
      outcome: fc.constantFrom('declined' as const, 'cancelled' as const, 'interrupted' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('mode' as const),
      session: fc.constantFrom(...SESSIONS),
      mode: fc.constantFrom(...APPROVAL_MODES),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('revoke' as const), pick: fc.nat(5) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('endSession' as const), session: fc.constantFrom('s1', 's2') }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('abort' as const), pick: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fault' as const), after: fc.nat(6) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pause' as const) }) },
)

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** Providers that would allow anything, if a policy, an accident or nonsense could. */
const REFUSED: readonly UserQuestionProvider[] = [
  autoProvider({ policy: 'first', script: { approval: 'Allow once' } }),
  {
    name: 'policy',
    ask: () => Promise.resolve({ answers: [{ id: 'approval', selected: ['Allow once'], by: 'policy' }] }),
  },
  {
    name: 'nonsense',
    ask: () => Promise.resolve({ answers: [{ id: 'approval', selected: ['Allow everything'] }] }),
  },
  { name: 'empty', ask: () => Promise.resolve({ answers: [] }) },
  { name: 'skips', ask: () => Promise.resolve({ answers: [{ id: 'approval', selected: [] }] }) },
  { name: 'broken', ask: () => Promise.reject(new Error('no paper')) },
]

/** A store whose next calls fail now and then, before they do anything. */
function failing(store: InboxStore, faults: { left: number }): InboxStore {
  const mayFail = new Set(['open', 'settle', 'get', 'record', 'records', 'writeRecords', 'list'])
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return (...args: unknown[]): unknown => {
        if (faults.left > 0 && mayFail.has(String(name))) {
          faults.left -= 1
          if (faults.left === 0) return Promise.reject(new Error('the disk is full'))
        }
        return member.apply(target, args) as unknown
      }
    },
  })
}

const shortly = () => new Promise(resolve => setTimeout(resolve, 3))

async function run(
  steps: readonly Step[],
  byDefault: ApprovalMode,
  providers: readonly number[],
): Promise<void> {
  const medium = new MemoryMedium()
  const faults = { left: 0 }
  const start = () =>
    startHost({ medium, mode: byDefault, inbox: { store: failing(new MemoryStore(medium), faults) } })
  const hosts = await Promise.all([start(), start()])
  for (const [index, provider] of providers.entries())
    hosts[index % 2]?.ctx.userQuestions.registerProvider(REFUSED[provider % REFUSED.length]!)
  const plain = hosts[0]

  // What a person did, as far as it was taken.
  const allowed = new Set<string>()
  const made: Array<{ readonly preview: string; readonly session?: string }> = []
  const modes = new Map(SESSIONS.map(session => [session, new Set<ApprovalMode>([byDefault])]))
  const asked: Array<{
    request: ApprovalRequest
    outcome: Promise<ApprovalOutcome>
    controller: AbortController
  }> = []

  const pendingOne = async (pick: number) => {
    const { requests } = await plain.inbox.list({ state: 'pending' }).catch(() => ({ requests: [] }))
    return requests[pick % Math.max(1, requests.length)]
  }

  for (const each of steps) {
    const host = hosts['host' in each ? each.host : 0]!
    switch (each.do) {
      case 'ask': {
        const controller = new AbortController()
        const { command, session, callId, requested } = each
        const request: ApprovalRequest = {
          toolName: 'shell',
          subject: { kind: 'shell', command, cwd: '/tmp' },
          session,
          requested,
          protected: each.protected,
          signal: controller.signal,
          ...(callId === undefined ? {} : { callId }),
        }
        asked.push({ request, controller, outcome: host.ctx.userApprovals.request(request) })
        // Mostly long enough to be opened.
        if (each.settles) await shortly()
        break
      }
      case 'decide': {
        const request = await pendingOne(each.pick)
        if (request === undefined) break
        const decision = { outcome: 'answered' as const, answer: { choiceId: each.choice } }
        const taken = await host.inbox
          .decide(request.id, decision, { commandId: crypto.randomUUID(), surface: 'web' })
          .then(
            () => true,
            // What failed on the way may have been taken all the same.
            async () => {
              faults.left = 0
              const now = await plain.inbox.get(request.id)
              return now.settlement?.outcome === 'answered'
            },
          )
        await shortly()
        if (!taken || !each.choice.startsWith('allow')) break
        allowed.add(request.id)
        const choice = readPayload(request.payload)?.choices.find(({ choiceId }) => choiceId === each.choice)
        if (choice?.rulePreview === undefined) break
        const { session } = request
        made.push({ preview: choice.rulePreview, ...(choice.scope === 'session' ? { session } : {}) })
        break
      }
      case 'end': {
        const request = await pendingOne(each.pick)
        if (request === undefined) break
        await host.inbox
          .decide(request.id, { outcome: each.outcome }, { commandId: crypto.randomUUID(), surface: 'web' })
          .catch(() => {})
        break
      }
      case 'mode':
        modes.get(each.session)?.add(each.mode)
        await plain.ctx.userApprovals.setMode(each.session, each.mode).catch(() => {})
        break
      case 'revoke': {
        const rules = await plain.ctx.userApprovals.rules().catch(() => [])
        const rule = rules[each.pick % Math.max(1, rules.length)]
        if (rule !== undefined) await plain.ctx.userApprovals.revoke(rule.id).catch(() => {})
        break
      }
      case 'endSession':
        await plain.ctx.userApprovals.endSession(each.session).catch(() => {})
        break
      case 'abort':
        asked[each.pick % Math.max(1, asked.length)]?.controller.abort(new Error('stopped'))
        break
      case 'fault':
        faults.left = each.after
        break
      case 'pause':
        await shortly()
    }
  }
  await new Promise(resolve => setTimeout(resolve, 5))
  faults.left = 0
  for (const { controller } of asked) controller.abort(new Error('over'))

  for (const { request, outcome } of asked) {
    const ended = await outcome
    if (ended.outcome !== 'decided') {
      expect(ended).not.toHaveProperty('policyResult')
      continue
    }
    for (const { index, policyResult, resolvedBy, why = '' } of ended.requirements) {
      if (policyResult !== 'allow') continue
      if (resolvedBy === 'user') expect(allowed.has(`${ended.approvalId}.${index}`)).toBe(true)
      else {
        expect(request.protected).toBe(false)
        const [, mode] = /^the mode (\w+)$/u.exec(why) ?? []
        const [, preview] = /^the rule “(.+)”$/su.exec(why) ?? []
        if (mode === undefined) {
          const { session } = request
          const covers = made.filter(rule => rule.session === undefined || rule.session === session)
          expect(covers.map(rule => rule.preview)).toContain(preview)
        } else {
          expect(modes.get(request.session ?? '')).toContain(mode)
          expect(mode === 'allowAll' || (mode === 'onRequest' && request.requested === false)).toBe(true)
        }
      }
    }
    if (ended.policyResult === 'allow')
      for (const each of ended.requirements) expect(each.policyResult).toBe('allow')
  }
  const rules = await plain.ctx.userApprovals.rules()
  for (const { preview } of rules) expect(made.map(rule => rule.preview)).toContain(preview)
  await Promise.all(hosts.map(host => host.fiber.dispose()))
}

test('nothing is ever allowed but by a person, by a rule a person made, or by a mode a person set', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 8, maxLength: 40, size: 'max' }),
      fc.constantFrom(...APPROVAL_MODES),
      fc.array(fc.nat(REFUSED.length - 1), { maxLength: 3 }),
      run,
    ),
    { numRuns: 120 },
  )
}, 120_000)
