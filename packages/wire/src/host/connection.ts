import { QUESTIONS } from '@handraise/inbox'
import type { Clock } from '@handraise/user-questions'
import { z } from 'zod'
import type { FrameChannel, IncomingFrame } from '../channel.ts'
import {
  CLIENT_NOTIFICATIONS,
  initializeParamsSchema,
  PROTECTED,
  requestIdSchema,
  SERVER_REQUESTS,
  WireError,
  type InitializeParams,
  type RequestId,
} from '../protocol/index.ts'
import { dispatch } from './dispatch.ts'
import { isTooDeep, MOST_NESTED } from './frame-depth.ts'
import type { WireHost } from './host.ts'
import { Outlet } from './outlet.ts'
import { invalidParams } from './invalid-params.ts'
import { overloaded } from './overloaded.ts'
import type { Session } from './session.ts'
import { requestOf, requestsOf, Subscription, type Outgoing } from './subscription.ts'
import type { ViewPosition } from './cursor.ts'
import type { ViewEvent } from './view-log.ts'
import { within } from './within.ts'

/** The capabilities that are granted to whoever asks. */
const GRANTED = ['sessionListStream']
/** Frames that wait to be read until no more is taken in. */
const MOST_WAITING = 1_000
/** How long what was asked may take to be answered when the client is gone, in milliseconds. */
const DRAIN_MS = 5_000
/** How long the last frames may take to be read when a connection is ended, in milliseconds. */
const FLUSH_MS = 1_000

const envelopeSchema = z.looseObject({
  jsonrpc: z.literal('2.0'),
  method: z.string().optional(),
  id: requestIdSchema.nullish(),
  params: z.record(z.string(), z.unknown()).optional(),
})

/** What a client has said of itself. */
export interface Peer {
  readonly clientInfo: InitializeParams['clientInfo']
}

/** One client, from its first frame to its last. */
export class Connection {
  private readonly channel: FrameChannel
  private readonly host: WireHost
  private readonly clock: Clock
  private readonly outlet: Outlet
  private readonly used = new Set<Session>()
  private readonly statuses = new Map<string, object>()
  private readonly subscriptions = new Map<string, Subscription>()
  private readonly inFlight = new Set<Promise<void>>()
  /** Asks what is to be asked once the client is ready, by session. */
  private readonly toAsk = new Map<string, () => void>()
  private client: InitializeParams | undefined
  private optedOut: ReadonlySet<string> = new Set()
  private granted: readonly string[] = []
  /** No notification and no request goes to a client before it has said `initialized`. */
  private ready = false
  private ended = false

  constructor(channel: FrameChannel, host: WireHost) {
    this.channel = channel
    this.host = host
    this.clock = host.deps.inbox.core.clock
    const { stallMs, lagEvents } = host.limits
    this.outlet = new Outlet({
      channel,
      clock: this.clock,
      pull: () => this.nextFrame(),
      stallMs,
      onStall: () => {
        for (const subscription of this.subscriptions.values()) subscription.skip(lagEvents)
      },
    })
  }

  /** True of a client that looks at a session and shows what is asked there. */
  get looks(): boolean {
    return this.ready && this.subscriptions.size > 0
  }

  /** True of a client that asked to hear of all sessions. */
  get hearsList(): boolean {
    return this.ready && this.granted.includes('sessionListStream')
  }

  /** Reads and writes until the client is gone, or the connection is ended. */
  async run(): Promise<void> {
    const writing = this.outlet.run().catch(() => this.end())
    try {
      for await (const frame of this.channel.incoming) {
        if (this.ended) break
        this.take(frame)
        // Whoever does not read is not listened to either.
        await this.outlet.room(MOST_WAITING)
      }
    } catch (error) {
      this.host.deps.report(error)
    }
    // What was asked is answered still, unless that takes too long.
    await within(this.clock, DRAIN_MS, Promise.allSettled(this.inFlight))
    this.end()
    await within(this.clock, FLUSH_MS, writing)
    this.channel.close()
    await writing
  }

  /** Takes no more, and lets go of what the client looks at; `run` ends soon after. */
  end(): void {
    if (this.ended) return
    this.ended = true
    for (const sessionId of this.subscriptions.keys()) this.unsubscribe(sessionId)
    for (const session of this.used) {
      session.users.delete(this)
      this.host.letGoIfIdle(session).catch(this.host.deps.report)
    }
    this.used.clear()
    this.outlet.end()
  }

  /** Ends the connection from this side, once what waits has been read, or has not been for too long. */
  async close(): Promise<void> {
    // What was asked is answered first, such as by saying that this host is shutting down.
    await within(this.clock, FLUSH_MS, Promise.allSettled(this.inFlight))
    this.end()
    await within(this.clock, FLUSH_MS, this.outlet.drained())
    this.channel.close()
  }

