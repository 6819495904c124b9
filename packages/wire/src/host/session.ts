import { isSettled, type InboxRequest, type RecordWrite } from '@handraise/inbox'
import type { ApprovalOutcome } from '@handraise/user-approvals'
import { WireError } from '../protocol/index.ts'
import type { WireDeps } from './deps.ts'
import { readRequirement, toApprovalEnded, toApprovalResolved } from './approval.ts'
import type { CallPlace } from './call-place.ts'
import { callIdOf, eventsOf } from './request-events.ts'
import { Serial } from './serial.ts'
import {
  emptyState,
  foldEvent,
  pendingApprovals,
  pendingUserInputs,
  type SessionState,
} from './session-state.ts'
import { sessionWrite, type Kept, type SessionRecord, type TurnRecord } from './session-store.ts'
import { startedItem } from './tool-item.ts'
import { SessionLost, type EventDraft, type ViewEvent, type ViewLog } from './view-log.ts'

/** Whoever looks at a session: told that its view has grown, and of what passes without being kept. */
export interface SessionViewer {
  grown(): void
  passed(method: string, params: Readonly<Record<string, unknown>>): void
  /** The session is not held by this host any more. */
  closed(reason: 'idle' | 'hostShutdown'): void
}

/** A tool call that is run here. */
export interface RunningCall extends CallPlace {
  /** Its item is in the view. */
  begun: boolean
}

/** How long to wait between tries to record what has happened, in milliseconds. */
const RETRIES_MS = [50, 250, 1_000]

/**
 * A session that this host holds: its view, what it has come to, and who looks at it. All that changes it goes through
 * `change`, one after the other.
 */
export class Session {
  readonly record: SessionRecord
  readonly log: ViewLog
  readonly state: SessionState = emptyState()
  /** Turns that wait for the one before. */
  readonly queue: TurnRecord[]
  /** How many turns there ever were, waiting ones included. */
  turnOrder: number
  readonly viewers = new Set<SessionViewer>()
  readonly calls = new Map<string, RunningCall>()
  /** Set when this host gives the session up: nothing is recorded any more. */
  released = false
  private readonly deps: WireDeps
  private readonly serial = new Serial()
  private version: number
  private failed = false

  constructor(
    { value, version }: Kept<SessionRecord>,
    log: ViewLog,
    turns: readonly TurnRecord[],
    deps: WireDeps,
  ) {
    this.record = value
    this.version = version
    this.log = log
    this.deps = deps
    for (const event of log.events) foldEvent(this.state, event)
    this.queue = turns.filter(
      ({ turnId }) => !this.state.startedTurns.has(turnId) && !this.state.endedTurns.has(turnId),
    )
    this.turnOrder = turns.length
  }

  get id(): string {
    return this.record.sessionId
  }

  /** Runs one change of the session after the other. What it does with the session is not mixed with what others do. */
  change<Value>(run: () => Promise<Value> | Value): Promise<Value> {
    return this.serial.run(run)
  }

  /** The same for what a client commands. Rejects with `sessionNotLoaded` when the session was given up in between. */
  command<Value>(run: () => Promise<Value> | Value): Promise<Value> {
    return this.change(() => {
      if (!this.released && !this.failed) return run()
      const message = 'this host has let the session go; resume it, and send the command again'
      throw new WireError('sessionNotLoaded', message, { sessionId: this.id })
    })
  }

  /** Resolves when all changes that were given so far are done. */
  idle(): Promise<void> {
    return this.serial.idle()
  }

  /**
   * Records events and tells the viewers. Only within `change`. Does nothing once the session was given up; rejects with
   * `SessionLost` then where `recorded` is given, which is called before the viewers are told.
   */
  async append(
    drafts: readonly EventDraft[],
    records: readonly RecordWrite[] = [],
    recorded?: () => void,
  ): Promise<void> {
    if ((this.released || this.failed) && recorded !== undefined) throw new SessionLost(this.id)
    if (this.released || this.failed || drafts.length + records.length === 0) return
    const attention = this.attention().join()
    const events = await this.written(drafts, records).catch((error: unknown) => {
      this.failed = true
      this.deps.lost(this, error)
      throw error
    })
    recorded?.()
    for (const viewer of this.viewers) viewer.grown()
    if (events.some(isOfStatus) || this.attention().join() !== attention) this.deps.statusChanged(this)
  }

  /** Tells the viewers of what is not kept, such as a piece of a message. */
  pass(method: string, body: Readonly<Record<string, unknown>>): void {
    if (this.released) return
    const params = { sessionId: this.id, viewCursor: this.log.pass(), ...body }
    for (const viewer of this.viewers) viewer.passed(method, params)
  }

  /** Records what the view lacks of a request of this session. Only within `change`. */
  async note(request: InboxRequest, goesOn = false): Promise<void> {
    const { state } = this
    const callOf = (callId: string): CallPlace | undefined => this.calls.get(callId)
    const before = await this.requestBefore(request)
    await this.append(eventsOf(request, { state, callOf, before, goesOn, now: this.deps.now() }))
    const known = state.userInputs.get(request.id)
    if (known?.requested.autoResolutionMs !== undefined && request.deadlineAt === undefined)
      state.userInputs.set(request.id, { ...known, engaged: true })
    const call = this.calls.get(callIdOf(request))
    if (call !== undefined) call.begun = true
  }

