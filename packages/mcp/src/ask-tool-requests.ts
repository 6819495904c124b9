import {
  InboxError,
  isSettled,
  QUESTIONS,
  toQuestionsPayload,
  type InboxRequest,
  type InboxService,
  type SettledRequest,
} from '@handraise/inbox'
import { UserQuestionError, type Question } from '@handraise/user-questions/types'
import type { ClientForms } from './ask-tool-clients.ts'

/** Requests of which only the call that asked knows, with the host that serves it. */
const UNTOLD = 'mcp-untold'

/** How often to look for calls that ended with their host, in milliseconds. */
const SWEEP_EVERY_MS = 15_000

/** A request that this process shows on its providers. */
interface Held {
  readonly request: InboxRequest
  /** Resolves with the error when nobody can see it. */
  readonly failed: Promise<unknown>
  readonly fail: (error: unknown) => void
  controller: AbortController
  showing: Promise<void>
}

export interface AskedRequestsDeps {
  readonly inbox: InboxService
  readonly forms: ClientForms
  /** Told of a request that waits no more. */
  readonly ended: (id: string) => void
  readonly report: (error: unknown) => void
}

export interface OpenAsk {
  readonly questions: readonly Question[]
  readonly session: string
  /** Names the call, so that it can be repeated; without it only its id finds the request again. */
  readonly key: string | undefined
  /** Nobody but the call knows of the request until `told`. */
  readonly untold: boolean
}

/**
 * The requests that calls of the tool have asked. Each has a key, and so outlives calls, connections and processes; one that
 * nobody can come back for is withdrawn, so that no card is left that answers nobody.
 */
export class AskedRequests {
  private readonly inbox: InboxService
  private readonly forms: ClientForms
  private readonly ended: (id: string) => void
  private readonly report: (error: unknown) => void
  private readonly held = new Map<string, Held>()
  private readonly untold = new Set<string>()
  /** Of those that are held: whose id somebody was told. */
  private readonly wasTold = new Set<string>()
  /** The calls that wait for a request, by its id. */
  private readonly calls = new Map<string, Set<object>>()
  private callOffSweep = (): void => {}
  private closed = false

  constructor({ inbox, forms, ended, report }: AskedRequestsDeps) {
    this.inbox = inbox
    this.forms = forms
    this.ended = ended
    this.report = report
  }

  async start(): Promise<void> {
    await this.sweep()
    this.sweepAgain()
  }

  /** Opens a request, or finds the one of the same key. Rejects with `KEY_CONFLICT` when that asked something else. */
  async open({ questions, session, key, untold }: OpenAsk): Promise<InboxRequest> {
    const { core } = this.inbox
    const id = crypto.randomUUID()
    const opening = { id, kind: QUESTIONS, payload: toQuestionsPayload(questions), session }
    const record = { namespace: UNTOLD, key: id, value: core.hostId }
    const { request } = await core
      .open({ ...opening, key: key ?? `ask ${id}`, ...(untold ? { records: [record] } : {}) })
      .catch(keyConflict)
    if (untold) this.untold.add(id)
    return request
  }

  /** The request of an id, if it was asked by this tool in this session. */
  async known(id: string, session: string): Promise<InboxRequest | undefined> {
    const request = await this.inbox.core.store.get(id)
    const isOurs = request?.kind === QUESTIONS && request.session === session && request.key !== undefined
    return isOurs ? request : undefined
  }

  /**
   * Shows the request on every provider of this process for as long as it waits, whichever calls come and go. `anew` shows it
   * to those again that have lost it. Returns what resolves with the error when nobody can see it.
   */
  hold(request: InboxRequest, anew: boolean): Promise<unknown> {
    const known = this.held.get(request.id)
    if (known !== undefined && !anew) return known.failed
    const held = known ?? toHeld(request)
    this.held.set(request.id, held)
    this.forms.expect(request.id)
    held.controller.abort(new UserQuestionError('PROVIDER_GONE'))
    const controller = new AbortController()
    held.controller = controller
    held.showing = held.showing.then(() => this.show(held, controller.signal)).catch(this.report)
    return held.failed
  }

