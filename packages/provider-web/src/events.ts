import type { Inbox, LogEntry } from '@handraise/inbox'
import { HttpError, toHttpError } from './http-error.ts'
import { Outlet } from './outlet.ts'
import { toPublic } from './public-request.ts'

export interface EventStreamsOptions {
  readonly inbox: Inbox
  readonly heartbeatMs: number
  readonly maxStreams: number
  readonly maxBufferBytes: number
  readonly report: (error: unknown) => void
}

/** Requests read from the store at once for a snapshot. */
const PAGE = 1_000
/** About how many characters of requests one snapshot event holds. */
const SNAPSHOT_CHARACTERS = 256 * 1024

const encoder = new TextEncoder()
const HEARTBEAT = encoder.encode(': still here\n\n')
// An empty id makes the client forget the cursor that was lost.
const RESET = encoder.encode('event: reset\nid:\ndata: {}\n\n')

/** The open event streams: each begins with a snapshot, or where the client left off, and goes on with what happens. */
export class EventStreams {
  private readonly options: EventStreamsOptions
  private readonly outlets = new Set<Outlet>()
  // All streams hear of a change as one and the same entry, which is written out once.
  private readonly encoded = new WeakMap<LogEntry, Uint8Array>()
  private stopHeartbeat: (() => void) | undefined
  private closed = false

  constructor(options: EventStreamsOptions) {
    this.options = options
  }

  get count(): number {
    return this.outlets.size
  }

  /** A stream that goes on after `cursor`, or begins with a snapshot. Rejects when the first that it reads cannot be read. */
  async open(cursor?: string): Promise<ReadableStream<Uint8Array>> {
    const { maxStreams, maxBufferBytes } = this.options
    if (this.closed) throw new HttpError('STORE_CLOSED', 'this server is shutting down')
    if (this.outlets.size >= maxStreams) throw tooMany(maxStreams)
    let unfollow = (): void => {}
    const outlet = new Outlet(maxBufferBytes, () => {
      this.outlets.delete(outlet)
      unfollow()
      if (this.outlets.size === 0) this.silence()
    })
    this.outlets.add(outlet)
    this.beat()
    const following = (stop: () => void): void => {
      unfollow = stop
      if (outlet.ended) stop()
    }
    await new Promise<void>((resolve, reject) => {
      this.start(outlet, cursor, following, { begun: resolve, failed: reject })
    })
    return outlet.readable
  }

  close(): void {
    this.closed = true
    for (const outlet of this.outlets) outlet.end()
  }

  private start(
    outlet: Outlet,
    from: string | undefined,
    following: (stop: () => void) => void,
    { begun, failed }: { begun: () => void; failed?: (error: unknown) => void },
  ): void {
    let reached = failed === undefined
    const onRead = (): void => {
      reached = true
      begun()
    }
    this.run(outlet, from, { following, onRead }).catch((error: unknown) => {
      if (!reached && !this.closed) failed?.(error)
      else if (!this.closed) {
        this.options.report(error)
        outlet.push(eventOf('failed', JSON.stringify(toHttpError(error))))
      }
      outlet.end()
      onRead()
    })
  }

  private async run(
    outlet: Outlet,
    from: string | undefined,
    { following, onRead }: { following: (stop: () => void) => void; onRead: () => void },
  ): Promise<void> {
    let at = from
    while (!outlet.ended) {
      const reached = await this.catchUp(outlet, at ?? (await this.snapshot(outlet, onRead)), onRead)
      if (reached !== undefined) {
        await this.follow(outlet, reached, following)
        return
      }
      outlet.push(RESET)
      at = undefined
    }
  }

  /** Writes what is in the log after `cursor`, no faster than it is read. Nothing when the cursor is lost. */
  private async catchUp(outlet: Outlet, cursor: string, onRead: () => void): Promise<string | undefined> {
    for (let at = cursor; ;) {
      const page = await this.options.inbox.store.since(at, PAGE)
      onRead()
      if ('lost' in page) return undefined
      for (const entry of page.entries) {
        outlet.push(this.encode(entry))
        await outlet.drained()
      }
      at = page.cursor
      if (outlet.ended || !page.more) return at
    }
  }

  private async follow(outlet: Outlet, cursor: string, following: (stop: () => void) => void): Promise<void> {
    const { inbox } = this.options
    let live = true
    let release = (): void => {}
    const stop = await inbox.follow(
      {
        entry: entry => {
          if (live) outlet.push(this.encode(entry))
        },
        lost: () => {
          if (!live) return
          live = false
          release()
          outlet.push(RESET)
          this.start(outlet, undefined, following, { begun() {} })
        },
      },
      cursor,
    )
    release = stop
    if (live) following(stop)
    else stop()
  }

  /** Writes all that is pending, in as many events as it takes. Returns the cursor from which nothing is missed. */
  private async snapshot(outlet: Outlet, onRead: () => void): Promise<string> {
    const { inbox, report } = this.options
    const cursor = await inbox.store.end()
    let batch: string[] = []
    let characters = 0
    for (let after: string | undefined, more = true; more && !outlet.ended; more = after !== undefined) {
      const page = await inbox.list({
        state: 'pending',
        limit: PAGE,
        ...(after === undefined ? {} : { after }),
      })
      onRead()
      for (const request of page.requests) {
        const text = JSON.stringify(toPublic(inbox, request, report))
        if (batch.length > 0 && characters + text.length > SNAPSHOT_CHARACTERS) {
          outlet.push(eventOf('snapshot', `{"requests":[${batch.join(',')}],"done":false}`))
          await outlet.drained()
          batch = []
          characters = 0
        }
        batch.push(text)
        characters += text.length
      }
      after = page.next
    }
    const last = `{"requests":[${batch.join(',')}],"done":true,"cursor":${JSON.stringify(cursor)}}`
    outlet.push(eventOf('snapshot', last, cursor))
    await outlet.drained()
    return cursor
  }

  private encode(entry: LogEntry): Uint8Array {
    const known = this.encoded.get(entry)
    if (known !== undefined) return known
    const { inbox, report } = this.options
    const data = JSON.stringify({ request: toPublic(inbox, entry.request, report) })
    const event = eventOf(entry.change, data, entry.cursor)
    this.encoded.set(entry, event)
    return event
  }

  private beat(): void {
    const { inbox, heartbeatMs } = this.options
    this.stopHeartbeat ??= inbox.clock.after(heartbeatMs, () => {
      this.stopHeartbeat = undefined
      // Whoever has something to read needs no sign of life.
      for (const outlet of this.outlets) if (outlet.waiting === 0) outlet.push(HEARTBEAT)
      if (this.outlets.size > 0) this.beat()
    })
  }

  private silence(): void {
    this.stopHeartbeat?.()
    this.stopHeartbeat = undefined
  }
}

export function tooMany(most: number): HttpError {
  return new HttpError(
    'TOO_MANY_STREAMS',
    `${most} clients are listening already, which is all this server takes`,
    { most },
    { 'Retry-After': '5' },
  )
}

function eventOf(event: string, data: string, id?: string): Uint8Array {
  return encoder.encode(`event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`)
}
