import type { AnswerValue, Question } from './question.ts'

/** True of an answer that chooses nothing and says nothing. */
export function isSkip(answer: AnswerValue): boolean {
  return answer.selected.length === 0 && isBlank(answer.custom)
}

/** True of text that shows nothing: none, or nothing but blanks, control characters and marks without width. */
export function isBlank(text: string | undefined): boolean {
  return text === undefined || !/[^\s\p{Cc}\p{Cf}]/u.test(text)
}

/** The rule of a question that this many choices break, custom text counted as one: fewer than the least, or more than the most. */
export function countFault(
  { minSelections, maxSelections }: Pick<Question, 'minSelections' | 'maxSelections'>,
  chosen: number,
): { readonly rule: 'least' | 'most'; readonly count: number } | undefined {
  if (minSelections !== undefined && chosen < minSelections) return { rule: 'least', count: minSelections }
  if (maxSelections !== undefined && chosen > maxSelections) return { rule: 'most', count: maxSelections }
  return undefined
}
