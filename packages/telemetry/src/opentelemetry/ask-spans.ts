import { context, trace, type Attributes, type Context, type Span, type Tracer } from '@opentelemetry/api'
import { QUESTIONS, type Inbox, type InboxRequest, type SettledRequest } from '@handraise/inbox'
import type { PendingAsk, SettledAsk } from '@handraise/user-questions/types'
import { deciderOf, namedDeciderOf } from '../decider.ts'
import { abandonSpan, endSpan, type Ending } from './ending.ts'
import { ATTRIBUTE, SPAN } from './names.ts'
import { SettledByKey, type MadeSettlement } from './settled-by-key.ts'

/** One ask of this process that has not ended, as it is traced. */
interface TracedAsk {
  readonly span: Span
  readonly inside: Context
  readonly startedAt: number
  /** Under what it may join a request that is there already. */
  readonly key: string | undefined
  readonly provider: string | undefined
  readonly throughInbox: boolean
  wait: Span | undefined
  settled: MadeSettlement | undefined
  /** It has ended, and is traced to its end once the inbox has said how it was settled. */
  ended: { readonly ask: SettledAsk; readonly at: number } | undefined
}

/** What an ask ends with that no settlement came to, so that none is looked for. */
const NOT_SETTLED: ReadonlySet<SettledAsk['code']> = new Set(['PROVIDER_GONE', 'KEY_CONFLICT'])

/** What asks go through now. Looked up only for what is recorded: a look-up costs as much as an ask. */
export interface AskRoute {
  provider(): string | undefined
  inbox(): Inbox | undefined
}

/**
 * The spans of what is asked in this process: the ask, the wait for a person inside it, and how that was settled. An ask
 * is a child of whatever span was active where it was made. Instants are those of this machine's clock, as a wait may
 * outlast a night in which the machine sleeps.
 */
export class AskSpans {
  private readonly tracer: Tracer
  private readonly route: AskRoute
  private readonly asks = new Map<string, TracedAsk>()
  private readonly byKey = new Map<string, Set<TracedAsk>>()
  private readonly settledByKey = new SettledByKey()

  constructor(tracer: Tracer, route: AskRoute) {
    this.tracer = tracer
    this.route = route
  }

  /** Call it where the ask was made. */
  asked(ask: PendingAsk): void {
    const parent = context.active()
    const startTime = Date.now()
    const span = this.tracer.startSpan(SPAN.ask, { startTime, attributes: attributesOf(ask) }, parent)
    // Nobody records, or not this one.
    if (!span.isRecording()) return
    const provider = this.route.provider()
    const inbox = this.route.inbox()
    // What an inbox is asked may be a request that is there already, under an id of its own.
    if (inbox === undefined) span.setAttribute(ATTRIBUTE.id, ask.id)
    if (provider !== undefined) span.setAttribute(ATTRIBUTE.provider, provider)
    const traced: TracedAsk = {
      span,
      inside: trace.setSpan(parent, span),
      startedAt: startTime,
      key: inbox === undefined || ask.key === undefined ? undefined : nameOf(ask.session, ask.key),
      provider,
      throughInbox: inbox !== undefined,
      wait: undefined,
      settled: undefined,
      ended: undefined,
    }
    this.asks.set(ask.id, traced)
    if (traced.key !== undefined)
      this.byKey.set(traced.key, (this.byKey.get(traced.key) ?? new Set()).add(traced))
    if (inbox === undefined) traced.wait = this.startWait(traced, startTime)
  }

  /** The inbox holds it, and shows it. */
  opened({ id, session, key }: InboxRequest): void {
    // One of this key that was settled before has been forgotten by the inbox.
    if (key !== undefined) this.settledByKey.delete(nameOf(session, key))
    const traced = this.asks.get(id)
    if (traced === undefined) return
    traced.span.setAttribute(ATTRIBUTE.id, id)
    traced.wait ??= this.startWait(traced, Date.now())
  }

  /** It was settled in the inbox; the asker may have heard of that already, or not. */
  requestSettled(request: SettledRequest): void {
    const { id, session, key } = request
    const made = { id, ...request.settlement }
    if (key !== undefined) this.settledByKey.add(nameOf(session, key), made)
    const own = this.asks.get(id)
    const joined = key === undefined ? undefined : this.byKey.get(nameOf(session, key))
    for (const traced of new Set([...(own === undefined ? [] : [own]), ...(joined ?? [])])) {
      traced.settled ??= made
      // Nothing was opened for an ask that joined what somebody had asked before: it has waited all the while.
      traced.wait ??= this.startWait(traced, traced.startedAt, { [ATTRIBUTE.joined]: true })
      const { outcome, by, surface } = made
      endSpan(traced.wait, { outcome, by, surface }, Date.now())
    }
  }

