import { visibleLine, visibleText, type Question } from '@handraise/user-questions/types'

/** A question as it is printed: with what supports it, and nothing about how to answer. */
export type PrintedQuestion = Pick<Question, 'question' | 'detail' | 'options'>

/** The questions and their numbered options, and nothing else (seed 004, "pending_prompt"). */
export function promptText(questions: readonly PrintedQuestion[]): string {
  return questions.map(printQuestion).join('\n\n')
}

function printQuestion({ question, detail, options = [] }: PrintedQuestion): string {
  const lines = [visibleText(question)]
  if (detail !== undefined && detail.trim() !== '') lines.push(visibleText(detail))
  options.forEach(({ label, description }, index) => {
    const meaning = description === undefined || description === '' ? '' : ` — ${visibleLine(description)}`
    lines.push(`  ${index + 1}. ${visibleLine(label)}${meaning}`)
  })
  return lines.join('\n')
}
