import type { Command } from './commands.ts'

/** Keeps in order what touches the same request or record, while a command before it waits for its next attempt. */
export class CommandOrder<T extends { readonly command: Command }> {
  /** What is touched by those that wait, and by how many. */
  private readonly held = new Map<string, number>()
  private behind: T[] = []

  /** From now on what touches the same as this goes behind it. */
  hold({ command }: T): void {
    for (const name of touchedBy(command)) this.held.set(name, (this.held.get(name) ?? 0) + 1)
  }

  /** Whether one before it waits for its next attempt. Then it is kept for `release`. */
  goesBehind(job: T): boolean {
    if (this.held.size === 0 || !touchedBy(job.command).some(name => this.held.has(name))) return false
    this.behind.push(job)
    // What touches the same as this goes behind it as well.
    this.hold(job)
    return true
  }

  /** Ends what `hold` began. Returns all that went behind anything, in order; of those some may have to go there again. */
  release(job: T): T[] {
    const { behind } = this
    this.behind = []
    for (const each of [job, ...behind]) this.letGo(each)
    return behind
  }

  private letGo({ command }: T): void {
    for (const name of touchedBy(command)) {
      const count = (this.held.get(name) ?? 0) - 1
      if (count > 0) this.held.set(name, count)
      else this.held.delete(name)
    }
  }
}

function touchedBy({ op, id, session, key, records = [] }: Command): string[] {
  return [
    ...(id === undefined ? [] : [JSON.stringify(['id', id])]),
    ...(op === 'open' && key !== undefined ? [JSON.stringify(['key', session, key])] : []),
    ...records.map(record => JSON.stringify(['record', record.namespace, record.key])),
  ]
}
