import { InboxError } from '../error.ts'
import { MemoryStore } from '../memory-store.ts'
import type { InboxRequest, JsonValue } from '../request.ts'
import type { RecordWrite } from '../store.ts'
import { broken, brokenMedium, joined, logAgain } from './broken-store.ts'

export const BROKEN_OPENS = [
  broken('drops the agent', 'gives a request back as it was opened', store => ({
    open: command => store.open({ ...command, request: { ...command.request, agent: undefined } }),
  })),
  broken(
    'copies a payload member by member',
    'keeps any JSON payload to the letter',
    // A member called __proto__ sets the prototype instead.
    store => ({
      open: command =>
        store.open({ ...command, request: { ...command.request, payload: copied(command.request.payload) } }),
    }),
  ),
  broken('sorts the members of a payload', 'keeps any JSON payload to the letter', store => ({
    open: command =>
      store.open({ ...command, request: { ...command.request, payload: sorted(command.request.payload) } }),
  })),
  broken('logs a join', 'joins a pending request of the same key', (store, medium) => ({
    async open(command) {
      const result = await store.open(command)
      if (result.status === 'joined' && result.request.settlement === undefined)
        logAgain(medium, 'opened', result.request.id)
      return result
    },
  })),
  broken('forgets a key once it is answered', 'joins a settled request of the same key', (store, medium) => ({
    async settle(command) {
      const result = await store.settle(command)
      for (const [key, row] of medium.byKey) if (row.request.id === command.id) medium.byKey.delete(key)
      return result
    },
  })),
  broken('looks a key up in every session', 'scopes a key to its session', (store, medium) => ({
    async open(command) {
      const found = Array.from(medium.byKey.values()).find(
        ({ request, digest }) => request.key === command.request.key && digest === command.digest,
      )
      return found === undefined ? store.open(command) : joined(found.request)
    },
  })),
  broken('ignores what a key asked', 'tells a key that asked something else', store => ({
    async open(command) {
      const result = await store.open(command)
      return result.status === 'keyConflict' ? joined(result.request) : result
    },
  })),
  broken('joins whoever asks the same', 'never joins a request without a key', (store, medium) => ({
    async open(command) {
      const found = Array.from(medium.pending.values()).find(({ digest }) => digest === command.digest)
      return found === undefined || command.request.key !== undefined
        ? store.open(command)
        : joined(found.request)
    },
  })),
  broken('looks a key up, then opens', 'opens a key once among many at once', (store, medium) => ({
    async open(command) {
      const known = (): boolean =>
        Array.from(medium.byKey.values()).some(
          ({ request }) => request.key === command.request.key && request.session === command.request.session,
        )
      const before = known()
      await Promise.resolve()
      if (before || !known()) return store.open(command)
      return store.open({ ...command, request: { ...command.request, key: undefined } })
    },
  })),
  broken('replaces a request of the same id', 'refuses an id that is kept already', (store, medium) => ({
    async open(command) {
      const row = medium.rows.get(command.request.id)
      const plain = command.request.key === undefined && (command.records ?? []).length === 0
      if (row === undefined || !plain || row.request.key !== undefined) return store.open(command)
      row.request = command.request
      return { status: 'opened', request: command.request }
    },
  })),
  brokenMedium(
    'keeps the very value of a record it was given',
    'keeps what was given though the giver changes it',
    () => {
      const given = new Map<string, RecordWrite>()
      return store => ({
        writeRecords(writes) {
          for (const write of writes) given.set(JSON.stringify([write.namespace, write.key]), write)
          return store.writeRecords(writes)
        },
        async record(namespace, key) {
          const record = await store.record(namespace, key)
          const write = given.get(JSON.stringify([namespace, key]))
          if (record === undefined || write === undefined) return record
          return JSON.stringify(write.value).includes('spoilt')
            ? { ...record, value: structuredClone(write.value) }
            : record
        },
      })
    },
  ),
  broken(
    'hands out the very request it keeps',
    'keeps what it holds though a reader changes it',
    (store, medium) => ({
      async open(command) {
        const result = await store.open(command)
        const row = medium.rows.get(command.request.id)
        if (row === undefined || result.status !== 'opened') return result
        const request: InboxRequest = structuredClone(row.request)
        row.request = request
        return { status: 'opened', request }
      },
    }),
  ),
  broken('reads on after it was closed', 'refuses every call once it is closed', (store, medium) => ({
    get: id => new MemoryStore(medium).get(id),
  })),
  broken('watches on after it was closed', 'refuses every call once it is closed', store => ({
    watch(wake) {
      try {
        return store.watch(wake)
      } catch (error) {
        if (InboxError.isInstance(error)) return () => {}
        throw error
      }
    },
  })),
]

function copied(value: JsonValue): JsonValue {
  return rebuilt(value, members => {
    const copy: Record<string, JsonValue> = {}
    for (const [name, member] of members) copy[name] = member
    return copy
  })
}

function sorted(value: JsonValue): JsonValue {
  return rebuilt(value, members => Object.fromEntries(members.toSorted(([a], [b]) => (a < b ? -1 : 1))))
}

function rebuilt(value: JsonValue, build: (members: [string, JsonValue][]) => JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(each => rebuilt(each, build))
  return build(Object.entries(value).map(([name, member]) => [name, rebuilt(member, build)]))
}
