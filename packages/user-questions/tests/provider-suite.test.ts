import { brokenProviders, faithfulProvider, providerSuite } from '@handraise/user-questions/testing'
import { describe, expect, test } from 'vitest'

describe('a provider that keeps every rule', () => {
  for (const { name, run } of providerSuite(faithfulProvider)) {
    test(`it ${name}`, async () => {
      await expect(run()).resolves.toBeUndefined()
    })
  }
})

describe('a broken provider', () => {
  for (const { does, failsCase, harness } of brokenProviders) {
    test(`that ${does} fails only the case "${failsCase}"`, async () => {
      const failed: string[] = []
      for (const { name, run } of providerSuite(harness)) {
        await run().catch(() => failed.push(name))
      }
      expect(failed).toEqual([failsCase])
    })
  }

  test('exists for every case of the suite', () => {
    const named = new Set(brokenProviders.map(({ failsCase }) => failsCase))
    expect(
      providerSuite(faithfulProvider)
        .map(({ name }) => name)
        .filter(name => !named.has(name)),
    ).toEqual([])
  })
})

test('a case that needs what a provider lacks is left out', () => {
  const names = providerSuite({ ...faithfulProvider, lacks: { skip: 'it is a quiz' } }).map(
    ({ name }) => name,
  )
  expect(names).not.toContain('keeps a skipped question as an entry of its own')
})
