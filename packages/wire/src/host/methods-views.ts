import { WireError } from '../protocol/index.ts'
import { formatCursor, parseCursor, type ViewPosition } from './cursor.ts'
import type { Handlers } from './dispatch.ts'
import type { ViewEvent, ViewLog } from './view-log.ts'

type ViewMethod = 'view/page' | 'view/subscribe' | 'view/unsubscribe'

export const viewMethods: Pick<Handlers, ViewMethod> = {
  async 'view/page'({ host, params, reply }) {
    const { sessionId, cursor, limit, direction = 'forward', anchor } = params
    if (anchor !== undefined && cursor !== undefined)
      throw new WireError('invalidParams', 'cursor and anchor exclude each other: send one of them')
    if (anchor !== undefined) throw noAnchor(sessionId, anchor)
    const { log } = host.isHeld(sessionId)
      ? (await host.loaded(sessionId)).session
      : await host.look(sessionId)
    const from = cursor === undefined ? undefined : placeIn(log, cursor)
    const forward = direction === 'forward'
    const start = forward ? (from?.n ?? 0) : Math.max(0, (from?.n ?? log.head + 1) - 1 - limit)
    const end = forward ? start + limit : Math.max(0, (from?.n ?? log.head + 1) - 1)
    const events = fitting(log.events.slice(start, end), forward, host.limits.frameBytes)
    const last = forward ? events.at(-1) : events[0]
    const more = forward ? (last?.n ?? log.head) < log.head : (last?.n ?? 1) > 1
    reply({
      events: events.map(({ method, params: told }) => ({ method, params: told })),
      nextCursor: more && last !== undefined ? last.params.viewCursor : null,
    })
  },

  async 'view/subscribe'({ host, params, connection, reply }) {
    const { sessionId, after } = params
    const { session } = await host.loaded(sessionId)
    await session.command(() => {
      const { log } = session
      const from = after === undefined ? { n: log.head, k: 0 } : placeIn(log, after)
      reply({ viewCursor: log.cursor })
      connection.subscribe(session, from)
      // What was opened in what is replayed now is asked with its event.
      connection.askAgain(session, from)
    })
  },

  async 'view/unsubscribe'({ params, connection, reply }) {
    connection.unsubscribe(params.sessionId)
    reply({})
  },
}

/** The place a cursor names in the view. Rejects one of another session, of no session, and one ahead of everything. */
function placeIn(log: ViewLog, cursor: string): ViewPosition {
  const { sessionId } = log
  const place = parseCursor(sessionId, cursor)
  if (place === 'foreign')
    throw new WireError('sessionStreamMismatch', 'the cursor is of another session', { sessionId })
  if (place === 'malformed') throw new WireError('invalidParams', 'expected a cursor that this host gave')
  if (place.n <= log.head) return place
  const earliestCursor = formatCursor(sessionId, { n: 0, k: 0 })
  throw new WireError('viewTruncated', 'the view does not reach that far; read it from its start', {
    sessionId,
    earliestCursor,
  })
}

// As many as a frame holds beside what else is in it. One that alone is too long can be had nowhere.
function fitting(events: readonly ViewEvent[], forward: boolean, frameBytes: number): readonly ViewEvent[] {
  const room = frameBytes - 1_024
  const taken: ViewEvent[] = []
  let bytes = 0
  for (const event of forward ? events : events.toReversed()) {
    bytes += Buffer.byteLength(JSON.stringify({ method: event.method, params: event.params })) + 1
    if (bytes > room) break
    taken.push(event)
  }
  const [first] = forward ? events : events.toReversed()
  if (taken.length === 0 && first !== undefined) {
    const { viewCursor } = first.params
    throw new WireError('pageEventTooLarge', 'the next event is longer than a frame may be', { viewCursor })
  }
  return forward ? taken : taken.toReversed()
}

function noAnchor(sessionId: string, anchor: string): WireError {
  if (anchor === 'latestCompaction')
    return new WireError('noBoundary', 'nothing in this session was compacted', {
      sessionId,
      latestBoundaryCursor: null,
    })
  return new WireError('notFound', `there is no anchor ${JSON.stringify(anchor)}`, {
    reason: 'missingAnchor',
    sessionId,
    anchor,
  })
}
