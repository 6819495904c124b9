import { AgentError, AgentRegistry, type Agent } from '@handraise/agents'
import { Context } from 'cordis'
import { describe, expect, test } from 'vitest'

async function openRegistry(): Promise<Context> {
  const ctx = new Context()
  await ctx.plugin(AgentRegistry)
  return ctx
}

/** Keeps what listeners are told, as `+id` and `-id`. */
function listen(ctx: Context): string[] {
  const told: string[] = []
  ctx.on('agent/created', ({ agent }) => void told.push(`+${agent.id}`))
  ctx.on('agent/disposed', ({ agent }) => void told.push(`-${agent.id}`))
  return told
}

const ids = (agents: readonly Agent[]): string[] => agents.map(({ id }) => id)

describe('an agent that enters', () => {
  test('is live under its id, as the very object that entered', async () => {
    const { agents } = await openRegistry()
    const agent = { id: 'a', extra: 1 }
    agents.enter(agent)
    expect(agents.get('a')).toBe(agent)
    expect(agents.get('b')).toBeUndefined()
    expect(agents.list()).toEqual([agent])
    expect(agents.list()[0]).toBe(agent)
    expect(Object.isFrozen(agent)).toBe(false)
  })

  test('is listed in the order of entering, in lists of its own', async () => {
    const { agents } = await openRegistry()
    for (const id of ['c', 'a', 'b']) agents.enter({ id })
    expect(ids(agents.list())).toEqual(['c', 'a', 'b'])
    agents.list().pop()
    agents.roots().pop()
    expect(ids(agents.list())).toEqual(['c', 'a', 'b'])
    expect(ids(agents.roots())).toEqual(['c', 'a', 'b'])
  })

  test('is refused while its id is live, and the first stays', async () => {
    const ctx = await openRegistry()
    const first = { id: 'a' }
    ctx.agents.enter(first)
    const told = listen(ctx)
    for (const agent of [first, { id: 'a' }]) {
      const enter = (): unknown => ctx.agents.enter(agent)
      expect(enter).toThrow(AgentError)
      expect(enter).toThrow('an agent with the id "a" is live already')
      expect(enter).toThrow(expect.objectContaining({ name: 'AgentError', code: 'DUPLICATE_AGENT' }))
    }
    expect(ctx.agents.get('a')).toBe(first)
    expect(told).toEqual([])
  })

  test('is refused without an id that says anything', async () => {
    const ctx = await openRegistry()
    const told = listen(ctx)
    for (const agent of [undefined, null, {}, { id: 7 }, { id: '' }, { id: ' ' }]) {
      expect(() => ctx.agents.enter(agent as never)).toThrow(expect.objectContaining({ code: 'BAD_AGENT' }))
    }
    expect(ctx.agents.list()).toEqual([])
    expect(told).toEqual([])
  })

  test('may have an id that is a name on every object', async () => {
    const { agents } = await openRegistry()
    const agent = { id: '__proto__' }
    expect(agents.get('constructor')).toBeUndefined()
    agents.enter(agent)
    expect(agents.get('__proto__')).toBe(agent)
  })
})

describe('an agent that leaves', () => {
  test('is live no longer, and its id is free', async () => {
    const { agents } = await openRegistry()
    const leave = agents.enter({ id: 'a' })
    leave()
    expect(agents.get('a')).toBeUndefined()
    expect(agents.list()).toEqual([])
    const next = { id: 'a' }
    agents.enter(next)
    expect(agents.get('a')).toBe(next)
  })

  test('twice changes nothing, also for a successor of the same id', async () => {
    const ctx = await openRegistry()
    const agent = { id: 'a' }
    const leave = ctx.agents.enter(agent)
    leave()
    const told = listen(ctx)
    leave()
    expect(told).toEqual([])
    ctx.agents.enter(agent)
    leave()
    expect(ctx.agents.get('a')).toBe(agent)
    expect(told).toEqual(['+a'])
  })
})

