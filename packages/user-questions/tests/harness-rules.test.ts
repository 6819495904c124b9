import { checkHarness, faithfulProvider, providerSuite } from '@handraise/user-questions/testing'
import { describe, expect, test } from 'vitest'

// As somebody gives it who writes plain JavaScript.
const suiteOf = (harness: unknown) => () => providerSuite(harness as typeof faithfulProvider)

describe('a harness that is none', () => {
  test('is refused by the name of what it lacks, and what that is for', () => {
    expect(suiteOf({})).toThrow(
      'providerSuite: the harness has no function open, which opens a fresh provider with the given person before it; there it has undefined',
    )
    expect(suiteOf(undefined)).toThrow(
      'providerSuite: the harness is to be an object with open, it is undefined',
    )
    expect(suiteOf(Promise.resolve(faithfulProvider))).toThrow('a promise that nobody awaited')
  })

  test('may not lack what is no ability, nor without a reason', () => {
    const lacks = { skipp: 'it is a quiz' }
    expect(suiteOf({ ...faithfulProvider, lacks })).toThrow(/"skipp", which is none of multiSelect, .*wait/u)
    expect(suiteOf({ ...faithfulProvider, lacks: { skip: true } })).toThrow(
      'harness.lacks.skip is to be the reason as a text, it is true',
    )
    expect(suiteOf({ ...faithfulProvider, lacks: ['skip'] })).toThrow('"0"')
    expect(suiteOf({ ...faithfulProvider, lacks: 'skip' })).toThrow(
      'is to be an object from ability to reason',
    )
    expect(suiteOf({ ...faithfulProvider, lacks: { skip: undefined } })).not.toThrow()
    const nothing = { members: {} }
    expect(() => checkHarness('someSuite', { lacks: { skip: 'no' } }, nothing)).toThrow('there are none')
  })

  test('waits for some milliseconds, if it says how many', () => {
    for (const withinMs of ['5s', 0, Number.NaN])
      expect(suiteOf({ ...faithfulProvider, withinMs })).toThrow('withinMs is to be a number of milliseconds')
  })
})

test('what a harness opens is looked at before it is used', async () => {
  for (const [opened, complaint] of [
    [undefined, 'what open() gave is to be an object with close, it is undefined'],
    [{ provider: {} }, 'what open() gave has no function close, which takes the provider down'],
    [{ close() {} }, 'the provider that open() gave is to be an object with ask, it is undefined'],
    [{ provider: {}, close() {} }, 'the provider that open() gave has no function ask'],
  ] as const) {
    const [first] = providerSuite({ open: () => opened as never })
    await expect(first?.run()).rejects.toThrow(complaint)
  }
})

describe('a case that fails says what to do', () => {
  const failing = async (name: string, ask: () => Promise<unknown>): Promise<string> => {
    const provider = { ask: ask as never }
    const suite = providerSuite({ withinMs: 30, open: () => ({ provider, close() {} }) })
    const run = suite.find(each => each.name === name)?.run
    return run?.().then(String, (error: unknown) => (error as Error).message) ?? ''
  }

  test('about a provider that shows nothing', async () => {
    const message = await failing('passes free text on word for word', () => new Promise(() => {}))
    expect(message).toBe(
      'answering took longer than 30 ms. Nothing was shown: call person(request) when the provider shows a request',
    )
  })

  test('about an answer that is none', async () => {
    const message = await failing('passes free text on word for word', async () => ({ answers: [] }))
    expect(message).toMatch(/^the answer breaks the rules: answers/u)
  })

  test('about an ending that is another one', async () => {
    const message = await failing('ends a refusal to answer with ASK_DECLINED', async () => {
      throw new Error('no')
    })
    expect(message).toContain("Reject with new UserQuestionError('ASK_DECLINED', …)")
  })
})
