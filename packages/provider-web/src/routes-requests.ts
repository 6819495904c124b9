import { QUESTIONS, toQuestionsPayload, type Inbox, type JsonValue } from '@handraise/inbox'
import { checkQuestions, findIntentFault, type Issue, type Question } from '@handraise/user-questions/types'
import type { Context, Hono } from 'hono'
import type { z } from 'zod'
import type { Deps } from './deps.ts'
import { badRequest, HttpError } from './http-error.ts'
import { toPublic } from './public-request.ts'
import { parse, readBody, readQuery } from './read-body.ts'
import { route } from './router.ts'
import {
  idSchema,
  listQuerySchema,
  openSchema,
  questionsPayloadSchema,
  type Opened,
  type RequestPage,
} from './schemas.ts'

/** Listing, opening and looking at requests. */
export function requestRoutes(app: Hono, deps: Deps): void {
  const { inbox, askers, maxBodyBytes, report } = deps

  route(app, '/requests', {
    GET: async c => {
      const { state, session, after, limit } = readQuery(c, listQuerySchema)
      // Before the page, so that whoever follows from here misses nothing.
      const cursor = await inbox.store.end()
      const page = await inbox.list({ state, limit, session, after })
      const requests = page.requests.map(request => toPublic(inbox, request, report))
      const body: RequestPage = {
        requests,
        ...(page.next === undefined ? {} : { next: page.next }),
        cursor,
        now: inbox.clock.now(),
      }
      return c.json(body)
    },

    POST: async c => {
      const body = await readBody(c, openSchema, maxBodyBytes)
      const { session, key, timeoutMs } = body
      const { request, joined } = await inbox.open({
        ...toOpen(inbox, body),
        session,
        key,
        deadlineAt: timeoutMs === undefined ? undefined : inbox.clock.now() + timeoutMs,
      })
      askers.opened(request)
      const opened: Opened = { request: toPublic(inbox, request, report), joined }
      return c.json(opened, joined ? 200 : 201)
    },
  })

  route(app, '/requests/:id', {
    GET: async c => c.json({ request: toPublic(inbox, await inbox.get(idOf(c)), report) }),
  })
}

export function idOf(c: Context): string {
  return parse(idSchema, c.req.param('id'), ['id'])
}

function toOpen(
  inbox: Inbox,
  body: z.output<typeof openSchema>,
): { readonly kind: string; readonly payload: JsonValue } {
  const { questions, kind = QUESTIONS } = body
  if (questions !== undefined) return openQuestions(questions)
  const payload = body.payload as JsonValue
  // The same request, whichever way it is sent.
  if (kind === QUESTIONS)
    return openQuestions(parse(questionsPayloadSchema, payload, ['payload']).questions, 'payload.')
  const known = inbox.kindOf({ kind, payload, id: '', session: '', openedAt: 0 })
  if (known === undefined) {
    throw new HttpError(
      'UNKNOWN_KIND',
      `nobody here could answer a request of the kind ${JSON.stringify(kind)}`,
      { kind },
    )
  }
  if (known.hostOpens === true)
    refuse([
      { path: 'kind', message: `${JSON.stringify(kind)} is opened by the host that asks, and by no client` },
    ])
  const shown = known.asQuestions(payload)
  if (shown.length === 0 || faultsOf(shown).length > 0)
    refuse([{ path: 'payload', message: `is not one of the kind ${JSON.stringify(kind)}` }])
  return { kind, payload }
}

function openQuestions(
  questions: readonly Question[],
  at = '',
): { readonly kind: string; readonly payload: JsonValue } {
  refuse(faultsOf(questions).map(({ path, message }) => ({ path: `${at}${path}`, message })))
  return { kind: QUESTIONS, payload: toQuestionsPayload(questions) }
}

function faultsOf(questions: readonly Question[]): Issue[] {
  const intent = findIntentFault(questions)
  if (intent === undefined) return checkQuestions(questions)
  const at = `questions[${questions.findIndex(({ id }) => id === intent.question)}]`
  const fault =
    intent.fault === 'approve'
      ? { path: `${at}.intent.approve`, message: `${JSON.stringify(intent.approve)} is not an option of it` }
      : { path: `${at}.detail`, message: 'must hold the plan that is reviewed' }
  return [...checkQuestions(questions), fault]
}

function refuse(issues: readonly Issue[]): void {
  if (issues.length > 0) throw badRequest(issues)
}
