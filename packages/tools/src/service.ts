import { type Context, Service } from 'cordis'
import { runTool, toFailure, ToolError } from './run-tool.ts'
import {
  toToolSchema,
  type ToolCall,
  type ToolDefinition,
  type ToolGuard,
  type ToolResult,
  type ToolSchema,
} from './tool.ts'

declare module 'cordis' {
  interface Context {
    tools: ToolService
  }
}

/** One call of a tool by its name. `arguments` is what the model sent, parsed as JSON or not. */
export interface ToolInvocation extends ToolCall {
  readonly name: string
  readonly arguments: unknown
}

type AnyTool = ToolDefinition<never, never>

/** `ctx.tools`: the tools a model can call, by name. */
export class ToolService extends Service {
  private readonly byName = new Map<string, AnyTool>()
  private readonly guards = new Set<ToolGuard>()

  constructor(ctx: Context) {
    super(ctx, 'tools')
  }

  /**
   * Offers a tool until the returned function is called or the calling plugin is disposed. Throws `ToolError`
   * `DUPLICATE_TOOL` when the name is taken.
   */
  register<Arguments, Value>(tool: ToolDefinition<Arguments, Value>): () => void {
    const { byName } = this
    const dispose = this.ctx.effect(() => {
      if (byName.has(tool.name)) {
        throw new ToolError(
          'DUPLICATE_TOOL',
          `a tool named ${JSON.stringify(tool.name)} is registered already`,
        )
      }
      byName.set(tool.name, tool as unknown as AnyTool)
      return () => void byName.delete(tool.name)
    }, 'tools.register()')
    return () => void dispose()
  }

  /** Puts a guard before every call that needs permission, until the returned function is called or the plugin disposed. */
  guard(guard: ToolGuard): () => void {
    const { guards } = this
    const dispose = this.ctx.effect(() => {
      guards.add(guard)
      return () => void guards.delete(guard)
    }, 'tools.guard()')
    return () => void dispose()
  }

  get(name: string): ToolDefinition | undefined {
    return this.byName.get(name) as ToolDefinition | undefined
  }

  /** What a model is told, in the order of registration. */
  schemas(): ToolSchema[] {
    return Array.from(this.byName.values(), toToolSchema)
  }

  /**
   * Runs one call. Never rejects: an unknown tool (`UNKNOWN_TOOL`), bad arguments (`INVALID_ARGS`), a signal that was
   * aborted before the call (`ABORTED`) and whatever the tool throws are results with `isError`.
   */
  async execute(invocation: ToolInvocation): Promise<ToolResult> {
    const { name, arguments: raw, ...given } = invocation
    // A caller in plain JavaScript may leave it out.
    const call = {
      ...given,
      signal: (given.signal as AbortSignal | undefined) ?? new AbortController().signal,
    }
    const tool = this.get(name)
    if (tool === undefined) {
      const offered = [...this.byName.keys()].map(known => JSON.stringify(known)).join(', ')
      return toFailure(
        new ToolError('UNKNOWN_TOOL', `unknown tool ${JSON.stringify(name)}; offered: ${offered || 'none'}`),
      )
    }
    if (call.signal.aborted) {
      return toFailure(
        new ToolError('ABORTED', 'tool call aborted before dispatch', { cause: call.signal.reason }),
      )
    }
    return runTool(tool, raw, call, [...this.guards])
  }
}
