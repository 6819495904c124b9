import {
  checkValue,
  isBlank,
  readTextReply,
  type Answer,
  type Question,
} from '@handraise/user-questions/types'
import { readApprovalText, type ApprovalReply } from './approval-reply.ts'
import { APPROVE, textOf, type PromptKind, type ThreadItem } from './items.ts'
import { isForOtherPrompt, readStructuredAnswers } from './structured-answers.ts'

/** What becomes of a reply to several questions that does not answer each of them: it is the answer to all, or the missing ones are asked one by one. */
export type SeveralPolicy = 'same' | 'each'

/** What a prompt asks, as far as a reply to it can be read. */
export interface Asked {
  readonly kind: PromptKind
  readonly questions: readonly Question[]
  /** An item that names another prompt in `metadata.prompt_id` is no reply to this one. Default: not looked at. */
  readonly promptId?: string | undefined
  /** What was answered before, where the questions are asked one by one. */
  readonly kept?: readonly Answer[] | undefined
  /** The first question that is missing stands alone in the thread, so that a text can only be the answer to that. */
  readonly isAlone?: boolean | undefined
}

export type Reply =
  | { readonly reads: 'answers'; readonly answers: readonly Answer[] }
  | { readonly reads: 'approval'; readonly approval: ApprovalReply }
  /** Not all is answered: the first question that is missing is to be asked. `used`: this item answered some. */
  | { readonly reads: 'part'; readonly kept: readonly Answer[]; readonly used: boolean }
  | { readonly reads: 'nothing'; readonly why: 'empty' | 'command' | 'bad-answer' | 'other-question' }

const OTHER_QUESTION: Reply = { reads: 'nothing', why: 'other-question' }

/**
 * Reads an item as the reply to a prompt: its structured answers where they hold, else its text (seed 004, "Answering").
 * What answers another question, as the card of one that is over does, is not read any further.
 */
export function readReply(
  asked: Asked,
  item: Pick<ThreadItem, 'content' | 'metadata'>,
  several: SeveralPolicy,
): Reply {
  const text = textOf(item)
  if (isForOtherPrompt(asked.promptId, item.metadata)) return OTHER_QUESTION
  if (asked.kind === 'approval') return readApproval(asked.questions, item.metadata, text)
  if (asked.kept !== undefined || (several === 'each' && asked.questions.length > 1)) {
    return readOneByOne(asked, item.metadata, text)
  }
  const { kind, questions } = asked
  const structured = readStructuredAnswers(questions, item.metadata)
  if (structured?.isForOther === true) return OTHER_QUESTION
  if (structured?.complete === true)
    return { reads: 'answers', answers: inOrder(questions, structured.valid) }
  return readText(kind, questions, text)
}

function readApproval(questions: readonly Question[], metadata: unknown, text: string): Reply {
  const [question] = questions
  const structured = readStructuredAnswers(questions, metadata)
  if (structured?.isForOther === true) return OTHER_QUESTION
  const answer = structured?.complete === true ? structured.valid.get(question?.id ?? '') : undefined
  if (answer !== undefined) {
    const { selected, custom } = answer
    if (custom === undefined) return { reads: 'approval', approval: { allowed: selected[0] === APPROVE } }
    // Whoever writes instead of choosing has not allowed it.
    const { allowed, words } = readApprovalText(custom)
    return { reads: 'approval', approval: { allowed: false, words: allowed ? custom : words } }
  }
  // Deny on uncertainty: a command to somebody is no permission either.
  if (isBlank(text)) return { reads: 'nothing', why: 'empty' }
  const approval = readApprovalText(text)
  // Its entries say something else than its text, and only one of them may be what was meant.
  const isAtOdds = structured !== undefined && !structured.isEmpty && approval.allowed
  return { reads: 'approval', approval: isAtOdds ? { allowed: false } : approval }
}

function readText(kind: PromptKind, questions: readonly Question[], text: string): Reply {
  if (isBlank(text)) return { reads: 'nothing', why: 'empty' }
  if (kind === 'text') {
    return { reads: 'answers', answers: questions.map(({ id }) => ({ id, selected: [], custom: text })) }
  }
  const answers: Answer[] = []
  for (const question of questions) {
    const reply = readTextReply(question, text)
    if (reply.kind === 'command') return { reads: 'nothing', why: 'command' }
    if (reply.kind === 'blank') return { reads: 'nothing', why: 'empty' }
    const answer = { id: question.id, ...reply.value }
    if (checkValue(question, answer, '').length > 0) return { reads: 'nothing', why: 'bad-answer' }
    answers.push(answer)
  }
  return { reads: 'answers', answers }
}

// Nothing is taken for the answer to a question that it does not name, or that does not stand there alone.
function readOneByOne({ kind, questions, kept, isAlone }: Asked, metadata: unknown, text: string): Reply {
  const before = kept ?? []
  const missing = missingOf(questions, before)
  const [shown] = missing
  const structured = readStructuredAnswers(missing, metadata)
  if (structured?.isForOther === true) return OTHER_QUESTION
  const found = [...(structured?.valid.values() ?? [])]
  if (found.length === 0 && shown !== undefined) {
    // Of several that are shown a text does not say to which it belongs.
    if (isAlone !== true) return nothingIn(text) ?? { reads: 'part', kept: before, used: false }
    const reply = readText(kind, [shown], text)
    if (reply.reads !== 'answers') return reply
    found.push(...reply.answers)
  }
  const all = new Map([...before, ...found].map(answer => [answer.id, answer]))
  const answers = inOrder(questions, all)
  return answers.length === questions.length
    ? { reads: 'answers', answers }
    : { reads: 'part', kept: answers, used: true }
}

/** The questions without an answer, in their order. */
export function missingOf(questions: readonly Question[], kept: readonly Answer[]): Question[] {
  return questions.filter(({ id }) => !kept.some(answer => answer.id === id))
}

function nothingIn(text: string): Reply | undefined {
  if (isBlank(text)) return { reads: 'nothing', why: 'empty' }
  return text.trim().startsWith('/') ? { reads: 'nothing', why: 'command' } : undefined
}

function inOrder(questions: readonly Question[], answers: ReadonlyMap<string, Answer>): Answer[] {
  return questions.flatMap(({ id }) => answers.get(id) ?? [])
}
