import type { JsonValue } from '@handraise/inbox'
import type {
  CacheHint,
  ClientCapabilities,
  GetPromptResult,
  Icon,
  ReadResourceResult,
  ResourceMetadata,
  ScopeChallengeHandler,
  ServerContext,
  StandardSchemaWithJSON,
  ToolAnnotations,
  Variables,
} from '@modelcontextprotocol/server'
import type { InputResponses } from './accepted-content.ts'
import type { InputRequired } from './input-required.ts'
import type { EndedPause } from './pause-ending.ts'

/** The official server's context, and what a paused handler goes on with. */
export type PauseContext = ServerContext & {
  /** Every answer of this call so far; empty until something was asked and answered. Read it with `acceptedContent`. */
  readonly inputResponses: InputResponses
  /** What the handler gave with what it asked for last; nothing on the first run. */
  readonly requestState: JsonValue | undefined
  /** What the client declared: an agent that cannot ask by form has no `elicitation` here, or has `url` alone in it. */
  readonly clientCapabilities: ClientCapabilities | undefined
}

interface Listed {
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly icons?: Icon[] | undefined
  readonly scopeChallenge?: ScopeChallengeHandler | undefined
  readonly _meta?: Record<string, unknown> | undefined
}

interface Pausable {
  /**
   * Takes answers that come with the first call, before anything was asked, from whoever calls. Only for what a caller may
   * say for itself, such as a name; never for a permission, which a model could give itself then. Default false.
   */
  readonly acceptUnasked?: boolean | undefined
  /**
   * Told of every pause that ends without a result of the handler, before the client is, so that what the handler opened when
   * it asked, and noted in `requestState`, is closed: a card elsewhere, a lock. `declined`, `cancelled`, `answered` and
   * `unusable` are told once for a pause. `expired` and `started` may be told again, when the same answer comes again, and
   * `started` only once the process that it was started by is gone. Nothing is told of a pause that nobody comes back to.
   * What it rejects with is reported, and changes nothing. Default: nothing to close.
   */
  readonly ended?: ((pause: EndedPause) => unknown) | undefined
}

/** As `McpServer.registerTool` takes it. */
export interface ToolConfig<Input extends StandardSchemaWithJSON | undefined> extends Listed, Pausable {
  readonly inputSchema?: Input | undefined
  readonly outputSchema?: StandardSchemaWithJSON | undefined
  readonly annotations?: ToolAnnotations | undefined
  /**
   * What the call comes to instead of ending `unusable` or `started`, or of failing since its state is too large to be carried:
   * for a tool whose question is kept elsewhere, such as in an inbox, and can be answered there. Run with what the tool noted
   * in `requestState` and without answers, maybe more than once for a pause; `ended` is not told then. Default: it ends.
   */
  readonly takeUp?: ((ctx: PauseContext) => unknown) | undefined
  /**
   * With `takeUp`: true of what a call came to that only says that the question waits still. The same answer, sent again, then
   * runs `takeUp` instead of getting that. Default: of nothing.
   */
  readonly isOpen?: ((value: unknown) => boolean) | undefined
  /**
   * With `takeUp`: told of a call that waits for what another one with the same state comes to, by what the tool noted in
   * `requestState`. Returns what is told when it does so no more, which is right after `takeUp` has begun if it then runs.
   */
  readonly joined?: ((requestState: JsonValue | undefined) => () => void) | undefined
  /**
   * Runs instead of the handler when an answer came too late, with what the tool noted in `requestState` and without answers:
   * for a tool whose question may have been answered elsewhere. Returns as the handler does, or nothing, and the handler runs
   * from its top. Default: nothing.
   */
  readonly late?: ((ctx: PauseContext) => unknown) | undefined
}

/** As `McpServer.registerPrompt` takes it. */
export interface PromptConfig<Args extends StandardSchemaWithJSON | undefined> extends Listed, Pausable {
  readonly argsSchema?: Args | undefined
}

/** As `McpServer.registerResource` takes it. */
export type ResourceConfig = ResourceMetadata &
  Pausable & { cacheHint?: CacheHint; scopeChallenge?: ScopeChallengeHandler }

/**
 * Runs from its top in every round, so it does nothing that shows before it has its answers. It returns `inputRequired(…)`, a
 * tool result of MCP, or any plain data, which becomes one.
 */
export type PausableTool<Input extends StandardSchemaWithJSON | undefined> =
  Input extends StandardSchemaWithJSON
    ? (args: StandardSchemaWithJSON.InferOutput<Input>, ctx: PauseContext) => unknown
    : (ctx: PauseContext) => unknown

type Or<Result> = Result | InputRequired | Promise<Result | InputRequired>

export type PausablePrompt<Args extends StandardSchemaWithJSON | undefined> =
  Args extends StandardSchemaWithJSON
    ? (args: StandardSchemaWithJSON.InferOutput<Args>, ctx: PauseContext) => Or<GetPromptResult>
    : (ctx: PauseContext) => Or<GetPromptResult>

export type PausableResource = (uri: URL, ctx: PauseContext) => Or<ReadResourceResult>
export type PausableTemplate = (uri: URL, variables: Variables, ctx: PauseContext) => Or<ReadResourceResult>
