import type { ThreadItem } from './items.ts'
import type { OpenPrompt, OpenPrompts } from './open-prompts.ts'
import type { ThreadCalls } from './thread-calls.ts'

/** As many resolved prompts are looked at again, the last ones. */
const MOST_RESOLVED = 1_000

/** From the position of a prompt to that of its resolution. */
export interface ResolvedSpan {
  readonly from: number
  readonly to: number
}

export interface ThreadScan {
  /** Where the page with the earliest open prompt begins, or the end of the thread. */
  readonly cursor: string | undefined
  /** The items of others on that page before that prompt. */
  readonly before: readonly ThreadItem[]
  readonly resolved: readonly { readonly prompt: OpenPrompt; readonly item: ThreadItem }[]
  /** The prompts that were resolved, by their ids. */
  readonly over: ReadonlySet<string>
  /** Where in the thread these were open: what was said there was for them. In the order of the thread. */
  readonly spans: readonly ResolvedSpan[]
}

/** Reads a thread from its beginning for the prompts of this worker, of which nothing else is known. */
export async function scanThread(calls: ThreadCalls, prompts: OpenPrompts): Promise<ThreadScan> {
  const foundAt = new Map<
    string,
    { cursor: string | undefined; before: readonly ThreadItem[]; position: number }
  >()
  const resolved: { prompt: OpenPrompt; item: ThreadItem }[] = []
  const over = new Set<string>()
  const spans: ResolvedSpan[] = []
  let cursor: string | undefined
  for await (const page of calls.pages(undefined)) {
    const others: ThreadItem[] = []
    for (const item of page.items) {
      if (item.author !== calls.self) {
        others.push(item)
        continue
      }
      const change = prompts.take(item)
      if (change?.change === 'unreadable') calls.reportItem(item, change.issues)
      if (change?.change === 'opened') {
        const { promptId } = change.prompt
        if (!foundAt.has(promptId))
          foundAt.set(promptId, { cursor, before: [...others], position: item.position })
      } else if (change?.change === 'resolved') {
        const from = foundAt.get(change.promptId)?.position
        if (from !== undefined) spans.push({ from, to: item.position })
        foundAt.delete(change.promptId)
        over.add(change.promptId)
        if (change.prompt !== undefined) resolved.push({ prompt: change.prompt, item })
        if (resolved.length > MOST_RESOLVED) resolved.shift()
      }
    }
    ;({ cursor } = page)
  }
  // In the order in which they were found, which is that of the thread.
  const [earliest = { cursor, before: [] }] = foundAt.values()
  return { cursor: earliest.cursor, before: earliest.before, resolved, over, spans }
}

/** True of a position within one of the spans. */
export function isWithin(spans: readonly ResolvedSpan[], position: number): boolean {
  // The first that ends after it.
  let [low, high] = [0, spans.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((spans[middle]?.to ?? 0) > position) high = middle
    else low = middle + 1
  }
  const span = spans[low]
  return span !== undefined && span.from < position
}
