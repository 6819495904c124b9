import { brokenStores, memoryStores, storeSuite } from '@handraise/inbox/testing'
import { describe, expect, test } from 'vitest'

describe('a broken store', () => {
  for (const { does, failsCase, harness } of brokenStores) {
    test(`that ${does} fails only the case "${failsCase}"`, async () => {
      const failed: string[] = []
      for (const { name, run } of storeSuite(harness)) {
        await run().catch(() => failed.push(name))
      }
      expect(failed).toEqual([failsCase])
    })
  }

  test('exists for every case of the suite', () => {
    const named = new Set(brokenStores.map(({ failsCase }) => failsCase))
    expect(
      storeSuite(memoryStores)
        .map(({ name }) => name)
        .filter(name => !named.has(name)),
    ).toEqual([])
  })
})

describe('the store suite', () => {
  test('names every case differently', () => {
    const names = storeSuite(memoryStores).map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
  })

  test('leaves out a case that needs what a store lacks', async () => {
    const alone = { ...memoryStores, many: 100, lacks: { manyStores: 'the file is locked' } }
    const cases = storeSuite(alone)
    expect(cases.map(({ name }) => name)).not.toContain('wakes a watcher when another store writes')
    for (const { run } of cases) await run()
  })
})
