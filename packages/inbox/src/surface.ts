import type { Inbox } from './inbox.ts'
import { isSettled, type InboxRequest, type SettledRequest } from './request.ts'

/** Where people see what is pending, for longer than one request. It answers with `decide`, by id. */
export interface InboxSurface {
  readonly name: string
  /** How many people could see a request here now. */
  viewers(): number
  /** A request is pending: new, or there already when the surface was attached. Once for each. */
  opened(request: InboxRequest): void
  /** It was settled, here or elsewhere: take it down, and say by whom. */
  settled(request: SettledRequest): void
  /** A person began to answer it somewhere: its deadline no longer applies. */
  engaged?(request: InboxRequest): void
}

/**
 * Shows a surface all that is pending, then all that changes. Resolves when it has been shown what was there, with what
 * ends it. What the surface throws is reported, and concerns nobody else.
 */
export async function showOn(
  surface: InboxSurface,
  inbox: Inbox,
  report: (error: unknown) => void,
): Promise<() => void> {
  const shown = new Set<string>()
  let ended = false
  let unfollow = (): void => {}

  const open = (request: InboxRequest): void => {
    if (shown.has(request.id)) return
    shown.add(request.id)
    contained(() => surface.opened(request))
  }
  const contained = (run: () => unknown): void => {
    try {
      // It may be written as an asynchronous function, and fail later.
      const running = run()
      if (running instanceof Promise) running.catch(report)
    } catch (error) {
      report(error)
    }
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
    } while (after !== undefined)
    // What was settled while the log was lost.
    for (const id of [...shown].filter(known => !pending.has(known))) {
      const request = await inbox.store.get(id)
      if (request !== undefined && isSettled(request)) close(request)
    }
    const stop = await inbox.follow(
      {
        entry: ({ change, request }) => {
          if (isSettled(request)) close(request)
          else if (change === 'engaged') contained(() => surface.engaged?.(request))
          else open(request)
        },
        lost: () => void catchUp().catch(report),
      },
      cursor,
    )
    if (ended) stop()
    else unfollow = stop
  }
  const close = (request: SettledRequest): void => {
    // One that was opened and settled between two looks was never shown.
    if (shown.delete(request.id)) contained(() => surface.settled(request))
  }

  await catchUp()
  return () => {
    ended = true
    unfollow()
  }
}
