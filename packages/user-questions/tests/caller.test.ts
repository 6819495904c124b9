import { AgentRegistry } from '@handraise/agents'
import { UserQuestionService } from '@handraise/user-questions'
import { Context } from 'cordis'
import { describe, expect, test } from 'vitest'
import { allowNoUnhandledRejection, providerOf, refusal, SQLITE, STORE } from './host.ts'

allowNoUnhandledRejection()

describe('a registry of agents', () => {
  const agent = { id: 'root' }
  const asks = (ctx: Context): Promise<string> =>
    ctx.userQuestions.ask({ questions: [STORE], agent }).then(
      () => 'answered',
      (error: { code: string }) => error.code,
    )

  async function openBare(): Promise<Context> {
    const ctx = new Context()
    await ctx.plugin(UserQuestionService)
    ctx.userQuestions.registerProvider(providerOf(SQLITE))
    return ctx
  }

  test('is looked up at each ask, so it may come and go', async () => {
    const ctx = await openBare()
    expect(await asks(ctx)).toBe('CALLER_NOT_LIVE')
    const first = await ctx.plugin(AgentRegistry)
    expect(await asks(ctx)).toBe('CALLER_NOT_LIVE')
    ctx.agents.enter(agent)
    expect(await asks(ctx)).toBe('answered')
    await first.dispose()
    expect(await asks(ctx)).toBe('CALLER_NOT_LIVE')
    await ctx.plugin(AgentRegistry)
    expect(await asks(ctx)).toBe('CALLER_NOT_LIVE')
    ctx.agents.enter(agent)
    expect(await asks(ctx)).toBe('answered')
  })

  test('mounted before the seam serves as well', async () => {
    const ctx = new Context()
    await ctx.plugin(AgentRegistry)
    await ctx.plugin(UserQuestionService)
    ctx.userQuestions.registerProvider(providerOf(SQLITE))
    ctx.agents.enter(agent)
    expect(await asks(ctx)).toBe('answered')
  })

  test('of the host fits by its shape alone', async () => {
    const child = { id: 'child' }
    const live = new Map([agent, child].map(each => [each.id, each]))
    const get = (id: string): { id: string } | undefined => live.get(id)
    const registries = [
      { get, roots: () => [agent] },
      { get, isRoot: (each: { id: string }) => each === agent },
      {
        get,
        isRoot: (each: { id: string }) => each === agent,
        roots: () => {
          throw new Error('too dear')
        },
      },
    ]
    for (const registry of registries) {
      const ctx = await openBare()
      ctx.provide('agents', registry as never)
      expect(await asks(ctx)).toBe('answered')
      const ofChild = ctx.userQuestions.ask({ questions: [STORE], agent: child })
      expect((await refusal(ofChild)).code).toBe('DELEGATED_CALLER')
      const ofTwin = ctx.userQuestions.ask({ questions: [STORE], agent: { id: 'root' } })
      expect((await refusal(ofTwin)).code).toBe('CALLER_NOT_LIVE')
    }
  })

  test('of the host may be replaced by its owner', async () => {
    const ctx = await openBare()
    const registryOf = (...live: { id: string }[]): never =>
      ({ get: (id: string) => live.find(each => each.id === id), roots: () => live }) as never
    ctx.provide('agents', registryOf(agent))
    expect(await asks(ctx)).toBe('answered')
    ctx.set('agents', registryOf())
    expect(await asks(ctx)).toBe('CALLER_NOT_LIVE')
  })

  test('of the host may keep its answers in methods that use this', async () => {
    class HostRegistry {
      private readonly live = [agent]
      get(id: string): { id: string } | undefined {
        return this.live.find(each => each.id === id)
      }
      roots(): readonly { id: string }[] {
        return this.live
      }
    }
    const ctx = await openBare()
    ctx.provide('agents', new HostRegistry() as never)
    expect(await asks(ctx)).toBe('answered')
  })
})
