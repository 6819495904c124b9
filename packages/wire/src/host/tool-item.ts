import { askUserQuestionAnswerSchema } from '@handraise/user-questions/types'
import type {
  ApprovalResolvedParams,
  Item,
  UserInputAnswer,
  UserInputSettledParams,
} from '../protocol/index.ts'
import type { CallPlace } from './call-place.ts'
import type { ResultRecord } from './session-store.ts'

/** The longest output of a tool that is shown, in UTF-16 units; what is cut is marked `truncated`. */
const OUTPUT_LENGTH = 64 * 1024

/** The item of a tool call that has begun. */
export function startedItem(place: CallPlace, at: number, approvalId?: string): Item {
  const { itemId, turnId, callId, tool, args } = place
  return {
    itemId,
    kind: 'toolCall',
    turnId,
    revision: 1,
    status: 'inProgress',
    recordedAt: new Date(at).toISOString(),
    tool,
    callId,
    args,
    ...(approvalId === undefined ? {} : { approvalId }),
  }
}

/** How a tool call ended, as its item shows it. */
export interface CallEnding {
  readonly status: 'completed' | 'failed' | 'cancelled' | 'rejected' | 'timedOut'
  readonly failureReason?: string | undefined
  readonly visibleOutput: string
}

export function completedItem(
  item: Item,
  { status, failureReason, visibleOutput }: CallEnding,
  at: number,
): Item {
  const { itemId, turnId, tool, callId, args, approvalId } = item
  return {
    itemId,
    kind: 'toolCall',
    ...(turnId === undefined ? {} : { turnId }),
    revision: item.revision + 1,
    status,
    recordedAt: new Date(at).toISOString(),
    ...(tool === undefined ? {} : { tool }),
    ...(callId === undefined ? {} : { callId }),
    ...(args === undefined ? {} : { args }),
    ...(failureReason === undefined ? {} : { failureReason: cut(failureReason) }),
    visibleOutput: cut(visibleOutput),
    truncated: visibleOutput.length > OUTPUT_LENGTH,
    ...(approvalId === undefined ? {} : { approvalId }),
  }
}

export const INTERRUPTED = 'interrupted by the client'

/** What the calls of a session asked in their course, as the view tells of it. */
export interface AskedInCall {
  readonly settled?: UserInputSettledParams | undefined
  readonly questions?: readonly { readonly id: string; readonly header: string }[] | undefined
  readonly resolved?: ApprovalResolvedParams | undefined
}

/**
 * How a call ended: by what was asked in its course where that is what its result comes to (an answer handed on as it is, a
 * question that was not answered, an action that was not allowed), else by the result.
 */
export function endingOf(
  result: ResultRecord,
  { settled, questions = [], resolved }: AskedInCall,
): CallEnding {
  if (!result.isError) {
    if (isNotDone(result.value)) return notAllowed(resolved)
    const isAnswer = askUserQuestionAnswerSchema.safeParse(result.value).success
    if (isAnswer && settled !== undefined)
      return { status: 'completed', visibleOutput: answersInWords(questions, settled.answers) }
    // A text is shown as it is; the model may have it in quotes.
    const output = typeof result.value === 'string' ? result.value : result.content
    return { status: 'completed', visibleOutput: output }
  }
  const { code, message } = result.error
  if (code.startsWith('ASK_') && settled !== undefined) return endingOfQuestion(questions, settled)
  if (code.startsWith('APPROVAL_')) {
    const status = code === 'APPROVAL_TIMED_OUT' ? 'timedOut' : UNDECIDED.has(code) ? 'cancelled' : 'failed'
    return { status, failureReason: message, visibleOutput: message }
  }
  return { status: 'failed', failureReason: message, visibleOutput: message }
}

const UNDECIDED: ReadonlySet<string> = new Set([
  'APPROVAL_CANCELLED',
  'APPROVAL_DECLINED',
  'APPROVAL_CLARIFIED',
  'APPROVAL_INTERRUPTED',
  'APPROVAL_ABORTED',
])

/** How a call ended that did nothing but ask. */
export function endingOfQuestion(
  questions: readonly { readonly id: string; readonly header: string }[],
  {
    outcome,
    answers,
    clarification,
    reason,
  }: Pick<UserInputSettledParams, 'outcome' | 'answers' | 'clarification' | 'reason'>,
): CallEnding {
  const words = answersInWords(questions, answers)
  switch (outcome) {
    case 'answered':
      return { status: 'completed', visibleOutput: words }
    case 'clarified':
      return { status: 'completed', visibleOutput: `User wrote back: ${clarification?.content ?? ''}` }
    case 'interrupted':
      return {
        status: 'cancelled',
        failureReason: reason ?? INTERRUPTED,
        visibleOutput: answersInWords(questions, answers, 'confirmed'),
      }
    case 'timedOut':
      return answers.length > 0
        ? { status: 'completed', visibleOutput: words }
        : {
            status: 'timedOut',
            failureReason: 'nobody answered in time',
            visibleOutput: 'Nobody answered in time',
          }
    case 'aborted': {
      const why = reason ?? 'the question was withdrawn'
      return { status: 'cancelled', failureReason: why, visibleOutput: `The question was withdrawn: ${why}` }
    }
    default: {
      // A person who says no to answering has that for a reason, as the protocol knows no other word for it.
      const why = reason?.replace(/^declined(?:: )?/u, '') || 'no reason given'
      return { status: 'cancelled', failureReason: why, visibleOutput: `User declined to answer: ${why}` }
    }
  }
}

/** How a call ended that was all about a permission, which ended so. */
export function notAllowed(resolved: Pick<ApprovalResolvedParams, 'decision'> | undefined): CallEnding {
  const { decision = 'denied' } = resolved ?? {}
  const failureReason = decision === 'abort' ? 'approval aborted' : `approval ${decision}`
  return { status: 'rejected', failureReason, visibleOutput: `tool denied: ${failureReason}` }
}

/**
 * Answers as people read them. One question: its labels in the order offered, parted by commas, or the custom text. Several:
 * a line for each, its header (its id where it has none) first. A skipped question is `(skipped)`; of `confirmed` answers the
 * questions without one are left out. Notes are not shown.
 */
export function answersInWords(
  questions: readonly { readonly id: string; readonly header: string }[],
  answers: readonly UserInputAnswer[],
  which: 'all' | 'confirmed' = 'all',
): string {
  const told = questions.filter(
    ({ id }) => which === 'all' || answers.some(({ questionId }) => questionId === id),
  )
  const wordsOf = (id: string): string => {
    const answer = answers.find(({ questionId }) => questionId === id)
    const { selectedLabel, selectedLabels, freeText } = answer ?? {}
    const words = freeText ?? selectedLabel ?? selectedLabels?.join(', ')
    return words === undefined || words === '' ? '(skipped)' : words
  }
  const [only] = told
  if (only === undefined) return ''
  if (questions.length === 1) return wordsOf(only.id)
  return told.map(({ id, header }) => `${header === '' ? id : header}: ${wordsOf(id)}`).join('\n')
}

// Half a surrogate pair is no character, and no client could read it.
function cut(text: string): string {
  return text.length <= OUTPUT_LENGTH ? text : text.slice(0, OUTPUT_LENGTH).replace(/[\uD800-\uDBFF]$/, '')
}

// What a guard puts in the place of a call that was not allowed.
function isNotDone(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'notDone' in value && value.notDone === true
}
