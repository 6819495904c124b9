import { z } from 'zod'

/** What a call brings besides its arguments. */
export interface ToolCall {
  /** The id the model gave the call; unique within its session. */
  readonly callId: string
  readonly signal: AbortSignal
  /** The agent that calls, if the host knows one. */
  readonly agent?: { readonly id: string } | undefined
  readonly session?: string | undefined
  /** Called once, when the guards have let the call pass and the tool is about to run; a rejection keeps it from running. */
  readonly onRun?: (() => Promise<void> | void) | undefined
}

/** The arguments of a call, or every fault in them, each with its path first. */
export type ParsedArguments<Arguments> =
  { readonly ok: true; readonly args: Arguments } | { readonly ok: false; readonly faults: readonly string[] }

/** A tool a model can call. */
export interface ToolDefinition<Arguments = unknown, Value = unknown> {
  readonly name: string
  /** For the model: what the tool does and when to use it. */
  readonly description: string
  /** What the arguments must be. The model is shown it as JSON Schema. */
  readonly parameters: z.ZodType<Arguments>
  /**
   * Reads the raw arguments, where the schema alone would be too strict with what models send or too lax with what it
   * cannot tell. Default: the schema decides.
   */
  readonly parse?: ((raw: unknown) => ParsedArguments<Arguments>) | undefined
  /**
   * What the call would do, where that needs permission; `undefined` where this call needs none. The guards of the runtime
   * know what it means, and without one that lets it pass such a call does not run.
   */
  readonly permission?: ((args: Arguments, call: ToolCall) => unknown) | undefined
  execute(args: Arguments, call: ToolCall): Promise<Value> | Value
  /** The result as the model reads it. Default: compact JSON. */
  readonly render?: ((value: Value) => string) | undefined
  /** The text of a failure as the model reads it, after `Error: `. Default: the error's message. */
  readonly renderError?: ((error: Error) => string) | undefined
}

/** Types a tool by its schema. */
export function defineTool<Arguments, Value>(
  definition: ToolDefinition<Arguments, Value>,
): ToolDefinition<Arguments, Value> {
  return definition
}

/** A tool as a model is told of it. */
export interface ToolSchema {
  readonly name: string
  readonly description: string
  /** JSON Schema. */
  readonly parameters: Readonly<Record<string, unknown>>
}

export function toToolSchema(tool: ToolDefinition<never, never>): ToolSchema {
  const { $schema: _, ...parameters } = z.toJSONSchema(tool.parameters as z.ZodType, { io: 'input' })
  return { name: tool.name, description: tool.description, parameters }
}

/** How a call ended. A call never rejects. */
export type ToolResult<Value = unknown> =
  | { readonly isError: false; readonly value: Value; /** For the model. */ readonly content: string }
  | {
      readonly isError: true
      readonly error: ToolFailure
      /** For the model: `Error: <message>`. */ readonly content: string
    }

export interface ToolFailure {
  readonly name: string
  readonly code: string
  readonly message: string
}

/**
 * Stands before calls that need permission, with what the tool says of the call. `undefined` lets the call pass; a result
 * takes the place of running it, and so does whatever is thrown.
 */
export type ToolGuard = (
  tool: ToolDefinition,
  permission: unknown,
  call: ToolCall,
) => Promise<ToolResult | undefined> | ToolResult | undefined
