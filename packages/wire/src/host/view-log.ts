import type { RecordWrite } from '@handraise/inbox'
import type { SourceRange } from '../protocol/index.ts'
import { formatCursor, type ViewPosition } from './cursor.ts'
import { eventWrite, type EventRecord } from './session-store.ts'

/** What every event of a view carries. */
export interface ViewParams {
  readonly sessionId: string
  readonly viewCursor: string
  readonly sourceRange: SourceRange
  readonly [member: string]: unknown
}

/** A durable event of a view, the `n`th. */
export interface ViewEvent {
  readonly n: number
  readonly method: string
  readonly params: ViewParams
  /** When it was recorded, in milliseconds since the Unix epoch. */
  readonly at: number
}

/** An event that is to be recorded. Cursor and source are given by the log. */
export interface EventDraft {
  readonly method: string
  readonly body: Readonly<Record<string, unknown>>
  /** The turn it belongs to; absent for what belongs to the session alone. */
  readonly turnId?: string | undefined
}

/** What has happened in a session, in one order, for whoever looks at it now or later. One host writes it at a time. */
export class ViewLog {
  readonly sessionId: string
  readonly events: ViewEvent[]
  private readonly now: () => number
  private passed = 0

  constructor(sessionId: string, records: readonly EventRecord[], now: () => number) {
    this.sessionId = sessionId
    this.now = now
    this.events = records.map(({ method, params, at }, index) => ({
      n: index + 1,
      method,
      params: params as unknown as ViewParams,
      at,
    }))
  }

  get head(): number {
    return this.events.length
  }

  /** The cursor behind everything, also behind what passed without being kept. */
  get cursor(): string {
    return formatCursor(this.sessionId, { n: this.head, k: this.passed })
  }

  /** The events as they would be recorded now. */
  preview(drafts: readonly EventDraft[]): readonly ViewEvent[] {
    const at = this.now()
    return drafts.map((draft, index) => this.toEvent(draft, this.head + index + 1, at))
  }

  /** The writes that record events. They hold only while nobody else has recorded anything here. */
  writesOf(events: readonly ViewEvent[]): readonly RecordWrite[] {
    return events.map(({ n, method, params, at }) => eventWrite(this.sessionId, n, { method, params, at }))
  }

  /** Takes events that were recorded. `taken` gets each before anybody can read it here. */
  take(events: readonly ViewEvent[], taken: (event: ViewEvent) => void): void {
    if (events.length > 0) this.passed = 0
    for (const event of events) {
      this.events.push(event)
      taken(event)
    }
  }

  /** The cursor of something that passes by and is not kept. */
  pass(): string {
    this.passed += 1
    return this.cursor
  }

  /** The events behind a place, in order. */
  after({ n }: ViewPosition, limit = Infinity): readonly ViewEvent[] {
    return this.events.slice(n, n + limit)
  }

  private toEvent({ method, body, turnId }: EventDraft, n: number, at: number): ViewEvent {
    const { sessionId } = this
    const position = { id: `${sessionId}#${n}`, sequence: n }
    const stream = turnId === undefined ? { kind: 'session', id: sessionId } : { kind: 'run', id: turnId }
    const viewCursor = formatCursor(sessionId, { n, k: 0 })
    const sourceRange = { stream, first: position, last: position }
    return { n, method, params: { sessionId, viewCursor, sourceRange, ...body }, at }
  }
}
