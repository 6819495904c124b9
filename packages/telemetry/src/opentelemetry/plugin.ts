import { metrics as globalMetrics, trace, type MeterProvider, type TracerProvider } from '@opentelemetry/api'
import { QUESTIONS, type Inbox } from '@handraise/inbox'
import { APPROVAL } from '@handraise/user-approvals'
import type { UserQuestionService } from '@handraise/user-questions'
import type { Context } from 'cordis'
import { ApprovalSpans, endingOf } from './approval-spans.ts'
import { AskMetrics } from './ask-metrics.ts'
import { AskSpans } from './ask-spans.ts'
import { InboxWatch, knownKind, type Waiting } from './inbox-watch.ts'
import { SCOPE } from './names.ts'
import { RequestMetrics } from './request-metrics.ts'

export interface TelemetryOptions {
  /** Default: the global one, also where that is registered later. */
  readonly tracerProvider?: TracerProvider | undefined
  /** Default: the global one, as it is when the plugin is mounted. */
  readonly meterProvider?: MeterProvider | undefined
  /** Default true. */
  readonly spans?: boolean | undefined
  /** Default true. */
  readonly metrics?: boolean | undefined
}

export const name = 'opentelemetry'

/**
 * Traces and measures what is asked, through the API of OpenTelemetry: without an SDK nothing comes of it. No text of a
 * question or an answer is in it. Whatever goes wrong here is logged, and changes nothing about what is asked.
 */
export async function apply(
  ctx: Context,
  {
    tracerProvider = trace,
    meterProvider = globalMetrics,
    spans = true,
    metrics = true,
  }: TelemetryOptions = {},
): Promise<void> {
  const report = (error: unknown): void => ctx.logger.error(error)
  let watch: InboxWatch | undefined
  const inboxNow = (): Inbox | undefined => watch?.inbox ?? ctx.get('inbox')?.core
  const seam = (): UserQuestionService | undefined => ctx.get('userQuestions')
  if (!spans && !metrics) return

  const tracer = spans ? contained(() => tracerProvider.getTracer(SCOPE), report) : undefined
  const askSpans =
    tracer && new AskSpans(tracer, { provider: () => seam()?.provider()?.name, inbox: inboxNow })
  const approvalSpans = tracer && new ApprovalSpans(tracer)
  ctx.effect(() => () => askSpans?.close(), 'opentelemetry.spans')

  const waiting = () => (watch === undefined ? waitingInSeam(seam()) : waitingInInbox(watch))
  const meters = metrics
    ? contained(() => {
        const meter = meterProvider.getMeter(SCOPE)
        return { asks: new AskMetrics(meter), requests: new RequestMetrics(meter, waiting) }
      }, report)
    : undefined
  const { asks: askMetrics, requests: requestMetrics } = meters ?? {}
  ctx.effect(() => () => requestMetrics?.close(), 'opentelemetry.metrics')

  ctx.on('user-questions/asked', ask => {
    askMetrics?.asked(QUESTIONS)
    askSpans?.asked(ask)
  })
  ctx.on('user-questions/settled', ask => {
    askMetrics?.ended(QUESTIONS, ask, ask.settledAt - ask.askedAt)
    return askSpans?.ended(ask)
  })
  ctx.on('user-approvals/ended', ({ request, outcome }) => {
    askMetrics?.asked(APPROVAL)
    askMetrics?.ended(APPROVAL, endingOf(outcome))
    return approvalSpans?.ended(request, outcome, inboxNow())
  })

  const watching = ctx.inject(['inbox'], async function* ({ inbox: { core: inbox } }) {
    const watched = new InboxWatch(
      inbox,
      {
        opened(request, isNew) {
          approvalSpans?.changed(request)
          if (!isNew) return
          requestMetrics?.opened(knownKind(inbox, request))
          askSpans?.opened(request)
        },
        settled(request) {
          approvalSpans?.changed(request)
          requestMetrics?.settled(knownKind(inbox, request), request)
          askSpans?.requestSettled(request)
        },
      },
      report,
    )
    watch = watched
    yield () => {
      watched.stop()
      if (watch === watched) watch = undefined
    }
    await watched.start()
  })
  // Without an inbox it would be waited for in vain.
  if (ctx.get('inbox') !== undefined) await watching
}

/** What an SDK makes, unless it throws: then there is nothing of that kind. */
function contained<T>(make: () => T, report: (error: unknown) => void): T | undefined {
  try {
    return make()
  } catch (error) {
    report(error)
    return undefined
  }
}

function* waitingInSeamOf(service: UserQuestionService): Iterable<Waiting> {
  for (const { askedAt: openedAt } of service.pending()) yield { kind: QUESTIONS, openedAt }
}

function waitingInSeam(service: UserQuestionService | undefined) {
  return { now: Date.now(), pending: service === undefined ? [] : waitingInSeamOf(service) }
}

function waitingInInbox({ inbox, pending }: InboxWatch) {
  return { now: inbox.clock.now(), pending: pending.values() }
}
