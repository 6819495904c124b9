import { StoreError, toAnswer, type SettledRequest } from '@handraise/inbox'
import { runTool, type ToolResult } from '@handraise/tools'
import { UserQuestionError, visibleText, type AskUserQuestionAnswer } from '@handraise/user-questions/types'
import type { CallToolResult, TextContent } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { neutralTool, askToolName } from './ask-tool-arguments.ts'

const waitingSchema = z.object({ structuredContent: z.object({ status: z.literal('waiting') }) })

/** Those that `visibleText` writes out in a way that JSON does not know. */
const TAG_CHARACTERS = /[\u{e0000}-\u{e007f}]/gu

/** How the request ended, as the tool tells it: its answers, or the error with which the ask ends. */
export function settledResult(request: SettledRequest): Promise<CallToolResult> {
  return rendered(request.id, () => toAnswer(request))
}

/** What went wrong, as the tool tells it. `_meta["handraise/code"]` is the code, for a program. */
export async function failedResult(id: string, error: unknown): Promise<CallToolResult> {
  // What it says of its database is for whoever runs this server.
  if (StoreError.isInstance(error)) {
    const { code, advice } = error
    return { content: [{ type: 'text', text: advice }], isError: true, _meta: { 'handraise/code': code } }
  }
  return rendered(id, () => {
    throw error
  })
}

async function rendered(id: string, end: () => AskUserQuestionAnswer): Promise<CallToolResult> {
  const ending = {
    ...neutralTool,
    parse: () => ({ ok: true as const, args: { questions: [] } }),
    execute: end,
  }
  const result = await runTool(ending, undefined, { callId: id, signal: new AbortController().signal })
  if (result.isError) return refusedResult(result)
  const { answers } = result.value
  return {
    content: [toText(result.content)],
    structuredContent: { status: 'answered', request_id: id, answers },
  }
}

export function refusedResult(result: ToolResult): CallToolResult {
  const code = result.isError ? { _meta: { 'handraise/code': result.error.code } } : {}
  return { content: [toText(result.content)], isError: result.isError, ...code }
}

/** What is told of an id that is not the caller's: the same whether there is such a request or not. */
export function unknownResult(id: string): CallToolResult {
  const text = `Error: no request of this client has the id ${JSON.stringify(id)}; ask the questions without request_id`
  return toldAs('UNKNOWN_REQUEST', text)
}

export function otherQuestionsResult(id: string): CallToolResult {
  const text = `Error: request ${id} asked other questions, and these were not asked; to go on waiting for it give request_id alone, to ask these leave request_id out`
  return toldAs('OTHER_QUESTIONS', text)
}

export interface StillWaiting {
  /** Where people answer, if that is to be told. */
  readonly page?: string | undefined
  /** No form was shown, since none may ask for it. */
  readonly isSecret?: boolean | undefined
}

/** The request waits still, and can be taken up by its id. */
export function waitingResult(id: string, { page, isSecret = false }: StillWaiting = {}): CallToolResult {
  const why = isSecret
    ? ' No form was shown to them here, since it asks for a secret, which MCP keeps out of forms.'
    : ''
  const where = page === undefined ? '' : ` They can answer on the page ${page} too.`
  const text = `The user has not answered yet. The question stays open.${why}${where} To go on waiting, or to get the answer, call ${askToolName} with {"request_id":${JSON.stringify(id)}} and without questions. Do not ask the same anew, and do not assume an answer.`
  return {
    content: [toText(text)],
    structuredContent: { status: 'waiting', request_id: id, ...(page === undefined ? {} : { page }) },
  }
}

/** True of a result that says that the request waits still. */
export function isWaiting(result: unknown): boolean {
  return waitingSchema.safeParse(result).success
}

/** No client could show it, in the words of an ask that could not be put to anybody. */
export function notShown(advice: string, cause?: unknown): UserQuestionError<'ASK_UNAVAILABLE'> {
  return new UserQuestionError(
    'ASK_UNAVAILABLE',
    { reason: 'no-capable-client', advice },
    ...(cause === undefined ? [] : [{ cause }]),
  )
}

function toldAs(code: string, text: string): CallToolResult {
  return { content: [toText(text)], isError: true, _meta: { 'handraise/code': code } }
}

/**
 * What a model reads, and clients show beside it. What would be obeyed there instead of shown is written out, in such a way that
 * answers, which are JSON, stay the same JSON; the structured content has them as they are.
 */
function toText(text: string): TextContent {
  const escaped = text.replace(TAG_CHARACTERS, character =>
    Array.from({ length: character.length }, (_, at) => `\\u${character.charCodeAt(at).toString(16)}`).join(
      '',
    ),
  )
  return { type: 'text', text: visibleText(escaped) }
}
