import { isSettled, type InboxRequest, type RecordWrite } from '@handraise/inbox'
import type { ApprovalOutcome } from '@handraise/user-approvals'
import { WireError, type Item } from '../protocol/index.ts'
import type { WireDeps } from './deps.ts'
import { readRequirement, toApprovalEnded, toApprovalResolved } from './approval.ts'
import type { CallPlace } from './call-place.ts'
import { forgottenApproval, forgottenUserInput } from './forgotten-events.ts'
import { callIdOf, eventsOf } from './request-events.ts'
import { Serial } from './serial.ts'
import {
  foldEvent,
  pendingApprovals,
  pendingUserInputs,
  stateOf,
  waitingOf,
  type ApprovalView,
  type SessionState,
} from './session-state.ts'
import { sessionWrite, type SessionRecord, type TurnRecord } from './session-store.ts'
import { startedItem } from './tool-item.ts'
import { SessionLost } from './session-lost.ts'
import type { EventDraft, ViewEvent, ViewLog } from './view-log.ts'

/** Whoever looks at a session: told that its view has grown, and of what passes without being kept. */
export interface SessionViewer {
  grown(): void
  passed(method: string, params: Readonly<Record<string, unknown>>): void
  /** The session is not held by this host any more. */
  closed(reason: ClosedReason): void
}

/** Why a session is not held here any more: the protocol's words, and ours for one that was not given up. */
export type ClosedReason = 'idle' | 'hostShutdown' | 'takenOver' | 'storeFailed'

/** A tool call that is run here. */
export interface RunningCall extends CallPlace {
  /** Its item is in the view. */
  begun: boolean
}

/** What a question and an approval tell of where they belong. */
interface Asked {
  readonly itemId: string
  readonly toolCallId: string
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
  readonly state: SessionState
  /** Turns that wait for the one before. */
  readonly queue: TurnRecord[]
  /** How many turns there ever were, waiting ones included. */
  turnOrder: number
  readonly viewers = new Set<SessionViewer>()
  /** The connections that started or resumed it, and live. */
  readonly users = new Set<object>()
  readonly calls = new Map<string, RunningCall>()
  /** What the turn that goes on here had asked when its host went away, and that host could not record. */
  private readonly found = new Set<string>()
  /** Set when this host gives the session up: nothing is recorded any more. */
  released = false
  private readonly deps: WireDeps
  private readonly serial = new Serial()
  private failed = false

  constructor(record: SessionRecord, log: ViewLog, turns: readonly TurnRecord[], deps: WireDeps) {
    this.record = record
    this.log = log
    this.deps = deps
    this.state = stateOf(log.events)
    this.queue = waitingOf(this.state, turns)
    this.turnOrder = (turns.at(-1)?.order ?? -1) + 1
  }

  get id(): string {
    return this.record.sessionId
  }

  /** True until this host has given the session up, or has lost it. */
  get held(): boolean {
    return !this.released && !this.failed
  }

  /** Runs one change of the session after the other. What it does with the session is not mixed with what others do. */
  change<Value>(run: () => Promise<Value> | Value): Promise<Value> {
    return this.serial.run(run)
  }