  respond(id: RequestId, result: object): void {
    const frame = JSON.stringify({ jsonrpc: '2.0', id, result })
    if (this.isTooLong(frame)) {
      const message = 'the result is longer than a frame may be; ask for less'
      this.refuse(
        id,
        new WireError('outputResultTooLarge', message, { limitBytes: this.host.limits.frameBytes }),
      )
    } else this.send(frame)
  }

  refuse(id: RequestId | null, error: WireError): void {
    const { code, kind } = error
    const frameOf = (to: RequestId | null, told: object): string =>
      JSON.stringify({ jsonrpc: '2.0', id: to, error: told })
    const frame = frameOf(id, error.toErrorObject())
    if (!this.isTooLong(frame)) {
      this.send(frame)
      return
    }
    // What was sent may be too long to be told of, and so may its id.
    const brief = { code, message: 'what was sent is too long to be told of', data: { kind } }
    const short = frameOf(id, brief)
    this.send(this.isTooLong(short) ? frameOf(null, brief) : short)
  }

  /** Tells the client something that is no part of a view. */
  notify(method: string, params: object): void {
    // A client that does not read hears of what waits when it reads again, and not of everything that passed.
    if (this.ready && !this.optedOut.has(method) && this.outlet.length < MOST_WAITING)
      this.send(toNotification(method, params, this.host.deps.now()))
  }

  /** Tells the client what has become of a session; what it has not read yet of that session is replaced. */
  status(sessionId: string, params: object): void {
    if (!this.ready || this.optedOut.has('session/statusChanged')) return
    this.statuses.delete(sessionId)
    this.statuses.set(sessionId, params)
    this.outlet.more()
  }

  /** Sends the client all that follows a place in the view of a session, from now on. */
  subscribe(session: Session, position: ViewPosition): void {
    this.unsubscribe(session.id)
    // The client has gone in between.
    if (this.ended) return
    const subscription = new Subscription(
      session,
      position,
      () => this.outlet.more(),
      reason => {
        this.subscriptions.delete(session.id)
        this.notify('session/closed', { sessionId: session.id, reason, viewCursor: session.log.cursor })
      },
    )
    this.subscriptions.set(session.id, subscription)
    this.outlet.more()
  }

  unsubscribe(sessionId: string): void {
    const subscription = this.subscriptions.get(sessionId)
    if (subscription === undefined) return
    subscription.end()
    this.subscriptions.delete(sessionId)
  }

  /** True while the client leaves more unread than it has reason to. */
  get isBehind(): boolean {
    return this.outlet.isFull
  }

  /** Takes a session for as long as the client is there: it is not let go before. */
  use(session: Session): void {
    if (this.ended) {
      // The client has gone in between, and nobody else may be there.
      this.host.letGoIfIdle(session).catch(this.host.deps.report)
      return
    }
    session.users.add(this)
    this.used.add(session)
  }

  /** Asks the client again what waits in a session and was opened before a place in its view. */
  askAgain(session: Session, before: ViewPosition): void {
    if (!this.ready) {
      this.toAsk.set(session.id, () => this.askAgain(session, before))
      return
    }
    for (const request of requestsOf(session, before.n)) this.ask(request)
  }

  private ask({ method, params }: { readonly method: string; readonly params: object }): void {
    if (method === 'userInput/request' && this.client?.capabilities?.userInputDialogs === false) return
    this.send(JSON.stringify({ jsonrpc: '2.0', id: this.host.nextRequestId(), method, params }))
  }

  // What is longer than a frame may be can be told in none.
  private send(frame: string): void {
    if (!this.isTooLong(frame)) this.outlet.push(frame)
  }

  private nextFrame(): string | undefined {
    if (!this.ready) return undefined
    const { now } = this.host.deps
    for (const [sessionId, params] of this.statuses) {
      this.statuses.delete(sessionId)
      return toNotification('session/statusChanged', params, now())
    }
    for (const { session, outgoing } of this.outgoing()) {
      if ('event' in outgoing) {
        const request = requestOf(session, outgoing.event)
        if (request !== undefined) this.ask(request)
        if (!this.optedOut.has(outgoing.event.method)) return frameOfEvent(outgoing.event, now())
        const asked = this.outlet.shift()
        if (asked !== undefined) return asked
      } else if (!this.optedOut.has(outgoing.method)) {
        const frame = toNotification(outgoing.method, outgoing.params, now())
        if (!this.isTooLong(frame)) return frame
      }
    }
    return undefined
  }

  private *outgoing(): Generator<{ readonly session: Session; readonly outgoing: Outgoing }> {
    const tooLong = (event: ViewEvent): boolean => this.isTooLong(frameOfEvent(event, 0))
    for (const subscription of this.subscriptions.values()) {
      for (
        let outgoing = subscription.next(tooLong);
        outgoing !== undefined;
        outgoing = subscription.next(tooLong)
      )
        yield { session: subscription.session, outgoing }
    }
  }

  private isTooLong(frame: string): boolean {
    const { frameBytes } = this.host.limits
    return frame.length * 3 > frameBytes && Buffer.byteLength(frame) > frameBytes
  }

