import { UserQuestionError } from '@handraise/user-questions/types'
import type { AgentContext } from '@agentclientprotocol/sdk'

/** The editor as an agent reaches it: `connection.client`, or the `client` of a handler. */
export type AcpClient = Pick<AgentContext, 'request'>

/** How a request is sent: told to stop by the signal, and then not waited for, whatever the client does. */
export function stoppable(cancellationSignal: AbortSignal): {
  cancellationSignal: AbortSignal
  stopWaitingOnCancel: true
} {
  return { cancellationSignal, stopWaitingOnCancel: true }
}

/** JSON-RPC, and ACP's own code for a request that was cancelled. */
const METHOD_NOT_FOUND = -32601
const REQUEST_CANCELLED = -32800

/** What an ask ends with when a request to the client failed so. */
export function toEnding(error: unknown, signal: AbortSignal): unknown {
  // What says the same with more, such as what was answered before, is kept.
  if (signal.aborted) return error instanceof Error && error.cause === signal.reason ? error : signal.reason
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  if (code === METHOD_NOT_FOUND) return noCapableClient('the client has no place to show it', error)
  if (code === REQUEST_CANCELLED) {
    return new UserQuestionError('ASK_CANCELLED', { reason: 'the client cancelled it' }, { cause: error })
  }
  return error
}

export function shownToNobody(): UserQuestionError<'ASK_UNAVAILABLE'> {
  return noCapableClient('the client answered by its settings and showed nobody the question')
}

/** The client shows questions, and cannot show this one. */
export function unsupportedQuestion(advice: string): UserQuestionError<'ASK_UNAVAILABLE'> {
  return new UserQuestionError('ASK_UNAVAILABLE', { reason: 'unsupported-question', advice })
}

export function noCapableClient(advice: string, cause?: unknown): UserQuestionError<'ASK_UNAVAILABLE'> {
  const details = { reason: 'no-capable-client', advice } as const
  return new UserQuestionError('ASK_UNAVAILABLE', details, ...(cause === undefined ? [] : [{ cause }]))
}
