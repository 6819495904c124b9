import type { ThreadItem } from './items.ts'

/** Why an item of another author answered nothing. */
export type UnansweringReason =
  /** Nothing was asked. */
  | 'no-prompt'
  /** It was posted before the question. */
  | 'before-prompt'
  /** Its author may not answer. */
  | 'not-allowed'
  /** It was changed after it was posted. */
  | 'edited'
  /** It holds no text. */
  | 'empty'
  /** It starts with `/`. */
  | 'command'
  /** It is one text to several questions, which are asked one by one from then on. */
  | 'several'
  /** It answers a question that is not asked: one that is over, or that was answered before. */
  | 'other-question'
  /** The question had been decided. */
  | 'already-settled'
  /** It breaks the rules of the question, such as too few choices. */
  | 'bad-answer'
  /** Nothing here can answer requests of that kind. */
  | 'unanswerable'

export type MessageHandler = (item: ThreadItem, why: UnansweringReason) => void | Promise<void>

type Entry =
  { readonly item: ThreadItem; readonly why: UnansweringReason } | { readonly handled: () => Promise<void> }

/**
 * Hands on what was no answer, one message after the other, beside whatever the thread does meanwhile: a handler may take
 * its time, and ask a question itself.
 */
export class HandOn {
  private readonly handler: MessageHandler | undefined
  private readonly report: (error: unknown) => void
  private readonly entries: Entry[] = []
  private running = false
  private stopped = false

  constructor(handler: MessageHandler | undefined, report: (error: unknown) => void) {
    this.handler = handler
    this.report = report
  }

  give(item: ThreadItem, why: UnansweringReason): void {
    if (this.handler !== undefined) this.push({ item, why })
  }

  /** Calls `handled` when every message given before was handled; of several in a row only the last. */
  after(handled: () => Promise<void>): void {
    const last = this.entries.at(-1)
    if (last !== undefined && 'handled' in last) this.entries.pop()
    this.push({ handled })
  }

  stop(): void {
    this.stopped = true
    this.entries.length = 0
  }

  private push(entry: Entry): void {
    if (this.stopped) return
    this.entries.push(entry)
    if (!this.running) void this.run()
  }

  private async run(): Promise<void> {
    this.running = true
    for (let entry = this.entries.shift(); entry !== undefined; entry = this.entries.shift()) {
      try {
        if ('handled' in entry) await entry.handled()
        else await this.handler?.(entry.item, entry.why)
      } catch (error) {
        this.report(error)
      }
    }
    this.running = false
  }
}
