import { MemoryStore } from '@handraise/inbox'
import { mcpEndpoint, type McpEndpoint } from '@handraise/mcp'
import { InboxServerError, pageUrl, type InboxServer, type UpgradeHandler } from '@handraise/provider-web'
import * as providerWeb from '@handraise/provider-web'
import { acceptWebSocket } from '@handraise/wire'
import { Context } from 'cordis'
import { CommandError } from '../command-error.ts'
import {
  chosenFile,
  isAddress,
  ofStore,
  openDatabase,
  shownDatabase,
  type DatabaseChoice,
} from '../database-file.ts'
import { endInTime, endSoon } from '../end-soon.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { writeLine } from '../json-line.ts'
import { mountLog, type LogChoice } from '../mount-log.ts'
import { mountMcp, type McpChoice, type McpHost } from '../mount-mcp.ts'
import { mountNotices, type NoticeChoice } from '../mount-notices.ts'
import { mountStack, mountWire, type WireHost } from '../mount-wire.ts'
import { untilStopped } from '../signals.ts'
import { takeStandardOutput } from '../standard-output.ts'
import { holdTrouble } from '../trouble.ts'
import { viewersRoute } from '../viewers-route.ts'

export interface ServeOptions extends NoticeChoice, LogChoice, McpChoice, DatabaseChoice {
  readonly port?: number | undefined
  readonly json?: boolean | undefined
  /** Opens the page in a browser. */
  readonly open?: boolean | undefined
  /** The module of the agent that runs sessions here. */
  readonly agent?: string | undefined
}

/** `handraise serve`: keeps an inbox and serves it until it is told to stop. */
export async function serve(options: ServeOptions): Promise<ExitCode> {
  const { port, json, open, agent } = options
  const file = chosenFile(options)
  // What an agent prints is nothing this command says.
  const output = agent === undefined ? process.stdout : takeStandardOutput()
  const store = file === undefined ? new MemoryStore() : await openDatabase(file, options.db)
  // Until here a signal ends the process: there is nothing to end in order.
  let ended = (): void => {}
  const stopped = (async (): Promise<void> => {
    await untilStopped()
    // Nothing is waited for long: not a database that is away, and not what is still being set up.
    ended = endInTime()
  })()
  const ctx = new Context()
  const tellTrouble = holdTrouble(ctx, line => process.stderr.write(line))
  await mountStack(ctx, store)
  let server: InboxServer
  let wire: WireHost
  let mcp: McpHost
  let endpoint: McpEndpoint
  let endLog: () => Promise<void>
  try {
    // Before anybody can ask.
    endLog = await mountLog(ctx, options)
    await mountNotices(ctx, options, process.stderr)
    wire = await mountWire(ctx, { agent, file, adopt: true })
    const { service } = (mcp = await mountMcp(ctx, options, {
      file,
      shared: isAddress(options.db),
      page: () => server.url,
    }))
    endpoint = mcpEndpoint({ build: () => service.askServer(), report: error => ctx.logger.error(error) })
    server = await listen(ctx, { file, port, wire, endpoint })
    const kept = file === undefined ? undefined : shownDatabase(options.db, file)
    announce(output, { server, kept }, json === true)
  } catch (error) {
    await ctx.fiber.dispose()
    endSoon()
    if (InboxServerError.isInstance(error))
      throw new CommandError('INTERNAL', error.message, { cause: error })
    throw ofStore(error) ?? error
  }
  tellTrouble()
  if (open === true) void (await import('../open-page.ts')).openPage(pageUrl(server))
  await stopped
  // Calls that wait return first, and say how to go on.
  await mcp.dispose()
  await endpoint.close()
  // The server waits for what is connected to it.
  await wire.dispose()
  await endLog()
  await ctx.fiber.dispose()
  ended()
  endSoon()
  return EXIT.answered
}

interface Serving {
  readonly file: string | undefined
  readonly port: number | undefined
  readonly wire: WireHost
  readonly endpoint: McpEndpoint
}

async function listen(ctx: Context, { file, port, wire, endpoint }: Serving): Promise<InboxServer> {
  const stateFile = file === undefined ? {} : { stateFile: `${file}.server.json` }
  const toWire: UpgradeHandler = async (request, socket, head) => {
    await wire.service.serve(await acceptWebSocket(request, socket, head))
  }
  let listening: InboxServer | undefined
  await ctx.plugin(providerWeb, {
    ...stateFile,
    ...(port === undefined ? {} : { port }),
    upgrades: { '/wire': toWire },
    routes: { '/mcp': request => endpoint.fetch(request), ...viewersRoute(() => listening) },
    onListening: server => (listening = server),
  })
  if (listening === undefined) throw new Error('the server does not say where it listens')
  return listening
}

interface Listening {
  readonly server: InboxServer
  /** Where requests are kept; nowhere for an inbox in memory. */
  readonly kept: string | undefined
}

function announce(output: NodeJS.WritableStream, { server, kept }: Listening, asJson: boolean): void {
  const { url, token } = server
  const page = pageUrl(server)
  const mcp = new URL('mcp', url).href
  const wire = Object.assign(new URL('wire', url), { protocol: 'ws:' }).href
  if (asJson) {
    writeLine(output, { url, token, page, wire, mcp })
    return
  }
  output.write(
    [
      `inbox:  ${url}`,
      `token:  ${token}`,
      `page:   ${page}`,
      `wire:   ${wire}`,
      `mcp:    ${mcp}`,
      `kept:   ${kept ?? 'in memory, until this process ends'}`,
      'Ctrl-C stops it; what has a key stays.',
      '',
    ].join('\n'),
  )
}
