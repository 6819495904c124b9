import { repairArguments } from '@handraise/tool-ask-user'
import {
  checkQuestions,
  describeIssues,
  issuesOfZod,
  questionSchema,
  type AskUserQuestionRequest,
  type Question,
} from '@handraise/user-questions/types'
import { z } from 'zod'
import { CommandError } from './command-error.ts'
import { nameOf, readJson } from './read-json.ts'

const requestSchema = z.strictObject({
  questions: z.array(questionSchema),
  session: z.string().optional(),
  key: z.string().optional(),
  timeoutMs: z
    .number()
    .nullish()
    .transform(ms => ms ?? undefined),
})

/** Reads a request as JSON, as lenient as the ask tool is with a model. Throws `BAD_INPUT`, naming every field at fault. */
export async function readRequest(file: string): Promise<AskUserQuestionRequest> {
  const request = withMultiSelect(repairArguments(await readJson(file)))
  const parsed = requestSchema.safeParse(request)
  if (parsed.success) return parsed.data
  const issues = issuesOfZod(parsed.error)
  const known = new Set(issues.map(({ path }) => path))
  const { questions } = (request ?? {}) as { questions?: unknown }
  // What the types alone do not tell, so that one look mends all.
  const more = Array.isArray(questions) ? checkQuestions(questions as Question[]) : []
  issues.push(...more.filter(({ path }) => !known.has(path)))
  throw new CommandError('BAD_INPUT', `${nameOf(file)}: ${describeIssues(issues)}`)
}

// The model's spelling of the field, in ours.
function withMultiSelect(request: unknown): unknown {
  if (typeof request !== 'object' || request === null) return request
  const { questions } = request as { questions?: unknown }
  if (!Array.isArray(questions)) return request
  return {
    ...request,
    questions: questions.map((question: unknown) => {
      if (typeof question !== 'object' || question === null || !('multi_select' in question)) return question
      const { multi_select: multiSelect, ...rest } = question
      return { ...rest, multiSelect }
    }),
  }
}
