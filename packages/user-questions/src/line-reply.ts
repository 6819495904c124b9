import { checkValue } from './answer-rules.ts'
import { countFault, isBlank } from './answer-value.ts'
import { UserQuestionError, type AnyUserQuestionError } from './error.ts'
import type { Answer, AnswerValue, Question } from './question.ts'
import { readTextReply } from './text-mapping.ts'

/** What comes of a typed line. Exactly one of the three is there. */
export type LineReply =
  /** Holds by the answer rules. */
  | { readonly answer: Answer; readonly end?: undefined; readonly say?: undefined }
  /** Ends the ask: reject with it. */
  | { readonly end: AnyUserQuestionError; readonly answer?: undefined; readonly say?: undefined }
  /** To be told to whoever typed it, in English, and then the question goes on waiting. */
  | { readonly say: string; readonly answer?: undefined; readonly end?: undefined }

const HOW = 'Write an answer, or /skip, /text TEXT, /reply TEXT, /decline, /dismiss, /stop.'

/**
 * Reads a typed line as the reply to a question, by `readTextReply` and the answer rules, and obeys the commands a person may
 * type: `/skip`, `/text TEXT` (an answer, whatever it looks like), `/reply TEXT` (writes back instead), `/decline`, `/dismiss`
 * and `/stop`. `answered` goes along with a dismissal and a stop: what this request has been answered so far.
 */
export function readReply(question: Question, line: string, answered: readonly Answer[] = []): LineReply {
  const reply = readTextReply(question, line)
  if (reply.kind === 'blank') return { say: `Nothing was typed. ${HOW}` }
  return reply.kind === 'answer'
    ? answerWith(question, reply.value)
    : obey(question, reply.name, reply.rest, [...answered])
}

function obey(question: Question, name: string, rest: string, answers: readonly Answer[]): LineReply {
  switch (name) {
    case 'skip':
      return answerWith(question, { selected: [] })
    case 'decline':
      return { end: new UserQuestionError('ASK_DECLINED') }
    case 'dismiss':
      return { end: new UserQuestionError('ASK_CANCELLED', { answers }) }
    case 'stop':
      return { end: new UserQuestionError('ASK_INTERRUPTED', { answers }) }
    case 'text':
    case 'reply':
      if (isBlank(rest)) return { say: `/${name} needs a text behind it.` }
      return name === 'text'
        ? answerWith(question, { selected: [], custom: rest })
        : { end: new UserQuestionError('ASK_CLARIFIED', { text: rest }) }
    default:
      return { say: `There is no command /${name}. ${HOW}` }
  }
}

function answerWith(question: Question, value: AnswerValue): LineReply {
  const issues = checkValue(question, value, '')
  if (issues.length === 0) return { answer: { id: question.id, ...value } }
  const miscounted = countFault(question, value.selected.length + (isBlank(value.custom) ? 0 : 1))
  if (miscounted === undefined) return { say: issues.map(({ message }) => message).join('; ') }
  return { say: `Choose at ${miscounted.rule} ${miscounted.count}.` }
}