  private take(frame: IncomingFrame): void {
    if ('tooLong' in frame) {
      const { frameBytes: limitBytes } = this.host.limits
      const message = `a frame may hold ${limitBytes} bytes at most`
      if (frame.id === undefined) this.refuse(null, new WireError('parseError', message))
      else this.refuse(frame.id, new WireError('inputTooLarge', message, { limitBytes }))
      return
    }
    let value: unknown
    try {
      value = JSON.parse(frame.text)
    } catch {
      this.refuse(null, new WireError('parseError', 'the frame is not JSON'))
      return
    }
    const parsed = envelopeSchema.safeParse(value)
    if (!parsed.success) {
      this.refuse(idOf(value), new WireError('invalidRequest', 'the frame is no JSON-RPC 2.0 object'))
      return
    }
    const { id, method, params = {} } = parsed.data
    if (method === undefined) {
      // Receipts say that a client shows what it was asked, and change nothing, errors included.
      if (!('result' in parsed.data) && !('error' in parsed.data))
        this.refuse(
          id ?? null,
          new WireError('invalidRequest', 'the frame is neither a request nor a response'),
        )
      return
    }
    if (id === undefined) this.hear(method, params)
    else if (id === null)
      this.refuse(null, new WireError('invalidRequest', 'the id of a request must not be null'))
    else if (isTooDeep(frame.text))
      this.refuse(id, new WireError('invalidRequest', `a frame may be nested ${MOST_NESTED} deep at most`))
    else this.answer(id, method, params)
  }

  private hear(method: string, params: object): void {
    if (method === 'initialized') {
      if (this.client === undefined) return
      this.ready = true
      for (const ask of this.toAsk.values()) ask()
      this.toAsk.clear()
      this.outlet.more()
      return
    }
    if (method !== 'userInput/engaged' || this.client === undefined) return
    const parsed = CLIENT_NOTIFICATIONS['userInput/engaged'].safeParse(params)
    if (!parsed.success) return
    const { sessionId, userInputId } = parsed.data
    // Whoever says so more often than can be looked at has said so.
    if (this.inFlight.size >= this.host.limits.requestsInFlight) return
    this.track(this.engage(sessionId, userInputId))
  }

  private async engage(sessionId: string, userInputId: string): Promise<void> {
    const { core } = this.host.deps.inbox
    const request = await core.store.get(userInputId)
    if (request?.session === sessionId && request.kind === QUESTIONS) await core.engage(userInputId)
  }

  private answer(id: RequestId, method: string, params: Readonly<Record<string, unknown>>): void {
    if (method === 'initialize') {
      this.initialize(id, params)
      return
    }
    if (this.client === undefined) {
      this.refuse(id, new WireError('notInitialized', 'send initialize first'))
      return
    }
    if (this.inFlight.size >= this.host.limits.requestsInFlight || this.outlet.isFull) {
      this.refuse(id, overloaded())
      return
    }
    this.track(dispatch({ id, method, params, connection: this, host: this.host, peer: this.client }))
  }

  private track(working: Promise<void>): void {
    const tracked = working
      .catch((error: unknown) => this.host.deps.report(error))
      .finally(() => this.inFlight.delete(tracked))
    this.inFlight.add(tracked)
  }

  private initialize(id: RequestId, params: object): void {
    if (this.client !== undefined) {
      this.refuse(id, new WireError('alreadyInitialized', 'this connection was initialized before'))
      return
    }
    const parsed = initializeParamsSchema.safeParse(params)
    if (!parsed.success) {
      this.refuse(id, invalidParams(parsed.error))
      return
    }
    this.client = parsed.data
    const { optOutNotificationMethods = [], requestedCapabilities = [] } = parsed.data.capabilities ?? {}
    this.optedOut = new Set(optOutNotificationMethods.filter(each => !NEVER_LEFT_OUT.has(each)))
    this.granted = requestedCapabilities.filter(name => GRANTED.includes(name))
    this.respond(id, {
      ...this.host.info,
      grantedCapabilities: [...this.granted],
      // There is nothing experimental here to switch on.
      experimentalApi: false,
    })
  }
}

// What is protected goes to every client, whatever it opts out of (MSP, protected set).
const NEVER_LEFT_OUT: ReadonlySet<string> = new Set([...PROTECTED, ...Object.keys(SERVER_REQUESTS)])

function idOf(value: unknown): RequestId | null {
  if (typeof value !== 'object' || value === null || !('id' in value)) return null
  return requestIdSchema.safeParse(value.id).data ?? null
}

function toNotification(method: string, params: object, emittedAtMs: number): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params, emittedAtMs })
}

// Written out once for all who are told.
const written = new WeakMap<ViewEvent, string>()

function frameOfEvent(event: ViewEvent, emittedAtMs: number): string {
  let start = written.get(event)
  if (start === undefined) {
    start = JSON.stringify({ jsonrpc: '2.0', method: event.method, params: event.params }).slice(0, -1)
    written.set(event, start)
  }
  return `${start},"emittedAtMs":${emittedAtMs}}`
}
