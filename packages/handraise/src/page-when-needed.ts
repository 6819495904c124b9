import { isRunning } from '@handraise/inbox'
import type {} from '@handraise/inbox'
import { pageUrl, readState, type InboxServer, type PageAddress } from '@handraise/provider-web'
import * as providerWeb from '@handraise/provider-web'
import type { Context } from 'cordis'
import { hasDisplay } from './display.ts'
import { viewersOf, viewersRoute } from './viewers-route.ts'

export interface PageChoice {
  /** The file of the inbox; none for one in memory. */
  readonly file: string | undefined
  /** False: no browser is opened. */
  readonly open: boolean | undefined
}

/** How long a browser may take to show the page, in milliseconds. */
const OPENING_MS = 15_000

interface ServedPage extends PageAddress {
  viewers(): number
}

/**
 * Finds the page on which people answer: that of a server that runs on the same inbox, else one that is served here from then
 * on. Returns where it is, without the token. The address with the token goes to standard error when it was not told last, and
 * to the browser, which is opened when nobody looks, unless that is where the same request was to be answered `before`, or a
 * browser that was opened there may still be on its way.
 */
export function pageWhenNeeded(
  ctx: Context,
  choice: PageChoice,
): (before: string | undefined) => Promise<string> {
  let own: Promise<InboxServer> | undefined
  let told: string | undefined
  let opened: { readonly address: string; readonly at: number } | undefined
  const find = async (): Promise<ServedPage> => {
    const elsewhere = own === undefined ? await servedElsewhere(choice.file) : undefined
    if (elsewhere !== undefined) return elsewhere
    own ??= servePage(ctx, choice.file)
    try {
      return await own
    } catch (error) {
      own = undefined
      throw error
    }
  }
  return async before => {
    const page = await find()
    const address = pageUrl(page)
    if (address !== told) process.stderr.write(`answer at ${address}\n`)
    told = address
    const now = ctx.inbox.core.clock.now()
    const isOpening = opened?.address === address && Math.abs(now - opened.at) < OPENING_MS
    if (page.url !== before && !isOpening && choice.open !== false && hasDisplay() && page.viewers() === 0) {
      opened = { address, at: now }
      void (await import('./open-page.ts')).openPage(address)
    }
    return page.url
  }
}

async function servePage(ctx: Context, file: string | undefined): Promise<InboxServer> {
  let listening: InboxServer | undefined
  await ctx.plugin(providerWeb, {
    ...(file === undefined ? {} : { stateFile: `${file}.server.json` }),
    routes: viewersRoute(() => listening),
    onListening: server => (listening = server),
  })
  if (listening === undefined) throw new Error('the server does not say where it listens')
  return listening
}

async function servedElsewhere(file: string | undefined): Promise<ServedPage | undefined> {
  if (file === undefined) return undefined
  const state = await readState(`${file}.server.json`).catch(() => undefined)
  if (state?.pid === undefined || state.pid === process.pid || !isRunning(state.pid)) return undefined
  const viewers = await viewersOf(state)
  return viewers === undefined ? undefined : { ...state, viewers: () => viewers }
}
