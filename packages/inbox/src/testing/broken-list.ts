import { isSettled } from '../request.ts'
import type { ListPage } from '../store.ts'
import { broken, brokenMedium, pendingNow } from './broken-store.ts'
import { listAll } from './reading.ts'
import { turn } from './scene.ts'

export const BROKEN_LISTS = [
  broken('lists the newest of a page first', 'lists pending requests oldest first', store => ({
    async list(query) {
      const page = await store.list(query)
      return query.state === 'pending' ? { ...page, requests: page.requests.toReversed() } : page
    },
  })),
  broken('counts rows to find the next page', 'pages on while requests come and go', store => ({
    async list(query) {
      if (query.state === 'settled') return store.list(query)
      const { after = '0', limit = 100, ...rest } = query
      const all = await listAll(store, { ...rest, limit: 1_000 })
      const [from, to] = [Number(after), Number(after) + Math.min(limit, 1_000)]
      return { requests: all.slice(from, to), ...(to < all.length ? { next: String(to) } : {}) }
    },
  })),
  broken('lists settled requests as they were opened', 'lists settled requests latest first', store => ({
    async list(query) {
      const page = await store.list(query)
      if (query.state === 'pending') return page
      return { ...page, requests: page.requests.toSorted((a, b) => b.openedAt - a.openedAt) }
    },
  })),
  broken(
    'lists what is pending as settled too',
    'lists a request as pending or as settled',
    (store, medium) => ({
      async list(query) {
        const page = await store.list(query)
        if (query.state === 'pending' || query.after !== undefined || query.session !== undefined) return page
        const plain = Array.from(medium.pending.values(), ({ request }) => request).filter(
          ({ key, deadlineAt }) => key === undefined && deadlineAt === undefined,
        )
        // A short list only, so that nothing but this promise is broken.
        return page.requests.length === 1 ? { ...page, requests: [...page.requests, ...plain] } : page
      },
    }),
  ),
  broken('lists every session for the one without a name', 'lists the requests of one session', store => ({
    list: ({ session, ...query }) => store.list({ ...query, ...(session === '' ? {} : { session }) }),
  })),
  broken('lists as many as it is asked for', 'lists no more than the limit', store => ({
    async list(query): Promise<ListPage> {
      const page = await store.list(query)
      if ((query.limit ?? 100) <= 1_000 || page.next === undefined) return page
      const rest = await store.list({ ...query, after: page.next })
      return { ...rest, requests: [...page.requests, ...rest.requests] }
    },
  })),
  broken('names a next page after every full one', 'names no page after the last', (store, medium) => ({
    async list(query) {
      const page = await store.list(query)
      const last = page.requests.at(-1)
      const row = last === undefined ? undefined : medium.rows.get(last.id)
      if (row === undefined || page.requests.length < (query.limit ?? 100)) return page
      const next = isSettled(row.request) ? -row.settledPosition : row.openedPosition
      return { ...page, next: String(next) }
    },
  })),
  brokenMedium('lists a request after it is logged', 'misses nothing between a snapshot and the log', () => {
    const late = new Set<string>()
    return store => ({
      async open(command) {
        late.add(command.request.id)
        try {
          const result = await store.open(command)
          await turn()
          return result
        } finally {
          late.delete(command.request.id)
        }
      },
      async list(query) {
        const page = await store.list(query)
        return { ...page, requests: page.requests.filter(({ id }) => !late.has(id)) }
      },
    })
  }),
  broken(
    'lists no more than the first thousand',
    'stays usable with a great many pending',
    (store, medium) => ({
      async list(query) {
        const page = await store.list(query)
        const requests = page.requests.filter(
          ({ id }) => !pendingNow(medium, id) || (medium.rows.get(id)?.openedPosition ?? 0) <= 1_000,
        )
        return { ...page, requests }
      },
    }),
  ),
]
