import { brokenSurfaces, faithfulSurface, surfaceSuite, type SurfaceHarness } from '@handraise/inbox/testing'
import { beforeAll, describe, expect, test } from 'vitest'

describe('a surface that keeps every promise', () => {
  for (const { name, run } of surfaceSuite(faithfulSurface)) test(`it ${name}`, run)
})

describe('a broken surface', () => {
  const verdicts: string[][] = []

  // Each waits for what it never does, and all of them together.
  beforeAll(async () => {
    verdicts.push(...(await Promise.all(brokenSurfaces.map(({ harness }) => failedBy(harness)))))
  }, 120_000)

  for (const [index, { does, failsCase }] of brokenSurfaces.entries()) {
    test(`that ${does} fails only the case "${failsCase}"`, () => {
      expect(verdicts[index]).toEqual([failsCase])
    })
  }

  test('exists for every case of the suite, and every case is named differently', () => {
    const named = new Set(brokenSurfaces.map(({ failsCase }) => failsCase))
    const names = surfaceSuite(faithfulSurface).map(({ name }) => name)
    expect(names.filter(name => !named.has(name))).toEqual([])
    expect(new Set(names).size).toBe(names.length)
  })
})

async function failedBy(harness: SurfaceHarness): Promise<string[]> {
  const failed: string[] = []
  for (const { name, run } of surfaceSuite(harness)) await run().catch(() => failed.push(name))
  return failed
}
