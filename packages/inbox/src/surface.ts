import { InboxError } from './error.ts'
import type { Inbox } from './inbox.ts'
import { isSettled, type InboxRequest, type SettledRequest } from './request.ts'
import type { LogEntry } from './store.ts'

/** How long to wait with the next try when what is pending could not be listed anew, in milliseconds. */
const RETRY_MS = 250

/** Where people see what is pending, for longer than one request. It answers with `decide`, by id. */
export interface InboxSurface {
  readonly name: string
  /** How many people could see a request here now. */
  viewers(): number
  /** A request is pending: new, or there already when the surface was attached. Once for each. */
  opened(request: InboxRequest): void
  /**
   * It was settled, here or elsewhere: take it down, and say by whom. Without a `settlement` it is forgotten already, and how it
   * ended is not known: that happens when the log was lost for as long as settled requests are kept.
   */
  settled(request: SettledRequest | { readonly id: string; readonly settlement?: undefined }): void
  /** A person began to answer it somewhere: its deadline no longer applies. */
  engaged?(request: InboxRequest): void
}

/**
 * Shows a surface all that is pending, then all that changes. Resolves when it has been shown what was there, with what
 * ends it. Rejects when that cannot be read; what cannot be read later, after the log was lost, is reported and read again until
 * it could be. What the surface throws is reported, and concerns nobody else.
 */
export async function showOn(
  surface: InboxSurface,
  inbox: Inbox,
  report: (error: unknown) => void,
): Promise<() => void> {
  const shown = new Set<string>()
  let ended = false
  let unfollow = (): void => {}
  let callOffRetry = (): void => {}

  const contained = (run: () => unknown): void => {
    if (ended) return
    try {
      // It may be written as an asynchronous function, and fail later.
      const running = run()
      if (running instanceof Promise) running.catch(report)
    } catch (error) {
      report(error)
    }
  }
  const open = (request: InboxRequest): void => {
    if (shown.has(request.id)) return
    shown.add(request.id)
    contained(() => surface.opened(request))
  }
  const close = (request: Parameters<InboxSurface['settled']>[0]): void => {
    // One that was opened and settled between two looks was never shown.
    if (shown.delete(request.id)) contained(() => surface.settled(request))
  }
  const hear = ({ change, request }: LogEntry): void => {
    if (isSettled(request)) close(request)
    else if (change === 'engaged') contained(() => surface.engaged?.(request))
    else open(request)
  }

  const catchUp = async (): Promise<void> => {
    const cursor = await inbox.store.end()
    const pending = new Set<string>()
    let after: string | undefined
    do {
      const page = await inbox.list({
        state: 'pending',
        limit: 1_000,
        ...(after === undefined ? {} : { after }),
      })
      for (const request of page.requests) {
        pending.add(request.id)
        open(request)
      }
      after = page.next
    } while (after !== undefined && !ended)
    // What was settled while the log was lost.
    for (const id of [...shown].filter(known => !pending.has(known))) {
      if (ended) return
      const request = await inbox.store.get(id)
      // Nothing is forgotten while it is pending.
      if (request === undefined) close({ id })
      else if (isSettled(request)) close(request)
    }
    if (!ended) await follow(cursor)
  }
  const follow = async (cursor: string): Promise<void> => {
    let current = true
    const stop = await inbox.follow(
      {
        entry: entry => {
          if (current) hear(entry)
        },
        lost: () => {
          if (!current) return
          current = false
          // What happens while the list is read is told again from the cursor before it.
          unfollow()
          again()
        },
      },
      cursor,
    )
    if (current && !ended) unfollow = stop
    else stop()
  }
  const again = (): void => {
    if (ended) return
    catchUp().catch((error: unknown) => {
      if (ended) return
      report(error)
      if (!isClosed(error)) callOffRetry = inbox.clock.after(RETRY_MS, again)
    })
  }

  await catchUp()
  return () => {
    ended = true
    callOffRetry()
    unfollow()
  }
}

function isClosed(error: unknown): boolean {
  return InboxError.isInstance(error) && error.code === 'STORE_CLOSED'
}
