import type { InboxRequest } from '@handraise/inbox'
import type { ApprovalOutcome } from '@handraise/user-approvals'
import type { FrameChannel } from '../channel.ts'
import { FRAME_LIMIT_BYTES } from '../channel.ts'
import { WireError, type InitializeResult } from '../protocol/index.ts'
import { Connection } from './connection.ts'
import type { WireDeps } from './deps.ts'
import { loadView, recordOfInbox, type LoadedView } from './load-view.ts'
import { SessionLost } from './session-lost.ts'
import { Session } from './session.ts'
import { sessionWrite, type SessionRecord } from './session-store.ts'
import { toStatusChanged } from './session-view.ts'
import { TurnRunner } from './turn-runner.ts'
import { ViewLog } from './view-log.ts'

export interface WireLimits {
  /** The longest frame either way, in bytes of UTF-8. Default 10 MiB. */
  readonly frameBytes?: number | undefined
  /** Requests of one connection that may be worked on at once; one more is `overloaded`. Default 256. */
  readonly requestsInFlight?: number | undefined
  /** Turns of one session that may wait; one more is `backpressured`. Default 32. */
  readonly queuedTurns?: number | undefined
  /** How many events a client that does not read may be behind until it is moved ahead past a gap. Default 1,000. */
  readonly lagEvents?: number | undefined
  /** How long a frame may take to be read until its reader counts as slow, in milliseconds. Default 1,000. */
  readonly stallMs?: number | undefined
}

export const LIMITS = {
  frameBytes: FRAME_LIMIT_BYTES,
  requestsInFlight: 256,
  queuedTurns: 32,
  lagEvents: 1_000,
  stallMs: 1_000,
} as const

/** How long to wait until what could not be read of the inbox is read again, in milliseconds. */
const RECONCILE_AGAIN_MS = 250

export type HostInfo = Pick<
  InitializeResult,
  'serverInfo' | 'userAgent' | 'museHome' | 'platformFamily' | 'platformOs' | 'schema' | 'sessionDurability'
>

interface Held {
  readonly session: Session
  readonly runner: TurnRunner | undefined
}

/** The sessions this host holds, and the connections through which clients reach them. */
export class WireHost {
  readonly deps: WireDeps
  readonly info: HostInfo
  readonly limits: Required<{ [Name in keyof WireLimits]: number }>
  private readonly held = new Map<string, Promise<Held>>()
  private readonly connections = new Set<Connection>()
  private readonly closing = new Set<() => void>()
  /** Sessions that lack something of the inbox, each with what calls off the next try. */
  private readonly unreconciled = new Map<Session, () => void>()
  private requestIds = 0
  private unfollow = (): void => {}
  private closed = false

  constructor(
    deps: Omit<WireDeps, 'statusChanged' | 'turnEnded' | 'lost'>,
    info: HostInfo,
    limits: WireLimits = {},
  ) {
    this.deps = {
      ...deps,
      statusChanged: session => this.tellStatus(session),
      turnEnded: session => void this.letGoIfIdle(session).catch(deps.report),
      lost: (session, error) => this.lose(session, error),
    }
    this.info = info
    const given = Object.entries(limits).filter(([, value]) => value !== undefined)
    this.limits = { ...LIMITS, ...Object.fromEntries(given) }
  }

  /** Listens to the inbox. Call it once, before anything else. */
  async start(): Promise<void> {
    this.unfollow = await this.deps.inbox.core.follow({
      entry: ({ request }) => this.noted(request),
      lost: () => {
        for (const held of this.held.values())
          held.then(({ session }) => this.reconcile(session)).catch(this.deps.report)
      },
    })
  }

  /** Goes on with every session whose turn was left by a host that is gone. */
  async adopt(): Promise<void> {
    if (this.deps.agent === undefined) return
    for (const { sessionId } of await this.deps.sessions.sessions()) {
      const view = await loadView(this.deps, sessionId)
      if (view?.state.activeTurn === undefined && view?.waiting.length === 0) continue
      await this.hold(sessionId).catch((error: unknown) => {
        if (!WireError.isInstance(error)) this.deps.report(error)
      })
    }
  }

  /** Answers the requests of one client until it is gone. */
  async serve(channel: FrameChannel): Promise<void> {
    if (this.closed) {
      channel.close()
      return
    }
    const connection = new Connection(channel, this)
    this.connections.add(connection)
    try {
      await connection.run()
    } finally {
      this.connections.delete(connection)
    }
  }

  /** Gives every session up, as it is, and ends the connections once they have been told. */
  async close(): Promise<void> {
    if (this.closed) return
    this.closed = true
    this.unfollow()
    for (const run of [...this.closing, ...this.unreconciled.values()]) run()
    this.unreconciled.clear()
    const held = await Promise.allSettled(this.held.values())
    for (const each of held) {
      if (each.status !== 'fulfilled') continue
      each.value.runner?.release()
      await each.value.session.release('hostShutdown').catch(this.deps.report)
    }
    this.held.clear()
    await Promise.all(Array.from(this.connections, connection => connection.close()))
  }

  /** Calls `run` when this host closes, at once when it has, unless the returned function was called before. */
  onClose(run: () => void): () => void {
    if (this.closed) run()
    this.closing.add(run)
    return () => void this.closing.delete(run)
  }

  /** How many clients look at sessions now. */
  viewers(): number {
    return Array.from(this.connections).filter(connection => connection.looks).length
  }

  nextRequestId(): number {
    this.requestIds += 1
    return this.requestIds
  }

  isHeld(sessionId: string): boolean {
    return this.held.has(sessionId)
  }

