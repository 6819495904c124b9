import { InboxService, MemoryStore } from '@handraise/inbox'
import * as providerWeb from '@handraise/provider-web'
import type { InboxServer } from '@handraise/provider-web'
import type { Context } from 'cordis'

/** Puts an inbox in memory before what is asked in this process. Without anybody who looks, a question waits. */
export async function mountInbox(ctx: Context): Promise<void> {
  await ctx.plugin(InboxService, { store: new MemoryStore(), viewer: 'wait' })
}

/** Serves that inbox on a port of its own, for this machine alone. Rejects when it cannot listen. */
export async function mountPage(ctx: Context): Promise<InboxServer> {
  let listening: InboxServer | undefined
  await ctx.plugin(providerWeb, { onListening: server => (listening = server) })
  if (listening === undefined) throw new Error('the server does not say where it listens')
  return listening
}
