import {
  askByForm,
  AUTO_REPLY_MS,
  formReplySchema,
  oneAtATime,
  takesPerson,
  timeReply,
  withoutDefaults,
  type Form,
  type FormReply,
  type InTurn,
} from '@handraise/elicitation'
import {
  systemClock,
  UserQuestionError,
  type AskUserQuestionAnswer,
  type Clock,
  type ProviderRequest,
  type UserQuestionProvider,
} from '@handraise/user-questions/types'
import {
  ProtocolError,
  ProtocolErrorCode,
  type McpServer,
  type RequestId,
  type RequestOptions,
  type Server,
  type Transport,
} from '@modelcontextprotocol/server'
import { formAsksForSecret } from './form-secret.ts'

export interface McpElicitationOptions {
  /**
   * A form that is accepted or declined faster than this, in milliseconds, was so by the client and not by a person: no
   * dialog was shown. That is no answer, whatever was filled in, and no refusal. Default 300; 0 takes every reply as a
   * person's: for tests, and for clients that are people's own programs.
   */
  readonly autoDeclineMs?: number | undefined
  /** Names of clients (`clientInfo.name`) whose declines are never a person's, however long they take. Default none. */
  readonly neverDeclines?: readonly string[] | undefined
  /**
   * The client's request during which is asked, such as the call of the tool that runs the agent (`ctx.mcpReq.id`). Over
   * Streamable HTTP the form then goes out on that request's own stream; without it, on the client's general stream, which
   * not every client opens. No difference over stdio.
   */
  readonly relatedRequestId?: RequestId | ((request: ProviderRequest) => RequestId | undefined) | undefined
  /** Default: the system's. */
  readonly clock?: Clock | undefined
}

export type McpElicitationProvider = UserQuestionProvider & { readonly name: 'mcp' }

/** The first protocol version in which a server sends no requests. Versions are dates, in the order of their texts. */
const FIRST_WITHOUT_REQUESTS = '2026-07-28'

const METHOD_NOT_FOUND: number = ProtocolErrorCode.MethodNotFound

// The SDK's own limit is 60 s, and a person may think for longer: what ends a form is the request's signal.
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1

// A client has one screen, however many providers ask through it.
const queues = new WeakMap<Server, InTurn>()

const pinged = new WeakSet<Server>()

const outlasting = new WeakSet<Transport>()

const PING_TIMEOUT_MS = 1_000

/**
 * Asks through the client of an MCP server, by form elicitation (MCP 2025-06-18 to 2025-11-25), one form at a time, in the
 * order in which they were asked. For agents that are MCP servers themselves.
 *
 * `accept` is an answer once it keeps the answer rules, and is asked for again up to three times; `decline` is
 * `ASK_DECLINED`, `cancel` is `ASK_CANCELLED`. Ends `ASK_UNAVAILABLE`, reason `no-capable-client`, where the client
 * declares no form elicitation, speaks 2026-07-28 (there a server asks only by a result), is not connected, or accepts or
 * declines without having shown anything; reason `unsupported-question` for questions that ask for a password or another
 * secret, which no form may, and for what cannot be put as questions. A client that fills in defaults (`applyDefaults`) is
 * sent none. Whatever else goes wrong at the client is thrown as it is.
 * When the request is aborted the client is told to take the form down: on the stream of `relatedRequestId`, or, when that
 * request was answered meanwhile, on the client's general stream, if it has one open.
 */
export function mcpElicitationProvider(
  server: McpServer | Server,
  options: McpElicitationOptions = {},
): McpElicitationProvider {
  return elicitationProvider(server, options, takesPerson)
}

