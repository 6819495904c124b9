import { McpService, mcpEndpoint, PauseError, serveMcpEndpoint, type AnswerIn } from '@handraise/mcp'
import type { Context } from 'cordis'
import { CommandError } from './command-error.ts'
import { keepPort, keptPort } from './kept-port.ts'

/** How the clients of MCP are served, as it is chosen on the command line. */
export interface McpChoice {
  readonly answerIn?: AnswerIn | undefined
  /** How long a call waits, in seconds. */
  readonly callLimit?: number | undefined
}

export interface McpPlace {
  /** The file of the inbox; none for one in memory. */
  readonly file: string | undefined
  /** Where people answer what is in the inbox, without the token. */
  readonly page: () => Promise<string | undefined> | string | undefined
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
  { file, page, principal }: McpPlace,
): Promise<McpHost> {
  try {
    const fiber = await ctx.plugin(McpService, {
      answerIn,
      page,
      principal,
      ...(callLimit === undefined ? {} : { callLimitMs: callLimit * 1_000 }),
      ...(file === undefined ? {} : { keyFile: `${file}.mcp-key` }),
    })
    return { service: ctx.mcp, dispose: () => fiber.dispose() }
  } catch (cause) {
    if (PauseError.isInstance(cause)) throw new CommandError('BAD_CONFIG', cause.message, { cause })
    throw cause
  }
}

export interface McpListening {
  readonly file: string | undefined
  /** Default: the one it had before, else any. */
  readonly port: number | undefined
  readonly token: string
}

/** Serves clients of MCP on a port of this machine. */
export async function listenForMcp(
  ctx: Context,
  { service }: McpHost,
  { file, port, token }: McpListening,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const keptIn = file === undefined ? undefined : `${file}.mcp-port`
  const report = (error: unknown): void => ctx.logger.error(error)
  const served = await serveMcpEndpoint({
    endpoint: mcpEndpoint({ build: () => service.askServer(), report }),
    token,
    port: port ?? (keptIn === undefined ? undefined : await keptPort(keptIn)),
    report,
  })
  if (port !== undefined && port !== 0 && served.port !== port) {
    await served.close()
    throw new CommandError('INTERNAL', `port ${port} is taken; give another one with --mcp-port`)
  }
  if (keptIn !== undefined) await keepPort(keptIn, served.port)
  return served
}
