import { isRunning } from '@handraise/inbox'
import { pageUrl, readState, type InboxServer, type ServerState } from '@handraise/provider-web'
import * as providerWeb from '@handraise/provider-web'
import type { Context } from 'cordis'
import { hasDisplay } from './display.ts'

export interface PageChoice {
  /** The file of the inbox; none for one in memory. */
  readonly file: string | undefined
  /** False: no browser is opened. */
  readonly open: boolean | undefined
}

/** How long a server may take to show that it runs, in milliseconds. */
const PATIENCE_MS = 1_000

/**
 * Finds the page on which people answer: that of a server that runs on the same inbox, else one that is served here from then
 * on. Returns where it is, without the token. The address with the token goes to standard error, and to the browser, which is
 * opened unless somebody looks already.
 */
export function pageWhenNeeded(ctx: Context, choice: PageChoice): () => Promise<string> {
  let own: Promise<InboxServer> | undefined
  return async () => {
    const elsewhere = own === undefined ? await servedElsewhere(choice.file) : undefined
    if (elsewhere !== undefined) return elsewhere.url
    const isNew = own === undefined
    own ??= servePage(ctx, choice.file)
    try {
      const server = await own
      if (isNew) tell(server)
      if (choice.open !== false && hasDisplay() && server.viewers() === 0)
        void (await import('./open-page.ts')).openPage(pageUrl(server))
      return server.url
    } catch (error) {
      own = undefined
      throw error
    }
  }
}

async function servePage(ctx: Context, file: string | undefined): Promise<InboxServer> {
  let listening: InboxServer | undefined
  await ctx.plugin(providerWeb, {
    ...(file === undefined ? {} : { stateFile: `${file}.server.json` }),
    onListening: server => (listening = server),
  })
  if (listening === undefined) throw new Error('the server does not say where it listens')
  return listening
}

function tell(server: InboxServer): void {
  process.stderr.write(`answer at ${pageUrl(server)}\n`)
}

async function servedElsewhere(file: string | undefined): Promise<ServerState | undefined> {
  if (file === undefined) return undefined
  const state = await readState(`${file}.server.json`).catch(() => undefined)
  if (state?.pid === undefined || state.pid === process.pid || !isRunning(state.pid)) return undefined
  return (await answers(state)) ? state : undefined
}

async function answers({ url, token }: ServerState): Promise<boolean> {
  try {
    const { ok } = await fetch(new URL('api/requests?limit=1', url), {
      headers: { Authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    return ok
  } catch {
    return false
  }
}
