import { defineTool, runTool, type ToolDefinition } from '@handraise/tools'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'

const CALL = { callId: 'c', signal: new AbortController().signal }

const toolOf = (more: Partial<ToolDefinition<{ n: number }>>): ToolDefinition<{ n: number }> =>
  defineTool({
    name: 't',
    description: '',
    parameters: z.object({ n: z.number() }),
    execute: ({ n }) => n,
    ...more,
  })

const run = (more: Partial<ToolDefinition<{ n: number }>>, raw: unknown = { n: 1 }) =>
  runTool(toolOf(more), raw, CALL)

describe('the result of a tool', () => {
  test('is its value, awaited, and its text', async () => {
    expect(await run({ execute: ({ n }) => Promise.resolve({ n }) })).toEqual({
      isError: false,
      value: { n: 1 },
      content: '{"n":1}',
    })
  })

  test('is rendered by the tool where it says how', async () => {
    expect(await run({ render: value => `<${String(value)}>` })).toMatchObject({ value: 1, content: '<1>' })
  })

  test('is a text even when there is no value', async () => {
    expect(await run({ execute: () => undefined })).toEqual({
      isError: false,
      value: undefined,
      content: 'null',
    })
  })
})

describe('a tool that fails', () => {
  const failure = (error: { name: string; code: string; message: string }) => ({
    isError: true,
    error,
    content: `Error: ${error.message}`,
  })

  test('by throwing at once or later gives an error result', async () => {
    const error = new RangeError('too far')
    const expected = failure({ name: 'RangeError', code: 'TOOL_FAILED', message: 'too far' })
    expect(
      await run({
        execute: () => {
          throw error
        },
      }),
    ).toEqual(expected)
    expect(await run({ execute: () => Promise.reject(error) })).toEqual(expected)
  })

  test('with a code of its own keeps it', async () => {
    const error = Object.assign(new Error('gone'), { name: 'HostError', code: 'GONE' })
    expect(await run({ execute: () => Promise.reject(error) })).toEqual(
      failure({ name: 'HostError', code: 'GONE', message: 'gone' }),
    )
    const numbered = Object.assign(new Error('gone'), { code: 7 })
    expect(await run({ execute: () => Promise.reject(numbered) })).toMatchObject({
      error: { code: 'TOOL_FAILED' },
    })
  })

  test('by throwing what is no error gives an error result', async () => {
    for (const [thrown, message] of [
      ['gone', 'gone'],
      [undefined, 'undefined'],
      [Object.create(null), 'object'],
    ] as const) {
      expect(await run({ execute: () => Promise.reject(thrown as Error) })).toEqual(
        failure({ name: 'Error', code: 'TOOL_FAILED', message }),
      )
    }
  })

  test('in its parsing or its rendering gives an error result', async () => {
    const throws = (): never => {
      throw new Error('broken')
    }
    for (const more of [{ parse: throws }, { render: throws }, { execute: () => 1n }]) {
      expect(await run(more)).toMatchObject({ isError: true, error: { code: 'TOOL_FAILED' } })
    }
  })

  test('in the words for its failure falls back to the message', async () => {
    const renderError = (): never => {
      throw new Error('no words')
    }
    expect(await run({ execute: () => Promise.reject(new Error('gone')), renderError })).toEqual(
      failure({ name: 'Error', code: 'TOOL_FAILED', message: 'gone' }),
    )
  })

  test('may say in words of its own what the model reads', async () => {
    const result = await run({
      execute: () => Promise.reject(new Error('gone')),
      renderError: error => `${error.message}; do not try again`,
    })
    expect(result).toEqual({
      isError: true,
      error: { name: 'Error', code: 'TOOL_FAILED', message: 'gone' },
      content: 'Error: gone; do not try again',
    })
  })
})

describe('the arguments of a tool', () => {
  test('are read by the tool where it says how', async () => {
    const parse = (raw: unknown) => ({ ok: true as const, args: { n: Number(raw) } })
    expect(await run({ parse }, '7')).toMatchObject({ value: 7 })
  })

  test('that it cannot read are refused with every fault', async () => {
    let executed = false
    const parse = () => ({ ok: false as const, faults: ['a: one', 'b: two'] })
    const result = await run({ parse, execute: () => (executed = true) })
    expect(result).toMatchObject({
      error: { code: 'INVALID_ARGS' },
      content: 'Error: invalid arguments for t: a: one; b: two',
    })
    expect(executed).toBe(false)
  })
})

describe('that a call is about to run', () => {
  const told = async (more: Partial<ToolDefinition<{ n: number }>>, raw: unknown, letPass: boolean) => {
    const order: string[] = []
    const guard = () => {
      order.push('guard')
      return letPass ? undefined : toRefusal()
    }
    const execute = () => void order.push('execute')
    await runTool(
      toolOf({ execute, permission: () => ({}), ...more }),
      raw,
      { ...CALL, onRun: () => void order.push('told') },
      [guard],
    )
    return order
  }
  const toRefusal = () => ({
    isError: true as const,
    error: { name: 'Error', code: 'NO', message: 'no' },
    content: 'Error: no',
  })

  test('is told once, behind the guards and before the tool', async () => {
    expect(await told({}, { n: 1 }, true)).toEqual(['guard', 'told', 'execute'])
  })

  test('is not told of a call that a guard refuses, or whose arguments are wrong', async () => {
    expect(await told({}, { n: 1 }, false)).toEqual(['guard'])
    expect(await told({}, { n: 'one' }, true)).toEqual([])
  })

  test('is told of a call that needs no permission', async () => {
    expect(await told({ permission: () => undefined }, { n: 1 }, true)).toEqual(['told', 'execute'])
  })
})
