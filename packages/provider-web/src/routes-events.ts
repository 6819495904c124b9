import type { Hono } from 'hono'
import type { EventStreams } from './events.ts'
import { parse, readQuery } from './read-body.ts'
import { route } from './router.ts'
import { eventsQuerySchema } from './schemas.ts'

/** The event stream. `Last-Event-ID`, which a client that resumes sends, counts more than the query. */
export function eventRoutes(app: Hono, streams: EventStreams): void {
  route(app, '/events', {
    GET: async c => {
      const query = readQuery(c, eventsQuerySchema)
      const last = parse(eventsQuerySchema, { cursor: c.req.header('last-event-id') }, ['Last-Event-ID'])
      const cursor = last.cursor ?? query.cursor
      return new Response(await streams.open(cursor === '' ? undefined : cursor), {
        headers: { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' },
      })
    },
  })
}
