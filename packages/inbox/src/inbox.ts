import { createHash } from 'node:crypto'
import { canonicalJson, type AnsweredBy, type Outcome } from '@handraise/user-questions/types'
import { systemClock, type Clock } from '@handraise/user-questions'
import { atMost } from './at-most.ts'
import { Deadlines } from './deadlines.ts'
import type { Command, Decision, Receipt } from './decision.ts'
import { InboxError } from './error.ts'
import { Feed, type Follower } from './feed.ts'
import { HostLease } from './host-lease.ts'
import type { RequestKind } from './kind.ts'
import { checkOpen } from './open-rules.ts'
import { questionsKind } from './questions-kind.ts'
import { QuietTime } from './quiet-time.ts'
import {
  isSettled,
  type InboxRequest,
  type InboxSettlement,
  type JsonValue,
  type SettledRequest,
} from './request.ts'
import type { InboxStore, ListPage, ListQuery, RecordWrite } from './store.ts'

export interface InboxOptions {
  readonly store: InboxStore
  /** Default: the system's. */
  readonly clock?: Clock | undefined
  /** How long settled requests are kept, in milliseconds. Default 30 days. */
  readonly retentionMs?: number | undefined
  /** How long this process may be silent before its requests without a key count as orphaned, in milliseconds. Default 15,000. */
  readonly leaseMs?: number | undefined
  /**
   * How long `close` tries to settle what this process alone waited for, in milliseconds, before it leaves that to other
   * processes, or to the next start. Default 1,500.
   */
  readonly closeMs?: number | undefined
  /** Told what went wrong in what nobody waits for. Default: nobody. */
  readonly report?: ((error: unknown) => void) | undefined
}

export interface OpenOptions {
  /** Default: a new one. */
  readonly id?: string | undefined
  readonly kind: string
  readonly payload: JsonValue
  readonly session?: string | undefined
  readonly key?: string | undefined
  readonly agent?: string | undefined
  /** When it was asked, in milliseconds since the Unix epoch. Default: now. */
  readonly openedAt?: number | undefined
  readonly deadlineAt?: number | undefined
  readonly records?: readonly RecordWrite[] | undefined
}

interface Waiter {
  readonly resolve: (request: SettledRequest) => void
  readonly reject: (error: unknown) => void
  /** An asker, who is answered; another only watches what becomes of the request. */
  readonly asks: boolean
}

/** How long between looks for requests to forget, in milliseconds. */
const PRUNE_EVERY_MS = 60 * 60 * 1000
/** How long to wait until requests that could not be read are read again, in milliseconds. */
const WAKE_RETRY_MS = 1_000
/** Which processes joined which requests that another one opened. */
const JOINS = 'joins'
const RETENTION_MS = 30 * 24 * 60 * 60 * 1000
const LEASE_MS = 15_000
const CLOSE_MS = 1_500

/**
 * Requests that outlive whoever asked and whoever was shown them. Each is opened once, settled once, by whichever
 * surface, process or machine comes first, and kept until it is settled, however long that takes.
 */
export class Inbox {
  readonly store: InboxStore
  readonly clock: Clock
  private readonly kinds = new Map<string, RequestKind>([[questionsKind.name, questionsKind]])
  private readonly waiters = new Map<string, Set<Waiter>>()
  private readonly quiet = new QuietTime()
  private readonly feed: Feed
  private readonly deadlines: Deadlines
  private readonly lease: HostLease
  private readonly leaseMs: number
  private readonly retentionMs: number
  private readonly closeMs: number
  private readonly report: (error: unknown) => void
  private readonly timers = new Map<string, () => void>()
  // Pending requests that were opened by this process.
  private readonly openedHere = new Set<string>()
  private closed = false

  constructor({
    store,
    clock = systemClock,
    retentionMs = RETENTION_MS,
    leaseMs = LEASE_MS,
    closeMs = CLOSE_MS,
    report = () => {},
  }: InboxOptions) {
    this.store = store
    this.clock = clock
    this.retentionMs = retentionMs
    this.report = report
    this.feed = new Feed(store, clock, report, this.quiet)
    this.leaseMs = leaseMs
    this.closeMs = closeMs
    this.lease = new HostLease(store, clock, leaseMs)
    this.deadlines = new Deadlines(store, clock, report, id => this.settleAtDeadline(id))
  }

