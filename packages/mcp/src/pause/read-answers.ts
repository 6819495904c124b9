import { describeIssues } from '@handraise/user-questions/types'
import { specTypeSchemas } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { InputResponse } from './accepted-content.ts'
import type { Asked } from './asked.ts'
import { checkContent } from './check-content.ts'
import { BARE_FIELD } from './input-required.ts'

/** What a client sent back, held to what was asked. Answers to anything else are not looked at. */
export interface AnswerReading {
  readonly answers: ReadonlyMap<string, InputResponse>
  /** What cannot be an answer, and why, by id. */
  readonly faults: ReadonlyMap<string, string>
  readonly missing: readonly string[]
}

const elicitSchema = z.object({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z.unknown().optional(),
})

/** Never throws. */
export function readAnswers(asked: readonly Asked[], sent: unknown): AnswerReading {
  const answers = new Map<string, InputResponse>()
  const faults = new Map<string, string>()
  const missing: string[] = []
  for (const each of asked) {
    const value: unknown =
      typeof sent === 'object' && sent !== null && Object.hasOwn(sent, each.id)
        ? Reflect.get(sent, each.id)
        : undefined
    if (value === undefined) {
      missing.push(each.id)
      continue
    }
    const reading = readAnswer(each, value)
    if (typeof reading === 'string') faults.set(each.id, reading)
    else answers.set(each.id, reading)
  }
  return { answers, faults, missing }
}

/** The answer, or why it is none. */
function readAnswer(asked: Asked, value: unknown): InputResponse | string {
  if (asked.kind === 'client') return readClientAnswer(asked.method, value)
  const elicited = elicitSchema.safeParse(value)
  if (!elicited.success) return 'it says neither accept nor decline nor cancel'
  const { action, content } = elicited.data
  if (action !== 'accept') return { action }
  if (asked.kind === 'url' || asked.reads === 'consent') return { action, content: true }
  const check = checkContent(asked.form, content)
  if (!check.ok) {
    // The name of the one field is ours, and says nothing to a person.
    const ofOne = asked.reads === 'value'
    return describeIssues(check.issues.map(issue => (ofOne ? { ...issue, path: '' } : issue)))
  }
  return { action, content: asked.reads === 'value' ? check.content[BARE_FIELD] : check.content }
}

function readClientAnswer(
  method: 'sampling/createMessage' | 'roots/list',
  value: unknown,
): InputResponse | string {
  const schema =
    method === 'roots/list' ? specTypeSchemas.ListRootsResult : specTypeSchemas.CreateMessageResult
  const checked = schema['~standard'].validate(value)
  return checked.issues === undefined
    ? { result: checked.value }
    : `it is no answer to ${method}: ${checked.issues.map(({ message }) => message).join('; ')}`
}
