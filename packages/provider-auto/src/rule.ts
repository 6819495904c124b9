import type { Answer, AnswerValue, ProviderRequest, Question } from '@handraise/user-questions/types'
import { checkValue, describeIssues, foldLabel, isBlank, issuesOfZod } from '@handraise/user-questions/types'
import { z } from 'zod'

/** Which questions a rule is for. Every field given must hold. A text matches the whole field; case is ignored. */
export interface RuleMatch {
  readonly id?: string | RegExp | undefined
  readonly header?: string | RegExp | undefined
  readonly question?: string | RegExp | undefined
  /** The tool of an approval. A rule for approvals names both this and `subject`, and is for nothing else. */
  readonly tool?: string | RegExp | undefined
  /** What the tool would do: the command, the path, the host with its port, the tool with its input; to the letter. */
  readonly subject?: string | RegExp | undefined
}

/**
 * What a rule answers: a label, or for a question without options a text; several labels; or an answer in full, where
 * `selected: []` alone is a skip.
 */
export type RuleAnswer = string | readonly string[] | PartialAnswer

export type PartialAnswer = { readonly [K in keyof AnswerValue]?: AnswerValue[K] | undefined }

/** A scripted answer for the questions it matches, as often as they are asked. */
export interface AnswerRule {
  readonly match: RuleMatch
  readonly answer: RuleAnswer
}

/** A scripted answer by function; `undefined` leaves the question to the next rule. */
export type AnswerFunction = (
  question: Question,
  request: ProviderRequest,
) => RuleAnswer | undefined | Promise<RuleAnswer | undefined>

export type ScriptRule = AnswerRule | AnswerFunction

/** Rules in order, the first that covers a question answers it; or answers by question id. */
export type Script = readonly ScriptRule[] | Readonly<Record<string, RuleAnswer>>

/** An object whose keys are question ids is short for one rule an id. */
export function toRules(script: Script): ScriptRule[] {
  if (typeof script !== 'object' || script === null) {
    throw new TypeError('script: expected answers by question id, or a list of rules')
  }
  if (Array.isArray(script)) return [...(script as readonly ScriptRule[])]
  return Object.entries(script as Readonly<Record<string, RuleAnswer>>).map(([id, answer]) => ({
    match: { id },
    answer,
  }))
}

export function matches(match: RuleMatch, question: Question): boolean {
  return (
    match.tool === undefined &&
    match.subject === undefined &&
    fits(match.id, question.id, text => text === question.id) &&
    fits(match.header, question.header, text => sameText(text, question.header)) &&
    fits(match.question, question.question, text => sameText(text, question.question))
  )
}

/** An approval, as far as a rule goes by it. */
const approvalSchema = z.object({ toolName: z.string(), subjectName: z.string() })

/** True of a rule that names the tool and the subject of an approval, exactly these. */
export function matchesApproval({ tool, subject }: RuleMatch, payload: unknown): boolean {
  const { data } = approvalSchema.safeParse(payload)
  return data !== undefined && isWhole(tool, data.toolName) && isWhole(subject, data.subjectName)
}

// A permission is given to the letter: a pattern covers all of the text or nothing of it.
function isWhole(wanted: string | RegExp | undefined, text: string): boolean {
  if (wanted === undefined || typeof wanted === 'string') return wanted === text
  wanted.lastIndex = 0
  return wanted.exec(text)?.[0] === text
}

/** The rule's answer as the answer to this question, or why the question does not allow it. */
export function readRuleAnswer(
  question: Question,
  given: RuleAnswer,
): { readonly value: AnswerValue } | { readonly fault: string } {
  const value = toValue(question, given)
  const issues = checkValue(question, value, question.id)
  return issues.length === 0 ? { value } : { fault: describeIssues(issues) }
}

function toValue(question: Question, given: RuleAnswer): AnswerValue {
  const offered = question.options ?? []
  const asOffered = (text: string): string =>
    offered.find(({ label }) => label === text)?.label ??
    offered.find(({ label }) => foldLabel(label) === foldLabel(text))?.label ??
    text
  if (typeof given === 'string') {
    return offered.length === 0 && !isBlank(given)
      ? { selected: [], custom: given }
      : { selected: [asOffered(given)] }
  }
  if (isList(given)) return { selected: given.map(asOffered) }
  return { ...given, selected: (given.selected ?? []).map(asOffered) }
}

function isList(given: readonly string[] | PartialAnswer): given is readonly string[] {
  return Array.isArray(given)
}

function fits(
  wanted: string | RegExp | undefined,
  field: string | undefined,
  equals: (text: string) => boolean,
): boolean {
  if (wanted === undefined) return true
  if (field === undefined) return false
  if (typeof wanted === 'string') return equals(wanted)
  wanted.lastIndex = 0
  return wanted.test(field)
}

function sameText(wanted: string, field: string | undefined): boolean {
  return field !== undefined && foldLabel(field) === foldLabel(wanted)
}

export function withBy(id: string, value: AnswerValue): Answer {
  return { ...value, id, by: 'policy' }
}

const answerSchema: z.ZodType<RuleAnswer> = z.union(
  [
    z.string(),
    z.array(z.string()),
    z.strictObject({
      selected: z.array(z.string()).optional(),
      custom: z.string().optional(),
      note: z.string().optional(),
    }),
  ],
  { error: 'expected a label, a list of labels, or { selected?, custom?, note? }' },
)

/** What a function of a script returned, if it is an answer; it may be a whole entry of one. */
export function parseAnswer(value: unknown): RuleAnswer | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return answerSchema.safeParse(value).data
  const { id: _, by: __, ...entry } = value as Readonly<Record<string, unknown>>
  return answerSchema.safeParse(entry).data
}

// `/…/flags` is a pattern; anything else is a text.
const matchTextSchema = z.string().transform((text, context) => {
  const [, source, flags] = /^\/(.+)\/([a-z]*)$/su.exec(text) ?? []
  if (source === undefined) return text
  try {
    return new RegExp(source, flags)
  } catch (error) {
    context.addIssue({ code: 'custom', message: `is no regular expression: ${(error as Error).message}` })
    return z.NEVER
  }
})

const rulesSchema = z.array(
  z.strictObject({
    match: z
      .strictObject({
        id: matchTextSchema.optional(),
        header: matchTextSchema.optional(),
        question: matchTextSchema.optional(),
        tool: matchTextSchema.optional(),
        subject: matchTextSchema.optional(),
      })
      .refine(
        match => Object.keys(match).length > 0,
        'needs at least one of id, header, question, tool with subject',
      )
      .refine(
        ({ tool, subject }) => (tool === undefined) === (subject === undefined),
        'a rule for approvals names both tool and subject',
      ),
    answer: answerSchema,
  }),
)

const byIdSchema = z.record(z.string(), answerSchema)

/**
 * Reads a script as a JSON file holds it: answers by question id, or a list of `{ match, answer }`, where a pattern is
 * written `"/deploy/i"`. Throws a `TypeError` that names every fault by its path.
 */
export function readScript(value: unknown): Script {
  const parsed = Array.isArray(value) ? rulesSchema.safeParse(value) : byIdSchema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new TypeError(describeIssues(issuesOfZod(parsed.error)))
}
