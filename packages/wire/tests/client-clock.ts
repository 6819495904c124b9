import type { Clock } from '@handraise/user-questions/types'

interface Timer {
  readonly at: number
  readonly run: () => void
}

/** A clock that stands still until it is moved. */
export class HandClock implements Clock {
  private time = 0
  private readonly timers = new Set<Timer>()

  now(): number {
    return this.time
  }

  after(delayMs: number, run: () => void): () => void {
    const timer = { at: this.time + delayMs, run }
    this.timers.add(timer)
    return () => void this.timers.delete(timer)
  }

  /** How long each timer has still to go, in milliseconds. */
  get waiting(): number[] {
    return [...this.timers].map(({ at }) => at - this.time)
  }

  advance(ms: number): void {
    this.time += ms
    const due = [...this.timers].filter(({ at }) => at <= this.time).toSorted((a, b) => a.at - b.at)
    for (const timer of due) if (this.timers.delete(timer)) timer.run()
  }
}
