import { MemoryStore } from '../memory-store.ts'
import { broken, brokenMedium } from './broken-store.ts'
import { turn } from './scene.ts'

const CURSOR = /^(.+)\.(\d+)$/u

export const BROKEN_LOGS = [
  broken('logs no engagement', 'logs every change once and in order', (store, medium) => ({
    async engage(id) {
      const result = await store.engage(id)
      if (result && medium.rows.get(id)?.request.key === undefined)
        medium.log = medium.log.filter(entry => entry.id !== id || entry.change !== 'engaged')
      return result
    },
  })),
  broken('gives an entry the cursor before it', 'logs every change once and in order', store => ({
    async since(cursor, limit) {
      const page = await store.since(cursor, limit)
      if ('lost' in page) return page
      const cursors = [cursor, ...page.entries.map(entry => entry.cursor)]
      return {
        ...page,
        entries: page.entries.map((entry, index) => ({ ...entry, cursor: cursors[index] ?? cursor })),
      }
    },
  })),
  broken('logs an opening as it was then', 'logs a request as it is when read', store => ({
    async since(cursor, limit) {
      const page = await store.since(cursor, limit)
      if ('lost' in page) return page
      const entries = page.entries.map(entry =>
        entry.change === 'opened'
          ? { ...entry, request: { ...entry.request, settlement: undefined } }
          : entry,
      )
      return { ...page, entries }
    },
  })),
  broken('reads more than a thousand by default', 'reads the log in pages', store => ({
    since: (cursor, limit = 1_000_000) => store.since(cursor, limit),
  })),
  broken('ends every page as if it were the last', 'reads the log in pages', store => ({
    async since(cursor, limit) {
      const page = await store.since(cursor, limit)
      return 'lost' in page ? page : { ...page, more: false }
    },
  })),
  broken('ends before the last engagement', 'reads from its end only what is later', (store, medium) => ({
    async end() {
      const last = medium.log.at(-1)
      return last?.change === 'engaged' ? `${medium.id}.${last.position - 1}` : store.end()
    },
  })),
  broken('ends where its own writes ended', 'gives every store the same log', (store, medium) => {
    let own: string | undefined
    const ended = <T>(result: T): T => {
      own = `${medium.id}.${medium.position}`
      return result
    }
    return {
      open: async command => ended(await store.open(command)),
      settle: async command => ended(await store.settle(command)),
      engage: async id => ended(await store.engage(id)),
      async end() {
        const end = await store.end()
        return own ?? end
      },
    }
  }),
  brokenMedium('puts entries in behind the cursor', 'passes no entry while others write', () => {
    let opens = 0
    return (store, medium) => {
      const waiting = new Set<() => void>()
      return {
        async open(command) {
          const before = medium.position
          const opening = store.open(command)
          opens += 1
          if (opens % 2 === 0 || medium.position === before) return opening
          // Its place in the log is taken; the entry appears when the transaction ends.
          const entry = medium.log.pop()
          const commit = (): void => {
            if (entry === undefined || !waiting.delete(commit)) return
            medium.log = [...medium.log, entry].toSorted((a, b) => a.position - b.position)
          }
          waiting.add(commit)
          await turn()
          await turn()
          commit()
          return opening
        },
        crashed() {
          for (const commit of waiting) commit()
        },
      }
    }
  }),
  broken('takes the cursor of another store', 'loses a cursor of another store', (store, medium) => ({
    since(cursor, limit) {
      const [, , position] = CURSOR.exec(cursor) ?? []
      return store.since(position === undefined ? cursor : `${medium.id}.${position}`, limit)
    },
  })),
  broken('reads from the start by a cursor that is none', 'loses a cursor that is none', (store, medium) => ({
    since: (cursor, limit) => store.since(CURSOR.test(cursor) ? cursor : `${medium.id}.0`, limit),
  })),
  broken('wakes nobody when somebody engages', 'wakes a watcher when the log grows', (store, medium) => ({
    engage(id) {
      const asleep = [...medium.watchers]
      medium.watchers.clear()
      const engaging = store.engage(id)
      for (const watcher of asleep) medium.watchers.add(watcher)
      return engaging
    },
  })),
  broken('wakes for its own writes only', 'wakes a watcher when another store writes', store => {
    const watchers = new Set<() => void>()
    const woken = <T>(result: T): T => {
      for (const watcher of watchers) watcher()
      return result
    }
    return {
      open: async command => woken(await store.open(command)),
      settle: async command => woken(await store.settle(command)),
      engage: async id => woken(await store.engage(id)),
      watch(wake) {
        store.watch(() => {})()
        const watcher = (): void => wake()
        watchers.add(watcher)
        return () => void watchers.delete(watcher)
      },
    }
  }),
  broken('wakes who ended its watch', 'wakes nobody whose watch ended', store => ({
    watch(wake) {
      store.watch(wake)
      return () => {}
    },
  })),
  broken('wakes after it was closed', 'wakes nobody after it is closed', (store, medium) => {
    const unclosed = new MemoryStore(medium)
    return {
      watch(wake) {
        store.watch(() => {})()
        return unclosed.watch(wake)
      },
    }
  }),
]
