/** One call, while its hook runs. */
export interface HookedCall {
  /** This process has deferred it before. */
  readonly isResumed: boolean
  /** No other call of its session waits, and none was deferred that has not come again. */
  isAlone(): boolean
  defer(): void
  /** It was decided after all. */
  settle(): void
  /** The hook has ended. */
  leave(): void
}

/** The calls of each session that wait, and the one that was deferred. */
export class DeferredCalls {
  private readonly waiting = new Map<string, Set<string>>()
  private readonly deferred = new Map<string, string>()

  enter(session: string, id: string): HookedCall {
    const settle = (): void => {
      if (this.deferred.get(session) === id) this.deferred.delete(session)
    }
    const isResumed = this.deferred.get(session) === id
    settle()
    const waiting = this.waiting.get(session) ?? new Set()
    this.waiting.set(session, waiting.add(id))
    return {
      isResumed,
      isAlone: () => waiting.size === 1 && !this.deferred.has(session),
      defer: () => void this.deferred.set(session, id),
      settle,
      leave: () => {
        waiting.delete(id)
        if (waiting.size === 0) this.waiting.delete(session)
      },
    }
  }
}
