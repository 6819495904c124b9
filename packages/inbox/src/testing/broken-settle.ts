import { isSettled } from '../request.ts'
import { broken, brokenMedium, logAgain, pendingNow, settleOver } from './broken-store.ts'

export const BROKEN_SETTLES = [
  broken('drops the surface that decided', 'settles with every outcome and field', store => ({
    settle: command =>
      store.settle({ ...command, settlement: { ...command.settlement, surface: undefined } }),
  })),
  broken('looks a request up, then settles it', 'lets one of many settles at once win', (store, medium) => {
    const own = new Set<string>()
    return {
      async settle(command) {
        const before = pendingNow(medium, command.id)
        await Promise.resolve()
        const result = await store.settle(command)
        if (result.status === 'settled') own.add(command.id)
        // What this store settled in between is overwritten; another store's settlement is not.
        const lost = result.status === 'alreadySettled' && before && own.has(command.id)
        return lost ? settleOver(medium, command) : result
      },
    }
  }),
  broken(
    'tells who loses a race its own settlement',
    'lets one of many settles at once win',
    (store, medium) => {
      const own = new Set<string>()
      return {
        async settle(command) {
          const before = pendingNow(medium, command.id)
          await Promise.resolve()
          const result = await store.settle(command)
          if (result.status === 'settled') own.add(command.id)
          if (result.status !== 'alreadySettled' || !before || !own.has(command.id)) return result
          return { ...result, request: { ...result.request, settlement: command.settlement } }
        },
      }
    },
  ),
  broken('knows only its own lock', 'lets one of two stores win each request', (store, medium) => {
    const own = new Set<string>()
    return {
      async settle(command) {
        const before = pendingNow(medium, command.id) && !own.has(command.id)
        own.add(command.id)
        await Promise.resolve()
        const result = await store.settle(command)
        return result.status === 'alreadySettled' && before ? settleOver(medium, command) : result
      },
    }
  }),
  broken('tells a late command its own settlement', 'tells a late command who won', (store, medium) => ({
    async settle(command) {
      const before = pendingNow(medium, command.id)
      const result = await store.settle(command)
      if (result.status !== 'alreadySettled' || before) return result
      const { status } = await store.settle(command)
      const other = result.request.settlement.outcome !== command.settlement.outcome
      if (status !== 'alreadySettled' || !other) return result
      return { ...result, request: { ...result.request, settlement: command.settlement } }
    },
  })),
  broken('refuses a repeated command', 'answers a repeated command as the first time', store => ({
    async settle(command) {
      const result = await store.settle(command)
      return result.status === 'repeated' &&
        command.settlement.settledAt !== result.request.settlement.settledAt
        ? { ...result, status: 'alreadySettled' }
        : result
    },
  })),
  broken('ignores what a command says', 'tells a command that says something else', store => ({
    async settle(command) {
      const result = await store.settle(command)
      return result.status === 'commandConflict' ? { ...result, status: 'repeated' } : result
    },
  })),
  brokenMedium('takes a command id once for all', 'takes one command id for several requests', () => {
    const used = new Map<string, string>()
    return store => ({
      async settle(command) {
        const { commandId } = command.settlement
        const request = await store.get(used.get(commandId) ?? command.id)
        if (request !== undefined && request.id !== command.id && isSettled(request))
          return { status: 'commandConflict', request }
        const result = await store.settle(command)
        if (result.status === 'settled') used.set(commandId, command.id)
        return result
      },
    })
  }),
  broken('engages whatever id it is given', 'knows nothing of an unknown id', store => ({
    engage: async id => (await store.engage(id)) || (await store.get(id)) === undefined,
  })),
  broken('waits until a deadline is past', 'settles a request that is due', store => ({
    settle: command =>
      store.settle(command.ifDueAt === undefined ? command : { ...command, ifDueAt: command.ifDueAt - 1 }),
  })),
  broken('settles before the deadline', 'leaves a request that is not due', (store, medium) => ({
    settle({ ifDueAt = Infinity, ...command }) {
      const early = (medium.rows.get(command.id)?.request.deadlineAt ?? 0) > ifDueAt
      return store.settle(early || ifDueAt === Infinity ? command : { ...command, ifDueAt })
    },
  })),
  brokenMedium('settles an engaged request as timed out', 'leaves an engaged request at its deadline', () => {
    const engaged = new Set<string>()
    return store => ({
      async engage(id) {
        const result = await store.engage(id)
        if (result) engaged.add(id)
        return result
      },
      settle: command => store.settle(engaged.has(command.id) ? { ...command, ifDueAt: undefined } : command),
    })
  }),
  brokenMedium(
    'keeps an engaged request among the due',
    'takes the deadline off when somebody engages',
    () => {
      const engaged = new Set<string>()
      return (store, medium) => ({
        async engage(id) {
          const result = await store.engage(id)
          if (result) engaged.add(id)
          return result
        },
        async due(now, limit) {
          const due = await store.due(now, limit)
          return [...due, ...Array.from(engaged).filter(id => pendingNow(medium, id))].slice(0, limit)
        },
      })
    },
  ),
  broken('logs every engagement anew', 'engages nothing that has no deadline', (store, medium) => ({
    async engage(id) {
      const result = await store.engage(id)
      if (!result && pendingNow(medium, id)) logAgain(medium, 'engaged', id)
      return result
    },
  })),
  broken('looks a request up, then engages', 'lets an engagement or the deadline win', (store, medium) => ({
    async engage(id) {
      const before = pendingNow(medium, id) && (await store.get(id))?.deadlineAt !== undefined
      const result = await store.engage(id)
      return result || (before && !pendingNow(medium, id))
    },
  })),
  broken('reads what it opened from its memory', 'shows at once what another store settled', store => {
    const own = new Map<string, Awaited<ReturnType<typeof store.get>>>()
    const refreshed = <T>(result: T): T => {
      own.clear()
      return result
    }
    return {
      async open(command) {
        const result = await store.open(command)
        if (result.status === 'opened') own.set(result.request.id, result.request)
        return result
      },
      get: async id => (await store.get(id)) && (own.get(id) ?? store.get(id)),
      settle: async command => refreshed(await store.settle(command)),
      engage: async id => refreshed(await store.engage(id)),
      end: async () => refreshed(await store.end()),
      list: async query => refreshed(await store.list(query)),
      since: async (cursor, limit) => refreshed(await store.since(cursor, limit)),
    }
  }),
]
