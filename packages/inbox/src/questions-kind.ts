import {
  askUserQuestionAnswerSchema,
  checkAnswer,
  keepValidAnswers,
  questionSchema,
  type Answer,
  type Question,
} from '@handraise/user-questions/types'
import { z } from 'zod'
import type { RequestKind } from './kind.ts'
import type { JsonValue } from './request.ts'

export const QUESTIONS = 'questions'

const payloadSchema = z.object({ questions: z.array(questionSchema) })

/** The kind of what `ctx.userQuestions.ask` asks: the payload is `{ questions }`, the answer `{ answers }`. */
export const questionsKind: RequestKind = {
  name: QUESTIONS,
  check(payload, answer) {
    const check = checkAnswer(questionsOf(payload), answer)
    return check.ok ? { ok: true, answer: toJson(check.answer) } : check
  },
  keepPartial(payload, answer) {
    const parsed = askUserQuestionAnswerSchema.safeParse(answer)
    return parsed.success
      ? toJson({ answers: keepValidAnswers(questionsOf(payload), parsed.data.answers) })
      : undefined
  },
  atDeadline(payload) {
    const answers = questionsOf(payload).map(
      ({ id, default: value }) => value && { ...value, id, by: 'default' as const },
    )
    const check = checkAnswer(questionsOf(payload), {
      answers: answers.filter(answer => answer !== undefined),
    })
    return check.ok ? toJson(check.answer) : undefined
  },
  asQuestions: questionsOf,
  fromAnswers: (_, answers) => toJson({ answers }),
}

export function toQuestionsPayload(questions: readonly Question[]): JsonValue {
  return toJson({ questions })
}

/** The answers kept in a settlement of this kind. */
export function answersOf(answer: JsonValue | undefined): readonly Answer[] {
  const parsed = askUserQuestionAnswerSchema.safeParse(answer)
  return parsed.success ? parsed.data.answers : []
}

function questionsOf(payload: JsonValue): readonly Question[] {
  const parsed = payloadSchema.safeParse(payload)
  return parsed.success ? parsed.data.questions : []
}

// Drops what JSON does not hold, such as members that are undefined.
function toJson(value: object): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue
}
