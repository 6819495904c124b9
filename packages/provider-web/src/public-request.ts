import type { Inbox, InboxRequest } from '@handraise/inbox'
import type { PublicRequest } from './schemas.ts'

/** A request as clients see it. A kind that throws is reported, and the request is shown without its questions. */
export function toPublic(
  inbox: Inbox,
  request: InboxRequest,
  report: (error: unknown) => void,
): PublicRequest {
  const { id, kind, key, session, agent, openedAt, deadlineAt, payload, settlement } = request
  const questions = questionsOf(inbox, request, report)
  return {
    id,
    kind,
    ...(key === undefined ? {} : { key }),
    ...(session === '' ? {} : { session }),
    ...(agent === undefined ? {} : { agent }),
    openedAt,
    ...(deadlineAt === undefined ? {} : { deadline: deadlineAt }),
    payload,
    ...(questions === undefined ? {} : { questions: questions as PublicRequest['questions'] }),
    ...(settlement === undefined ? {} : { settlement }),
  }
}

export function questionsOf(inbox: Inbox, request: InboxRequest, report: (error: unknown) => void) {
  try {
    return inbox.kindOf(request)?.asQuestions(request.payload)
  } catch (error) {
    report(error)
    return undefined
  }
}
