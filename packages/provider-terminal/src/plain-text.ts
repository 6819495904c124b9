import {
  isBlank,
  isSkip,
  splitRecommended,
  visibleLine,
  visibleText,
  type AnswerValue,
  type Question,
} from '@handraise/user-questions/types'
import { describeOutcome, parting, shortName } from './document.ts'
import {
  confirmedAnswers,
  countGiven,
  draftAt,
  type Draft,
  type PromptQuestion,
  type PromptState,
} from './state.ts'
import { clockTime, WORDING } from './wording.ts'

const { plain } = WORDING

/** A question as lines to be read from the first to the last. */
export function describeQuestion(
  { question, options, ownRow }: PromptQuestion,
  draft: Draft,
  { questions, deadlineAt, now }: PromptState,
): string[] {
  const position = questions.findIndex(each => each.question === question) + 1
  const header = isBlank(question.header) ? undefined : visibleLine(question.header ?? '').trim()
  const multi = question.multiSelect === true
  const custom = multi ? draft.editor.text : (draft.outcome?.custom ?? '')
  return [
    plain.question(position, questions.length, header),
    ...visibleText(question.question).split('\n'),
    ...(isBlank(question.detail)
      ? []
      : [
          '',
          ...visibleText(question.detail ?? '')
            .trimEnd()
            .split('\n'),
          '',
        ]),
    ...options.map(({ label, description }, index) => {
      const { text, recommended } = splitRecommended(label)
      const parts = [
        recommended ? `${visibleLine(text)}, ${WORDING.recommended}` : visibleLine(text),
        visibleLine(description ?? ''),
        question.intent?.approve === label ? sentenceCase(WORDING.approves) : '',
        draft.ticked.includes(label) ? plain.selected : plain.notSelected,
      ]
      return plain.option(index + 1, options.length, sentences(parts))
    }),
    ...(options.length === 0
      ? []
      : [sentences([visibleLine(ownRow.label), visibleLine(ownRow.description ?? '')])]),
    ...(isBlank(custom) ? [] : [sentences([plain.ownText(visibleLine(custom))])]),
    ...(deadlineAt === undefined ? [] : [plain.timeLeft(clockTime(deadlineAt - now))]),
    options.length === 0 ? plain.howText : multi ? plain.howMulti : plain.howSingle,
  ]
}

/** What was understood of a reply, one line for each choice. */
export function understood({ question, options }: PromptQuestion, value: AnswerValue): string[] {
  const chosen = options.flatMap(({ label }, index) =>
    value.selected.includes(label)
      ? [sentences([plain.chosen(index + 1, options.length, visibleLine(splitRecommended(label).text))])]
      : [],
  )
  const own = isBlank(value.custom) ? [] : [sentences([plain.ownText(visibleLine(value.custom ?? ''))])]
  return isSkip(value) ? [describeValue(question, value)] : [...chosen, ...own]
}

export function describeValue(question: Question, value: AnswerValue): string {
  return sentences([sentenceCase(describeOutcome(question, value))])
}

export function describeReview(state: PromptState): string[] {
  const { questions } = state
  return [
    plain.review(countGiven(confirmedAnswers(state)), questions.length),
    ...questions.map(({ question }, index) => {
      const name = shortName(question)
      const answer = describeOutcome(question, draftAt(state, index).outcome)
      return sentences([plain.reviewLine(index + 1, name + parting(name) + answer)])
    }),
    plain.howReview,
  ]
}

// Each part ends once, whether or not its author ended it.
function sentences(parts: readonly string[]): string {
  return parts
    .map(part => part.trim())
    .filter(part => part !== '')
    .map(part => (/[.!?…。！？]$/u.test(part) ? part : `${part}.`))
    .join(' ')
}

function sentenceCase(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
