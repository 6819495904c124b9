import type { Inbox, InboxRequest, SettledRequest } from '@handraise/inbox'
import type { RequirementDecision, ApprovalRequest } from '@handraise/user-approvals'
import {
  isBlank,
  type Answer,
  type AnsweredBy,
  type PendingAsk,
  type Question,
  type SettledAsk,
} from '@handraise/user-questions/types'
import { answersIn } from './answers-in.ts'
import { deciderOf } from './decider.ts'

/** A line of the log. Members that say nothing are absent. */
export type LogLine = OpenedLine | SettledLine | RuledLine | MarkLine

interface Told {
  /** ISO 8601, in UTC: when it happened. */
  readonly time: string
  readonly id: string
  readonly kind: string
  readonly session?: string | undefined
  readonly agent?: string | undefined
  readonly key?: string | undefined
}

export interface OpenedLine extends Told, Placed {
  readonly event: 'asked'
  readonly questions: readonly LoggedQuestion[]
  readonly deadline?: string | undefined
}

export interface SettledLine extends Told, Placed {
  readonly event: 'settled'
  readonly outcome: SettledAsk['outcome']
  /** The code of an ask that no settlement came to, such as `PROVIDER_FAILED`. */
  readonly code?: SettledAsk['code']
  readonly by?: AnsweredBy | undefined
  /** Where it was decided, such as `web`; without an inbox the name of the provider. */
  readonly surface?: string | undefined
  readonly answers: readonly LoggedAnswer[]
  /** From asked to settled, in milliseconds. */
  readonly waitedMs: number
  /** Only with texts: why, and what the person wrote back. */
  readonly reason?: string | undefined
  readonly text?: string | undefined
}

/** What a rule or a mode decided about an approval, so that nobody was asked. */
export interface RuledLine extends Told {
  readonly event: 'ruled'
  readonly tool: string
  readonly decision: RequirementDecision['decision']
  /** Only with texts: the rule or the mode, and the subject. */
  readonly why?: string | undefined
  readonly subject?: string | undefined
}

/** `started`: the log of this inbox begins here. `gap`: what happened between the line before and this is not known any more. */
export interface MarkLine extends Placed {
  readonly event: 'started' | 'gap'
  readonly time: string
}

/** Where the line stands in the log of which inbox: a host that comes back goes on from there. */
export interface Placed {
  readonly source?: string | undefined
  readonly cursor?: string | undefined
}

export interface LoggedQuestion {
  readonly id: string
  readonly header?: string | undefined
  /** Only with texts. */
  readonly question?: string | undefined
  readonly detail?: string | undefined
  /** Only with texts: the labels. */
  readonly options?: readonly string[] | undefined
}

export interface LoggedAnswer {
  readonly id: string
  /** Labels that were offered. */
  readonly selected: readonly string[]
  /** That something was typed, where texts are left out. */
  readonly typed?: true | undefined
  /** Only with texts: what was typed instead of a label, and beside one. */
  readonly custom?: string | undefined
  readonly note?: string | undefined
  readonly by?: AnsweredBy | undefined
}

/** What is said of a request of the inbox when it opens. */
export function openedLine(request: InboxRequest, inbox: Inbox, text: boolean): OpenedLine {
  const questions = inbox.kindOf(request)?.asQuestions(request.payload) ?? []
  return {
    event: 'asked',
    time: isoOf(request.openedAt),
    ...ofRequest(request),
    questions: questions.map(question => toLogged(question, text)),
    ...ending(request),
  }
}

/** What is said of a request of the inbox when it is settled. */
export function settledLine(request: SettledRequest, text: boolean): SettledLine {
  const { outcome, by, surface, settledAt, reason, text: written } = request.settlement
  return {
    event: 'settled',
    time: isoOf(settledAt),
    ...ofRequest(request),
    outcome,
    ...(by === undefined ? {} : { by }),
    ...(surface === undefined ? {} : { surface }),
    answers: answersIn(request).map(answer => withoutTexts(answer, text)),
    waitedMs: Math.max(0, settledAt - request.openedAt),
    ...words(text, reason, written),
  }
}

/** The same of an ask where there is no inbox. */
export function askedLine(ask: PendingAsk, text: boolean): OpenedLine {
  return {
    event: 'asked',
    time: isoOf(ask.askedAt),
    ...ofAsk(ask),
    questions: ask.questions.map(question => toLogged(question, text)),
    ...ending(ask),
  }
}

export function endedLine(ask: SettledAsk, provider: string | undefined, text: boolean): SettledLine {
  const { outcome, code, answers, settledAt, askedAt, reason, text: written } = ask
  const by = deciderOf(outcome, answers)
  return {
    event: 'settled',
    time: isoOf(settledAt),
    ...ofAsk(ask),
    outcome,
    ...(code === undefined ? {} : { code }),
    ...(by === undefined ? {} : { by }),
    ...(by === undefined || by === 'default' || provider === undefined ? {} : { surface: provider }),
    answers: answers.map(answer => withoutTexts(answer, text)),
    waitedMs: Math.max(0, settledAt - askedAt),
    ...words(text, reason, written),
  }
}

export function ruledLine(
  request: ApprovalRequest,
  requirement: RequirementDecision,
  { id, at, text }: { readonly id: string; readonly at: number; readonly text: boolean },
): RuledLine {
  const { session, agent, toolName: tool } = request
  const { decision, why, subject } = requirement
  return {
    event: 'ruled',
    time: isoOf(at),
    id,
    kind: 'approval',
    ...(isBlank(session) ? {} : { session }),
    ...(agent === undefined ? {} : { agent: agent.id }),
    tool,
    decision,
    ...(text ? { why, subject } : {}),
  }
}

/** An instant as ISO 8601. One that no calendar holds is that of the epoch. */
export function isoOf(ms: number): string {
  const date = new Date(ms)
  return (Number.isNaN(date.getTime()) ? new Date(0) : date).toISOString()
}

function ofRequest({ id, kind, session, agent, key }: InboxRequest): Omit<Told, 'time'> {
  return {
    id,
    kind,
    ...(isBlank(session) ? {} : { session }),
    ...(agent === undefined ? {} : { agent }),
    ...(key === undefined ? {} : { key }),
  }
}

function ofAsk({ id, session, agent, key }: PendingAsk): Omit<Told, 'time'> {
  return {
    id,
    kind: 'questions',
    ...(isBlank(session) ? {} : { session }),
    ...(agent === undefined ? {} : { agent: agent.id }),
    ...(key === undefined ? {} : { key }),
  }
}

function ending({ deadlineAt }: { readonly deadlineAt?: number | undefined }): { deadline?: string } {
  return deadlineAt === undefined ? {} : { deadline: isoOf(deadlineAt) }
}

function toLogged({ id, header, question, detail, options = [] }: Question, text: boolean): LoggedQuestion {
  return {
    id,
    ...(isBlank(header) ? {} : { header }),
    ...(text ? { question, detail, options: options.map(({ label }) => label) } : {}),
  }
}

// Labels are the asker's words; all else in an answer was typed.
function withoutTexts({ id, selected, custom, note, by }: Answer, text: boolean): LoggedAnswer {
  const typed = !isBlank(custom) || !isBlank(note)
  return {
    id,
    selected,
    ...(text ? { custom, note } : typed ? { typed: true } : {}),
    ...(by === undefined ? {} : { by }),
  }
}

function words(
  text: boolean,
  reason: string | undefined,
  written: string | undefined,
): Pick<SettledLine, 'reason' | 'text'> {
  return text ? { reason, text: written } : {}
}