describe('ownership', () => {
  test('makes a child of the owned and leaves the others roots', async () => {
    const { agents } = await openRegistry()
    const root = { id: 'root' }
    const child = { id: 'child' }
    const grandchild = { id: 'grandchild' }
    const other = { id: 'other' }
    agents.enter(root)
    agents.enter(child, root)
    agents.enter(grandchild, child)
    agents.enter(other)
    expect(ids(agents.roots())).toEqual(['root', 'other'])
    expect([root, child, grandchild, other].map(agent => agents.isRoot(agent))).toEqual([
      true,
      false,
      false,
      true,
    ])
    expect([root, child, grandchild, other].map(agent => agents.ownerOf(agent))).toEqual([
      undefined,
      root,
      child,
      undefined,
    ])
  })

  test('ends when the owner leaves: the orphan is a root', async () => {
    const { agents } = await openRegistry()
    const root = { id: 'root' }
    const child = { id: 'child' }
    const grandchild = { id: 'grandchild' }
    const leave = agents.enter(root)
    agents.enter(child, root)
    agents.enter(grandchild, child)
    leave()
    expect(agents.isRoot(child)).toBe(true)
    expect(agents.ownerOf(child)).toBeUndefined()
    expect(agents.isRoot(grandchild)).toBe(false)
    expect(ids(agents.roots())).toEqual(['child'])
  })

  test('does not pass to another agent of the same id', async () => {
    const { agents } = await openRegistry()
    const root = { id: 'root' }
    const child = { id: 'child' }
    const leave = agents.enter(root)
    agents.enter(child, root)
    leave()
    agents.enter({ id: 'root' })
    expect(agents.isRoot(child)).toBe(true)
    expect(agents.ownerOf(child)).toBeUndefined()
  })

  test('is refused to an owner that is not the live instance', async () => {
    const ctx = await openRegistry()
    ctx.agents.enter({ id: 'root' })
    const told = listen(ctx)
    const gone = { id: 'gone' }
    ctx.agents.enter(gone)()
    told.length = 0
    for (const owner of [{ id: 'root' }, { id: 'stranger' }, gone]) {
      const enter = (): unknown => ctx.agents.enter({ id: 'child' }, owner)
      expect(enter).toThrow(expect.objectContaining({ code: 'OWNER_NOT_LIVE' }))
      expect(enter).toThrow('the owner given for agent "child" is not a live agent')
    }
    const itself = { id: 'itself' }
    expect(() => ctx.agents.enter(itself, itself)).toThrow(
      expect.objectContaining({ code: 'OWNER_NOT_LIVE' }),
    )
    expect(ids(ctx.agents.list())).toEqual(['root'])
    expect(told).toEqual([])
  })

  test('is decided by the instance, not by the id', async () => {
    const { agents } = await openRegistry()
    const root = { id: 'root' }
    const child = { id: 'child' }
    agents.enter(root)
    agents.enter(child, root)
    expect(agents.isRoot({ id: 'root' })).toBe(false)
    expect(agents.ownerOf({ id: 'child' })).toBeUndefined()
    expect(agents.isRoot({ id: 'stranger' })).toBe(false)
  })
})

describe('the events of the registry', () => {
  test('tell of each entry and each leaving, once', async () => {
    const ctx = await openRegistry()
    const told = listen(ctx)
    const leave = ctx.agents.enter({ id: 'a' })
    ctx.agents.enter({ id: 'b' })
    leave()
    leave()
    expect(told).toEqual(['+a', '+b', '-a'])
  })

  test('come when the registry is up to date', async () => {
    const ctx = await openRegistry()
    const live: Array<Agent | undefined> = []
    ctx.on('agent/created', ({ agent }) => void live.push(ctx.agents.get(agent.id)))
    ctx.on('agent/disposed', ({ agent }) => void live.push(ctx.agents.get(agent.id)))
    const agent = { id: 'a' }
    ctx.agents.enter(agent)()
    expect(live).toEqual([agent, undefined])
  })

  test('reach every listener although one throws or rejects', async () => {
    const ctx = await openRegistry()
    for (const event of ['agent/created', 'agent/disposed'] as const) {
      ctx.on(event, () => {
        throw new Error('a listener that throws')
      })
      ctx.on(event, () => Promise.reject(new Error('a listener that rejects')))
    }
    const told = listen(ctx)
    ctx.agents.enter({ id: 'a' })()
    await new Promise(resolve => {
      setImmediate(resolve)
    })
    expect(told).toEqual(['+a', '-a'])
  })

  test('let a listener enter another agent meanwhile', async () => {
    const ctx = await openRegistry()
    ctx.on('agent/created', ({ agent }) => {
      if (agent.id === 'a') ctx.agents.enter({ id: 'b' })
    })
    ctx.agents.enter({ id: 'a' })
    expect(ids(ctx.agents.list())).toEqual(['a', 'b'])
  })
})

