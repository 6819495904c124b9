import { faithfulSurface, memoryStores, storeSuite, surfaceSuite } from '@handraise/inbox/testing'
import { describe, expect, test } from 'vitest'

describe('a harness that is none', () => {
  test('is refused by the name of what it lacks', () => {
    expect(() => storeSuite({} as never)).toThrow('storeSuite: the harness has no function create')
    expect(() => surfaceSuite({} as never)).toThrow('surfaceSuite: the harness has no function attach')
  })

  test('may not lack what is no ability', () => {
    const lacks = { crashes: 'never' } as never
    expect(() => storeSuite({ ...memoryStores, lacks })).toThrow(
      '"crashes", which is none of manyStores, crash',
    )
    expect(() => surfaceSuite({ ...faithfulSurface, lacks })).toThrow(
      '"crashes", which is none of sideBySide',
    )
  })
})

test('a store that lacks a part of its contract is named by that part', async () => {
  const [first] = storeSuite({
    ...memoryStores,
    async create() {
      const bench = await memoryStores.create()
      return { ...bench, open: async () => ({ ...(await bench.open()), prune: undefined as never }) }
    },
  })
  await expect(first?.run()).rejects.toThrow('has no function prune, which is a part of the contract')
})

describe('a surface', () => {
  const attached = { shown: () => [], answer: async () => ({ result: 'settled' as const }), detach() {} }

  test('that lacks what it does not say it lacks is told both ways out', async () => {
    const [first] = surfaceSuite({ attach: () => attached })
    await expect(first?.run()).rejects.toThrow(
      'surfaceSuite: what attach() gave (unless harness.lacks.decline says why it cannot) has no function decline',
    )
  })

  test('that shows nothing is told what to do, and what the host was told meanwhile', async () => {
    const [first] = surfaceSuite({
      withinMs: 30,
      lacks: { decline: 'no', engage: 'no', ending: 'no', connection: 'no' },
      attach(ctx) {
        ctx.logger.error(new Error('no screen'))
        return attached
      },
    })
    await expect(first?.run()).rejects.toThrow(
      /^after 30 ms 2 of 2 requests are not shown\. List what is pending .*\nMeanwhile the host was told of: .*no screen$/su,
    )
  })

  test('that fails because of a late answer is told what to resolve with', async () => {
    const suite = surfaceSuite({
      ...faithfulSurface,
      async attach(ctx) {
        const surface = await faithfulSurface.attach(ctx)
        return Object.assign(surface, { answer: () => Promise.reject(new Error('409')) })
      },
    })
    const late = suite.find(({ name }) => name === 'says who was faster when an answer comes late')
    await expect(late?.run()).rejects.toThrow(
      'answer() of the surface rejected: Error: 409. It is to resolve with',
    )
  })

  test('is asked for nothing that it says it lacks', async () => {
    const { length } = surfaceSuite(faithfulSurface)
    const lacks = { connection: 'it is in the process', presence: 'it is a log' }
    const names = surfaceSuite({ ...faithfulSurface, lacks }).map(({ name }) => name)
    expect(names).toHaveLength(length - 3)
    expect(names).not.toContain('goes on where it was when its connection comes back')
  })
})