  /** Resolves when it is settled, by whomever; rejects when the signal aborts first. */
  wait(id: string, signal: AbortSignal): Promise<SettledRequest> {
    return this.inbox.core.wait(id, signal)
  }

  private async show({ request, fail }: Held, signal: AbortSignal): Promise<void> {
    const { id, kind, payload, session, key } = request
    try {
      await this.inbox.request({ kind, payload, session, key }, signal)
      await this.told(id)
    } catch (error) {
      // Another showing has taken its place, or the host goes down.
      if (signal.aborted) return
      fail(error)
      if (!UserQuestionError.isInstance(error)) throw error
      if (error.code === 'PROVIDER_GONE') return
      // Whoever asked is told that nobody has seen it, and does not come back.
      await this.inbox.core.withdraw(id, 'undeliverable')
      await this.told(id)
    } finally {
      if (!signal.aborted) {
        this.held.delete(id)
        this.wasTold.delete(id)
        this.forms.forget(id)
        this.ended(id)
      }
    }
  }

  /** The request as it is now. */
  async now(id: string): Promise<InboxRequest | undefined> {
    return await this.inbox.core.store.get(id)
  }

  async isPending(id: string): Promise<boolean> {
    const request = await this.now(id)
    return request !== undefined && !isSettled(request)
  }

  /** A call waits for the request. Returns what ends that; it may be called more than once. */
  join(id: string): () => void {
    const calls = this.calls.get(id) ?? new Set<object>()
    this.calls.set(id, calls)
    const call = {}
    calls.add(call)
    return () => {
      if (calls.delete(call) && calls.size === 0) this.calls.delete(id)
    }
  }

  /** Nobody but the call that waits now can come back for the answer, if none was told the id. Kept before it resolves. */
  async untell(id: string): Promise<void> {
    if (this.wasTold.has(id)) return
    this.untold.add(id)
    const { store, hostId } = this.inbox.core
    await store.writeRecords([{ namespace: UNTOLD, key: id, value: hostId }])
  }

  /** Somebody has the id, and may come back for the answer. Kept before it resolves. */
  async told(id: string): Promise<void> {
    if (this.held.has(id)) this.wasTold.add(id)
    if (!this.untold.delete(id)) return
    await this.inbox.core.store.writeRecords([{ namespace: UNTOLD, key: id, value: null }])
  }

  /** A call is gone: what no other call waits for and nobody can come back for is withdrawn. */
  async left(id: string): Promise<void> {
    if (this.calls.has(id) || !this.untold.has(id)) return
    await this.inbox.core.withdraw(id, 'the asker went away')
    await this.told(id)
  }

  /** Leaves what waits to whoever comes back for it. */
  close(): void {
    this.closed = true
    this.callOffSweep()
    for (const { controller } of this.held.values()) controller.abort(new UserQuestionError('PROVIDER_GONE'))
  }

  private async sweep(): Promise<void> {
    const { core } = this.inbox
    const records = await core.store.records(UNTOLD)
    const hosts = new Set(records.map(({ value }) => (typeof value === 'string' ? value : '')))
    const gone = new Set<unknown>(await core.goneHosts([...hosts]))
    for (const { key, value, version } of records) {
      if (!gone.has(value)) continue
      await core.withdraw(key, 'orphaned')
      await core.store.writeRecords([{ namespace: UNTOLD, key, value: null, expectedVersion: version }])
    }
  }

  private sweepAgain(): void {
    if (this.closed) return
    this.callOffSweep = this.inbox.core.clock.after(SWEEP_EVERY_MS, () => {
      this.sweep()
        .catch(this.report)
        .finally(() => this.sweepAgain())
    })
  }
}

function toHeld(request: InboxRequest): Held {
  let fail = (_error: unknown): void => {}
  const failed = new Promise<unknown>(resolve => (fail = resolve))
  return { request, failed, fail, controller: new AbortController(), showing: Promise.resolve() }
}

function keyConflict(error: unknown): never {
  if (InboxError.isInstance(error) && error.code === 'KEY_CONFLICT')
    throw new UserQuestionError('KEY_CONFLICT', { key: error.details.key }, { cause: error })
  throw error
}