  /** Records what became of everything this session asked while nobody here listened. Only within `change`. */
  async reconcile(goesOn = false): Promise<void> {
    const { inbox } = this.deps
    for (const { requested } of pendingUserInputs(this.state))
      await this.noteById(requested.userInputId, goesOn)
    for (const { current } of pendingApprovals(this.state))
      await this.noteById(requestIdOf(current.approvalId, current.currentRequirementId.sourceIndex), goesOn)
    if (goesOn) await this.noteSettled()
    for (let after: string | undefined, more = true; more; more = after !== undefined) {
      const page = await inbox.core.list({ state: 'pending', session: this.id, limit: 1_000, after })
      for (const request of page.requests) await this.note(request, goesOn)
      after = page.next
    }
  }

  /** Records that a call has begun, unless the view has it already. Only within `change`. */
  async begin(call: RunningCall): Promise<void> {
    if (call.begun) return
    call.begun = true
    if (this.state.items.has(call.itemId)) return
    const item = startedItem(call, this.deps.now())
    await this.append([{ method: 'item/started', body: { item }, turnId: call.turnId }])
  }

  /** Records the end of an approval of several stages, which only whoever asked for it knows. Only within `change`. */
  async endApproval(outcome: ApprovalOutcome): Promise<void> {
    const known = this.state.approvals.get(outcome.approvalId)
    if (known === undefined || known.resolved !== undefined) return
    const { opened, current } = known
    const { turnId } = opened
    const id = requestIdOf(current.approvalId, current.currentRequirementId.sourceIndex)
    const last = await this.deps.inbox.core.store.get(id)
    if (outcome.outcome === 'decided') {
      const body = toApprovalEnded(current, outcome, last?.settlement)
      await this.append([{ method: 'approval/resolved', body, turnId }])
      return
    }
    // What was not settled waits still, such as when this host goes down.
    const requirement = last === undefined || !isSettled(last) ? undefined : readRequirement(last, true)
    if (requirement === undefined) return
    await this.append([
      { method: 'approval/resolved', body: toApprovalResolved(requirement, opened), turnId },
    ])
  }

  /** What waits for a person. */
  attention(): Array<'approvalPending' | 'inputPending'> {
    return [
      ...(pendingApprovals(this.state).length > 0 ? ['approvalPending' as const] : []),
      ...(pendingUserInputs(this.state).length > 0 ? ['inputPending' as const] : []),
    ]
  }

  /** Gives the session up, so that another host may hold it: nothing is recorded here any more. */
  async release(reason: 'idle' | 'hostShutdown'): Promise<void> {
    if (this.released) return
    this.released = true
    for (const viewer of this.viewers) viewer.closed(reason)
    this.viewers.clear()
    const { owner: _, ...record } = this.record
    await this.deps.sessions.write([sessionWrite(record, this.version)])
  }

  async noteById(id: string, goesOn = false): Promise<void> {
    const request = await this.deps.inbox.core.store.get(id)
    if (request !== undefined) await this.note(request, goesOn)
  }

  // What the turn that goes on asked, and somebody elsewhere settled, before its host could record that it was asked.
  private async noteSettled(): Promise<void> {
    const { inbox } = this.deps
    const { activeTurn, userInputs, approvals } = this.state
    const { requests } = await inbox.core.list({ state: 'settled', session: this.id })
    for (const request of requests.toReversed()) {
      const approvalId = readRequirement(request, true)?.approvalId
      const known = userInputs.has(request.id) || (approvalId !== undefined && approvals.has(approvalId))
      if (!known && request.openedAt >= (activeTurn?.startedAt ?? Infinity)) await this.note(request, true)
    }
  }

  // A store that fails just now may take it in a moment; what a person has decided is in it already.
  private async written(
    drafts: readonly EventDraft[],
    records: readonly RecordWrite[],
  ): Promise<readonly ViewEvent[]> {
    for (const delayMs of RETRIES_MS) {
      try {
        return await this.appended(drafts, records)
      } catch (error) {
        if (isLost(error)) throw error
        this.deps.report(error)
        await new Promise<void>(resolve => this.deps.inbox.core.clock.after(delayMs, resolve))
      }
    }
    return this.appended(drafts, records)
  }

  // Holds only as long as nobody else has claimed the session, who may have had nothing to record yet.
  private async appended(
    drafts: readonly EventDraft[],
    records: readonly RecordWrite[],
  ): Promise<readonly ViewEvent[]> {
    const { sessions } = this.deps
    const held = sessionWrite(this.record, this.version)
    const events = await this.log.append(drafts, [...records, held], event => foldEvent(this.state, event))
    const kept = await sessions.session(this.id)
    if (kept?.value.owner === this.record.owner) this.version = kept?.version ?? this.version
    return events
  }

  private async requestBefore(request: InboxRequest): Promise<InboxRequest | undefined> {
    const requirement = readRequirement(request, true)
    if (requirement === undefined || requirement.payload.requirement.total === 1) return undefined
    const known = this.state.approvals.get(requirement.approvalId)
    if (known === undefined) return undefined
    const { sourceIndex } = known.current.currentRequirementId
    return this.deps.inbox.core.store.get(requestIdOf(requirement.approvalId, sourceIndex))
  }
}

/** The request of the inbox that holds one requirement of an approval; of an approval of its own it is the id itself. */
export function requestIdOf(approvalId: string, sourceIndex: number): string {
  return approvalId.endsWith(`.${sourceIndex}`) ? approvalId : `${approvalId}.${sourceIndex}`
}

function isOfStatus({ method }: ViewEvent): boolean {
  return method === 'turn/started' || method === 'turn/completed'
}

function isLost(error: unknown): boolean {
  return error instanceof Error && error.name === 'SessionLost'
}
