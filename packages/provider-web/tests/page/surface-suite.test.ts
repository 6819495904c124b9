import {
  surfaceSuite,
  type ShownEnding,
  type SurfaceHarness,
  type SurfaceResult,
} from '@handraise/inbox/testing'
import { InboxClient, startInboxServer, webSurface, type PublicSettlement } from '@handraise/provider-web'
import { afterAll, beforeAll, describe, test, vi } from 'vitest'
import type { Sending } from '../../page/src/draft.ts'
import { followInbox } from '../../page/src/follow-inbox.ts'
import { emptyInbox, reduceInbox, type InboxChange, type InboxState } from '../../page/src/inbox-state.ts'
import { send } from '../../page/src/send.ts'

/** How many requests a page loads at once. */
const PAGE = 100
const TOKEN = 'a-token-of-the-suite'

// What follows the inbox in the page hears of these two whether it is worth trying again.
const browser = new EventTarget()

beforeAll(() => {
  vi.stubGlobal('document', new EventTarget())
  vi.stubGlobal('navigator', {})
  vi.stubGlobal('addEventListener', browser.addEventListener.bind(browser))
  vi.stubGlobal('removeEventListener', browser.removeEventListener.bind(browser))
})

afterAll(() => vi.unstubAllGlobals())

/** A network that can be taken away: what is on its way then fails, and so does what is sent. */
function network() {
  let cut = new AbortController()
  return {
    fetch: ((input, init) =>
      fetch(input, {
        ...init,
        signal: AbortSignal.any([cut.signal, ...(init?.signal ? [init.signal] : [])]),
      })) as typeof fetch,
    takeAway: () => cut.abort(),
    giveBack() {
      cut = new AbortController()
      browser.dispatchEvent(new Event('online'))
    },
  }
}

const page: SurfaceHarness = {
  async attach(ctx) {
    const server = await startInboxServer({ inbox: ctx.inbox.core, token: TOKEN, report: () => {} })
    const leave = await ctx.inbox.attachSurface(webSurface(server))
    const { fetch, takeAway, giveBack } = network()
    const client = new InboxClient({ url: server.url, token: TOKEN, fetch })
    const closing = new AbortController()
    let state: InboxState = emptyInbox
    let loading: Promise<unknown> | undefined
    const tell = (change: InboxChange): void => {
      state = reduceInbox(state, change)
    }
    const following = followInbox(client, {
      limit: () => PAGE,
      signal: closing.signal,
      tell,
      connection: () => {},
    })
    const loadMore = async (after: string): Promise<void> => {
      const { lists } = state
      tell({ type: 'more', after, lists, ...(await client.list({ limit: PAGE, after })) })
    }
    const decide = async (id: string, sending: Omit<Sending, 'commandId'>): Promise<SurfaceResult> => {
      const sent = await send(client, id, { commandId: crypto.randomUUID(), ...sending })
      if (sent.result === 'settled') return { result: 'settled' }
      if (sent.result !== 'late') throw new Error(sent.result)
      tell({ type: 'ended', id, settlement: sent.settlement })
      return { result: 'late', ended: toEnding(sent.settlement) }
    }
    return {
      shown() {
        const { next, pending = [] } = state
        if (next !== undefined) loading ??= loadMore(next).finally(() => (loading = undefined))
        return pending.map(({ id, questions = [] }) => ({ id, question: questions[0]?.question ?? '' }))
      },
      ended(id) {
        const settlement = state.ended.get(id)
        return settlement === undefined ? undefined : toEnding(settlement)
      },
      answer: (id, answers) => decide(id, { how: 'answer', answers }),
      decline: id => decide(id, { how: 'decline' }),
      async engage(id) {
        await client.engaged(id)
      },
      async disconnect() {
        takeAway()
        return giveBack
      },
      async detach() {
        closing.abort()
        await following
        leave()
        await server.close()
      },
    }
  },
}

function toEnding({ outcome, surface }: PublicSettlement): ShownEnding {
  return { outcome, surface }
}

describe('the page, over HTTP', () => {
  for (const { name, run } of surfaceSuite(page)) test(name, run)
})
