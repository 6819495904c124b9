import type { Clock } from '@handraise/user-questions'
import type { InboxRequest, JsonValue, RequestKind } from '@handraise/inbox'
import type { Answer, Question } from '@handraise/user-questions/types'
import { allows, type ApprovalChoice } from './choice.ts'
import { describeSubject, titleOf } from './describe-subject.ts'
import { exactLines, quoteWord } from './exact-text.ts'
import {
  APPROVAL,
  checkApprovalAnswer,
  readPayload,
  type ApprovalAnswer,
  type ApprovalPayload,
} from './payload.ts'
import { rememberRule } from './rule-book.ts'

/** The one question as which an approval is shown. */
export const APPROVAL_QUESTION = 'approval'

/**
 * Approvals as a kind of the inbox. Shown as one guarded question with the offered choices, in their order; an answer of
 * one's own is the denial that takes words. A choice that lasts longer is remembered with its settlement, or not at all.
 */
export function approvalKind(clock: Clock): RequestKind {
  return {
    name: APPROVAL,
    // What is shown, what is remembered and what is done are one thing only as the seam puts them together.
    hostOpens: true,
    check(payload, answer) {
      const read = readPayload(payload)
      if (read === undefined) return { ok: false, issues: [{ path: 'payload', message: 'is no approval' }] }
      const check = checkApprovalAnswer(read, answer)
      return check.ok ? { ok: true, answer: check.answer as unknown as JsonValue } : check
    },
    recordsOf(request: InboxRequest, answer: JsonValue) {
      const payload = readPayload(request.payload)
      if (payload === undefined) return []
      const check = checkApprovalAnswer(payload, answer)
      if (!check.ok || check.choice.rule === undefined || !allows(check.choice)) return []
      const { rule, scope } = check.choice
      const made = { rule, approvalId: payload.approvalId, madeAt: clock.now() }
      return [rememberRule(request, scope === 'session' ? { ...made, session: request.session } : made)]
    },
    asQuestions(payload) {
      const read = readPayload(payload)
      return read === undefined ? [] : [toQuestion(read)]
    },
    fromAnswers(payload, answers) {
      const read = readPayload(payload)
      return (read === undefined ? {} : fromAnswer(read, answers)) as unknown as JsonValue
    },
  }
}

function toQuestion(payload: ApprovalPayload): Question {
  const { toolName, subject, stage, requirement, resolved = [], reason, child, choices } = payload
  const { index, total } = requirement
  // Whatever a model may have had a hand in stands in quotes or behind a mark, so that it cannot pass for a line of ours.
  const tool = quoteWord(toolName)
  const what = stage ?? titleOf(subject)
  return {
    id: APPROVAL_QUESTION,
    header: tool,
    question: `${total > 1 ? `Step ${index + 1} of ${total}: allow` : 'Allow'} ${tool}: ${what}?`,
    detail: [
      ...describeSubject(subject),
      ...resolved,
      ...(reason === undefined
        ? []
        : ['The reason that is given:', ...exactLines(reason).map(line => `| ${line}`)]),
      ...(child === undefined ? [] : [`Asked by the child agent ${quoteWord(child)}`]),
    ].join('\n'),
    options: [
      ...choices.filter(choice => !isForWords(choices, choice)).map(toOption),
      // What surfaces show as the row for an answer of one's own.
      { label: 'Other', description: 'Denies, with these words' },
    ],
    guarded: true,
    minSelections: 1,
  }
}

function toOption({ label, rulePreview }: ApprovalChoice): { label: string; description?: string } {
  return { label, ...(rulePreview === undefined ? {} : { description: rulePreview }) }
}

// The denial that takes words is the answer of one's own; where it is the only denial it is an option as well.
function isForWords(choices: readonly ApprovalChoice[], choice: ApprovalChoice): boolean {
  const denials = choices.filter(each => !allows(each))
  return denials.length > 1 && choice === wordsChoice(choices)
}

function wordsChoice(choices: readonly ApprovalChoice[]): ApprovalChoice | undefined {
  return choices.find(choice => choice.acceptsFeedback === true && !allows(choice))
}

/** Nothing but one answer to the one question, with one choice or with words, is read as a decision. */
function fromAnswer({ choices }: ApprovalPayload, answers: readonly Answer[]): Partial<ApprovalAnswer> {
  const [answer] = answers
  if (answers.length !== 1 || answer?.id !== APPROVAL_QUESTION || answer.selected.length > 1) return {}
  const [label] = answer.selected
  const words = answer.custom ?? answer.note
  const feedback = words === undefined ? {} : { feedback: words }
  if (label !== undefined) {
    const choice = choices.find(each => each.label === label)
    return choice === undefined ? {} : { choiceId: choice.choiceId, ...feedback }
  }
  // Words alone deny: whoever writes instead of choosing has not allowed it (seed 004).
  const choice =
    words === undefined ? undefined : (wordsChoice(choices) ?? choices.find(each => !allows(each)))
  return choice === undefined ? {} : { choiceId: choice.choiceId, ...feedback }
}
