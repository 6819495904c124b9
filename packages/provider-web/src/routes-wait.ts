import type { Hono } from 'hono'
import type { Deps } from './deps.ts'
import { tooMany } from './events.ts'
import { toPublic } from './public-request.ts'
import { readQuery } from './read-body.ts'
import { route } from './router.ts'
import { idOf } from './routes-requests.ts'
import { waitQuerySchema } from './schemas.ts'

/** Waiting for one request by long poll: a poll ends after a while either way, so that no connection hangs. */
export function waitRoutes(
  app: Hono,
  { inbox, askers, report, maxStreams }: Deps & { maxStreams: number },
): () => void {
  const waits = new Set<() => void>()

  route(app, '/requests/:id/wait', {
    GET: async c => {
      const { timeoutMs } = readQuery(c, waitQuerySchema)
      const id = idOf(c)
      if (waits.size >= maxStreams) throw tooMany(maxStreams)
      const enough = new AbortController()
      const giveUp = (): void => enough.abort()
      const stop = inbox.clock.after(timeoutMs, giveUp)
      const { signal } = c.req.raw
      signal.addEventListener('abort', giveUp)
      waits.add(giveUp)
      const leave = askers.waits(id)
      try {
        const request = await inbox.wait(id, enough.signal)
        return c.json({ pending: false, request: toPublic(inbox, request, report) })
      } catch (error) {
        if (!enough.signal.aborted) throw error
        return c.json({ pending: true })
      } finally {
        stop()
        signal.removeEventListener('abort', giveUp)
        waits.delete(giveUp)
        leave()
      }
    },
  })

  return () => {
    for (const giveUp of waits) giveUp()
  }
}
