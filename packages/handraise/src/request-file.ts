import { repairArguments } from '@handraise/tool-ask-user'
import {
  describeIssues,
  issuesOfZod,
  questionSchema,
  type AskUserQuestionRequest,
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
  const parsed = requestSchema.safeParse(withMultiSelect(repairArguments(await readJson(file))))
  if (parsed.success) return parsed.data
  throw new CommandError('BAD_INPUT', `${nameOf(file)}: ${describeIssues(issuesOfZod(parsed.error))}`)
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
