import type { InboxSurface } from '@handraise/inbox'
import type { Context } from 'cordis'
import { startInboxServer, type InboxServer, type InboxServerOptions } from './server.ts'

export const name = 'provider-web'

export const inject = ['inbox']

export interface WebOptions extends Omit<InboxServerOptions, 'inbox' | 'report'> {
  /** Told where the server listens, once it does. */
  readonly onListening?: ((server: InboxServer) => void) | undefined
}

/** Serves the inbox of the host, until the plugin is disposed. */
export async function* apply(
  ctx: Context,
  { onListening, ...options }: WebOptions = {},
): AsyncGenerator<() => Promise<void>, void, void> {
  const report = (error: unknown): void => ctx.logger.error(error)
  const server = await startInboxServer({ ...options, inbox: ctx.inbox.core, report })
  yield () => server.close()
  await ctx.inbox.attachSurface(webSurface(server))
  onListening?.(server)
}

/** A server, or an app a host mounts itself, as a surface: whoever has its event stream open sees what is pending. */
export function webSurface(served: { viewers(): number }): InboxSurface {
  return {
    name: 'web',
    viewers: () => served.viewers(),
    // The event streams follow the inbox by themselves.
    opened: () => {},
    settled: () => {},
  }
}
