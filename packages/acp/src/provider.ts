import {
  askByForm,
  AUTO_REPLY_MS,
  formReplySchema,
  oneAtATime,
  takesPerson,
  timeReply,
  type Form,
  type InTurn,
} from '@handraise/elicitation'
import { methods, type ClientCapabilities } from '@agentclientprotocol/sdk'
import { APPROVAL, readPayload } from '@handraise/user-approvals'
import {
  systemClock,
  UserQuestionError,
  type AskUserQuestionAnswer,
  type Clock,
  type ProviderRequest,
  type Question,
  type UserQuestionProvider,
} from '@handraise/user-questions/types'
import { askChoices, askPermission } from './ask-permission.ts'
import {
  noCapableClient,
  shownToNobody,
  stoppable,
  toEnding,
  unsupportedQuestion,
  type AcpClient,
} from './client.ts'
import { MARKDOWN } from './markdown.ts'
import { isChoice, offerApproval } from './permission.ts'

export interface AcpOptions {
  /** The session whose editor window asks, or which it is for a request; without one nobody is asked. */
  readonly sessionId: string | ((request: ProviderRequest) => string | undefined)
  /**
   * What the client declared: the `clientCapabilities` of its `initialize`. Only `elicitation.form` is looked at, and
   * `elicitation: {}` declares nothing (unlike MCP). Default: nothing.
   */
  readonly capabilities?: Pick<ClientCapabilities, 'elicitation'> | null | undefined
  /** The tool call during which is asked. Default: that of the approval, else the key, which the ask tool makes of it. */
  readonly toolCallId?: ((request: ProviderRequest) => string | undefined) | undefined
  /**
   * What comes faster than this, in milliseconds, was replied by the editor's settings and not by a person: a form that is
   * accepted or declined, an option that is chosen. It counts for an approval that is not protected, and there only for a
   * choice that lasts once. Default 300; 0 takes every reply as a person's.
   */
  readonly autoAnswerMs?: number | undefined
  /** Default: the system's. */
  readonly clock?: Clock | undefined
}

export type AcpProvider = UserQuestionProvider & {
  readonly name: 'acp'
  /**
   * To be called on `session/cancel`: everything asked in that session, or in all of them, ends `ASK_CANCELLED` at once,
   * shown, queued, or still on its way here, whether or not the client says so itself.
   */
  cancelSession(sessionId?: string): void
}

interface Session {
  readonly inTurn: InTurn
  readonly asks: Set<AbortController>
}

/**
 * Asks through the editor an agent runs under (ACP 1), one dialog of a session at a time. An approval is a permission
 * request; questions are a form where the client can show one; where it cannot, single choices are permission requests, one
 * after the other.
 *
 * Ends `ASK_UNAVAILABLE`, reason `unsupported-question`, for what cannot be shown so, and reason `no-capable-client` where
 * the client has no place to show anything or replied by itself; `ASK_DECLINED` and `ASK_CANCELLED` as the person does. What
 * is no answer is asked for again, three times at most. Whatever else goes wrong at the client is thrown as it is. When the
 * request is aborted the client is told to take the dialog down, and is not waited for.
 */
export function acpProvider(client: AcpClient, options: AcpOptions): AcpProvider {
  const { capabilities, autoAnswerMs = AUTO_REPLY_MS, clock = systemClock } = options
  const timing = { autoReplyMs: autoAnswerMs, clock }
  const sessions = new Map<string, Session>()
  // When each was cancelled last, and when all were, by `performance.now()`.
  const cancelledAt = new Map<string | undefined, number>()
  const hasForms = (capabilities?.elicitation?.form ?? undefined) !== undefined

  /** How the request is shown; throws where it cannot be. */
  function routeOf(
    request: ProviderRequest,
    sessionId: string,
  ): (signal: AbortSignal) => Promise<AskUserQuestionAnswer> {
    const { questions } = request
    const [question] = questions
    if (question === undefined) throw unsupportedQuestion('what it is about cannot be put as questions')
    const approval = request.kind === APPROVAL ? readPayload(request.payload) : undefined
    const toolCallId = options.toolCallId?.(request) ?? approval?.callId ?? request.key
    const scene = { client, sessionId, toolCallId: toolCallId ?? request.id, approval, timing }
    if (approval !== undefined && questions.length === 1) {
      const offer = offerApproval(approval, question)
      return async signal => ({ answers: [await askPermission(scene, question, offer, signal)] })
    }
    if (hasForms) return signal => askForm(questions, sessionId, toolCallId, signal)
    if (questions.every(isChoice)) return signal => askChoices(scene, questions, signal)
    throw unsupportedQuestion('the client declares no form elicitation, and only single choices go without')
  }

  function askForm(
    questions: readonly Question[],
    sessionId: string,
    toolCallId: string | undefined,
    signal: AbortSignal,
  ): Promise<AskUserQuestionAnswer> {
    const scope = { sessionId, ...(toolCallId === undefined ? {} : { toolCallId }) }
    const show = async (form: Form): Promise<unknown> => {
      const params = { mode: 'form', ...scope, ...form } as const
      const { reply, isTooFast } = await timeReply<unknown>(
        () => client.request(methods.client.elicitation.create, params, stoppable(signal)),
        timing,
      )
      if (isTooFast && takesPerson(formReplySchema.safeParse(reply).data?.action ?? '')) throw shownToNobody()
      return reply
    }
    return askByForm(questions, 'native', show, MARKDOWN)
  }

  async function inSession<T>(
    sessionId: string,
    outer: AbortSignal,
    task: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const session = sessions.get(sessionId) ?? { inTurn: oneAtATime(), asks: new Set() }
    sessions.set(sessionId, session)
    const controller = new AbortController()
    const signal = AbortSignal.any([outer, controller.signal])
    session.asks.add(controller)
    try {
      return await session.inTurn(signal, () => task(signal))
    } catch (error) {
      throw toEnding(error, signal)
    } finally {
      session.asks.delete(controller)
      if (session.asks.size === 0) sessions.delete(sessionId)
    }
  }

  return {
    name: 'acp',
    async ask(request) {
      const { sessionId: given } = options
      const sessionId = typeof given === 'function' ? given(request) : given
      if (sessionId === undefined) throw noCapableClient('it belongs to no session of this client')
      const { calledAt = Infinity } = request
      if ([sessionId, undefined].some(id => calledAt <= (cancelledAt.get(id) ?? -Infinity)))
        throw turnCancelled()
      // Not queued: nobody is to wait for what cannot be shown.
      const show = routeOf(request, sessionId)
      return inSession(sessionId, request.signal, show)
    },
    cancelSession(sessionId) {
      cancelledAt.set(sessionId, performance.now())
      const cancelled = turnCancelled()
      for (const [id, { asks }] of sessions) {
        if (sessionId !== undefined && id !== sessionId) continue
        for (const controller of asks) controller.abort(cancelled)
      }
    },
  }
}

function turnCancelled(): UserQuestionError {
  return new UserQuestionError('ASK_CANCELLED', { reason: 'the turn was cancelled' })
}
