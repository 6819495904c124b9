import { setMaxListeners } from 'node:events'
import {
  isSettled,
  StoreError,
  toQuestionsPayload,
  type InboxRequest,
  type InboxService,
  type SettledRequest,
} from '@handraise/inbox'
import { canonicalJson, type Clock } from '@handraise/user-questions/types'
import type { CallToolResult, McpServer, RegisteredTool } from '@modelcontextprotocol/server'
import { Answering } from './ask-tool-answering.ts'
import {
  askToolDescription,
  askToolInput,
  askToolName,
  askToolOutput,
  readAskCall,
  type AskCall,
} from './ask-tool-arguments.ts'
import { callerOf, type Caller } from './ask-tool-caller.ts'
import { ClientForms } from './ask-tool-clients.ts'
import { readPausedAsk, type PausedAsk } from './ask-tool-form.ts'
import { settingsOf, type AskToolOptions, type AskToolSettings } from './ask-tool-options.ts'
import { PageNotice } from './ask-tool-page.ts'
import { AskedRequests } from './ask-tool-requests.ts'
import {
  failedResult,
  isWaiting,
  otherQuestionsResult,
  refusedResult,
  settledResult,
  unknownResult,
} from './ask-tool-result.ts'
import type { PauseContext } from './pause/handlers.ts'
import type { InputRequired } from './pause/input-required.ts'
import type { Pauses } from './pause/pauses.ts'

export interface AskToolDeps {
  readonly inbox: InboxService
  readonly pauses: Pauses
  readonly clock: Clock
  readonly report: (error: unknown) => void
}

/** `ask_user_question` for the clients of MCP servers, over the inbox. One of these serves any number of servers. */
export class AskTool {
  /** To be registered with the seam. */
  readonly forms: ClientForms
  private readonly pauses: Pauses
  private readonly settings: AskToolSettings
  private readonly page: PageNotice
  private readonly requests: AskedRequests
  private readonly answering: Answering
  private readonly hurry = new AbortController()
  private readonly running = new Set<Promise<unknown>>()

  constructor({ inbox, pauses, clock, report }: AskToolDeps, options: AskToolOptions) {
    this.pauses = pauses
    this.settings = settingsOf(options)
    this.forms = new ClientForms(report)
    this.page = new PageNotice(options.page, report)
    const ended = (id: string): void => this.page.forget(id)
    this.requests = new AskedRequests({ inbox, forms: this.forms, ended, report })
    // Every call that waits listens to it.
    setMaxListeners(0, this.hurry.signal)
    this.answering = new Answering({
      requests: this.requests,
      forms: this.forms,
      page: this.page,
      settings: this.settings,
      clock,
      hurry: this.hurry.signal,
      report,
    })
  }

  /** Withdraws what nobody can come back for since its host is gone. */
  async start(): Promise<void> {
    await this.requests.start()
  }

  register(server: McpServer): RegisteredTool {
    const config = {
      title: 'Ask the user',
      description: askToolDescription,
      inputSchema: askToolInput,
      outputSchema: askToolOutput,
      annotations: { readOnlyHint: true, openWorldHint: false },
    }
    const takeUp = (ctx: PauseContext): Promise<unknown> => this.run(this.takeUp(server, ctx))
    const late = (ctx: PauseContext): Promise<unknown> => this.run(this.late(server, ctx))
    const joined = (requestState: unknown): (() => void) => this.join(readPausedAsk(requestState))
    const pausable = { ...config, takeUp, late, joined, isOpen: isWaiting }
    return this.pauses.registerTool(server, askToolName, pausable, (raw, ctx) =>
      this.run(this.call(server, raw, ctx)),
    )
  }

  /** Lets `close` wait for it. */
  private run<T>(running: Promise<T>): Promise<T | CallToolResult> {
    this.running.add(running)
    const told = running.catch((error: unknown) => {
      if (!StoreError.isInstance(error)) throw error
      return failedResult('', error)
    })
    return told.finally(() => this.running.delete(running))
  }

  /** Lets every call return that it waits still. What was asked stays, for whoever comes back for it. */
  async close(): Promise<void> {
    this.hurry.abort()
    await Promise.allSettled(this.running)
    this.answering.close()
    this.requests.close()
  }

  private async call(
    server: McpServer,
    raw: unknown,
    ctx: PauseContext,
  ): Promise<CallToolResult | InputRequired> {
    const caller = callerOf(server, ctx, this.settings.principal)
    const paused = readPausedAsk(ctx.requestState)
    const leave = this.join(paused)
    try {
      const asked: AskCall =
        paused === undefined
          ? await readAskCall(raw)
          : { kind: 'again', id: paused.request, questions: undefined }
      const found = await this.find(asked, caller)
      if ('content' in found) return found
      if (isSettled(found)) return await this.settled(found)
      const told = paused?.told ?? (asked.kind === 'again' || caller.key !== undefined)
      return await this.answering.answer({ request: found, caller, server, ctx, told, paused, leave })
    } finally {
      leave()
    }
  }

  /** A pause ended without what its client sent being used: the request is taken up as by its id. */
  private async takeUp(server: McpServer, ctx: PauseContext): Promise<CallToolResult> {
    const caller = callerOf(server, ctx, this.settings.principal)
    const paused = readPausedAsk(ctx.requestState)
    if (paused === undefined) throw new Error('the state of a pause of this tool names no request')
    const leave = this.join(paused)
    try {
      const request = await this.requests.known(paused.request, caller.session)
      if (request === undefined) return unknownResult(paused.request)
      if (isSettled(request)) return await this.settled(request)
      const { told } = paused
      return await this.answering.takeUp({ request, caller, server, ctx, told, paused, leave })
    } finally {
      leave()
    }
  }

  /** A form came back too late: what it asked is asked again, unless it was settled meanwhile. Nothing when it is not known any more. */
  private async late(
    server: McpServer,
    ctx: PauseContext,
  ): Promise<CallToolResult | InputRequired | undefined> {
    const caller = callerOf(server, ctx, this.settings.principal)
    const paused = readPausedAsk(ctx.requestState)
    if (paused === undefined) return undefined
    const leave = this.join(paused)
    try {
      const request = await this.requests.known(paused.request, caller.session)
      if (request === undefined) return undefined
      if (isSettled(request)) return await this.settled(request)
      const { told } = paused
      return await this.answering.answer({ request, caller, server, ctx, told, paused: undefined, leave })
    } finally {
      leave()
    }
  }

  /** Counts a call as one that waits for what its pause is about. */
  private join(paused: PausedAsk | undefined): () => void {
    return paused === undefined ? () => {} : this.requests.join(paused.request)
  }

  private async settled(request: SettledRequest): Promise<CallToolResult> {
    this.page.forget(request.id)
    return await settledResult(request)
  }

  /** The request that the call is about; else the result that says why there is none. */
  private async find(asked: AskCall, caller: Caller): Promise<InboxRequest | CallToolResult> {
    if (asked.kind === 'refused') return refusedResult(asked.result)
    const { questions } = asked
    if (asked.kind === 'again') {
      const request = await this.requests.known(asked.id, caller.session)
      if (request === undefined) return unknownResult(asked.id)
      const isSame =
        questions === undefined ||
        canonicalJson(request.payload) === canonicalJson(toQuestionsPayload(questions))
      return isSame ? request : otherQuestionsResult(asked.id)
    }
    const { session, key } = caller
    const untold = key === undefined && !this.answering.carries(caller, asked.questions)
    try {
      return await this.requests.open({ questions: asked.questions, session, key, untold })
    } catch (error) {
      return await failedResult('', error)
    }
  }
}