  /** Settles what came due and what was orphaned while nothing ran, then listens. Call it once, before anything else. */
  async start(): Promise<void> {
    await this.lease.renew()
    await this.feed.start()
    await this.feed.follow({
      entry: ({ change, request }) => {
        if (change === 'opened') this.deadlines.expect(request.deadlineAt)
        if (!isSettled(request)) return
        this.openedHere.delete(request.id)
        this.wake(request)
      },
      lost: () => void this.wakeAll(),
    })
    await this.deadlines.sweep()
    await this.settleOrphans()
    await this.prune()
    this.every('lease', this.leaseMs / 3, async () => {
      await this.lease.renew()
      await this.deadlines.sweep()
      await this.settleOrphans()
    })
    this.every('prune', PRUNE_EVERY_MS, () => this.prune())
  }

  /** Ends what this process alone waited for, keeps what has a key, and closes the store. */
  async close(): Promise<void> {
    if (this.closed) return
    this.closed = true
    for (const stop of this.timers.values()) stop()
    this.deadlines.stop()
    // Whatever of it fails, or takes too long, nobody is left waiting, and the store is closed.
    await atMost(this.closeMs, this.leave(), this.clock)
    for (const id of this.waiters.keys()) this.giveUp(id, new InboxError('STORE_CLOSED', {}))
    await this.store.close()
  }

  private async leave(): Promise<void> {
    await this.feed.stop()
    await this.settleOwnedBy(this.lease.id).catch(this.report)
    await this.lease.release().catch(this.report)
  }

  /** Lets requests of a kind be answered. Returns what ends that. */
  registerKind(kind: RequestKind): () => void {
    if (this.kinds.has(kind.name))
      throw new Error(`the kind ${JSON.stringify(kind.name)} is registered already`)
    this.kinds.set(kind.name, kind)
    return () => void (this.kinds.get(kind.name) === kind && this.kinds.delete(kind.name))
  }

  kindOf(request: InboxRequest): RequestKind | undefined {
    return this.kinds.get(request.kind)
  }

  /**
   * Opens a request, or joins the one of the same key: pending, or settled already. `KEY_CONFLICT` when the key was used
   * for something else, `RECORD_CONFLICT` when a record changed in between, `BAD_REQUEST` for what cannot be kept.
   */
  async open(options: OpenOptions): Promise<{ readonly request: InboxRequest; readonly joined: boolean }> {
    const { request, joined } = await this.put(options)
    if (joined) {
      if (!isSettled(request) && !this.openedHere.has(request.id)) await this.noteJoin(request.id)
    } else {
      this.openedHere.add(request.id)
      await this.feed.read()
    }
    return { request, joined }
  }

  private async put(options: OpenOptions): Promise<{ request: InboxRequest; joined: boolean }> {
    const issues = checkOpen(options)
    if (issues.length > 0) throw new InboxError('BAD_REQUEST', { issues })
    const { id = crypto.randomUUID(), kind, payload, session = '', key, agent, deadlineAt, records } = options
    const { openedAt = this.clock.now() } = options
    const result = await this.store.open({
      request: {
        id,
        kind,
        payload,
        session,
        openedAt,
        ...(key === undefined ? {} : { key }),
        ...(agent === undefined ? {} : { agent }),
        ...(deadlineAt === undefined ? {} : { deadlineAt }),
      },
      digest: digestOf({ kind, payload }),
      owner: this.lease.id,
      ...(records === undefined ? {} : { records }),
    })
    switch (result.status) {
      case 'opened':
        return { request: result.request, joined: false }
      case 'joined':
        return { request: result.request, joined: true }
      case 'keyConflict':
        throw new InboxError('KEY_CONFLICT', { session, key: key ?? '' })
      case 'recordConflict':
        throw new InboxError('RECORD_CONFLICT', result)
    }
  }

  /**
   * Puts in a request that was settled elsewhere, for whoever asks again under its key. Whoever follows in this process hears
   * of it as settled. One of its key that is here is settled so, unless it is settled. Rejects as `open` does.
   */
  async adopt(options: OpenOptions, settlement: InboxSettlement): Promise<SettledRequest> {
    const settled = await this.quiet.during(async () => {
      const { id } = (await this.put(options)).request
      return this.store.settle({ id, settlement, digest: digestOf(settlement) })
    })
    if (settled.status === 'settled') this.wake(settled.request)
    await this.feed.read()
    if ('request' in settled && isSettled(settled.request)) return settled.request
    throw new InboxError('UNKNOWN_REQUEST', { id: options.id ?? '' })
  }

  /**
   * Resolves when the request is settled, at once if it is. Rejects with the signal's reason when that aborts first, with
   * `UNKNOWN_REQUEST` when there is none of that id, and with `STORE_CLOSED` when the inbox is closed.
   */
  wait(id: string, signal?: AbortSignal): Promise<SettledRequest> {
    return this.waitAs(id, true, signal)
  }

  /** The same for who only shows the request, and is not among those that wait for its answer. */
  watch(id: string, signal?: AbortSignal): Promise<SettledRequest> {
    return this.waitAs(id, false, signal)
  }