  /** A session that this host holds. Rejects with `sessionNotLoaded`, or `sessionNotFound` when there is none. */
  async loaded(sessionId: string): Promise<Held> {
    const held = this.held.get(sessionId)
    if (held !== undefined) return held
    await this.look(sessionId)
    throw new WireError('sessionNotLoaded', 'this host does not hold the session; resume it first', {
      sessionId,
    })
  }

  /** Takes a session, or the one that is held already. Rejects with `sessionInUse` while another host that lives has it. */
  hold(sessionId: string): Promise<Held> {
    const known = this.held.get(sessionId)
    if (known !== undefined) return known
    if (this.closed) throw new WireError('interrupted', 'this host is shutting down')
    const holding = this.take(sessionId)
    this.held.set(sessionId, holding)
    holding.catch(() => {
      if (this.held.get(sessionId) === holding) this.held.delete(sessionId)
    })
    return holding
  }

  /** Starts a session: writes it down, and holds it. `undefined` when there is one of that id. */
  async open(record: SessionRecord): Promise<Held | undefined> {
    const owned = { ...record, owner: this.deps.inbox.core.hostId }
    if (!(await this.deps.sessions.write([sessionWrite(owned, 0)]))) return undefined
    return this.hold(record.sessionId)
  }

  /** A session as it stands, whoever holds it. Rejects with `sessionNotFound`. */
  async look(sessionId: string): Promise<LoadedView> {
    const view = await loadView(this.deps, sessionId)
    if (view === undefined) throw sessionNotFound(sessionId)
    return view
  }

  /** Lets a session go when no client that opened it is there any more and nothing runs in it. */
  async letGoIfIdle(session: Session): Promise<void> {
    const holding = this.held.get(session.id)
    const held = await holding?.catch(() => undefined)
    if (held?.session !== session || session.users.size > 0 || held.runner?.busy === true) return
    await session.change(async () => {
      if (session.users.size > 0 || held.runner?.busy === true || this.held.get(session.id) !== holding)
        return
      this.held.delete(session.id)
      await session.release('idle')
    })
  }

  approvalEnded(sessionId: string, outcome: ApprovalOutcome): void {
    this.held
      .get(sessionId)
      ?.then(({ session }) => session.change(() => session.endApproval(outcome)))
      .catch(this.deps.report)
  }

  tellStarted(connection: Connection, params: object): void {
    for (const each of this.connections)
      if (each === connection || each.hearsList) each.notify('session/started', params)
  }

  private async take(sessionId: string): Promise<Held> {
    const { deps } = this
    const { sessions } = deps
    const record = await this.claim(sessionId)
    const log = new ViewLog(sessionId, await sessions.events(sessionId), () => deps.now())
    const turns = await sessions.turns(sessionId)
    const stops = await sessions.stops(sessionId)
    const session = new Session(record, log, turns, deps)
    const runner = deps.agent === undefined ? undefined : new TurnRunner(session, deps, deps.agent)
    const left = turns.find(({ turnId }) => turnId === session.state.activeTurn?.turnId)
    await session.change(() => session.reconcile(runner !== undefined && left !== undefined))
    const stop = left === undefined ? undefined : stops.get(left.turnId)
    if (left !== undefined && stop !== undefined) runner?.stopLeft(left, stop)
    else runner?.proceed(left)
    return { session, runner }
  }

  /** Writes down that this host holds the session. */
  private async claim(sessionId: string): Promise<SessionRecord> {
    const { deps } = this
    const { core } = deps.inbox
    for (;;) {
      const kept = await deps.sessions.session(sessionId)
      const record = kept?.value ?? (await recordOfInbox(deps.inbox, sessionId))
      if (record === undefined) throw sessionNotFound(sessionId)
      const { owner } = record
      if (owner !== undefined && owner !== core.hostId && (await core.goneHosts([owner])).length === 0)
        throw new WireError('sessionInUse', 'another host holds this session', { sessionId })
      const owned = { ...record, owner: core.hostId }
      const version = kept?.version ?? 0
      if (await deps.sessions.write([sessionWrite(owned, version)])) return owned
    }
  }

  private noted(request: InboxRequest): void {
    this.held
      .get(request.session)
      ?.then(({ session }) =>
        session
          .change(() => session.note(request))
          .catch((error: unknown) => {
            this.deps.report(error)
            this.reconcileLater(session)
          }),
      )
      .catch(this.deps.report)
  }

  // What could not be read just now has happened all the same, and the log does not tell it again.
  private reconcile(session: Session): void {
    if (!session.held) return
    session
      .change(() => session.reconcile())
      .catch((error: unknown) => {
        this.deps.report(error)
        this.reconcileLater(session)
      })
  }

  private reconcileLater(session: Session): void {
    if (this.closed || !session.held || this.unreconciled.has(session)) return
    const callOff = this.deps.inbox.core.clock.after(RECONCILE_AGAIN_MS, () => {
      this.unreconciled.delete(session)
      this.reconcile(session)
    })
    this.unreconciled.set(session, callOff)
  }

  private tellStatus(session: Session): void {
    for (const connection of this.connections)
      if (connection.hearsList) connection.status(session.id, toStatusChanged(session))
  }

  private lose(session: Session, error: unknown): void {
    this.letGo(session, error).catch(this.deps.report)
  }

  private async letGo(session: Session, error: unknown): Promise<void> {
    const holding = this.held.get(session.id)
    const held = await holding
    if (held?.session !== session) return
    if (this.held.get(session.id) === holding) this.held.delete(session.id)
    this.deps.report(error)
    held.runner?.release()
    await session.release(error instanceof SessionLost ? 'takenOver' : 'storeFailed')
  }
}

function sessionNotFound(sessionId: string): WireError {
  return new WireError('sessionNotFound', `there is no session ${JSON.stringify(sessionId)}`, { sessionId })
}
