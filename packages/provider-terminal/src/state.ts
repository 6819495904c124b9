import {
  foldLabel,
  isSkip,
  splitOwnAnswer,
  type Answer,
  type AnswerValue,
  type Question,
  type QuestionOption,
} from '@handraise/user-questions/types'
import type { Ending } from './ending.ts'
import { emptyEditor, type Editor } from './text-editor.ts'
import { WORDING } from './wording.ts'

/** A question as it is put to the person: its options in rows, and one row more for an answer of one's own. */
export interface PromptQuestion {
  readonly question: Question
  /** Those offered, without a bare `Other`, which is the free-text row. */
  readonly options: readonly QuestionOption[]
  readonly ownRow: { readonly label: string; readonly description?: string | undefined }
}

/** What the person has done to one question so far. */
export interface Draft {
  /** The row in focus: an option, or `options.length` for the free-text row, or -1 for none. */
  readonly focus: number
  /** The free-text row is being written in. */
  readonly editing: boolean
  readonly ticked: readonly string[]
  readonly editor: Editor
  /** What was confirmed; absent until then. */
  readonly outcome?: AnswerValue | undefined
}

export type View =
  | { readonly name: 'question'; readonly index: number; readonly fromReview: boolean }
  /** `focus` is a question, or the number of questions for sending. */
  | { readonly name: 'review'; readonly focus: number }
  /** Writing back instead of answering. */
  | { readonly name: 'reply'; readonly back: View }

/** Which part of the text is shown when it is longer than the screen. */
export interface Scroll {
  /** The first line shown. */
  readonly top: number
  /** Moves as far as it must to show what is in focus. */
  readonly follow: boolean
}

export interface PromptState {
  readonly questions: readonly PromptQuestion[]
  readonly drafts: readonly Draft[]
  readonly view: View
  readonly reply: Editor
  /** False until keys count. */
  readonly armed: boolean
  /** True once the person pressed a key that counts. */
  readonly engaged: boolean
  /** Milliseconds since the Unix epoch. */
  readonly now: number
  /** How long keys do not count after the person was brought to something new, in milliseconds. */
  readonly pauseMs: number
  /**
   * When what the person was brought to was shown, or a key last came too early for it, in milliseconds since the Unix
   * epoch; absent for what was shown first.
   */
  readonly shownAt?: number | undefined
  /** Milliseconds since the Unix epoch. Absent without a deadline, and once the person is engaged. */
  readonly deadlineAt?: number | undefined
  readonly scroll: Scroll
  /** The digits typed in a row. */
  readonly digits: string
  /** The person was told that nothing is ticked: Enter skips. */
  readonly skipsNext: boolean
  readonly hint?: string | undefined
  /** Until when a second Esc ends the request, in milliseconds since the Unix epoch. */
  readonly escapeUntil?: number | undefined
  readonly ending?: Ending | undefined
}

export function openPrompt(
  questions: readonly Question[],
  {
    now,
    deadlineAt,
    pauseMs = 0,
  }: {
    readonly now: number
    readonly deadlineAt?: number | undefined
    readonly pauseMs?: number | undefined
  },
): PromptState {
  const prompted = questions.map(toPromptQuestion)
  return {
    questions: prompted,
    drafts: prompted.map(openDraft),
    view: { name: 'question', index: 0, fromReview: false },
    reply: emptyEditor,
    armed: false,
    engaged: false,
    now,
    pauseMs,
    deadlineAt,
    scroll: { top: 0, follow: false },
    digits: '',
    skipsNext: false,
  }
}

export function toPromptQuestion(question: Question): PromptQuestion {
  const { offered, own } = splitOwnAnswer(question)
  const taken = new Set((question.options ?? []).map(({ label }) => foldLabel(label)))
  const free = WORDING.ownAnswer.find(label => !taken.has(foldLabel(label))) ?? WORDING.ownAnswer[0]
  return {
    question,
    options: offered,
    ownRow:
      own === undefined
        ? { label: free }
        : { label: WORDING.ownAnswerBeside(own.label), description: own.description },
  }
}

function openDraft({ question, options }: PromptQuestion): Draft {
  const bare = options.length === 0
  return {
    focus: question.guarded === true && !bare ? -1 : 0,
    editing: bare,
    ticked: [],
    editor: emptyEditor,
  }
}

export function questionAt(state: PromptState, index: number): PromptQuestion {
  const question = state.questions[index]
  if (question === undefined) throw new RangeError(`there is no question ${index}`)
  return question
}

export function draftAt(state: PromptState, index: number): Draft {
  const draft = state.drafts[index]
  if (draft === undefined) throw new RangeError(`there is no question ${index}`)
  return draft
}

/** What was confirmed so far, in the order of the questions. */
export function confirmedAnswers(state: PromptState): Answer[] {
  return state.questions.flatMap(({ question }, index) => {
    const outcome = state.drafts[index]?.outcome
    return outcome === undefined ? [] : [{ id: question.id, ...outcome }]
  })
}

/** Whether what was typed may have been meant for what was shown before: no answer to what it brought up. */
export function isTooEarly({ shownAt, pauseMs }: PromptState, now: number): boolean {
  return shownAt !== undefined && now - shownAt < pauseMs
}

/** A question without a list: there is only a text to write. */
export function isBare({ options }: PromptQuestion): boolean {
  return options.length === 0
}

/** Answers that choose or say something: a skip is nothing to lose. */
export function countGiven(answers: readonly Answer[]): number {
  return answers.filter(answer => !isSkip(answer)).length
}
