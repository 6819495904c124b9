/** Keeps readers from what is only half done: they wait while it is done, and it waits for those that read. */
export class QuietTime {
  private running: Promise<unknown> | undefined
  private readonly readers = new Set<Promise<unknown>>()

  /** Runs while nobody reads. It must not read itself. */
  async during<T>(run: () => Promise<T>): Promise<T> {
    while (this.running !== undefined) await this.running
    const running = Promise.allSettled(this.readers).then(run)
    this.running = running.catch(() => {})
    try {
      return await running
    } finally {
      this.running = undefined
    }
  }

  async read<T>(run: () => Promise<T>): Promise<T> {
    while (this.running !== undefined) await this.running
    const reading = run()
    this.readers.add(reading)
    try {
      return await reading
    } finally {
      this.readers.delete(reading)
    }
  }
}
