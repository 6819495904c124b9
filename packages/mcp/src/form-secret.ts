import { questionFields, titleOf } from '@handraise/elicitation'
import type { Question } from '@handraise/user-questions/types'
import { asksForSecret } from './pause/secret-field.ts'

/** True of questions by whose form somebody would type a secret (MCP 2025-06-18 and later, Elicitation: no form may ask for one). */
export function formAsksForSecret(questions: readonly Question[]): boolean {
  return questionFields(questions).some(({ question, name, offered }) => {
    const title = titleOf(question)
    if (offered.length === 0)
      return asksForSecret(name, { type: 'string', title, description: question.question })
    // Beside a choice the field for words gives away what was asked for in so many words, and a choice about tokens asks for none.
    return asksForSecret('', { type: 'string', description: `${title} ${question.question}` })
  })
}
