import { splitOwnAnswer, type Question, type QuestionOption } from '@handraise/user-questions/types'

/** Where in a form a question is answered. */
export interface QuestionFields {
  readonly question: Question
  /** The property of the choice, or of the text where nothing is offered to choose. */
  readonly name: string
  /** The property of an answer in one's own words beside a choice. */
  readonly otherName?: string | undefined
  /** What can be chosen: all options but the bare `Other`, which is the field for one's own words. */
  readonly offered: readonly QuestionOption[]
  readonly own?: QuestionOption | undefined
}

const OTHER = '__other'

// An id that a client may use as the name of a property of anything, in any language, and that cannot be one of ours.
const PLAIN_ID = /^[A-Za-z](?:_?[A-Za-z0-9-])*$/u
const NUMBERED = /^question_\d+$/u
const LONGEST_ID = 64

/**
 * The fields of each question. A question's property is its id where that is a plain word, such as `db`, else
 * `question_3` for the third; two questions never share one, whatever their ids are, and the same questions always
 * get the same.
 */
export function questionFields(questions: readonly Question[]): QuestionFields[] {
  return questions.map((question, index) => {
    const { offered, own } = splitOwnAnswer(question)
    const name = isUsable(question.id) ? question.id : `question_${index + 1}`
    const fields = { question, name, offered, own }
    return offered.length === 0 ? fields : { ...fields, otherName: `${name}${OTHER}` }
  })
}

function isUsable(id: string): boolean {
  return id.length <= LONGEST_ID && PLAIN_ID.test(id) && !NUMBERED.test(id) && !(id in Object.prototype)
}
