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

test('a surface of three buttons is asked for one of three options at most, whatever is not lacking', async () => {
  const none = 'there are three buttons'
  const { open } = faithfulProvider
  const suite = providerSuite({
    lacks: { multiSelect: none, freeText: none, textBesideLabels: none },
    async open(person) {
      const { provider, close } = await open(person)
      return {
        close,
        provider: {
          ask(request) {
            for (const { options = [], multiSelect } of request.questions)
              if (multiSelect === true || options.length === 0 || options.length > 3) throw new Error(none)
            return provider.ask(request)
          },
        },
      }
    },
  })
  for (const { run } of suite) await run()
  expect(suite.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'keeps what was answered before a dismissal',
      'keeps a skipped question as an entry of its own',
    ]),
  )
})
