import { parseArguments } from './parse-arguments.ts'
import type { ToolCall, ToolDefinition, ToolGuard, ToolResult } from './tool.ts'

export type ToolErrorCode = 'UNKNOWN_TOOL' | 'DUPLICATE_TOOL' | 'INVALID_ARGS' | 'ABORTED' | 'NO_GUARD'

export class ToolError extends Error {
  override readonly name = 'ToolError'
  readonly code: ToolErrorCode

  constructor(code: ToolErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/**
 * Runs one call of a tool: reads its arguments, asks the guards where it needs permission, executes, renders. Never rejects; every failure is a result
 * whose content starts with `Error: `, with the code of the error, or `TOOL_FAILED` where it has none.
 */
export async function runTool<Arguments, Value>(
  tool: ToolDefinition<Arguments, Value>,
  raw: unknown,
  call: ToolCall,
  guards: readonly ToolGuard[] = [],
): Promise<ToolResult<Value>> {
  try {
    // What permission is given for is what runs, whoever else holds the arguments.
    const own = tool.permission === undefined ? raw : structuredClone(raw)
    const parsed = tool.parse ? tool.parse(own) : parseArguments(tool.parameters, own)
    if (!parsed.ok) {
      throw new ToolError('INVALID_ARGS', `invalid arguments for ${tool.name}: ${parsed.faults.join('; ')}`)
    }
    const permission = tool.permission === undefined ? undefined : await tool.permission(parsed.args, call)
    if (permission !== undefined) {
      if (guards.length === 0) {
        throw new ToolError(
          'NO_GUARD',
          `${tool.name} needs permission for this call, and nothing here can ask for it; it was not run`,
        )
      }
      for (const guard of guards) {
        const result = await guard(tool as ToolDefinition, permission, call)
        if (result !== undefined) return result as ToolResult<Value>
      }
      call.signal.throwIfAborted()
    }
    if (call.onRun !== undefined) await call.onRun()
    const value = await tool.execute(parsed.args, call)
    return { isError: false, value, content: tool.render ? tool.render(value) : toJson(value) }
  } catch (error) {
    return toFailure(error, tool.renderError)
  }
}

export function toFailure(thrown: unknown, renderError?: (error: Error) => string): ToolResult<never> {
  const error = thrown instanceof Error ? thrown : new Error(inWords(thrown))
  const code = 'code' in error && typeof error.code === 'string' ? error.code : 'TOOL_FAILED'
  return {
    isError: true,
    error: { name: error.name, code, message: error.message },
    content: `Error: ${messageFor(error, renderError)}`,
  }
}

function messageFor(error: Error, renderError: ((error: Error) => string) | undefined): string {
  try {
    return renderError ? renderError(error) : error.message
  } catch {
    return error.message
  }
}

function inWords(thrown: unknown): string {
  try {
    return String(thrown)
  } catch {
    // An object without a usable `toString`.
    return typeof thrown
  }
}

// Nothing at all has no JSON, and the model must be told something.
function toJson(value: unknown): string {
  return JSON.stringify(value) ?? 'null'
}
