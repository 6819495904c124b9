import { McpService, PauseError, type AnswerIn } from '@handraise/mcp'
import type { Context } from 'cordis'
import { CommandError } from './command-error.ts'

/** How the clients of MCP are served, as it is chosen on the command line. */
export interface McpChoice {
  readonly answerIn?: AnswerIn | undefined
  /** How long a call waits, in seconds. */
  readonly callLimit?: number | undefined
}

export interface McpPlace {
  /** The file of the inbox; none for one in memory. */
  readonly file: string | undefined
  /** Whether other machines may share the inbox, which then need the key of its pauses as well. */
  readonly shared: boolean
  /** Where people answer what is in the inbox, without the token; and where that was for the same request before. */
  readonly page: (before: string | undefined) => Promise<string | undefined> | string | undefined
  readonly principal?: string | undefined
}

/** What offers the tool, and what ends it before the rest: calls return, and what they asked stays. */
export interface McpHost {
  readonly service: Pick<McpService, 'askServer'>
  dispose(): Promise<void>
}

/** Offers the tool to clients of MCP, on what `mountStack` has mounted. */
export async function mountMcp(
  ctx: Context,
  { answerIn, callLimit }: McpChoice,
  { file, shared, page, principal }: McpPlace,
): Promise<McpHost> {
  try {
    const fiber = await ctx.plugin(McpService, {
      answerIn,
      page,
      principal,
      ...(callLimit === undefined ? {} : { callLimitMs: callLimit * 1_000 }),
      ...(file === undefined ? {} : { keyFile: `${file}.mcp-key` }),
      keyInStore: shared,
    })
    return { service: ctx.mcp, dispose: () => fiber.dispose() }
  } catch (cause) {
    if (PauseError.isInstance(cause)) throw new CommandError('BAD_CONFIG', cause.message, { cause })
    throw cause
  }
}
