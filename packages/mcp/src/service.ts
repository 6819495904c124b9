import type {} from '@handraise/inbox'
import type {} from '@handraise/user-questions'
import { McpServer, type RegisteredTool } from '@modelcontextprotocol/server'
import { Service, type Context } from 'cordis'
import manifest from '../package.json' with { type: 'json' }
import { AskTool } from './ask-tool.ts'
import type { AskToolOptions } from './ask-tool-options.ts'
import { openPauses, Pauses } from './pause/pauses.ts'

declare module 'cordis' {
  interface Context {
    mcp: McpService
  }
}

export interface McpConfig extends AskToolOptions {
  /**
   * The file with the key that pauses are sealed with, as for `openPauses`. Default: none, and what clients of 2026-07-28 have
   * been asked cannot be answered to another process.
   */
  readonly keyFile?: string | undefined
  /** Keeps that key in the store of the inbox instead, for all hosts that share it, as for `openPauses`. Default false. */
  readonly keyInStore?: boolean | undefined
}

/** As long as the inbox keeps what was settled. */
const PAUSE_TTL_MS = 30 * 24 * 60 * 60 * 1_000

/**
 * `ctx.mcp`: offers `ask_user_question` to clients of MCP. Every question is in the inbox, beside whatever else is asked there;
 * the first answer wins, in the client or on any surface.
 */
export class McpService extends Service {
  static readonly inject = ['inbox', 'userQuestions']

  private readonly config: McpConfig
  private tool: AskTool | undefined

  constructor(ctx: Context, config: McpConfig = {}) {
    super(ctx, 'mcp')
    this.config = config
  }

  async *[Service.init](): AsyncGenerator<() => unknown, void, void> {
    const { ctx, config } = this
    const { inbox } = ctx
    const { clock, store } = inbox.core
    const report = (error: unknown): void => ctx.logger.error(error)
    const { principal, keyFile, keyInStore = false } = config
    const kept = { principal, clock, report, ttlMs: PAUSE_TTL_MS }
    const outlives = keyFile !== undefined || keyInStore
    const pauses = outlives ? await openPauses({ ...kept, store, keyFile, keyInStore }) : new Pauses(kept)
    const tool = new AskTool({ inbox, pauses, clock, report }, config)
    await tool.start()
    this.tool = tool
    yield ctx.userQuestions.registerProvider(tool.forms)
    yield () => tool.close()
  }

  /** Offers the tool on a server, beside whatever else it offers. */
  registerAskTool(server: McpServer): RegisteredTool {
    if (this.tool === undefined) throw new Error('ctx.mcp has not started yet')
    return this.tool.register(server)
  }

  /** A server that offers the tool alone: what `mcpEndpoint` and `serveMcpOverStdio` are given. */
  askServer(): McpServer {
    const server = new McpServer({ name: 'handraise', version: manifest.version })
    this.registerAskTool(server)
    return server
  }
}
