import { randomBytes } from 'node:crypto'
import { MemoryStore, type InboxStore, type JsonValue } from '@handraise/inbox'
import { systemClock, type Clock } from '@handraise/user-questions'
import {
  CLIENT_CAPABILITIES_META_KEY,
  type CallToolResult,
  type ClientCapabilities,
  type GetPromptResult,
  type McpServer,
  type PromptCallback,
  type ReadResourceCallback,
  type ReadResourceResult,
  type ReadResourceTemplateCallback,
  type RegisteredPrompt,
  type RegisteredResource,
  type RegisteredResourceTemplate,
  type RegisteredTool,
  type ResourceTemplate,
  type ServerContext,
  type StandardSchemaWithJSON,
  type ToolCallback,
} from '@modelcontextprotocol/server'
import type { PausableMethod } from './call-target.ts'
import type {
  PausablePrompt,
  PausableResource,
  PausableTemplate,
  PausableTool,
  PauseContext,
  PromptConfig,
  ResourceConfig,
  ToolConfig,
} from './handlers.ts'
import { findKeyFile, readKeyFile } from './key-file.ts'
import { readKeyRecord } from './key-record.ts'
import { Ledger, type PauseOutcome } from './ledger.ts'
import { given, handlerOf, inOrder, type Received } from './official-callback.ts'
import { resultOf } from './outcome-result.ts'
import type { EndedPause } from './pause-ending.ts'
import { checkPrincipal, principalOf, type PrincipalOption } from './principal.ts'
import { RefusedState, resultThatThrows } from './refused-state.ts'
import { Rounds } from './rounds.ts'
import { Seal } from './seal.ts'
import { toldError } from './told-error.ts'
import { toToolEnding, toToolResult } from './tool-result.ts'

export interface PausesOptions {
  /** Where it is kept which pauses were answered, and what came of it. Default: in memory, as lasting as this process. */
  readonly store?: InboxStore | undefined
  /**
   * What states are sealed with: at least 32 bytes, the same wherever and whenever a state may come back. Default: random, as
   * lasting as this process. A store that lasts longer needs a key that does: `openPauses` keeps one in a file.
   */
  readonly key?: Uint8Array | undefined
  /**
   * Who asks. A name stands for everybody whose request carries no verified token, as on stdio; those with one are told apart
   * by its client and by `extra.sub`. Or tells it from the request. Default `local`.
   */
  readonly principal?: PrincipalOption | undefined
  /**
   * What server it is, by a name, or told from the server. One of these for several servers (one for each tenant, say, or for
   * staging and production) needs it, and so do several that share a key: without it, what one server asked can be answered
   * to another one that has a tool of the same name. Default: all servers are the same.
   */
  readonly scope?: string | ((server: McpServer) => string) | undefined
  /** How long a person may take, in milliseconds, finite. A later answer is not used, and the question is asked again. Default 7 days. */
  readonly ttlMs?: number | undefined
  /** How long a repeated answer waits for what another process makes of the first one, in milliseconds. Default 10,000. */
  readonly patienceMs?: number | undefined
  /** Default: the system's. */
  readonly clock?: Clock | undefined
  /** Told what went wrong in what nobody waits for. Default: nobody. */
  readonly report?: ((error: unknown) => void) | undefined
}

const TTL_MS = 7 * 24 * 60 * 60 * 1_000
const PATIENCE_MS = 10_000

/** What was called, and how it is run. */
interface Incoming {
  readonly server: McpServer
  readonly ctx: ServerContext
  readonly method: PausableMethod
  readonly name: string
  readonly args: unknown
  readonly acceptUnasked: boolean
  readonly ended: ((pause: EndedPause) => unknown) | undefined
  readonly handle: (ctx: PauseContext) => unknown
  readonly takeUp?: ((ctx: PauseContext) => unknown) | undefined
  readonly isOpen?: ((value: unknown) => boolean) | undefined
  readonly joined?: ((requestState: JsonValue | undefined) => () => void) | undefined
  readonly late?: ((ctx: PauseContext) => unknown) | undefined
  /** Default: what the handler came to, as it is. */
  readonly toResult?: ((value: unknown) => unknown) | undefined
}

/**
 * Tools, prompts and resources that may pause for a person: each is registered here instead of on the official server, and may
 * return `inputRequired(…)`. Clients of MCP 2026-07-28 come back with the answer by themselves; clients of 2025 are asked
 * through the official server's shim. One of these serves any number of servers, also those that are made anew for each request.
 *
 * What it promises: an answer counts only with the state it was asked with, which its carrier can neither read nor change, for
 * the same principal, tool and arguments, and in time; and what a handler does with its answers it does once. A repeated answer
 * gets what the first one came to, which is kept in the store as it was sent until the pause would have expired.
 *
 * What it cannot promise: that the world is as it was. Days may lie between a question and its answer, so a handler acts on
 * `ctx.requestState`, where it put what the person was asked about, and not on what it reads again: they agreed to delete the
 * three rows they were told of, not those that are there now.
 *
 * A server that checks states of its own (`requestState.verify`) must let these through unchanged: they begin with `hr1.`, and
 * are checked here.
 */
