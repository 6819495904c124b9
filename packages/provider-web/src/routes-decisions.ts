import { isSettled, type Decision, type Inbox, type InboxRequest } from '@handraise/inbox'
import { InboxError, QUESTIONS } from '@handraise/inbox'
import { readTextReply, type Answer, type Issue } from '@handraise/user-questions/types'
import type { Context, Hono } from 'hono'
import type { z } from 'zod'
import type { Deps } from './deps.ts'
import { badAnswer, badRequest, HttpError } from './http-error.ts'
import { toPublic } from './public-request.ts'
import { readBody } from './read-body.ts'
import { route } from './router.ts'
import { idOf } from './routes-requests.ts'
import {
  answerBodySchema,
  clarifyBodySchema,
  declineBodySchema,
  engagedBodySchema,
  stopBodySchema,
} from './schemas.ts'

type AnswerBody = z.output<typeof answerBodySchema>
type CommandBody = Pick<AnswerBody, 'commandId' | 'surface' | 'by'>

/** Who answers when the client does not say. */
const SURFACE = 'web'
/** How far back a repeated answer without an id is looked for. */
const RECENT = 100

/** Deciding a request. The first decision wins; the others are told who won. */
export function decisionRoutes(app: Hono, deps: Deps): void {
  const { inbox, maxBodyBytes, report } = deps

  const decide = async (
    c: Context,
    request: InboxRequest,
    { commandId, surface = SURFACE, by }: CommandBody,
    decision: Decision,
  ): Promise<Response> => {
    // A policy made for questions is no permission, and no other kind's either.
    if (by === 'policy' && request.kind !== QUESTIONS)
      throw badRequest([{ path: 'by', message: `no policy decides a request of the kind ${request.kind}` }])
    const receipt = await inbox.decide(request.id, decision, { commandId, surface, by })
    return c.json({ request: toPublic(inbox, receipt.request, report), repeated: receipt.repeated })
  }

  const answer = async (c: Context, request: InboxRequest, body: AnswerBody): Promise<Response> =>
    decide(c, request, body, { outcome: 'answered', answer: readAnswer(inbox, request, body) })

  const decision = <S extends z.ZodType<CommandBody>>(
    name: string,
    schema: S,
    toDecision: (body: z.output<S>, request: InboxRequest) => Decision,
  ): void =>
    route(app, `/requests/:id/${name}`, {
      POST: async c => {
        const id = idOf(c)
        const body = await readBody(c, schema, maxBodyBytes)
        const request = await inbox.get(id)
        return decide(c, request, body, toDecision(body, request))
      },
    })

  decision('answer', answerBodySchema, (body, request) => ({
    outcome: 'answered',
    answer: readAnswer(inbox, request, body),
  }))
  decision('decline', declineBodySchema, ({ reason }) => ({ outcome: 'declined', reason }))
  decision('clarify', clarifyBodySchema, ({ text }) => ({ outcome: 'clarified', text }))
  decision('cancel', stopBodySchema, (body, request) => ({
    outcome: 'cancelled',
    reason: body.reason,
    ...partOf(inbox, request, body),
  }))
  decision('interrupt', stopBodySchema, (body, request) => ({
    outcome: 'interrupted',
    reason: body.reason,
    ...partOf(inbox, request, body),
  }))

  route(app, '/requests/:id/engaged', {
    POST: async c => {
      const id = idOf(c)
      await readBody(c, engagedBodySchema, maxBodyBytes)
      await inbox.get(id)
      await inbox.engage(id)
      const request = await inbox.get(id)
      if (isSettled(request)) throw new InboxError('ALREADY_SETTLED', { request })
      return c.json({ request: toPublic(inbox, request, report) })
    },
  })

  route(app, '/answer', {
    POST: async c => {
      const body = await readBody(c, answerBodySchema, maxBodyBytes)
      return answer(c, await theOnlyOne(inbox, body.commandId), body)
    },
  })
}

/** The one request that an answer without an id can mean. */
async function theOnlyOne(inbox: Inbox, commandId: string): Promise<InboxRequest> {
  // An answer whose receipt was lost is sent again: it must not go to what was asked since.
  const settled = await inbox.list({ state: 'settled', limit: RECENT })
  const before = settled.requests.find(({ settlement }) => settlement?.commandId === commandId)
  if (before !== undefined) return before
  const { requests } = await inbox.list({ state: 'pending', limit: RECENT })
  const [request] = requests
  if (request === undefined) throw new HttpError('NOTHING_PENDING', 'nothing is pending')
  if (requests.length > 1) {
    throw new HttpError(
      'AMBIGUOUS',
      'several requests are pending: say which, by POST /api/requests/ID/answer',
      {
        ids: requests.map(({ id }) => id),
      },
    )
  }
  return request
}

/** The answer in the words of the request's kind. */
function readAnswer(inbox: Inbox, request: InboxRequest, body: AnswerBody): unknown {
  try {
    const answers = body.answers ?? [
      readText(inbox.kindOf(request)?.asQuestions(request.payload) ?? [], body.text ?? ''),
    ]
    return inKind(inbox, request, answers, body.by)
  } catch (error) {
    // That it is settled is the news then, and what was sent is no receipt's.
    if (error instanceof HttpError && isSettled(request)) return { unread: body.text ?? body.answers ?? null }
    throw error
  }
}

function partOf(
  inbox: Inbox,
  request: InboxRequest,
  { answers, by }: z.output<typeof stopBodySchema>,
): { readonly answer?: unknown } {
  return answers === undefined ? {} : { answer: inKind(inbox, request, answers, by) }
}

function inKind(
  inbox: Inbox,
  request: InboxRequest,
  answers: readonly Answer[],
  by: CommandBody['by'],
): unknown {
  const kind = inbox.kindOf(request)
  // Refused by the inbox, which names the kind.
  if (kind === undefined) return { answers }
  const said = by === 'policy' ? answers.map(answer => ({ ...answer, by })) : answers
  return kind.fromAnswers(request.payload, said)
}

function readText(
  questions: ReturnType<NonNullable<ReturnType<Inbox['kindOf']>>['asQuestions']>,
  text: string,
): Answer {
  const [question] = questions
  if (question === undefined) throw refused('the request cannot be answered by text here')
  if (questions.length > 1) {
    throw refused(
      `the request asks ${questions.length} questions: send answers, one entry for each of ${questions.map(({ id }) => JSON.stringify(id)).join(', ')}`,
    )
  }
  const reply = readTextReply(question, text)
  switch (reply.kind) {
    case 'blank':
      throw refused('must not be blank; to skip the question send answers with selected: []')
    case 'command':
      throw refused(
        `${JSON.stringify(`/${reply.name}`)} is a command, not an answer; use decline, clarify, cancel or interrupt, or send it in answers as custom text`,
      )
    case 'answer':
      return { ...reply.value, id: question.id }
  }
}

function refused(message: string): HttpError {
  const issues: Issue[] = [{ path: 'text', message }]
  return badAnswer(issues)
}