  /** The same for what a client commands. Rejects with `sessionNotLoaded` when the session was given up in between. */
  command<Value>(run: () => Promise<Value> | Value): Promise<Value> {
    return this.change(async () => {
      if (!this.held) {
        const message = 'this host has let the session go; resume it, and send the command again'
        throw new WireError('sessionNotLoaded', message, { sessionId: this.id })
      }
      try {
        return await run()
      } catch (error) {
        // A refusal is kept for good: none is made of a view that another host has gone on with.
        if (WireError.isInstance(error)) await this.append([], [], () => {})
        throw error
      }
    })
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
    if (!this.held && recorded !== undefined) throw new SessionLost(this.id)
    if (!this.held || (drafts.length + records.length === 0 && recorded === undefined)) return
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
    if (goesOn && !state.itemOfCall.has(callIdOf(request))) this.found.add(request.id)
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
    for (const id of this.pendingIds()) await this.noteKept(id, goesOn)
    if (goesOn) await this.noteSettled()
    const listed = new Set<string>()
    for (let after: string | undefined, more = true; more; more = after !== undefined) {
      const page = await inbox.core.list({ state: 'pending', session: this.id, limit: 1_000, after })
      for (const request of page.requests) {
        listed.add(request.id)
        await this.note(request, goesOn)
      }
      after = page.next
    }
    // Only now: of an approval another stage may wait than the one that is forgotten.
    for (const id of this.pendingIds()) if (!listed.has(id)) await this.noteById(id, goesOn)
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
    const last = await this.deps.inbox.core.store.get(currentIdOf(known))
    if (last === undefined && outcome.outcome !== 'decided') {
      await this.append(forgottenApproval(known, this.openItem(opened, opened.taskId), this.deps.now()))
      return
    }
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

  /** Withdraws what the calls of a turn asked, and records it. Only within `change`. */
  async withdraw(turnId: string, reason: string): Promise<void> {
    if (!this.held) return
    const { core } = this.deps.inbox
    for (const { requested } of pendingUserInputs(this.state)) {
      const { userInputId } = requested
      if (requested.turnId !== turnId || this.isAlone(requested, userInputId)) continue
      await core.withdraw(userInputId, reason)
      await this.noteById(userInputId)
    }
    for (const known of pendingApprovals(this.state)) {
      const { opened } = known
      if (opened.turnId !== turnId || this.isAlone(opened, opened.taskId)) continue
      const id = currentIdOf(known)
      await core.withdraw(id, reason)
      await this.noteById(id)
      await this.endApproval({ outcome: 'aborted', approvalId: opened.approvalId, reason })
    }
  }

  /** The items of a turn that have begun and not ended. What asks by itself is of nobody's turn. */
  openItems(turnId: string): Item[] {
    const { items, userInputs, approvals } = this.state
    const alone = new Set([
      ...[...userInputs.values()].flatMap(({ requested }) =>
        this.isAlone(requested, requested.userInputId) ? requested.itemId : [],
      ),
      ...[...approvals.values()].flatMap(({ opened }) =>
        this.isAlone(opened, opened.taskId) ? opened.itemId : [],
      ),
    ])
    return [...items.values()].filter(
      item => item.turnId === turnId && item.status === 'inProgress' && !alone.has(item.itemId),
    )
  }

  // Asked by another process, and not by a call of this session.
  private isAlone({ itemId, toolCallId }: Asked, requestId: string): boolean {
    return itemId === requestId && !this.calls.has(toolCallId) && !this.found.has(requestId)
  }

  // The item of what was asked so, which nothing but its end ends.
  private openItem(asked: Asked, requestId: string): Item | undefined {
    const item = this.isAlone(asked, requestId) ? this.state.items.get(asked.itemId) : undefined
    return item?.status === 'inProgress' ? item : undefined
  }

  /** What waits for a person. */
  attention(): Array<'approvalPending' | 'inputPending'> {
    return [
      ...(pendingApprovals(this.state).length > 0 ? ['approvalPending' as const] : []),
      ...(pendingUserInputs(this.state).length > 0 ? ['inputPending' as const] : []),
    ]
  }

  /** Gives the session up, so that another host may hold it: nothing is recorded here any more. */
  async release(reason: ClosedReason): Promise<void> {
    if (this.released) return
    this.released = true
    for (const viewer of this.viewers) viewer.closed(reason)
    this.viewers.clear()
    const { sessions } = this.deps
    const kept = await sessions.session(this.id)
    if (kept === undefined || kept.value.owner !== this.record.owner) return
    const { owner: _, ...record } = this.record
    await sessions.write([sessionWrite(record, kept.version)])
  }

  /** Records what became of a request that the view has. Only within `change`. */
  async noteById(id: string, goesOn = false): Promise<void> {
    if (!(await this.noteKept(id, goesOn))) await this.append(this.eventsOfForgotten(id, goesOn))
  }

  // False of one that the store does not have. The view had it from there: it was settled, and is forgotten.
  private async noteKept(id: string, goesOn: boolean): Promise<boolean> {
    const request = await this.deps.inbox.core.store.get(id)
    if (request !== undefined) await this.note(request, goesOn)
    return request !== undefined
  }

  private eventsOfForgotten(id: string, goesOn: boolean): EventDraft[] {
    const now = this.deps.now()
    const itemOf = (asked: Asked): Item | undefined => (goesOn ? undefined : this.openItem(asked, id))
    const question = pendingUserInputs(this.state).find(({ requested }) => requested.userInputId === id)
    if (question !== undefined) return forgottenUserInput(question, itemOf(question.requested), now)
    const approval = pendingApprovals(this.state).find(known => currentIdOf(known) === id)
    if (approval === undefined) return []
    const { turnId, toolCallId } = approval.opened
    // The call that asks here tells its end. One that is made again asks under the same id again.
    const isAskedHere = this.calls.has(toolCallId) || (goesOn && turnId === this.state.activeTurn?.turnId)
    return isAskedHere ? [] : forgottenApproval(approval, itemOf(approval.opened), now)
  }

  private pendingIds(): string[] {
    return [
      ...pendingUserInputs(this.state).map(({ requested }) => requested.userInputId),
      ...pendingApprovals(this.state).map(currentIdOf),
    ]
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

  private async written(
    drafts: readonly EventDraft[],
    records: readonly RecordWrite[],
  ): Promise<readonly ViewEvent[]> {
    const events = this.log.preview(drafts)
    await this.commit([...this.log.writesOf(events), ...records])
    this.log.take(events, event => foldEvent(this.state, event))
    return events
  }

  // A store that fails just now may take it in a moment; what a person has decided is in it already. It is written only as
  // long as nobody else has claimed the session, who may have had nothing to record yet.
  private async commit(writes: readonly RecordWrite[]): Promise<void> {
    const { sessions, inbox, report } = this.deps
    let tried: number | undefined
    for (const delayMs of [...RETRIES_MS, undefined]) {
      try {
        const kept = await sessions.session(this.id)
        if (kept === undefined || kept.value.owner !== this.record.owner) throw new SessionLost(this.id)
        // It was written, though the store could not say so.
        if (tried !== undefined && kept.version > tried) return
        tried = kept.version
        if (await sessions.write([...writes, sessionWrite(this.record, kept.version)])) return
        throw new SessionLost(this.id)
      } catch (error) {
        if (error instanceof SessionLost || delayMs === undefined) throw error
        report(error)
        await new Promise<void>(resolve => inbox.core.clock.after(delayMs, resolve))
      }
    }
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

// The request of the requirement that an approval is at.
function currentIdOf({ current }: ApprovalView): string {
  return requestIdOf(current.approvalId, current.currentRequirementId.sourceIndex)
}

/** The request of the inbox that holds one requirement of an approval; of an approval of its own it is the id itself. */
export function requestIdOf(approvalId: string, sourceIndex: number): string {
  return approvalId.endsWith(`.${sourceIndex}`) ? approvalId : `${approvalId}.${sourceIndex}`
}

function isOfStatus({ method }: ViewEvent): boolean {
  return method === 'turn/started' || method === 'turn/completed'
}