describe('an agent that a plugin registers', () => {
  const pluginOf = (agent: Agent, owner?: Agent) => ({
    name: 'runtime',
    inject: ['agents'],
    apply: (ctx: Context): void => void ctx.agents.register(agent, owner),
  })

  test('leaves with the plugin', async () => {
    const ctx = await openRegistry()
    const told = listen(ctx)
    const fiber = await ctx.plugin(pluginOf({ id: 'a' }))
    ctx.agents.enter({ id: 'b' })
    expect(ids(ctx.agents.list())).toEqual(['a', 'b'])
    await fiber.dispose()
    expect(ids(ctx.agents.list())).toEqual(['b'])
    expect(told).toEqual(['+a', '+b', '-a'])
  })

  test('may leave before, and stays away', async () => {
    const ctx = await openRegistry()
    const told = listen(ctx)
    const leave = ctx.agents.register({ id: 'a' })
    leave()
    leave()
    expect(ctx.agents.list()).toEqual([])
    const next = { id: 'a' }
    ctx.agents.register(next)
    leave()
    expect(ctx.agents.get('a')).toBe(next)
    expect(told).toEqual(['+a', '-a', '+a'])
  })

  test('has the owner it was given', async () => {
    const ctx = await openRegistry()
    const root = { id: 'root' }
    const child = { id: 'child' }
    await ctx.plugin(pluginOf(root))
    const fiber = await ctx.plugin(pluginOf(child, root))
    expect(ctx.agents.ownerOf(child)).toBe(root)
    await fiber.dispose()
    expect(ids(ctx.agents.list())).toEqual(['root'])
  })

  test('makes the plugin fail when it is refused', async () => {
    const ctx = await openRegistry()
    const first = { id: 'a' }
    ctx.agents.enter(first)
    await expect(async () => ctx.plugin(pluginOf({ id: 'a' }))).rejects.toMatchObject({
      code: 'DUPLICATE_AGENT',
    })
    expect(ctx.agents.get('a')).toBe(first)
  })
})

describe('a registry that is disposed', () => {
  test('tells of every agent that was live', async () => {
    const ctx = new Context()
    const fiber = await ctx.plugin(AgentRegistry)
    const told = listen(ctx)
    const root = { id: 'root' }
    ctx.agents.enter(root)
    const leave = ctx.agents.enter({ id: 'child' }, root)
    const { agents } = ctx
    told.length = 0
    await fiber.dispose()
    expect(told).toEqual(['-root', '-child'])
    expect(agents.list()).toEqual([])
    expect(ctx.get('agents')).toBeUndefined()
    leave()
    expect(told).toEqual(['-root', '-child'])
  })

  test('makes way for an empty one', async () => {
    const ctx = new Context()
    const fiber = await ctx.plugin(AgentRegistry)
    ctx.agents.enter({ id: 'a' })
    await fiber.dispose()
    await ctx.plugin(AgentRegistry)
    expect(ctx.agents.list()).toEqual([])
    ctx.agents.enter({ id: 'a' })
    expect(ids(ctx.agents.list())).toEqual(['a'])
  })

  test('in an isolated context leaves the outer one alone', async () => {
    const ctx = await openRegistry()
    const outer = { id: 'a' }
    const inner = { id: 'a' }
    ctx.agents.enter(outer)
    const child = ctx.isolate('agents')
    const fiber = await child.plugin(AgentRegistry)
    child.agents.enter(inner)
    expect(child.agents.get('a')).toBe(inner)
    expect(child.agents.isRoot(outer)).toBe(false)
    await fiber.dispose()
    expect(ctx.agents.get('a')).toBe(outer)
  })
})
