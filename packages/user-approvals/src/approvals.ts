import { createHash } from 'node:crypto'
import {
  InboxError,
  type Inbox,
  type JsonValue,
  type OpenOptions,
  type SettledRequest,
} from '@handraise/inbox'
import { UserQuestionError } from '@handraise/user-questions/types'
import { CallRecords, type CallRecord } from './call-record.ts'
import { allows, DEFAULT_CHOICES, type ApprovalChoice } from './choice.ts'
import { describeResolved } from './describe-resolved.ts'
import { nameOf, titleOf } from './describe-subject.ts'
import { UserApprovalError } from './error.ts'
import { digestOfInput } from './input-digest.ts'
import { decideByPolicy, type ApprovalMode } from './mode.ts'
import { combine, type ApprovalOutcome, type RequirementDecision, type UndecidedApproval } from './outcome.ts'
import { APPROVAL, checkApprovalAnswer, readPayload, type ApprovalPayload } from './payload.ts'
import { checkRequest, type ApprovalRequest } from './request.ts'
import { requirementsOf, type Requirement } from './requirements.ts'
import { resolveSubject } from './resolve-subject.ts'
import { previewOf, ruleFor } from './rule.ts'
import { RuleBook } from './rule-book.ts'
import { SessionModes } from './session-modes.ts'

export interface ApprovalsOptions {
  readonly inbox: Inbox
  /** Opens a request, shows it wherever requests are shown, and waits until it is settled. */
  readonly show: (opening: OpenOptions, signal: AbortSignal, calledAt: number) => Promise<SettledRequest>
  /** The mode of sessions that have none of their own. */
  readonly mode: ApprovalMode
}

/** Who asks, as it is kept. */
export interface Asker {
  readonly agent?: string | undefined
  readonly child?: string | undefined
}

/** One approval on its way. */
interface Asking {
  /** When this requirement was asked about, by `performance.now()`. */
  readonly calledAt: number
  readonly request: ApprovalRequest
  readonly asker: Asker
  readonly session: string
  readonly signal: AbortSignal
  readonly approvalId: string
  readonly mode: ApprovalMode
  readonly inputDigest: string
  readonly total: number
  /** Where the call is kept; absent without one. */
  readonly key?: string | undefined
}

/** Aborts a wait without withdrawing what is waited for. */
class OutOfPatience extends UserQuestionError<'PROVIDER_GONE'> {
  constructor() {
    super('PROVIDER_GONE', {})
  }
}

/** No person reads more, one after the other. */
const MOST_STAGES = 100
/** How often another process may be first to open the same approval. */
const MOST_RACES = 5

/** Decides approvals: by rules and modes first, then by a person. */
export class Approvals {
  readonly rules: RuleBook
  readonly modes: SessionModes
  private readonly inbox: Inbox
  private readonly show: ApprovalsOptions['show']
  private readonly calls: CallRecords

  constructor({ inbox, show, mode }: ApprovalsOptions) {
    this.inbox = inbox
    this.show = show
    this.rules = new RuleBook(inbox.store)
    this.modes = new SessionModes(inbox.store, mode)
    this.calls = new CallRecords(inbox.store)
  }

  /** Ends with an outcome. Rejects with `UserApprovalError` for what could not be asked at all. */
  async request(given: ApprovalRequest, asker: Asker, signal: AbortSignal): Promise<ApprovalOutcome> {
    const issues = checkRequest(given)
    if (issues.length > 0) throw new UserApprovalError('BAD_APPROVAL', { issues })
    let calledAt = performance.now()
    // What is asked about is what was given, whoever changes it meanwhile.
    const { agent: _, signal: __, ...members } = given
    const request: ApprovalRequest = structuredClone(members)
    const { toolName, session = '', callId } = request
    // The mode is that of this moment.
    const modeNow = this.modes.get(session)
    modeNow.catch(() => {})
    let approvalId: string = crypto.randomUUID()
    try {
      const resolved = await resolveSubject(request.subject, { cwd: request.cwd })
      const inputDigest = digestOfInput(toolName, resolved as unknown as JsonValue)
      if (resolved.kind === 'shell' && resolved.stages.length > MOST_STAGES)
        return {
          outcome: 'unavailable',
          approvalId,
          reason: `the command has more than ${MOST_STAGES} stages`,
        }
      const requirements = requirementsOf(resolved)
      // Another input of the same call is another approval.
      const key =
        callId === undefined
          ? undefined
          : JSON.stringify([session, asker.child ?? asker.agent ?? '', callId, inputDigest])
      const kept = key === undefined ? undefined : await this.calls.read(key)
      // The same for the same call in whatever process: what it may have as an effect is claimed by it.
      if (key !== undefined) approvalId = createHash('sha256').update(key).digest('base64url')
      const mode = kept?.record.mode ?? (await modeNow)
      const total = requirements.length
      const asking = { request, asker, session, signal, approvalId, mode, inputDigest, total, key }
      const decided: RequirementDecision[] = []
      for (const requirement of requirements) {
        const decision = await this.decide({ ...asking, calledAt }, requirement)
        if ('outcome' in decision) return decision
        decided.push(decision)
        if (decision.policyResult === 'deny') break
        calledAt = performance.now()
      }
      return combine(approvalId, decided)
    } catch (error) {
      if (UserApprovalError.isInstance(error)) throw error
      return undecidedBy(error, approvalId, signal)
    }
  }

