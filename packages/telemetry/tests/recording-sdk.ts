import { context, type AttributeValue } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base'
import { onTestFinished } from 'vitest'

/** The SDKs with exporters in memory, and the context of asynchronous calls, until the test is over. */
export function recordingSdk() {
  const spans = new InMemorySpanExporter()
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] })
  const exported = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter: exported, exportIntervalMillis: 1_000_000 })
  const meterProvider = new MeterProvider({ readers: [reader] })
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  onTestFinished(async () => {
    context.disable()
    await tracerProvider.shutdown()
    await meterProvider.shutdown()
  })

  /** What a metric says now: for each set of attributes its value, or how often it was recorded. */
  async function read(name: string): Promise<[Record<string, AttributeValue | undefined>, unknown][]> {
    const { resourceMetrics } = await reader.collect()
    const metrics = resourceMetrics.scopeMetrics.flatMap(scope => scope.metrics)
    const points = metrics.find(({ descriptor }) => descriptor.name === name)?.dataPoints ?? []
    return points.map(({ attributes, value }) => [
      Object.fromEntries(
        Object.entries(attributes).map(([key, of]) => [key.replace(/^handraise\./u, ''), of]),
      ),
      typeof value === 'object' && 'count' in value ? value.count : value,
    ])
  }

  return {
    tracerProvider,
    meterProvider,
    reader,
    read,
    /** Those that have ended, by name, in the order in which they ended. */
    spans: (name: string): ReadableSpan[] => spans.getFinishedSpans().filter(span => span.name === name),
    all: (): ReadableSpan[] => spans.getFinishedSpans(),
  }
}

export const secondsOf = ([seconds, nanos]: [number, number]): number => seconds + nanos / 1e9
