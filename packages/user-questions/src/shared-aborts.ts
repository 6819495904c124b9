/**
 * Listens once to a signal on which many wait, such as that of a session with many calls in flight: a listener each is
 * what node takes for a leak.
 */
export class SharedAborts {
  private readonly waiting = new Map<
    AbortSignal,
    { readonly runs: Set<() => void>; readonly listener: () => void }
  >()

  add(signal: AbortSignal, run: () => void): void {
    let shared = this.waiting.get(signal)
    if (shared === undefined) {
      const runs = new Set<() => void>()
      shared = { runs, listener: () => runs.forEach(each => each()) }
      this.waiting.set(signal, shared)
      signal.addEventListener('abort', shared.listener)
    }
    shared.runs.add(run)
  }

  remove(signal: AbortSignal, run: () => void): void {
    const shared = this.waiting.get(signal)
    if (shared === undefined || !shared.runs.delete(run) || shared.runs.size > 0) return
    this.waiting.delete(signal)
    signal.removeEventListener('abort', shared.listener)
  }
}

export const sharedAborts = new SharedAborts()
