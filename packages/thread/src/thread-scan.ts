import type { ThreadItem } from './items.ts'
import type { OpenPrompt, OpenPrompts } from './open-prompts.ts'
import type { ThreadCalls } from './thread-calls.ts'

/** As many resolved prompts are looked at again, the last ones. */
const MOST_RESOLVED = 1_000

export interface ThreadScan {
  /** Where the page with the earliest open prompt begins, or the end of the thread. */
  readonly cursor: string | undefined
  /** The items of others on that page before that prompt. */
  readonly before: readonly ThreadItem[]
  readonly resolved: readonly { readonly prompt: OpenPrompt; readonly item: ThreadItem }[]
}

/** Reads a thread from its beginning for the prompts of this worker, of which nothing else is known. */
export async function scanThread(calls: ThreadCalls, prompts: OpenPrompts): Promise<ThreadScan> {
  const foundAt = new Map<string, { cursor: string | undefined; before: readonly ThreadItem[] }>()
  const resolved: { prompt: OpenPrompt; item: ThreadItem }[] = []
  let cursor: string | undefined
  for (let more = true; more;) {
    const page = await calls.since(cursor)
    const others: ThreadItem[] = []
    for (const item of page.items) {
      if (item.author !== calls.self) {
        others.push(item)
        continue
      }
      const change = prompts.take(item)
      if (change?.change === 'opened') {
        const { promptId } = change.prompt
        if (!foundAt.has(promptId)) foundAt.set(promptId, { cursor, before: [...others] })
      } else if (change?.change === 'resolved') {
        foundAt.delete(change.promptId)
        if (change.prompt !== undefined) resolved.push({ prompt: change.prompt, item })
        if (resolved.length > MOST_RESOLVED) resolved.shift()
      }
    }
    ;({ cursor, more } = page)
  }
  // In the order in which they were found, which is that of the thread.
  const [earliest] = foundAt.values()
  return { cursor, before: [], ...earliest, resolved }
}
