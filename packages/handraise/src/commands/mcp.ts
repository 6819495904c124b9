import { serveMcpOverStdio } from '@handraise/mcp'
import type { InboxStore } from '@handraise/inbox'
import { Context } from 'cordis'
import type { Writable } from 'node:stream'
import { chosenFile, isAddress, openHostStore, type DatabaseChoice } from '../database-file.ts'
import { endSoon } from '../end-soon.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { mountLog, type LogChoice } from '../mount-log.ts'
import { mountMcp, type McpChoice, type McpHost } from '../mount-mcp.ts'
import { mountStack } from '../mount-wire.ts'
import { pageWhenNeeded } from '../page-when-needed.ts'
import { untilStopped } from '../signals.ts'
import { takeStandardOutput } from '../standard-output.ts'
import { holdTrouble } from '../trouble.ts'

export interface McpOptions extends McpChoice, DatabaseChoice, LogChoice {
  /** Names who asks. */
  readonly principal?: string | undefined
  /** False: no browser is opened. */
  readonly open?: boolean | undefined
}

/** `handraise mcp`: offers the tool to the client of MCP that has started it, over standard input and output. */
export async function mcp(options: McpOptions): Promise<ExitCode> {
  const file = chosenFile(options)
  const output = takeStandardOutput()
  const store = await openHostStore(file, options.db)
  // Until here a signal ends the process: there is nothing to end in order.
  const stopped = untilStopped()
  const ctx = new Context()
  let host: McpHost | undefined
  let endLog = (): Promise<void> => Promise.resolve()
  const log = async (): Promise<void> => {
    endLog = await mountLog(ctx, options)
  }
  try {
    host = await mount(ctx, store, file, options, log)
    await serve(ctx, host, output, stopped)
  } finally {
    await host?.dispose()
    await endLog()
    await ctx.fiber.dispose()
    endSoon()
  }
  return EXIT.answered
}

async function mount(
  ctx: Context,
  store: InboxStore,
  file: string | undefined,
  options: McpOptions,
  log: () => Promise<void>,
): Promise<McpHost> {
  const tellTrouble = holdTrouble(ctx, line => process.stderr.write(line))
  await mountStack(ctx, store)
  await log()
  const { principal, open } = options
  const page = pageWhenNeeded(ctx, { file, open })
  const host = await mountMcp(ctx, options, { file, shared: isAddress(options.db), page, principal })
  tellTrouble()
  return host
}

async function serve(ctx: Context, host: McpHost, output: Writable, stopped: Promise<void>): Promise<void> {
  const connection = serveMcpOverStdio({
    build: () => host.service.askServer(),
    output,
    report: error => ctx.logger.warn(error),
  })
  await Promise.race([stopped, connection.ended])
  // After a signal calls that wait return now, and say how to go on. After the end of the input nobody hears that: they were
  // cancelled by then, and what nobody can come back for is withdrawn.
  await host.dispose()
  await connection.close()
}
