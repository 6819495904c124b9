import { InboxClientError, type InboxClient, type PublicRequest } from '@handraise/provider-web/client'
import { takeSlot } from './connection-slot.ts'
import type { InboxChange } from './inbox-state.ts'

export type Connection = 'connecting' | 'live' | 'offline' | 'refused'

export interface FollowOptions {
  /** How many requests to load. */
  readonly limit: () => number
  readonly signal: AbortSignal
  readonly tell: (change: InboxChange) => void
  readonly connection: (connection: Connection) => void
}

const FIRST_RETRY_MS = 250
const LAST_RETRY_MS = 10_000
/** How long a stream lives until it counts as one that works, in milliseconds. */
const STEADY_MS = 5_000
/** How often a page lists that may not listen, in milliseconds. */
const POLL_MS = 3_000

/**
 * Lists what is pending, follows what changes from where the list stood, and does both anew whenever the connection was
 * lost, until the signal aborts or the server refuses the token.
 */
export async function followInbox(client: InboxClient, options: FollowOptions): Promise<void> {
  const { limit, tell } = options
  return keepConnected(client, options, async () => {
    const { cursor, now, ...page } = await client.list({ limit: limit() })
    tell({ type: 'listed', ...page, aheadMs: now - Date.now() })
    return cursor
  })
}

export interface FollowOneOptions extends FollowOptions {
  readonly only: string
  readonly found: (request: PublicRequest) => void
  /** There is no such request, or none any more. */
  readonly missing: () => void
}

/** The same for one request, until it is settled. */
export async function followRequest(client: InboxClient, options: FollowOneOptions): Promise<void> {
  const { only, tell, found, missing } = options
  return keepConnected(client, options, async () => {
    const { cursor, now } = await client.list({ limit: 1 })
    const request = await client.get(only).catch((error: unknown) => {
      if (InboxClientError.isInstance(error) && error.status === 404) return undefined
      throw error
    })
    if (request === undefined) {
      missing()
      return undefined
    }
    tell({ type: 'listed', requests: [request], aheadMs: now - Date.now() })
    found(request)
    if (request.settlement === undefined) return cursor
    tell({ type: 'changed', request })
    return undefined
  })
}

/** `list` gives the cursor from which to follow, and none when there is nothing to follow any more. */
async function keepConnected(
  client: InboxClient,
  { signal, connection, tell, only }: FollowOptions & { readonly only?: string },
  list: () => Promise<string | undefined>,
): Promise<void> {
  let attempt = 0
  const backOff = (): number => Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** attempt++)
  while (!signal.aborted) {
    let wait = 0
    const release = await takeSlot()
    try {
      const cursor = await list()
      if (cursor === undefined || release === undefined) connection('live')
      if (cursor === undefined) return
      if (release === undefined) wait = POLL_MS
      else {
        let openedAt = Infinity
        const opened = (): void => {
          openedAt = performance.now()
          connection('live')
        }
        const end = await follow(client, cursor, { signal, tell, only, opened })
        if (end === 'done' || signal.aborted) return
        if (end === 'lost') connection('offline')
        // One that breaks as soon as it is there is no better than none.
        if (performance.now() - openedAt > STEADY_MS) attempt = 0
        wait = backOff()
      }
    } catch (error) {
      if (signal.aborted) return
      if (isRefused(error)) return connection('refused')
      connection('offline')
      wait = backOff()
    } finally {
      release?.()
    }
    if (wait > 0) await pause(wait, signal)
  }
}

async function follow(
  client: InboxClient,
  cursor: string,
  {
    signal,
    tell,
    only,
    opened,
  }: Pick<FollowOptions, 'signal' | 'tell'> & { readonly only?: string | undefined; opened: () => void },
): Promise<'done' | 'lost' | 'again'> {
  for await (const event of client.events(cursor, { signal, reconnect: false, opened })) {
    // Where the list stood is not known any more: list again.
    if (!('request' in event)) return 'again'
    const { request } = event
    if (only !== undefined && only !== request.id) continue
    tell({ type: 'changed', request })
    if (only !== undefined && request.settlement !== undefined) return 'done'
  }
  return 'lost'
}

export function isRefused(error: unknown): boolean {
  return InboxClientError.isInstance(error) && error.status === 401
}

/** Waits, or until something says that another try may be worth it. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const end = (): void => {
      clearTimeout(timer)
      removeEventListener('online', end)
      document.removeEventListener('visibilitychange', end)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    addEventListener('online', end)
    document.addEventListener('visibilitychange', end)
    signal.addEventListener('abort', end)
  })
}
