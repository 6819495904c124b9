import type { MemoryMedium } from '../memory-store.ts'
import type { InboxRequest } from '../request.ts'
import type { OpenCommand, StoredRecord } from '../store.ts'
import { broken, brokenMedium, joined, pendingNow } from './broken-store.ts'
import { turn } from './scene.ts'

export const BROKEN_DURABILITY = [
  broken(
    'acknowledges a record before it is written',
    'keeps through a crash what it acknowledged',
    (store, medium) => {
      const unwritten = new Set<ReadonlyMap<string, StoredRecord>>()
      return {
        async writeRecords(writes) {
          const before = new Map(medium.records)
          const refused = await store.writeRecords(writes)
          unwritten.add(before)
          void turn().then(() => unwritten.delete(before))
          return refused
        },
        crashed() {
          const [first] = unwritten
          if (first === undefined) return
          medium.records.clear()
          for (const [place, record] of first) medium.records.set(place, record)
        },
      }
    },
  ),
  broken(
    'shows a settlement before it is written',
    'shows nobody what a crash takes back',
    (store, medium) => {
      const unwritten = new Set<() => void>()
      return {
        async settle(command) {
          const undo = undoOf(medium, command.id)
          const settle = store.settle(command)
          if (pendingNow(medium, command.id) || command.records !== undefined) return settle
          unwritten.add(undo)
          await turn()
          unwritten.delete(undo)
          return settle
        },
        crashed() {
          for (const undo of unwritten) undo()
        },
      }
    },
  ),
  broken('writes records before the settlement', 'leaves nothing half done by a crash', store => {
    let killed = false
    return {
      async settle(command) {
        const { records = [], ...rest } = command
        const request = await store.get(rest.id)
        const inTwo = request?.settlement === undefined && rest.ifDueAt === undefined && records.length === 1
        if (!inTwo || request === undefined) return store.settle(command)
        const refused = await store.writeRecords(records)
        if (refused !== undefined) return store.settle(command)
        await turn()
        return killed ? new Promise(() => {}) : store.settle(rest)
      },
      crashed() {
        killed = true
      },
    }
  }),
  broken('keeps its keys in memory', 'finds everything again after it was closed', (store, medium) => ({
    close() {
      medium.byKey.clear()
      return store.close()
    },
  })),
  broken('says yes to what its close cut off', 'ends a call made before the close truthfully', store => {
    let closed = false
    return {
      async open(command) {
        // A call that comes after the close is refused as it is.
        if (closed) return store.open(command)
        await Promise.resolve()
        return closed ? { status: 'opened', request: command.request } : store.open(command)
      },
      close() {
        closed = true
        return store.close()
      },
    }
  }),
  broken('prunes what was settled at the instant', 'prunes what was settled before an instant', store => ({
    prune: before => store.prune(before + 1),
  })),
  brokenMedium('remembers the keys it pruned', 'forgets the keys of what it pruned', () => {
    const known = new Map<string, { digest: string; request: InboxRequest }>()
    const placeOf = ({ request: { session, key } }: OpenCommand): string => JSON.stringify([session, key])
    return (store, medium) => ({
      async open(command) {
        const before = known.get(placeOf(command))
        if (before?.digest === command.digest && !medium.rows.has(before.request.id))
          return joined(before.request)
        const result = await store.open(command)
        if (result.status === 'opened' && command.request.key !== undefined)
          known.set(placeOf(command), { digest: command.digest, request: result.request })
        return result
      },
    })
  }),
  broken('prunes what is pending for long', 'keeps what is pending when it prunes', (store, medium) => ({
    async prune(before) {
      for (const [id, { request }] of medium.pending) {
        if (request.openedAt >= before) continue
        medium.pending.delete(id)
        medium.rows.delete(id)
      }
      return store.prune(before)
    },
  })),
  broken('reads on behind what it pruned', 'loses a cursor older than what it pruned', (store, medium) => ({
    async since(cursor, limit) {
      const page = await store.since(cursor, limit)
      if (!('lost' in page) || !cursor.startsWith(`${medium.id}.`) || cursor.endsWith(' ')) return page
      return store.since(`${medium.id}.${medium.prunedThrough}`, limit)
    },
  })),
  broken(
    'counts its log anew when it is empty',
    'counts its log on after everything is pruned',
    (store, medium) => ({
      async prune(before) {
        const pruned = await store.prune(before)
        if (medium.rows.size === 0) medium.position = 0
        return pruned
      },
    }),
  ),
]

// Takes back a settlement that comes after this call.
function undoOf(medium: MemoryMedium, id: string): () => void {
  const row = medium.rows.get(id)
  if (row === undefined || !pendingNow(medium, id)) return () => {}
  const before = { ...row }
  return () => {
    Object.assign(row, before)
    medium.pending.set(id, row)
    medium.log = medium.log.filter(entry => entry.id !== id || entry.change !== 'settled')
  }
}