  /** How many in this process wait for the answer to the request. */
  waiting(id: string): number {
    return Array.from(this.waiters.get(id) ?? []).filter(({ asks }) => asks).length
  }

  private async waitAs(id: string, asks: boolean, signal: AbortSignal | undefined): Promise<SettledRequest> {
    signal?.throwIfAborted()
    if (this.closed) throw new InboxError('STORE_CLOSED', {})
    // Registered before the look, so that a settlement in between is not missed.
    let stop = (): void => {}
    const woken = new Promise<SettledRequest>((resolve, reject) => {
      const waiter = { resolve, reject, asks }
      const waiters = this.waiters.get(id) ?? new Set()
      this.waiters.set(id, waiters.add(waiter))
      const abort = (): void => reject(signal?.reason as Error)
      signal?.addEventListener('abort', abort)
      stop = () => {
        signal?.removeEventListener('abort', abort)
        waiters.delete(waiter)
        if (waiters.size === 0) this.waiters.delete(id)
      }
    })
    woken.catch(() => {})
    try {
      const request = await this.store.get(id)
      if (request === undefined) throw new InboxError('UNKNOWN_REQUEST', { id })
      return isSettled(request) ? request : await woken
    } finally {
      stop()
    }
  }

  /**
   * Settles a pending request. The first command wins: another one is refused with `ALREADY_SETTLED`, which tells who
   * won; the same one again returns its receipt. `BAD_ANSWER` leaves the request pending.
   */
  async decide(id: string, decision: Decision, command: Command): Promise<Receipt> {
    const request = await this.get(id)
    const answer = isSettled(request) ? undefined : this.checked(request, decision)
    const { commandId, surface, by = 'user' } = command
    const { outcome } = decision
    const ofKind =
      outcome === 'answered' && answer !== undefined ? this.kindOf(request)?.recordsOf?.(request, answer) : []
    const records = [...(command.records ?? []), ...(ofKind ?? [])]
    return this.settle(
      id,
      {
        outcome,
        ...(answer === undefined ? {} : { answer }),
        ...('reason' in decision && decision.reason !== undefined ? { reason: decision.reason } : {}),
        ...('text' in decision ? { text: decision.text } : {}),
        by,
        surface,
        commandId,
        settledAt: this.clock.now(),
      },
      digestOf(decision),
      records.length === 0 ? undefined : records,
    )
  }

  /** Ends a request whose asker went away. */
  async withdraw(id: string, reason: string): Promise<void> {
    await this.settleQuietly(id, { outcome: 'aborted', reason })
  }

  /** True when another process that is alive has joined the request, or when it was opened by one before or beside this. */
  async isJoinedElsewhere(id: string): Promise<boolean> {
    if (!this.openedHere.has(id)) return true
    const joins = (await this.store.records(JOINS)).filter(({ value }) => value === id)
    const joiners = joins.map(({ key }) => key.slice(0, key.indexOf('/')))
    return (await this.lease.gone(joiners)).length < joiners.length
  }

  /** A person began to answer: the deadline no longer applies. */
  async engage(id: string): Promise<void> {
    if (await this.store.engage(id)) await this.feed.read()
  }

  async get(id: string): Promise<InboxRequest> {
    const request = await this.store.get(id)
    if (request === undefined) throw new InboxError('UNKNOWN_REQUEST', { id })
    return request
  }

  /** A page of requests. Rejects with `BAD_REQUEST` when `after` is not the `next` of a page. */
  async list(query: ListQuery): Promise<ListPage> {
    if (query.after !== undefined && !/^-?\d+$/u.test(query.after)) {
      throw new InboxError('BAD_REQUEST', {
        issues: [{ path: 'after', message: 'is not the next of a page' }],
      })
    }
    return this.quiet.read(() => this.store.list(query))
  }

  /** Hears every opening and settlement after `cursor`, or from now on. Returns what ends that. */
  follow(follower: Follower, cursor?: string): Promise<() => void> {
    return this.feed.follow(follower, cursor)
  }

  /** Resolves when all that was committed before the call has been told to whoever follows in this process. */
  caughtUp(): Promise<void> {
    return this.feed.read()
  }

  /** This process among all that ever held the store, for records that belong to whoever holds them while it lives. */
  get hostId(): string {
    return this.lease.id
  }

  /** Those of the given hosts that are gone: their process has ended, or has been silent for longer than its lease. */
  goneHosts(ids: readonly string[]): Promise<readonly string[]> {
    return this.lease.gone(ids)
  }

  private async noteJoin(id: string): Promise<void> {
    const key = `${this.lease.id}/${id}`
    await this.store.writeRecords([{ namespace: JOINS, key, value: id }])
    const forget = (): Promise<unknown> => this.store.writeRecords([{ namespace: JOINS, key, value: null }])
    this.watch(id)
      .then(forget)
      .catch(() => {})
  }