export class Pauses {
  private readonly rounds: Rounds
  private readonly principal: PrincipalOption
  private readonly scope: PausesOptions['scope']

  constructor({
    store,
    key,
    principal = 'local',
    scope,
    ttlMs = TTL_MS,
    patienceMs = PATIENCE_MS,
    clock = systemClock,
    report = () => {},
  }: PausesOptions = {}) {
    if (store !== undefined && key === undefined)
      throw new TypeError('a store needs a key that lasts as long: give one, or a keyFile to openPauses()')
    if (!(ttlMs > 0 && Number.isFinite(ttlMs)))
      throw new RangeError(`ttlMs must be finite and more than 0, not ${ttlMs}`)
    if (!(patienceMs >= 0)) throw new RangeError(`patienceMs must be at least 0, not ${patienceMs}`)
    checkPrincipal(principal)
    this.principal = principal
    this.scope = scope
    const ledger = new Ledger({ store: store ?? new MemoryStore(), clock, patienceMs, report })
    this.rounds = new Rounds({ seal: new Seal(key ?? randomBytes(32)), ledger, clock, ttlMs, report })
  }

  /** As `server.registerTool`, for a handler that may pause. */
  registerTool<Input extends StandardSchemaWithJSON | undefined = undefined>(
    server: McpServer,
    name: string,
    { acceptUnasked = false, ended, takeUp, isOpen, joined, late, ...config }: ToolConfig<Input>,
    handler: PausableTool<Input>,
  ): RegisteredTool {
    const callback = async (...[args, ctx]: Received): Promise<CallToolResult> => {
      const handle = handlerOf(handler, config.inputSchema, args)
      try {
        const outcome = await this.enter({
          server,
          method: 'tools/call',
          name,
          args,
          ctx,
          acceptUnasked,
          ended,
          handle,
          takeUp,
          isOpen,
          joined,
          late,
          toResult: toToolResult,
        })
        return (outcome.kind === 'ended' ? toToolEnding(outcome) : resultOf(outcome)) as CallToolResult
      } catch (error) {
        if (error instanceof RefusedState) return resultThatThrows(error)
        throw error
      }
    }
    return server.registerTool(name, given(config), inOrder(callback) as ToolCallback<Input>)
  }

  /** As `server.registerPrompt`, for a handler that may pause. */
  registerPrompt<Args extends StandardSchemaWithJSON | undefined = undefined>(
    server: McpServer,
    name: string,
    { acceptUnasked = false, ended, ...config }: PromptConfig<Args>,
    handler: PausablePrompt<Args>,
  ): RegisteredPrompt {
    const callback = async (...[args, ctx]: Received): Promise<GetPromptResult> => {
      const handle = handlerOf(handler, config.argsSchema, args)
      const method = 'prompts/get'
      const outcome = await this.enter({
        server,
        method,
        name,
        args,
        ctx,
        acceptUnasked,
        ended,
        handle,
      })
      return resultOf(outcome) as GetPromptResult
    }
    return server.registerPrompt(
      name,
      given(config) as { argsSchema: StandardSchemaWithJSON },
      inOrder(callback) as PromptCallback<StandardSchemaWithJSON>,
    )
  }

  /** As `server.registerResource`, for a handler that may pause. */
  registerResource(
    server: McpServer,
    name: string,
    uri: string,
    config: ResourceConfig,
    handler: PausableResource,
  ): RegisteredResource
  registerResource(
    server: McpServer,
    name: string,
    template: ResourceTemplate,
    config: ResourceConfig,
    handler: PausableTemplate,
  ): RegisteredResourceTemplate
  registerResource(
    server: McpServer,
    name: string,
    uriOrTemplate: string | ResourceTemplate,
    { acceptUnasked = false, ended, ...config }: ResourceConfig,
    handler: PausableResource | PausableTemplate,
  ): RegisteredResource | RegisteredResourceTemplate {
    const read = async (
      uri: URL,
      ctx: ServerContext,
      handle: (ctx: PauseContext) => unknown,
    ): Promise<ReadResourceResult> => {
      const method = 'resources/read'
      const args = uri.href
      const outcome = await this.enter({
        server,
        method,
        name,
        args,
        ctx,
        acceptUnasked,
        ended,
        handle,
      })
      return resultOf(outcome) as ReadResourceResult
    }
    if (typeof uriOrTemplate === 'string') {
      const readOne: ReadResourceCallback = (uri, ctx) =>
        read(uri, ctx, pausing => (handler as PausableResource)(uri, pausing))
      return server.registerResource(name, uriOrTemplate, config, readOne)
    }
    const readAny: ReadResourceTemplateCallback = (uri, variables, ctx) =>
      read(uri, ctx, pausing => (handler as PausableTemplate)(uri, variables, pausing))
    return server.registerResource(name, uriOrTemplate, config, readAny)
  }

