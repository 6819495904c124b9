import { MemoryThread } from '../memory-thread.ts'
import type { ThreadStore } from '../thread-store.ts'
import type { ThreadHarness } from './thread-harness.ts'

/** A thread in memory, for the suite. */
export const memoryThreads: ThreadHarness = changed(() => () => ({}))

/** A thread with one promise broken, and the case of the suite that must find it out. */
export interface BrokenThread {
  readonly does: string
  readonly failsCase: string
  readonly harness: ThreadHarness
}

type Change = (store: MemoryThread, thread: MemoryThread) => Partial<ThreadStore>

/** `make` is called for each thread. */
function changed(make: () => Change, withinMs = 5_000): ThreadHarness {
  return {
    withinMs,
    async create() {
      const thread = new MemoryThread()
      const change = make()
      return {
        async open(author) {
          const store = thread.as(author)
          const whole: ThreadStore = {
            self: author,
            post: draft => store.post(draft),
            since: (cursor, limit) => store.since(cursor, limit),
            follow: wake => store.follow(wake),
          }
          return Object.assign(whole, change(store, thread))
        },
        async destroy() {},
      }
    },
  }
}

function broken(does: string, failsCase: string, make: () => Change): BrokenThread {
  // The broken ones never do what is waited for, so they are not waited for long.
  return { does, failsCase, harness: changed(make, 200) }
}

/** One for each case of the suite. */
export const brokenThreads: readonly BrokenThread[] = [
  broken(
    'gives each post an id of the moment',
    'gives back what was posted as the item it is',
    () => store => ({
      post: async draft => ({ ...(await store.post(draft)), id: crypto.randomUUID() }),
    }),
  ),
  broken('drops what is deep in the metadata', 'keeps text and metadata as they were', () => store => ({
    async since(cursor, limit) {
      const page = await store.since(cursor, limit)
      const items = page.items.map(item => {
        const { handraise: _, ...metadata } = item.metadata as { handraise?: unknown }
        return { ...item, metadata }
      })
      return { ...page, items }
    },
  })),
  broken('says of everything that it posted it', 'tells who posted what', () => store => ({
    async since(cursor, limit) {
      const page = await store.since(cursor, limit)
      return { ...page, items: page.items.map(item => ({ ...item, author: store.self })) }
    },
  })),
  broken('gives two posts in a row one position', 'gives positions in the order of the thread', () => {
    const rough = <T extends { position: number }>(item: T): T => ({
      ...item,
      position: Math.ceil(item.position / 4),
    })
    return store => ({
      post: async draft => rough(await store.post(draft)),
      async since(cursor, limit) {
        const page = await store.since(cursor, limit)
        return { ...page, items: page.items.map(rough) }
      },
    })
  }),
  broken(
    'has no cursor before there is something',
    'is empty at first, with a cursor from which to read on',
    () => store => ({
      async since(cursor, limit) {
        const page = await store.since(cursor === '0' ? '1' : cursor, limit)
        return page
      },
    }),
  ),
  broken(
    'gives the last item again at its cursor',
    'reads on from a cursor, with nothing left out and nothing again',
    () => store => ({
      async since(cursor, limit) {
        const again = Number(cursor ?? 0) >= 2 && limit === undefined ? Number(cursor) - 1 : cursor
        return store.since(again === undefined ? undefined : String(again), limit)
      },
    }),
  ),
  broken(
    'takes the limit for a wish',
    'gives no more than the limit, and says when there is more',
    () => store => ({
      since: cursor => store.since(cursor),
    }),
  ),
  broken(
    'shows a post only after the next one',
    'shows a post of its own to whoever reads next',
    () => store => {
      let reads = 0
      return {
        async since(cursor, limit) {
          reads += 1
          const page = await store.since(cursor, limit)
          if (reads !== 2) return page
          return { items: [], cursor: cursor ?? '0', more: false }
        },
      }
    },
  ),
  broken('loses the last of many posts', 'keeps all of many posts made at once, each once', () => {
    let under = 0
    return store => ({
      async post(draft) {
        under += 1
        try {
          const crowded = under > 15
          await Promise.resolve()
          return crowded ? { ...(await store.post(draft)), position: 0 } : await store.post(draft)
        } finally {
          under -= 1
        }
      },
    })
  }),
  broken(
    'counts anew for a store that is opened later',
    'keeps items, cursors and positions for a store that is opened anew',
    () => {
      let opened = 0
      return store => {
        opened += 1
        if (opened < 3) return {}
        return { since: (_, limit) => store.since(undefined, limit) }
      }
    },
  ),
  broken('wakes once and then no more', 'wakes who follows when another posts', () => {
    let followed = 0
    return store => ({
      follow(wake) {
        followed += 1
        return followed === 2 ? () => {} : store.follow(wake)
      },
    })
  }),
  broken('goes on waking', 'wakes nobody who has stopped following', () => store => ({
    follow(wake) {
      store.follow(wake)
      return () => {}
    },
  })),
]
