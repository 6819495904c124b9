/** Those who hear of something. One that throws is reported, and the others hear it all the same. */
export class Listeners<T> {
  private readonly report: (error: unknown) => void
  private current: readonly { readonly hear: (what: T) => void }[] = []

  constructor(report: (error: unknown) => void) {
    this.report = report
  }

  /** Returns what takes it away again. The same function may be added twice. */
  add(hear: (what: T) => void): () => void {
    const own = { hear }
    this.current = [...this.current, own]
    return () => {
      this.current = this.current.filter(listener => listener !== own)
    }
  }

  /** One that is added meanwhile does not hear it, and neither does one that is taken away meanwhile. */
  tell(what: T): void {
    for (const listener of this.current) {
      if (!this.current.includes(listener)) continue
      try {
        listener.hear(what)
      } catch (error) {
        this.report(error)
      }
    }
  }

  clear(): void {
    this.current = []
  }
}
