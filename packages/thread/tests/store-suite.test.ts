import { describe, expect, test } from 'vitest'
import { brokenThreads, memoryThreads, threadStoreSuite } from '../src/testing/index.ts'

describe('a thread in memory', () => {
  for (const { name, run } of threadStoreSuite(memoryThreads)) test(name, run)
})

describe('a broken thread', () => {
  for (const { does, failsCase, harness } of brokenThreads) {
    test(`that ${does} fails the case "${failsCase}"`, async () => {
      const failed: string[] = []
      for (const { name, run } of threadStoreSuite(harness)) await run().catch(() => failed.push(name))
      expect(failed).toContain(failsCase)
    })
  }

  test('exists for every case of the suite', () => {
    const named = new Set(brokenThreads.map(({ failsCase }) => failsCase))
    const names = threadStoreSuite(memoryThreads).map(({ name }) => name)
    expect(names.filter(name => !named.has(name))).toEqual([])
    expect(new Set(names).size).toBe(names.length)
  })
})
