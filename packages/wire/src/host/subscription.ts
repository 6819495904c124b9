import { PROTECTED } from '../protocol/index.ts'
import { formatCursor, type ViewPosition } from './cursor.ts'
import type { ClosedReason, Session, SessionViewer } from './session.ts'
import { pendingApprovals, pendingUserInputs } from './session-state.ts'
import { toRequestParams } from './session-view.ts'
import type { ViewEvent } from './view-log.ts'

/** One frame that a subscription has for its client. */
export type Outgoing =
  | { readonly event: ViewEvent }
  | { readonly method: string; readonly params: Readonly<Record<string, unknown>> }

/** Pieces of messages that wait for a client that does not read; more are left out, as the whole message follows. */
const MOST_PASSING = 256

/** Where one client stands in the view of one session. Frames are taken from it when the client can take them. */
export class Subscription implements SessionViewer {
  readonly session: Session
  private readonly onGrown: () => void
  private readonly onClosed: (reason: ClosedReason) => void
  private readonly passing: Array<{ readonly n: number; readonly outgoing: Outgoing }> = []
  private n: number
  /** The events up to here were passed over, for a client that is too slow for all of them. */
  private skipTo = 0
  private skippedAfter: number | undefined
  private gap: Outgoing | undefined

  constructor(
    session: Session,
    position: ViewPosition,
    onGrown: () => void,
    onClosed: (reason: ClosedReason) => void,
  ) {
    this.session = session
    this.n = position.n
    this.onGrown = onGrown
    this.onClosed = onClosed
    session.viewers.add(this)
  }

  grown(): void {
    this.onGrown()
  }

  passed(method: string, params: Readonly<Record<string, unknown>>): void {
    if (this.passing.length >= MOST_PASSING) return
    this.passing.push({ n: this.session.log.head, outgoing: { method, params } })
    this.onGrown()
  }

  closed(reason: ClosedReason): void {
    this.onClosed(reason)
  }

  end(): void {
    this.session.viewers.delete(this)
  }

  /** Moves a slow client ahead, so that it is behind by `lag` events at most. What is protected is sent all the same. */
  skip(lag: number): void {
    // A gap is told with the event behind it.
    this.skipTo = Math.max(this.skipTo, this.session.log.head - Math.max(lag, 1))
  }

  /** The next frame, in the order of the view; undefined when the client has all of it. */
  next(tooLong: (event: ViewEvent) => boolean): Outgoing | undefined {
    const { gap } = this
    if (gap !== undefined) {
      this.gap = undefined
      return gap
    }
    for (;;) {
      const [first] = this.passing
      if (first !== undefined && first.n <= this.n) {
        this.passing.shift()
        if (first.n === this.n && this.skippedAfter === undefined) return first.outgoing
        continue
      }
      const [event] = this.session.log.after({ n: this.n, k: 0 }, 1)
      if (event === undefined) return undefined
      this.n = event.n
      // Nor is a question passed over that waits: it is asked with its event.
      const keeps = PROTECTED_METHODS.has(event.method) || requestOf(this.session, event) !== undefined
      const skipped = event.n <= this.skipTo && !keeps
      if (skipped || tooLong(event)) {
        this.skippedAfter ??= event.n - 1
        continue
      }
      if (this.skippedAfter !== undefined) this.gap = this.gapUpTo(event)
      return { event }
    }
  }

  // Told behind the event at which it ends, as the published host does (transcript gap-recovery-splice-fill).
  private gapUpTo(event: ViewEvent): Outgoing {
    const { id } = this.session
    const after = formatCursor(id, { n: this.skippedAfter ?? event.n, k: 0 })
    this.skippedAfter = undefined
    return { method: 'view/gap', params: { sessionId: id, after, next: event.params.viewCursor } }
  }
}

const PROTECTED_METHODS: ReadonlySet<string> = new Set(PROTECTED)

/** A question or approval that a client is to be asked, by the event that opened or changed it; undefined for other events. */
export function requestOf(
  session: Session,
  { method, params }: ViewEvent,
): { readonly method: string; readonly params: object } | undefined {
  const { userInputs, approvals } = session.state
  if (method === 'userInput/requested') {
    const known = userInputs.get(String(params['userInputId']))
    if (known === undefined || known.settled !== undefined) return undefined
    return { method: 'userInput/request', params: toRequestParams(known) }
  }
  if (method !== 'approval/requested' && method !== 'approval/updated') return undefined
  const known = approvals.get(String(params['approvalId']))
  // A later stage is asked about by its own event.
  if (known === undefined || known.resolved !== undefined || known.current.viewCursor !== params.viewCursor)
    return undefined
  return { method: 'approval/request', params: known.current }
}

/** What a client is to be asked that waits in a session, as of the first `n` events, in the order in which it was opened. */
export function requestsOf(
  session: Session,
  n: number,
): Array<{ readonly method: string; readonly params: object }> {
  const approvals = pendingApprovals(session.state).map(({ current: params, order, changed }) => ({
    order,
    changed,
    request: { method: 'approval/request', params },
  }))
  const inputs = pendingUserInputs(session.state).map(input => ({
    order: input.order,
    changed: input.order,
    request: { method: 'userInput/request', params: toRequestParams(input) },
  }))
  return [...approvals, ...inputs]
    .filter(({ changed }) => changed <= n)
    .toSorted((one, other) => one.order - other.order)
    .map(({ request }) => request)
}