  private checked(request: InboxRequest, decision: Decision): JsonValue | undefined {
    if (!('answer' in decision) || decision.answer === undefined) return undefined
    const kind = this.kinds.get(request.kind)
    if (kind === undefined) throw new InboxError('UNKNOWN_KIND', { kind: request.kind })
    if (decision.outcome !== 'answered') return kind.keepPartial?.(request.payload, decision.answer)
    const check = kind.check(request.payload, decision.answer)
    if (!check.ok) throw new InboxError('BAD_ANSWER', { issues: check.issues })
    return check.answer
  }

  private async settle(
    id: string,
    settlement: InboxSettlement,
    digest: string,
    records?: readonly RecordWrite[],
    ifDueAt?: number,
  ): Promise<Receipt> {
    const result = await this.store.settle({
      id,
      settlement,
      digest,
      ...(records === undefined ? {} : { records }),
      ...(ifDueAt === undefined ? {} : { ifDueAt }),
    })
    switch (result.status) {
      case 'settled':
        // By itself, too: whoever waits here is not to depend on a log that cannot be read just now.
        this.wake(result.request)
        await this.feed.read()
        return { request: result.request, repeated: false }
      case 'repeated':
        return { request: result.request, repeated: true }
      case 'alreadySettled':
        throw new InboxError('ALREADY_SETTLED', { request: result.request })
      case 'commandConflict':
        throw new InboxError('COMMAND_CONFLICT', { commandId: settlement.commandId, request: result.request })
      case 'recordConflict':
        throw new InboxError('RECORD_CONFLICT', result)
      case 'notDue':
      case 'unknown':
        throw new InboxError('UNKNOWN_REQUEST', { id })
    }
  }

  // What nobody commanded: whoever settled it in between is as good.
  private async settleQuietly(
    id: string,
    ending: { outcome: Outcome; reason?: string; answer?: JsonValue; by?: AnsweredBy },
    ifDueAt?: number,
  ): Promise<void> {
    const settlement = { ...ending, commandId: crypto.randomUUID(), settledAt: this.clock.now() }
    const result = await this.store.settle({
      id,
      settlement,
      digest: digestOf(ending),
      ...(ifDueAt === undefined ? {} : { ifDueAt }),
    })
    if (result.status !== 'settled') return
    this.wake(result.request)
    if (!this.closed) await this.feed.read()
  }

  private async settleAtDeadline(id: string): Promise<void> {
    const request = await this.store.get(id)
    if (request === undefined || isSettled(request)) return
    const answer = this.kinds.get(request.kind)?.atDeadline?.(request.payload)
    const ending = answer === undefined ? {} : { answer, by: 'default' as const }
    await this.settleQuietly(id, { outcome: 'timedOut', ...ending }, this.clock.now())
  }

  private async settleOrphans(): Promise<void> {
    for (const owner of await this.lease.gone(await this.store.owners())) await this.settleOwnedBy(owner)
  }

  private async settleOwnedBy(owner: string): Promise<void> {
    const ids = await this.store.ownedBy(owner)
    await Promise.all(ids.map(id => this.settleQuietly(id, { outcome: 'aborted', reason: 'orphaned' })))
  }

  private async prune(): Promise<void> {
    await this.store.prune(this.clock.now() - this.retentionMs)
  }

  private wake(request: SettledRequest): void {
    for (const { resolve } of this.waiters.get(request.id) ?? []) resolve(request)
  }

  // What happened while the log was lost is read from the requests, until each could be read.
  private async wakeAll(): Promise<void> {
    let failed = false
    for (const id of this.waiters.keys()) {
      try {
        const request = await this.store.get(id)
        if (request === undefined) this.giveUp(id, new InboxError('UNKNOWN_REQUEST', { id }))
        else if (isSettled(request)) this.wake(request)
      } catch (error) {
        this.report(error)
        failed = true
      }
    }
    if (failed && !this.closed)
      this.timers.set(
        'wake',
        this.clock.after(WAKE_RETRY_MS, () => void this.wakeAll()),
      )
  }

  private giveUp(id: string, error: InboxError<'STORE_CLOSED' | 'UNKNOWN_REQUEST'>): void {
    for (const { reject } of this.waiters.get(id) ?? []) reject(error)
  }

  private every(name: string, intervalMs: number, run: () => Promise<void>): void {
    const again = (): void => {
      if (this.closed) return
      this.timers.set(
        name,
        this.clock.after(intervalMs, () => void run().catch(this.report).finally(again)),
      )
    }
    again()
  }
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('base64url')
}
