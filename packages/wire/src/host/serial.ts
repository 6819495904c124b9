/** Runs one thing after the other, in the order in which they were given. */
export class Serial {
  private last: Promise<unknown> = Promise.resolve()

  /** Resolves or rejects as `run` does; what was given before it has ended by the time it starts. */
  run<Value>(run: () => Promise<Value> | Value): Promise<Value> {
    const running = this.last.then(run, run)
    this.last = running.catch(() => {})
    return running
  }
}
