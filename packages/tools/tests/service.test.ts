import { defineTool, ToolError, ToolService, type ToolCall, type ToolInvocation } from '@handraise/tools'
import { Context } from 'cordis'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'

const calls: Array<{ readonly args: unknown; readonly call: ToolCall }> = []
const echo = defineTool({
  name: 'echo',
  description: 'Says it back.',
  parameters: z.object({ text: z.string().describe('What to say'), loud: z.boolean().optional() }),
  execute(args, call) {
    calls.push({ args, call })
    return { said: args.text }
  },
})

async function openTools(): Promise<Context> {
  calls.length = 0
  const ctx = new Context()
  await ctx.plugin(ToolService)
  return ctx
}

const call = (name: string, args: unknown, more: Partial<ToolInvocation> = {}): ToolInvocation => ({
  name,
  arguments: args,
  callId: 'c',
  signal: new AbortController().signal,
  ...more,
})

describe('a tool that is registered', () => {
  test('is found by its name and told to the model', async () => {
    const { tools } = await openTools()
    tools.register(echo)
    expect(tools.get('echo')).toBe(echo)
    expect(tools.get('other')).toBeUndefined()
    expect(tools.schemas()).toEqual([
      {
        name: 'echo',
        description: 'Says it back.',
        parameters: {
          type: 'object',
          properties: { text: { type: 'string', description: 'What to say' }, loud: { type: 'boolean' } },
          required: ['text'],
        },
      },
    ])
  })

  test('is told to the model in the order of registration', async () => {
    const { tools } = await openTools()
    for (const name of ['c', 'a', 'b']) tools.register({ ...echo, name })
    expect(tools.schemas().map(({ name }) => name)).toEqual(['c', 'a', 'b'])
  })

  test('is refused while its name is taken, and the first stays', async () => {
    const { tools } = await openTools()
    tools.register(echo)
    const register = (): unknown => tools.register({ ...echo, description: 'Another.' })
    expect(register).toThrow(ToolError)
    expect(register).toThrow('a tool named "echo" is registered already')
    expect(register).toThrow(expect.objectContaining({ name: 'ToolError', code: 'DUPLICATE_TOOL' }))
    expect(tools.get('echo')).toBe(echo)
  })

  test('is removed by the returned function, which spares a successor', async () => {
    const { tools } = await openTools()
    const remove = tools.register(echo)
    remove()
    remove()
    expect(tools.get('echo')).toBeUndefined()
    expect(tools.schemas()).toEqual([])
    const next = { ...echo }
    tools.register(next)
    remove()
    expect(tools.get('echo')).toBe(next)
  })

  test('goes with the plugin that registered it', async () => {
    const ctx = await openTools()
    const fiber = await ctx.plugin({
      name: 'echo',
      inject: ['tools'],
      apply: (child: Context): void => void child.tools.register(echo),
    })
    expect(ctx.tools.get('echo')).toBe(echo)
    await fiber.dispose()
    expect(ctx.tools.get('echo')).toBeUndefined()
    expect(await ctx.tools.execute(call('echo', { text: 'hi' }))).toMatchObject({
      error: { code: 'UNKNOWN_TOOL' },
    })
    expect(calls).toEqual([])
  })
})

describe('a call', () => {
  test('runs the tool and renders its value as compact JSON', async () => {
    const { tools } = await openTools()
    tools.register(echo)
    expect(await tools.execute(call('echo', { text: 'hi, you' }))).toEqual({
      isError: false,
      value: { said: 'hi, you' },
      content: '{"said":"hi, you"}',
    })
  })

  test('hands the tool its id, its signal, its agent and its session', async () => {
    const { tools } = await openTools()
    tools.register(echo)
    const given = { callId: 'c', signal: new AbortController().signal, agent: { id: 'a' }, session: 's' }
    await tools.execute(call('echo', { text: 'hi' }, given))
    expect(calls).toEqual([{ args: { text: 'hi' }, call: given }])
    expect(calls[0]?.call.signal).toBe(given.signal)
    expect(calls[0]?.call.agent).toBe(given.agent)
  })

  test('of an unknown tool names those that are offered', async () => {
    const { tools } = await openTools()
    expect(await tools.execute(call('ecko', {}))).toEqual({
      isError: true,
      error: { name: 'ToolError', code: 'UNKNOWN_TOOL', message: 'unknown tool "ecko"; offered: none' },
      content: 'Error: unknown tool "ecko"; offered: none',
    })
    tools.register(echo)
    tools.register({ ...echo, name: 'other' })
    expect(await tools.execute(call('ecko', {}))).toMatchObject({
      content: 'Error: unknown tool "ecko"; offered: "echo", "other"',
    })
  })

  test('of a name that every object has finds no tool', async () => {
    const { tools } = await openTools()
    for (const name of ['constructor', '__proto__', 'toString']) {
      expect(await tools.execute(call(name, {}))).toMatchObject({ error: { code: 'UNKNOWN_TOOL' } })
    }
  })

  test('that is aborted before it starts does not reach the tool', async () => {
    const { tools } = await openTools()
    tools.register(echo)
    expect(await tools.execute(call('echo', { text: 'hi' }, { signal: AbortSignal.abort() }))).toEqual({
      isError: true,
      error: { name: 'ToolError', code: 'ABORTED', message: 'tool call aborted before dispatch' },
      content: 'Error: tool call aborted before dispatch',
    })
    expect(calls).toEqual([])
  })

  test('that is aborted while it runs ends as the tool ends it', async () => {
    const { tools } = await openTools()
    const waits = defineTool({
      ...echo,
      execute: (_, { signal }) =>
        new Promise<never>((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error))
        }),
    })
    tools.register(waits)
    const controller = new AbortController()
    const running = tools.execute(call('echo', { text: 'hi' }, { signal: controller.signal }))
    controller.abort(new Error('enough'))
    expect(await running).toMatchObject({ isError: true, content: 'Error: enough' })
  })

  test('with bad arguments does not reach the tool', async () => {
    const { tools } = await openTools()
    tools.register(echo)
    const message =
      'invalid arguments for echo: text: expected a string, got a number; loud: expected a boolean, got null'
    expect(await tools.execute(call('echo', { text: 7, loud: null }))).toEqual({
      isError: true,
      error: { name: 'ToolError', code: 'INVALID_ARGS', message },
      content: `Error: ${message}`,
    })
    expect(calls).toEqual([])
  })
})
