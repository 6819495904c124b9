import type { Clock, ProviderRequest, Question } from '@handraise/user-questions/types'

export const STORE: Question = {
  id: 'db',
  question: 'Which store?',
  header: 'Store',
  options: [{ label: 'Postgres', description: 'A server.' }, { label: 'SQLite' }],
}

let asked = 0

/** What a provider is handed. */
export function requestOf(given: Partial<ProviderRequest> = {}): ProviderRequest {
  const signal = new AbortController().signal
  return { id: `request-${(asked += 1)}`, questions: [STORE], signal, engaged: () => {}, ...given }
}

/** Time that passes only when a person takes theirs. */
export class HandClock implements Clock {
  private time = 0
  private readonly timers = new Set<{ readonly at: number; readonly run: () => void }>()

  now(): number {
    return this.time
  }

  after(delayMs: number, run: () => void): () => void {
    const timer = { at: this.time + delayMs, run }
    this.timers.add(timer)
    return () => void this.timers.delete(timer)
  }

  /** How many timers are running. */
  get armed(): number {
    return this.timers.size
  }

  pass(ms: number): void {
    this.time += ms
    for (const timer of this.timers) {
      if (timer.at > this.time || !this.timers.delete(timer)) continue
      timer.run()
    }
  }
}

/** A promise, and what settles it. */
export function held<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>(settle => (resolve = settle))
  return { promise, resolve }
}
