import { MemoryMedium, MemoryStore } from '@handraise/inbox'
import { memoryStores, storeSuite } from '@handraise/inbox/testing'
import { describe, expect, test } from 'vitest'

describe('the memory store', () => {
  for (const { name, run } of storeSuite(memoryStores)) test(name, run)

  test('has a medium of its own unless one is given', async () => {
    const [one, other] = [new MemoryStore(), new MemoryStore()]
    await one.writeRecords([{ namespace: 'rules', key: 'a', value: 1 }])
    expect(await other.record('rules', 'a')).toBeUndefined()
  })

  test('loses nothing of its medium when it is closed', async () => {
    const medium = new MemoryMedium()
    const store = new MemoryStore(medium)
    await store.writeRecords([{ namespace: 'rules', key: 'a', value: 1 }])
    await store.close()
    expect(await new MemoryStore(medium).record('rules', 'a')).toMatchObject({ value: 1 })
  })
})
