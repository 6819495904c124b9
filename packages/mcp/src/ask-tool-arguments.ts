import { askUserTool } from '@handraise/tool-ask-user'
import { parseArguments, runTool, toToolSchema, type ToolResult } from '@handraise/tools'
import { answerSchema, UserQuestionError, type Question } from '@handraise/user-questions/types'
import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server'
import { z } from 'zod'

/** More than any questions that a person reads, in bytes of JSON, and in lists and objects within each other. */
const MOST_BYTES = 200_000
const DEEPEST = 32

const LONG_WAIT =
  'When the result says that the user has not answered yet, the question stays open: call again with its request_id alone to go on waiting, or to get the answer.'

const REQUEST_ID =
  'The request_id of a result that said the user has not answered yet. Give it without questions: it goes on waiting for that answer and asks nothing anew.'

/** The one tool object; whoever asks through it is put in its place when a call runs. */
export const neutralTool = askUserTool({ ask: () => Promise.reject(new Error('nobody asks here')) })

const shown = toToolSchema(neutralTool as never)

export const askToolName = shown.name
export const askToolDescription = `${shown.description} ${LONG_WAIT}`

const { properties, required: _, ...rest } = shown.parameters as { properties: object; required?: unknown }

/**
 * The arguments as a client lists them: those of the tool, none of them required, and `request_id`. What a model sent comes
 * through as it is, since the tool reads what schemas refuse. What is too large is not looked at any further, and refused by the
 * tool as well, so that its result has a code.
 */
export const askToolInput: StandardSchemaWithJSON<Record<string, unknown>> = {
  '~standard': {
    version: 1,
    vendor: 'handraise',
    validate(value) {
      const fault = findExcess(value)
      if (fault === undefined) return { value: value as Record<string, unknown> }
      const nothing = {}
      excesses.set(nothing, fault)
      return { value: nothing }
    },
    jsonSchema: { input: () => inputSchema, output: () => inputSchema },
  },
}

/** What stands for arguments that are too large to be read, with what is wrong with them. */
const excesses = new WeakMap<object, string>()

const inputSchema = {
  ...rest,
  properties: { ...properties, request_id: { type: 'string', description: REQUEST_ID } },
}

/** What the structured content of a result holds that is no error. */
export const askToolOutput = z.object({
  status: z.enum(['answered', 'waiting']).describe('waiting: the user has not answered yet'),
  request_id: z.string(),
  answers: z.array(answerSchema).optional().describe('One for each question, when answered'),
  page: z.string().optional().describe('Where the user can answer while it waits, told once'),
})

/** One call, as its arguments say it. */
export type AskCall =
  | { readonly kind: 'new'; readonly questions: readonly Question[] }
  /** Goes on with a request. Questions that come with it are only held to what was asked. */
  | { readonly kind: 'again'; readonly id: string; readonly questions: readonly Question[] | undefined }
  | { readonly kind: 'refused'; readonly result: ToolResult }

const againSchema = z.object({
  request_id: z.string().max(200).nullish(),
  questions: z.unknown().optional(),
})

/** Reads what a model sent. Never rejects: what cannot be read is the result that says so. */
export async function readAskCall(raw: unknown): Promise<AskCall> {
  const excess = typeof raw === 'object' && raw !== null ? excesses.get(raw) : undefined
  if (excess !== undefined) return { kind: 'refused', result: await refusal([excess]) }
  const again = parseArguments(againSchema, raw ?? {})
  if (!again.ok) return { kind: 'refused', result: await refusal(again.faults) }
  const { request_id: id, ...asked } = again.args
  if (id === undefined || id === null || id.trim() === '') {
    const { request_id: _id, ...questions } = raw as Record<string, unknown>
    return await readQuestions(questions)
  }
  if (isNothing(asked.questions)) return { kind: 'again', id, questions: undefined }
  const read = await readQuestions(asked)
  return read.kind === 'new' ? { kind: 'again', id, questions: read.questions } : read
}

async function readQuestions(raw: unknown): Promise<Exclude<AskCall, { kind: 'again' }>> {
  let questions: readonly Question[] = []
  const reader = askUserTool({
    async ask(request) {
      // What the seam refuses first of all.
      if (request.questions.length === 0) throw new UserQuestionError('EMPTY_QUESTIONS')
      ;({ questions } = request)
      return { answers: [] }
    },
  })
  const result = await runTool(reader, raw, { callId: 'read', signal: new AbortController().signal })
  return result.isError ? { kind: 'refused', result } : { kind: 'new', questions }
}

function refusal(faults: readonly string[]): Promise<ToolResult> {
  const refusing = { ...neutralTool, parse: () => ({ ok: false as const, faults }) }
  return runTool(refusing, undefined, { callId: 'read', signal: new AbortController().signal })
}

function isNothing(questions: unknown): boolean {
  return questions === undefined || questions === null || (Array.isArray(questions) && questions.length === 0)
}

function findExcess(value: unknown): string | undefined {
  if (isDeeper(value)) return `the arguments nest deeper than ${DEEPEST}`
  const bytes = Buffer.byteLength(JSON.stringify(value ?? {}))
  return bytes > MOST_BYTES ? `the arguments hold ${bytes} bytes, at most ${MOST_BYTES} are taken` : undefined
}

// Level by level: text that is only brackets nests deeper than the stack.
function isDeeper(value: unknown): boolean {
  let level = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > DEEPEST) return true
    level = level.flatMap(part =>
      typeof part === 'object' && part !== null ? (Object.values(part) as unknown[]) : [],
    )
  }
  return false
}
