import type { BatchObservableCallback, Counter, Histogram, Meter, Observable } from '@opentelemetry/api'
import type { SettledRequest } from '@handraise/inbox'
import { WAITS } from './ask-metrics.ts'
import { BoundedValues } from './bounded-values.ts'
import type { Waiting } from './inbox-watch.ts'
import { ATTRIBUTE, METRIC } from './names.ts'

/** How many names of surfaces are told apart; clients choose their own. */
const MOST_SURFACES = 16

/** Measures what waits, and counts what an inbox opens and settles, whichever process that is. */
export class RequestMetrics {
  private readonly openedCount: Counter
  private readonly settledCount: Counter
  private readonly duration: Histogram
  private readonly surfaces = new BoundedValues(MOST_SURFACES)
  private readonly stopObserving: () => void

  /** `waiting` says what is pending now, and `now` by which clock. */
  constructor(meter: Meter, waiting: () => { readonly now: number; readonly pending: Iterable<Waiting> }) {
    this.openedCount = meter.createCounter(METRIC.requestOpened, {
      unit: '{request}',
      description: 'Requests that were opened in the inbox, by any host.',
    })
    this.settledCount = meter.createCounter(METRIC.requestSettled, {
      unit: '{request}',
      description: 'Requests of the inbox that were settled, by how and where.',
    })
    this.duration = meter.createHistogram(METRIC.requestDuration, {
      unit: 's',
      description: 'From when a request was opened in the inbox until it was settled.',
      advice: { explicitBucketBoundaries: WAITS },
    })
    const pending = meter.createObservableUpDownCounter(METRIC.pending, {
      unit: '{request}',
      description: 'Requests that wait for somebody.',
    })
    const oldest = meter.createObservableGauge(METRIC.oldestAge, {
      unit: 's',
      description: 'How long the oldest request that waits has waited.',
    })
    const observed: Observable[] = [pending, oldest]
    // Kinds that have waited before are told even where none of them waits now.
    const counts = new Map<string, number>([['questions', 0]])
    const observe: BatchObservableCallback = result => {
      const { now, pending: requests } = waiting()
      for (const kind of counts.keys()) counts.set(kind, 0)
      let since = now
      for (const { kind, openedAt } of requests) {
        counts.set(kind, (counts.get(kind) ?? 0) + 1)
        since = Math.min(since, openedAt)
      }
      for (const [kind, count] of counts) result.observe(pending, count, { [ATTRIBUTE.kind]: kind })
      result.observe(oldest, (now - since) / 1_000)
    }
    meter.addBatchObservableCallback(observe, observed)
    this.stopObserving = () => meter.removeBatchObservableCallback(observe, observed)
  }

  opened(kind: string): void {
    this.openedCount.add(1, { [ATTRIBUTE.kind]: kind })
  }

  settled(kind: string, { openedAt, settlement }: SettledRequest): void {
    const { outcome, surface, settledAt } = settlement
    const attributes = {
      [ATTRIBUTE.kind]: kind,
      [ATTRIBUTE.outcome]: outcome,
      ...(surface === undefined ? {} : { [ATTRIBUTE.surface]: this.surfaces.of(surface) }),
    }
    this.settledCount.add(1, attributes)
    this.duration.record(Math.max(0, settledAt - openedAt) / 1_000, attributes)
  }

  close(): void {
    this.stopObserving()
  }
}