  private async enter(incoming: Incoming): Promise<PauseOutcome> {
    const { server, ctx, method, name, args, acceptUnasked, handle } = incoming
    const { toResult = value => value, ended = () => {}, takeUp, isOpen, joined, late } = incoming
    const { mcpReq, http } = ctx
    // Each request of 2026-07-28 brings its own; a client of 2025 declared them when it connected.
    const envelope: { readonly [key: string]: unknown } | undefined = mcpReq.envelope
    const clientCapabilities =
      (envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined) ??
      server.server.getClientCapabilities()
    // What the client sent, unchecked, stays here.
    const { inputResponses: sent, droppedInputResponseKeys: _, ...rest } = mcpReq
    const checked = {
      ...ctx,
      mcpReq: { ...rest, requestState: () => undefined as never },
      clientCapabilities,
    }
    try {
      const state: unknown = mcpReq.requestState()
      if (state !== undefined && typeof state !== 'string')
        throw new RefusedState('a requestState.verify of the server itself took it for one of its own')
      return await this.rounds.enter(
        {
          method,
          name,
          args,
          acceptUnasked,
          state,
          principal: principalOf(this.principal, ctx),
          scope: scopeOf(this.scope, server),
          sent,
          signal: http?.req === undefined ? mcpReq.signal : AbortSignal.any([mcpReq.signal, http.req.signal]),
        },
        {
          run: known => handle({ ...checked, ...known }),
          takeUp: takeUp && (known => takeUp({ ...checked, ...known })),
          isOpen,
          joined,
          late: late && (known => late({ ...checked, ...known })),
          toResult,
          ended,
        },
      )
    } catch (error) {
      if (error instanceof RefusedState)
        server.server.onerror?.(new Error(`requestState of ${method} ${name} refused: ${error.why}`))
      throw toldError(error)
    }
  }
}

function scopeOf(option: PausesOptions['scope'], server: McpServer): string | undefined {
  if (typeof option !== 'function') return option
  const told: unknown = option(server)
  // No server in particular would be the same as the next one.
  if (typeof told !== 'string' || told === '') throw new TypeError('the scope of a server is not known')
  return told
}

export interface OpenPausesOptions extends Omit<PausesOptions, 'key'> {
  /**
   * The file with the key, such as `/srv/agent/inbox.mcp-key` beside the database: made when it is missing, readable by its
   * owner alone. Whoever can read it can answer in any person's place. One for each server: what was asked by one with the
   * same key, `scope` and tool could be answered to another.
   *
   * With `keyInStore` it is never made: the key of one that is there is taken over by a store that has none yet.
   */
  readonly keyFile?: string | undefined
  /**
   * Keeps the key in the store instead, for several hosts that share one: a pause of one is then redeemed on every other.
   * Whoever can read the store can then answer in any person's place. Default false.
   */
  readonly keyInStore?: boolean | undefined
}

/**
 * Pauses that outlive this process: the key is in the file, or in the store, and what was answered in the store. Rejects with
 * `PauseError` `KEY_EXPOSED` when others may read or change the file, `KEY_UNREADABLE` for one that is none or cannot be used.
 * To change the key, remove the file, or the record, and start anew: what was asked before is then refused when it is
 * answered, and has to be called again.
 */
export async function openPauses({
  keyFile,
  keyInStore = false,
  ...options
}: OpenPausesOptions): Promise<Pauses> {
  return new Pauses({ ...options, key: await chooseKey(options.store, keyFile, keyInStore) })
}

async function chooseKey(
  store: InboxStore | undefined,
  keyFile: string | undefined,
  keyInStore: boolean,
): Promise<Uint8Array> {
  if (keyInStore) {
    if (store === undefined) throw new TypeError('a key that is kept in the store needs one')
    return readKeyRecord(store, async () => (keyFile === undefined ? undefined : findKeyFile(keyFile)))
  }
  if (keyFile === undefined) throw new TypeError('name the file of the key, or keep it in the store')
  return readKeyFile(keyFile)
}
