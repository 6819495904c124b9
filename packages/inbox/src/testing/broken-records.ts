import { broken, brokenMedium } from './broken-store.ts'

const place = (namespace: string, key: string): string => JSON.stringify([namespace, key])

export const BROKEN_RECORDS = [
  broken('lists every record as its first version', 'keeps a record and counts its versions', store => ({
    records: async namespace => (await store.records(namespace)).map(record => ({ ...record, version: 1 })),
  })),
  broken('takes a version long past', 'writes a record only over the version read', (store, medium) => ({
    writeRecords: writes =>
      store.writeRecords(
        writes.map(({ expectedVersion = -1, ...write }) => {
          const version = medium.records.get(place(write.namespace, write.key))?.version ?? 0
          const longPast = expectedVersion < 1 ? expectedVersion < 0 : version - expectedVersion > 1
          return longPast ? write : { ...write, expectedVersion }
        }),
      ),
  })),
  broken('takes version zero for no version', 'creates a record only where none is', (store, medium) => ({
    writeRecords: writes =>
      store.writeRecords(
        writes.map(({ expectedVersion, ...write }) => ({
          ...write,
          ...(expectedVersion === 0 && medium.records.has(place(write.namespace, write.key))
            ? {}
            : { expectedVersion }),
        })),
      ),
  })),
  broken('keeps null as a value', 'deletes a record that is written as null', (store, medium) => ({
    async writeRecords(writes) {
      const before = new Map(medium.records)
      const refused = await store.writeRecords(writes)
      for (const { namespace, key, value } of refused === undefined ? writes : []) {
        const record = before.get(place(namespace, key))
        if (value === null && record !== undefined && key.length === 1)
          medium.records.set(place(namespace, key), { ...record, value })
      }
      return refused
    },
  })),
  broken('counts anew after a delete', 'refuses a version read before a delete', (store, medium) => ({
    async writeRecords(writes) {
      const refused = await store.writeRecords(writes)
      for (const { namespace, key, value } of refused === undefined ? writes : [])
        if (value === null) medium.versions.delete(place(namespace, key))
      return refused
    },
  })),
  broken('writes records one by one', 'writes all records or none', store => ({
    async writeRecords(writes) {
      if (writes.length < 3) return store.writeRecords(writes)
      for (const write of writes) {
        const refused = await store.writeRecords([write])
        if (refused !== undefined) return refused
      }
      return undefined
    },
  })),
  broken(
    'finds records by how their namespace begins',
    'tells records by namespace and key',
    (store, medium) => ({
      async records(namespace) {
        await store.records(namespace)
        return Array.from(medium.records.values()).filter(record => record.namespace.startsWith(namespace))
      },
    }),
  ),
  broken('reads a version, then writes', 'lets one of many writers of a record win', (store, medium) => ({
    async writeRecords(writes) {
      const holds = (): boolean =>
        writes.every(
          ({ namespace, key, expectedVersion = -1 }) =>
            expectedVersion < 0 ||
            expectedVersion === (medium.records.get(place(namespace, key))?.version ?? 0),
        )
      const before = holds()
      await Promise.resolve()
      if (!before || holds()) return store.writeRecords(writes)
      return store.writeRecords(writes.map(({ expectedVersion: _, ...write }) => write))
    },
  })),
  broken('drops the records of an opening', 'writes records with the request they belong to', store => ({
    open: ({ records = [], ...command }) =>
      store.open({
        ...command,
        records: records.filter(each => each.expectedVersion !== undefined || each.key !== 'a'),
      }),
  })),
  broken('opens a request though a record conflicts', 'opens nothing when a record conflicts', store => ({
    async open(command) {
      const result = await store.open(command)
      if (result.status === 'recordConflict' && command.request.key !== undefined)
        await store.open({ ...command, records: [] })
      return result
    },
  })),
  broken('writes records though one of them conflicts', 'opens nothing when a record conflicts', store => ({
    async open(command) {
      const result = await store.open(command)
      if (result.status === 'recordConflict' && command.request.key !== undefined)
        for (const each of command.records ?? []) await store.writeRecords([each])
      return result
    },
  })),
  broken('settles a request though a record conflicts', 'settles nothing when a record conflicts', store => ({
    async settle(command) {
      const result = await store.settle(command)
      if (result.status === 'recordConflict') await store.settle({ ...command, records: [] })
      return result
    },
  })),
  broken('writes the records of one who joined', 'writes no record with a request not opened', store => ({
    async open(command) {
      const result = await store.open(command)
      if (result.status === 'joined') await store.writeRecords(command.records ?? [])
      return result
    },
  })),
  broken('writes the records of a loser', 'writes no record with a settlement that fails', store => ({
    async settle(command) {
      const result = await store.settle(command)
      if (result.status === 'alreadySettled') await store.writeRecords(command.records ?? [])
      return result
    },
  })),
  brokenMedium('fails all writes of a moment with one', 'keeps writes apart that are made at once', () => {
    let moment: Promise<unknown>[] = []
    return store => ({
      async open(command) {
        const opening = store.open(command)
        moment.push(opening)
        const together = moment
        await Promise.resolve()
        if (moment === together) moment = []
        await Promise.all(together)
        return opening
      },
    })
  }),
]
