import type { Clock } from '@handraise/user-questions/types'
import type { ApprovalRequestParams, UserInputRequestParams, ViewGapParams } from '../protocol/index.ts'
import { WireError } from '../protocol/index.ts'
import type { ServerRequest, WireEvent } from './event.ts'
import { pageThrough } from './gap-pages.ts'
import {
  foldListed,
  foldPending,
  NOTHING_PENDING,
  type PendingState,
  type Settlement,
} from './pending-fold.ts'
import { Listeners } from './listeners.ts'
import { RecentEvents } from './recent-events.ts'
import { wait } from './wait.ts'
import type { WireClient } from './wire-client.ts'

export type PendingListener = (view: PendingView) => void

/** What is to be folded next. */
type Step =
  | { readonly event: WireEvent | ServerRequest }
  | { readonly gap: ViewGapParams }
  | { readonly load: (error?: unknown) => void }

/** How long to wait before a gap is tried again, in milliseconds: doubled each time. */
const FIRST_RETRY_MS = 250
const LONGEST_RETRY_MS = 30_000

/**
 * Follows what waits for a person in one session. Make it before the session is resumed or subscribed to, so that it
 * misses nothing; where the session goes on already, call `load`.
 *
 * Events that the host did not send (`view/gap`) are read with `view/page`; those that come meanwhile are held until then. Where
 * they cannot be read, `approval/listPending` tells what is pending; where neither can, both are tried again, at most 30 s
 * later, until the channel ends, and each failure is told to `onProtocolError`.
 */
export class PendingView {
  readonly sessionId: string
  private readonly client: WireClient
  private readonly clock: Clock
  private state: PendingState = NOTHING_PENDING
  private shown: PendingState = NOTHING_PENDING
  private readonly recent = new RecentEvents()
  private readonly steps: Step[] = []
  private isBusy = false
  // They are told when what was loaded is shown.
  private readonly loaded: (() => void)[] = []
  private readonly listeners: Listeners<PendingView>
  private readonly stopped = new AbortController()
  private readonly unsubscribe: readonly (() => void)[]

  constructor(client: WireClient, sessionId: string) {
    this.client = client
    this.clock = client.clock
    this.sessionId = sessionId
    this.listeners = new Listeners(error => client.report(error))
    this.unsubscribe = [
      client.onEvent(event => this.hear(event)),
      client.watchRequests(request => this.hear(request)),
    ]
  }

  /** The same array until one of them changes. */
  get approvals(): readonly ApprovalRequestParams[] {
    return this.shown.approvals
  }

  /** The same array until one of them changes. */
  get userInputs(): readonly UserInputRequestParams[] {
    return this.shown.userInputs
  }

  /** How an approval or user input ended; undefined while it waits, and where that was not seen. The last 1,000 are known. */
  settlementOf(id: string): Settlement | undefined {
    return this.shown.settlements.get(id)
  }

  /** Whether it waits for what the host did not send, or for the list. */
  get isCatchingUp(): boolean {
    return this.isBusy
  }

  /** Calls `listener` after each change. Returns what ends that. */
  subscribe(listener: PendingListener): () => void {
    return this.listeners.add(listener)
  }

  /** Asks the host what is pending. Rejects as a request does, and then changes nothing. */
  load(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.stopped.signal.aborted) return reject(this.stopped.signal.reason as Error)
      const load = (error?: unknown): void => (error === undefined ? resolve() : reject(error))
      this.steps.push({ load })
      if (!this.isBusy) void this.run()
    })
  }

  /** Stops following; what was seen stays. */
  close(): void {
    if (this.stopped.signal.aborted) return
    for (const unsubscribe of this.unsubscribe) unsubscribe()
    this.stopped.abort(new Error('the view is closed'))
    this.listeners.clear()
    for (const step of this.steps.splice(0)) if ('load' in step) step.load(this.stopped.signal.reason)
  }

  private hear(event: WireEvent | ServerRequest): void {
    const { sessionId } = event.params as { readonly sessionId?: unknown }
    if (sessionId !== this.sessionId) return
    const isGap = 'known' in event && event.known && event.method === 'view/gap'
    this.steps.push(isGap ? { gap: event.params } : { event })
    if (!this.isBusy) void this.run()
  }

  // Events are folded at once, unless something is waited for before them.
  private async run(): Promise<void> {
    this.isBusy = true
    for (let step = this.steps.shift(); step !== undefined; step = this.steps.shift()) {
      if ('event' in step) {
        this.fold(step.event)
        this.recent.add(step.event)
        continue
      }
      this.show()
      if ('gap' in step) await this.fill(step.gap)
      else await this.list().then(() => void this.loaded.push(step.load), step.load)
    }
    this.isBusy = false
    this.show()
  }

  private readonly fold = (event: WireEvent | ServerRequest): void => {
    this.state = foldPending(this.state, event)
  }

  private async list(): Promise<void> {
    const { sessionId } = this
    const listed = await this.client.request('approval/listPending', { sessionId }, this.untilStopped)
    this.state = foldListed(this.state, listed)
  }

  private async fill(gap: ViewGapParams): Promise<void> {
    const pages = pageThrough(this.client, gap, this.untilStopped)
    for (let delayMs = FIRST_RETRY_MS; !this.isOver; delayMs = Math.min(2 * delayMs, LONGEST_RETRY_MS)) {
      try {
        await pages.read(this.fold)
        // What came after the gap may have been heard before it; an update that is older must not stay on top.
        for (const event of this.recent.from(gap.next)) this.fold(event)
        return
      } catch (error) {
        if (this.isOver) return
        this.client.report(error)
        if (!isTransient(error) && (await this.listInstead())) return
      }
      await wait(this.clock, delayMs, this.stopped.signal, this.client.ended).catch(() => {})
    }
  }

  private async listInstead(): Promise<boolean> {
    try {
      await this.list()
      return true
    } catch (error) {
      if (!this.isOver) this.client.report(error)
      return false
    }
  }

  private get isOver(): boolean {
    return this.stopped.signal.aborted || this.client.ended.aborted
  }

  private get untilStopped(): { signal: AbortSignal } {
    return { signal: this.stopped.signal }
  }

  private show(): void {
    const isChanged = this.shown !== this.state
    this.shown = this.state
    for (const resolve of this.loaded.splice(0)) resolve()
    if (isChanged) this.listeners.tell(this)
  }
}

/** Follows a session from now on. */
export function pendingView(client: WireClient, sessionId: string): PendingView {
  return new PendingView(client, sessionId)
}

function isTransient(error: unknown): boolean {
  return WireError.isInstance(error) && error.retryable
}
