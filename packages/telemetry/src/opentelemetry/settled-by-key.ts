import type { InboxSettlement } from '@handraise/inbox'

/** How a request was settled, and its id. */
export type MadeSettlement = { readonly id: string } & Pick<
  InboxSettlement,
  'outcome' | 'by' | 'surface' | 'settledAt'
>

/** How many are remembered. */
const MOST = 1_000

/** How requests with a key were settled lately, for whoever asks again and finds that. */
export class SettledByKey {
  // The latest last.
  private readonly made = new Map<string, MadeSettlement>()

  add(name: string, { id, outcome, by, surface, settledAt }: MadeSettlement): void {
    this.made.delete(name)
    this.made.set(name, { id, outcome, by, surface, settledAt })
    const [oldest] = this.made.keys()
    if (this.made.size > MOST && oldest !== undefined) this.made.delete(oldest)
  }

  delete(name: string): void {
    this.made.delete(name)
  }

  get(name: string): MadeSettlement | undefined {
    return this.made.get(name)
  }
}
