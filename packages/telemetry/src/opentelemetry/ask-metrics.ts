import type { Attributes, Counter, Histogram, Meter } from '@opentelemetry/api'
import { isFault, type Ending } from './ending.ts'
import { ATTRIBUTE, METRIC } from './names.ts'

/** Bounds that tell waits for people apart, from a click to a week, in seconds. */
export const WAITS = [0.1, 1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400, 604_800]

/** Counts what is asked in this process, and how it ends. */
export class AskMetrics {
  private readonly askedCount: Counter
  private readonly settledCount: Counter
  private readonly duration: Histogram

  constructor(meter: Meter) {
    this.askedCount = meter.createCounter(METRIC.asked, {
      unit: '{ask}',
      description: 'Asks that were made here; approvals count when they end.',
    })
    this.settledCount = meter.createCounter(METRIC.settled, {
      unit: '{ask}',
      description: 'Asks that were made here and have ended, by how.',
    })
    this.duration = meter.createHistogram(METRIC.duration, {
      unit: 's',
      description: 'From when it was asked here until the asker was told how it ended.',
      advice: { explicitBucketBoundaries: WAITS },
    })
  }

  asked(kind: string): void {
    this.askedCount.add(1, { [ATTRIBUTE.kind]: kind })
  }

  /** `waitedMs` is absent where it is not known. */
  ended(kind: string, ending: Ending, waitedMs?: number): void {
    const attributes: Attributes = {
      [ATTRIBUTE.kind]: kind,
      [ATTRIBUTE.outcome]: ending.outcome,
      ...(isFault(ending) ? { [ATTRIBUTE.error]: ending.code ?? ending.outcome } : {}),
    }
    this.settledCount.add(1, attributes)
    if (waitedMs !== undefined) this.duration.record(Math.max(0, waitedMs) / 1_000, attributes)
  }
}
