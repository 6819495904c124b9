import { broken, brokenMedium, pendingNow } from './broken-store.ts'

export const BROKEN_DEADLINES = [
  broken(
    'counts the deadlines of settled requests',
    'knows the earliest deadline of what is pending',
    (store, medium) => ({
      async nextDeadline() {
        const next = await store.nextDeadline()
        const all = Array.from(medium.rows.values(), ({ request }) => request.deadlineAt ?? Infinity)
        return next === undefined ? undefined : Math.min(...all)
      },
    }),
  ),
  broken('names what is due as it was opened', 'names what is due, the earliest first', (store, medium) => ({
    async due(now, limit) {
      const due = new Set(await store.due(now, limit))
      return Array.from(medium.rows.keys()).filter(id => due.has(id))
    },
  })),
  broken('names all that is due', 'names no more of what is due than asked', store => ({
    due: now => store.due(now, Infinity),
  })),
  brokenMedium('counts those who wait with a key', 'knows who waits without a key', () => {
    const keyed = new Map<string, string>()
    return (store, medium) => ({
      open(command) {
        if (command.owner !== undefined && command.request.key !== undefined)
          keyed.set(command.request.id, command.owner)
        return store.open(command)
      },
      async owners() {
        const also = Array.from(keyed).flatMap(([id, owner]) => (pendingNow(medium, id) ? [owner] : []))
        return [...new Set([...(await store.owners()), ...also])]
      },
    })
  }),
  brokenMedium('remembers owners for good', 'forgets an owner nobody waits for', () => {
    const known = new Set<string>()
    return store => ({
      async owners() {
        for (const owner of await store.owners()) known.add(owner)
        return [...known]
      },
    })
  }),
]
