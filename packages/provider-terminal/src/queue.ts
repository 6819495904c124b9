/** Runs one thing after the other, in the order in which they came. */
export class Queue {
  private readonly waiting: (() => void)[] = []
  private busy = false

  /** What is aborted before its turn is never run, and rejects at once with the reason of `signal`. */
  run<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    if (signal.aborted) return Promise.reject(signal.reason as Error)
    return new Promise((resolve, reject) => {
      const start = (): void => {
        signal.removeEventListener('abort', leave)
        void task().then(resolve, reject).finally(this.next)
      }
      const leave = (): void => {
        signal.removeEventListener('abort', leave)
        const place = this.waiting.indexOf(start)
        if (place >= 0) this.waiting.splice(place, 1)
        reject(signal.reason as Error)
      }
      if (!this.busy) {
        this.busy = true
        start()
        return
      }
      signal.addEventListener('abort', leave)
      this.waiting.push(start)
    })
  }

  private readonly next = (): void => {
    const start = this.waiting.shift()
    if (start === undefined) this.busy = false
    else start()
  }
}
