/** Those who want to know when the log may have grown. */
export class Watchers {
  private readonly watching = new Set<{ readonly wake: () => void }>()
  private called = false

  add(wake: () => void): () => void {
    const watcher = { wake }
    this.watching.add(watcher)
    return () => void this.watching.delete(watcher)
  }

  /** However often it is called in one turn of the event loop, each is woken once. */
  readonly wakeAll = (): void => {
    if (this.called) return
    this.called = true
    setImmediate(() => {
      this.called = false
      for (const watcher of this.watching) {
        // By itself, so that one that throws takes no other with it, nor the command that woke it.
        queueMicrotask(() => {
          if (this.watching.has(watcher)) watcher.wake()
        })
      }
    })
  }

  clear(): void {
    this.watching.clear()
  }
}