  /** Claims the one effect that what was allowed may have. False when it was claimed before. */
  redeem(approvalId: string): Promise<boolean> {
    return this.calls.redeem(approvalId, this.inbox.clock.now())
  }

  /** Ends what waits in a session that has ended: nobody is to make a rule for it any more. */
  async withdraw(session: string): Promise<void> {
    for (let after: string | undefined, more = true; more; more = after !== undefined) {
      const page = await this.inbox.list({ state: 'pending', session, limit: 1_000, after })
      for (const { id, kind } of page.requests)
        if (kind === APPROVAL) await this.inbox.withdraw(id, 'the session has ended')
      after = page.next
    }
  }

  prune(before: number): Promise<void> {
    return this.calls.prune(before)
  }

  private async decide(
    asking: Asking,
    requirement: Requirement,
    races = 0,
  ): Promise<RequirementDecision | UndecidedApproval> {
    const { request, session, mode } = asking
    const { toolName } = request
    const pending = await this.pendingOf(asking, requirement.sourceIndex)
    if (pending === undefined) {
      const rule = await this.rules.find(session, toolName, requirement.subject)
      const policy = decideByPolicy(mode, {
        matched: rule !== undefined,
        protected: request.protected === true,
        requested: request.requested === true,
      })
      if (policy !== 'ask') {
        return {
          index: requirement.sourceIndex,
          subject: nameOf(requirement.subject.subject),
          decision: policy === 'allow' ? 'approved' : 'denied',
          policyResult: policy,
          scope: 'once',
          resolvedBy: 'policy',
          why: rule === undefined ? `the mode ${mode}` : `the rule “${rule.preview}”`,
        }
      }
    }
    return this.ask(asking, requirement, pending, races)
  }

  /** The request that was opened for this call before, pending or settled. */
  private async pendingOf({ key }: Asking, index: number): Promise<string | undefined> {
    if (key === undefined) return undefined
    const id = (await this.calls.read(key))?.record.requests[String(index)]
    return id !== undefined && (await this.inbox.store.get(id)) !== undefined ? id : undefined
  }

  private async ask(
    asking: Asking,
    requirement: Requirement,
    pending: string | undefined,
    races: number,
  ): Promise<RequirementDecision | UndecidedApproval> {
    const opening = await this.openingOf(asking, requirement, pending)
    const patience = new AbortController()
    const { patienceMs } = asking.request
    const stop =
      patienceMs === undefined
        ? () => {}
        : this.inbox.clock.after(patienceMs, () => patience.abort(new OutOfPatience()))
    try {
      const signal = AbortSignal.any([asking.signal, patience.signal])
      return toDecision(asking, requirement, await this.show(opening, signal, asking.calledAt))
    } catch (error) {
      if (patience.signal.aborted && !asking.signal.aborted)
        return { outcome: 'pending', approvalId: asking.approvalId }
      // Another process opened it in between.
      const again = InboxError.isInstance(error) && error.code === 'RECORD_CONFLICT' && races < MOST_RACES
      if (!again) throw error
      return await this.decide(asking, requirement, races + 1)
    } finally {
      stop()
    }
  }

  private async openingOf(
    asking: Asking,
    requirement: Requirement,
    pending: string | undefined,
  ): Promise<OpenOptions> {
    const { request, asker, session, approvalId, key } = asking
    if (pending !== undefined) {
      // As it was opened: what is joined must be the same to the letter.
      const { kind, payload, session: of, key: named, agent, deadlineAt } = await this.inbox.get(pending)
      return { kind, payload, session: of, key: named, agent, deadlineAt }
    }
    const index = requirement.sourceIndex
    const id = `${approvalId}.${index}`
    const { timeoutMs } = request
    const openedAt = this.inbox.clock.now()
    return {
      id,
      kind: APPROVAL,
      payload: payloadOf(asking, requirement) as unknown as JsonValue,
      session,
      ...(asker.agent === undefined ? {} : { agent: asker.agent }),
      openedAt,
      ...(timeoutMs === undefined ? {} : { deadlineAt: openedAt + timeoutMs }),
      ...(key === undefined
        ? {}
        : { key: `${key}#${index}`, records: [await this.noteOf(asking, key, index, id)] }),
    }
  }

