import { context, trace, type Tracer } from '@opentelemetry/api'
import type { Inbox, InboxRequest, InboxSettlement } from '@handraise/inbox'
import { APPROVAL, type ApprovalOutcome, type ApprovalRequest } from '@handraise/user-approvals'
import { within } from './ask-spans.ts'
import { endSpan, type Ending } from './ending.ts'
import { ATTRIBUTE, SPAN } from './names.ts'

/** What is kept of a request of the inbox. */
type SeenRequest = Pick<InboxRequest, 'id' | 'openedAt'> & {
  readonly settlement?: Pick<InboxSettlement, 'outcome' | 'by' | 'surface' | 'settledAt'> | undefined
}

/** How many requests are remembered for approvals that have not ended. */
const MOST_SEEN = 1_000

/**
 * The spans of approvals. That one was asked for is told only when it ends, so they are made then, as children of the span
 * that is active where it was asked for.
 */
export class ApprovalSpans {
  private readonly tracer: Tracer
  // The latest last.
  private readonly seen = new Map<string, SeenRequest>()

  constructor(tracer: Tracer) {
    this.tracer = tracer
  }

  /** A request was opened or settled in the inbox. */
  changed({ id, kind, openedAt, settlement: made }: InboxRequest): void {
    if (kind !== APPROVAL) return
    this.seen.delete(id)
    const settlement = made && {
      outcome: made.outcome,
      by: made.by,
      surface: made.surface,
      settledAt: made.settledAt,
    }
    this.seen.set(id, { id, openedAt, settlement })
    const [oldest] = this.seen.keys()
    if (this.seen.size > MOST_SEEN && oldest !== undefined) this.seen.delete(oldest)
  }

  /** Call it where the approval was asked for. */
  async ended(request: ApprovalRequest, outcome: ApprovalOutcome, inbox: Inbox | undefined): Promise<void> {
    const parent = context.active()
    const endedAt = Date.now()
    await inbox?.caughtUp().catch(() => {})
    const asked = this.take(outcome.approvalId)
    const { tracer } = this
    const startTime = Math.min(endedAt, ...asked.map(({ openedAt }) => within(openedAt, 0, endedAt)))
    const { toolName, session, agent, callId } = request
    const kind = { [ATTRIBUTE.kind]: APPROVAL }
    const span = tracer.startSpan(
      SPAN.ask,
      {
        startTime,
        attributes: {
          ...kind,
          // Of several it is what their ids begin with.
          [ATTRIBUTE.id]: asked.length === 1 ? asked[0]?.id : outcome.approvalId,
          [ATTRIBUTE.tool]: toolName,
          [ATTRIBUTE.questionCount]: asked.length,
          [ATTRIBUTE.hasKey]: callId !== undefined,
          ...(session === undefined || session === '' ? {} : { [ATTRIBUTE.session]: session }),
          ...(agent === undefined ? {} : { [ATTRIBUTE.agent]: agent.id }),
        },
      },
      parent,
    )
    if (!span.isRecording()) return
    const inside = trace.setSpan(parent, span)
    const ending = endingOf(outcome)
    for (const { openedAt, settlement } of asked) {
      const settledAt = within(settlement?.settledAt ?? endedAt, startTime, endedAt)
      const from = within(openedAt, startTime, settledAt)
      const how = settlement ?? ending
      endSpan(tracer.startSpan(SPAN.wait, { startTime: from, attributes: kind }, inside), how, settledAt)
      if (settlement !== undefined)
        endSpan(
          tracer.startSpan(SPAN.settle, { startTime: settledAt, attributes: kind }, inside),
          how,
          endedAt,
        )
    }
    endSpan(span, ending, endedAt)
  }

  private take(approvalId: string): SeenRequest[] {
    const ids = [...this.seen.keys()].filter(id => id.startsWith(`${approvalId}.`))
    return ids.flatMap(id => {
      const request = this.seen.get(id)
      // One that is pending still may be come back to.
      if (request?.settlement !== undefined) this.seen.delete(id)
      return request ?? []
    })
  }
}

/** What an approval came to, in a few words that have an end. */
export function endingOf(outcome: ApprovalOutcome): Ending {
  if (outcome.outcome !== 'decided')
    return {
      outcome: outcome.outcome,
      ...(outcome.outcome === 'unavailable' ? { code: 'APPROVAL_UNAVAILABLE' } : {}),
    }
  return { outcome: outcome.policyResult === 'allow' ? 'allowed' : 'denied', by: outcome.resolvedBy }
}
