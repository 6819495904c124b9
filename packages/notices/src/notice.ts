import { isBlank, visibleLine, visibleText, type Question } from '@handraise/user-questions/types'

/** What a person is told when a request opens. Every text of it is safe to show; none is for answering with. */
export interface Notice {
  readonly event: 'opened'
  readonly id: string
  readonly kind: string
  readonly session?: string | undefined
  readonly agent?: string | undefined
  /** How many questions; 0 for a kind of request that is not known here. */
  readonly count: number
  /** The headers of those questions that have one. */
  readonly headers: readonly string[]
  /** Milliseconds since the Unix epoch. */
  readonly openedAt: number
  /** When it ends by itself, in milliseconds since the Unix epoch. */
  readonly deadline?: number | undefined
  /** Only where texts are asked for. */
  readonly questions?: readonly NoticedQuestion[] | undefined
}

export interface NoticedQuestion {
  readonly question: string
  readonly header?: string | undefined
  readonly detail?: string | undefined
  /** The labels. */
  readonly options?: readonly string[] | undefined
}

/** What a notice is made of, wherever the request is kept. */
export interface NoticedRequest {
  readonly id: string
  readonly kind: string
  readonly session?: string | undefined
  readonly agent?: string | undefined
  readonly questions: readonly Question[]
  readonly openedAt: number
  readonly deadline?: number | undefined
}

/** The notice of a request. Without `text` it holds counts and headers, and no question or label. Pure. */
export function noticeOf(
  request: NoticedRequest,
  { text = false }: { readonly text?: boolean | undefined } = {},
): Notice {
  const { id, kind, session, agent, questions, openedAt, deadline } = request
  return {
    event: 'opened',
    id,
    kind: visibleLine(kind),
    ...(isBlank(session) ? {} : { session: visibleLine(session ?? '') }),
    ...(agent === undefined ? {} : { agent: visibleLine(agent) }),
    count: questions.length,
    headers: questions.flatMap(({ header }) => (isBlank(header) ? [] : [visibleLine(header ?? '')])),
    openedAt,
    ...(deadline === undefined ? {} : { deadline }),
    ...(text ? { questions: questions.map(toNoticed) } : {}),
  }
}

function toNoticed({ question, header, detail, options = [] }: Question): NoticedQuestion {
  return {
    question: visibleLine(question),
    ...(isBlank(header) ? {} : { header: visibleLine(header ?? '') }),
    ...(isBlank(detail) ? {} : { detail: visibleText(detail ?? '') }),
    ...(options.length === 0 ? {} : { options: options.map(({ label }) => visibleLine(label)) }),
  }
}