  private async noteOf({ approvalId, mode }: Asking, key: string, index: number, id: string) {
    const kept = await this.calls.read(key)
    const record: CallRecord = kept?.record ?? {
      approvalId,
      mode,
      requests: {},
      askedAt: this.inbox.clock.now(),
    }
    const requests = { ...record.requests, [index]: id }
    return this.calls.toWrite(key, { ...record, requests }, kept?.version ?? 0)
  }
}

function payloadOf(asking: Asking, requirement: Requirement): ApprovalPayload {
  const { request, asker, session, approvalId, inputDigest, total } = asking
  const { toolName, subject, reason, callId, choices = DEFAULT_CHOICES } = request
  const resolved = describeResolved(requirement.subject)
  const offered = choices.flatMap(({ breadth, ...choice }): ApprovalChoice[] => {
    if (!allows(choice) || choice.scope === 'once') return [choice]
    // Nothing that a rule cannot cover is remembered, and nothing for a session that has no name.
    if (request.protected === true || (choice.scope === 'session' && session === '')) return []
    const rule = ruleFor(toolName, requirement.subject, breadth)
    return rule === undefined ? [] : [{ ...choice, rule, rulePreview: previewOf(rule) }]
  })
  return {
    version: 1,
    approvalId,
    requirement: { index: requirement.sourceIndex, total },
    toolName,
    subject,
    // A stage is not what its words alone would be: what comes before it counts.
    subjectName:
      total > 1 ? `${nameOf(subject)} — stage ${requirement.sourceIndex + 1} of ${total}` : nameOf(subject),
    ...(total > 1 ? { stage: titleOf(requirement.subject.subject) } : {}),
    ...(resolved.length === 0 ? {} : { resolved }),
    ...(reason === undefined ? {} : { reason }),
    ...(asker.child === undefined ? {} : { child: asker.child }),
    ...(callId === undefined ? {} : { callId }),
    inputDigest,
    ...(request.protected === true ? { protected: true } : {}),
    choices: offered,
  }
}

/** What a settled request says of its requirement; nothing but an offered choice says anything. */
function toDecision(
  { approvalId }: Asking,
  requirement: Requirement,
  request: SettledRequest,
): RequirementDecision | UndecidedApproval {
  const { outcome, reason, text, answer, by } = request.settlement
  if (outcome !== 'answered') {
    return {
      outcome,
      approvalId,
      ...(reason === undefined ? {} : { reason }),
      ...(text === undefined ? {} : { text }),
    }
  }
  const payload = readPayload(request.payload)
  const check = payload === undefined ? undefined : checkApprovalAnswer(payload, answer)
  if (check?.ok !== true)
    return { outcome: 'unavailable', approvalId, reason: 'what was answered is none of the choices' }
  const { choice } = check
  const { rulePreview, scope, decision } = choice
  return {
    index: requirement.sourceIndex,
    subject: nameOf(requirement.subject.subject),
    decision,
    policyResult: allows(choice) ? 'allow' : 'deny',
    scope,
    resolvedBy: by === 'policy' ? 'policy' : 'user',
    ...(by === 'policy' ? { why: 'a script' } : {}),
    ...(check.answer.feedback === undefined ? {} : { feedback: check.answer.feedback }),
    ...(rulePreview === undefined || scope === 'once'
      ? {}
      : { amendment: { durability: scope, rulePreview } }),
  }
}

/** What went wrong on the way is no denial. */
function undecidedBy(error: unknown, approvalId: string, signal: AbortSignal): UndecidedApproval {
  if (UserQuestionError.isInstance(error) && error.code === 'PROVIDER_GONE')
    return { outcome: 'unavailable', approvalId, reason: 'the host is shutting down', cause: error }
  if (signal.aborted) {
    const reason = error instanceof Error ? error.message : String(error)
    return { outcome: 'aborted', approvalId, reason }
  }
  if (UserQuestionError.isInstance(error) && error.code === 'ASK_UNAVAILABLE')
    return { outcome: 'unavailable', approvalId, reason: error.details.reason, cause: error }
  if (InboxError.isInstance(error) && error.code === 'STORE_CLOSED')
    return { outcome: 'unavailable', approvalId, reason: 'the host is shutting down', cause: error }
  const reason = error instanceof Error ? error.message : String(error)
  return { outcome: 'unavailable', approvalId, reason, cause: error }
}