  /** It ended for the asker. */
  ended(ask: SettledAsk): Promise<void> | undefined {
    const traced = this.asks.get(ask.id)
    return traced && this.endTraced(traced, ask)
  }

  /** Ends what is open: the host goes. */
  close(): void {
    const open = [...this.asks.values()]
    this.asks.clear()
    this.byKey.clear()
    for (const traced of open) {
      if (traced.ended !== undefined) {
        this.end(traced, traced.ended)
        continue
      }
      if (traced.wait?.isRecording() === true) abandonSpan(traced.wait)
      abandonSpan(traced.span)
    }
  }

  private async endTraced(traced: TracedAsk, ask: SettledAsk): Promise<void> {
    traced.ended = { ask, at: Date.now() }
    // Who answered stands in the log of the inbox, which is read after those who wait are told. Not where all is closing.
    const looks = traced.throughInbox && !NOT_SETTLED.has(ask.code)
    if (looks && traced.settled === undefined) await this.caughtUp()
    if (looks && traced.key !== undefined) traced.settled ??= this.settledByKey.get(traced.key)
    if (!this.asks.delete(ask.id)) return
    this.forgetKey(traced)
    this.end(traced, traced.ended)
  }

  private async caughtUp(): Promise<void> {
    await this.route
      .inbox()
      ?.caughtUp()
      .catch(() => {})
  }

  private end(traced: TracedAsk, { ask, at: endedAt }: NonNullable<TracedAsk['ended']>): void {
    const { outcome, code, answers } = ask
    const settlement = NOT_SETTLED.has(code) ? undefined : traced.settled
    // Who settled what was there before is known to the inbox alone.
    const decider = traced.throughInbox ? namedDeciderOf(answers) : deciderOf(outcome, answers)
    const by = settlement === undefined ? decider : settlement.by
    if (settlement !== undefined) traced.span.setAttribute(ATTRIBUTE.id, settlement.id)
    const provider = by === undefined || traced.throughInbox ? undefined : traced.provider
    const ending: Ending = { outcome, code, by, surface: settlement?.surface ?? provider }
    if (traced.wait?.isRecording() === true) endSpan(traced.wait, ending, endedAt)
    if (outcome !== 'failed' && outcome !== 'unavailable') {
      // From when it was settled to when the asker knew.
      const startTime = within(settlement?.settledAt ?? endedAt, traced.startedAt, endedAt)
      const span = this.tracer.startSpan(
        SPAN.settle,
        { startTime, attributes: kindOf(QUESTIONS) },
        traced.inside,
      )
      endSpan(span, ending, endedAt)
    }
    endSpan(traced.span, ending, endedAt)
  }

  private startWait(traced: TracedAsk, startTime: number, more: Attributes = {}): Span {
    const attributes = {
      ...kindOf(QUESTIONS),
      ...more,
      ...(traced.provider === undefined ? {} : { [ATTRIBUTE.provider]: traced.provider }),
    }
    return this.tracer.startSpan(SPAN.wait, { startTime, attributes }, traced.inside)
  }

  private forgetKey(traced: TracedAsk): void {
    if (traced.key === undefined) return
    const asks = this.byKey.get(traced.key)
    asks?.delete(traced)
    if (asks?.size === 0) this.byKey.delete(traced.key)
  }
}

function attributesOf({ questions, session, agent, key }: PendingAsk): Attributes {
  return {
    ...kindOf(QUESTIONS),
    [ATTRIBUTE.questionCount]: questions.length,
    [ATTRIBUTE.hasKey]: key !== undefined,
    ...(session === undefined || session === '' ? {} : { [ATTRIBUTE.session]: session }),
    ...(agent === undefined ? {} : { [ATTRIBUTE.agent]: agent.id }),
  }
}

function kindOf(kind: string): Attributes {
  return { [ATTRIBUTE.kind]: kind }
}

function nameOf(session: string | undefined, key: string): string {
  return JSON.stringify([session ?? '', key])
}

/** An instant of the inbox's clock, as far as it makes sense here. */
export function within(at: number, from: number, to: number): number {
  return at >= from && at <= to ? at : to
}
