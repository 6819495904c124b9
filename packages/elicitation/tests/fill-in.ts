import type { Answer, Question } from '@handraise/user-questions/types'
import { questionFields } from '../src/index.ts'

/** The content a person would send who fills in these answers. */
export function fillIn(questions: readonly Question[], answers: readonly Answer[]): Record<string, unknown> {
  const content: Record<string, unknown> = {}
  for (const { question, name, otherName = name } of questionFields(questions)) {
    const { selected = [], custom } = answers.find(({ id }) => id === question.id) ?? {}
    if (question.multiSelect === true && selected.length > 0) content[name] = [...selected]
    else if (selected[0] !== undefined) content[name] = selected[0]
    if (custom !== undefined) content[otherName] = custom
  }
  return content
}
