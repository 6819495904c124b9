import { SpanStatusCode, type Span } from '@opentelemetry/api'
import type { AnsweredBy, AskOutcome } from '@handraise/user-questions/types'
import { ATTRIBUTE } from './names.ts'

/** What an ask or an approval ended with. */
export interface Ending {
  readonly outcome: AskOutcome | 'allowed' | 'denied' | 'pending'
  /** The code that the ask was rejected with, or what stands for one. */
  readonly code?: string | undefined
  readonly by?: AnsweredBy | undefined
  readonly surface?: string | undefined
}

/** True where something went wrong. That a person refuses, dismisses or stays silent is none of that. */
export function isFault({ outcome }: Ending): boolean {
  return outcome === 'failed' || outcome === 'unavailable'
}

/** Ends a span by how it ended, at an instant in milliseconds since the Unix epoch. */
export function endSpan(span: Span, ending: Ending, at: number): void {
  const { outcome, code, by, surface } = ending
  span.setAttribute(ATTRIBUTE.outcome, outcome)
  if (by !== undefined) span.setAttribute(ATTRIBUTE.by, by)
  if (surface !== undefined) span.setAttribute(ATTRIBUTE.surface, surface)
  if (isFault(ending)) {
    span.setAttribute(ATTRIBUTE.error, code ?? outcome)
    span.setStatus({ code: SpanStatusCode.ERROR, message: code ?? outcome })
  }
  span.end(at)
}

/** Ends a span that nothing else will end: the host goes. */
export function abandonSpan(span: Span): void {
  span.setAttribute(ATTRIBUTE.error, 'HOST_GONE')
  span.setStatus({ code: SpanStatusCode.ERROR, message: 'the host went away before it was settled' })
  span.end(Date.now())
}