/** The same. `isPersonal` tells what only a person does with a form, so that the client itself did it when it comes too fast. */
export function elicitationProvider(
  server: McpServer | Server,
  options: McpElicitationOptions,
  isPersonal: (action: string) => boolean,
): McpElicitationProvider {
  const connection = 'server' in server ? server.server : server
  const { autoDeclineMs = AUTO_REPLY_MS, neverDeclines = [], clock = systemClock } = options

  async function elicit(request: ProviderRequest): Promise<AskUserQuestionAnswer> {
    assertCapable(connection)
    return askByForm(request.questions, 'folded', async form => {
      const shown = fillsIn(connection) ? withoutDefaults(form) : form
      const timing = { autoReplyMs: autoDeclineMs, clock }
      const { reply, isTooFast } = await timeReply(() => show(shown, request), timing)
      refuseAutomatic(reply, isTooFast)
      return reply
    })
  }

  // Not by `elicitInput`, which throws where content does not fit, before the person could be asked again.
  async function show(form: Form, request: ProviderRequest): Promise<FormReply> {
    const related = options.relatedRequestId
    const relatedRequestId = typeof related === 'function' ? related(request) : related
    const during = relatedRequestId === undefined ? {} : { relatedRequestId }
    takeFirstId(connection, during)
    outlastCalls(connection.transport)
    try {
      return await connection.request(
        { method: 'elicitation/create', params: { mode: 'form', ...form } },
        formReplySchema,
        { signal: request.signal, timeout: LONGEST_TIMEOUT_MS, ...during },
      )
    } catch (error) {
      if (request.signal.aborted) throw request.signal.reason
      throw isUnknownMethod(error) ? noCapableClient('the client cannot show a form', error) : error
    }
  }

  function refuseAutomatic({ action }: FormReply, isTooFast: boolean): void {
    const { name = '' } = connection.getClientVersion() ?? {}
    if ((isTooFast && isPersonal(action)) || (action === 'decline' && neverDeclines.includes(name))) {
      throw noCapableClient('the client replied by itself and showed nobody the question')
    }
  }

  return {
    name: 'mcp',
    async ask(request) {
      // Not queued: nobody is to wait for a form that cannot be shown.
      assertCapable(connection)
      if (request.questions.length === 0)
        throw unsupportedQuestion('what it is about cannot be put as questions')
      // An approval asks for a choice, whatever it is about.
      if (request.kind === undefined && formAsksForSecret(request.questions))
        throw unsupportedQuestion('no form may ask for a secret')
      let inTurn = queues.get(connection)
      if (inTurn === undefined) queues.set(connection, (inTurn = oneAtATime()))
      return inTurn(request.signal, () => elicit(request))
    },
  }
}

// Clients on the first SDK (1.x) cannot be told to take down the request with the id 0, which the first of a connection
// has: a ping takes it, so that no form does. Whether it is answered does not matter.
function takeFirstId(connection: Server, during: RequestOptions): void {
  if (pinged.has(connection)) return
  pinged.add(connection)
  const ping = async (): Promise<unknown> =>
    connection.request({ method: 'ping' }, { timeout: PING_TIMEOUT_MS, ...during })
  ping().catch(() => {})
}

// The SDK tells a client to take a form down on the stream of the call during which it was asked, also when that call was
// answered and its stream has ended with it. Over Streamable HTTP a message on such a stream is refused.
function outlastCalls(transport: Transport | undefined): void {
  if (transport === undefined || outlasting.has(transport)) return
  outlasting.add(transport)
  const send: Transport['send'] = transport.send.bind(transport)
  transport.send = async (message, options) => {
    try {
      await send(message, options)
    } catch (error) {
      const takesDown = 'method' in message && message.method === 'notifications/cancelled'
      if (!takesDown || options?.relatedRequestId === undefined) throw error
      await send(message)
    }
  }
}

function assertCapable(connection: Server): void {
  if (connection.transport === undefined) throw noCapableClient('no client is connected')
  if ((connection.getNegotiatedProtocolVersion() ?? '') >= FIRST_WITHOUT_REQUESTS) {
    throw noCapableClient(
      'in the protocol version of the client a server asks only by a result: pause the tool instead',
    )
  }
  const declared = connection.getClientCapabilities()?.elicitation
  // Without any mode it means forms: what it was before there were modes.
  if (declared === undefined || (declared.form === undefined && declared.url !== undefined)) {
    throw noCapableClient('the client declares no form elicitation')
  }
}

// Such a client fills in what the person left empty, and also where there is no person.
function fillsIn(connection: Server): boolean {
  return connection.getClientCapabilities()?.elicitation?.form?.applyDefaults ?? false
}

function isUnknownMethod(error: unknown): boolean {
  return error instanceof ProtocolError && error.code === METHOD_NOT_FOUND
}

function unsupportedQuestion(advice: string): UserQuestionError<'ASK_UNAVAILABLE'> {
  return new UserQuestionError('ASK_UNAVAILABLE', { reason: 'unsupported-question', advice })
}

function noCapableClient(advice: string, cause?: unknown): UserQuestionError<'ASK_UNAVAILABLE'> {
  return new UserQuestionError(
    'ASK_UNAVAILABLE',
    { reason: 'no-capable-client', advice },
    ...(cause === undefined ? [] : [{ cause }]),
  )
}
