import { z } from 'zod'
import type { ParsedArguments } from './tool.ts'

/** Checks raw arguments against a schema. A fault says where it is, what was expected and what came. */
export function parseArguments<Arguments>(
  schema: z.ZodType<Arguments>,
  raw: unknown,
): ParsedArguments<Arguments> {
  const parsed = schema.safeParse(raw, { error: describeZodIssue })
  if (parsed.success) return { ok: true, args: parsed.data }
  const faults = parsed.error.issues.map(issue => {
    const path = z.core.toDotPath(issue.path)
    return path === '' ? issue.message : `${path}: ${issue.message}`
  })
  return { ok: false, faults }
}

// Says what came as well as what was expected: the model sees only this line.
function describeZodIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== 'invalid_type') return undefined
  return `expected ${withArticle(issue.expected)}, got ${describeValue(issue.input)}`
}

function withArticle(noun: string): string {
  return `${/^[aeiou]/u.test(noun) ? 'an' : 'a'} ${noun}`
}

function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value !== 'string') return withArticle(typeof value)
  const looksLikeJson = /^\s*[[{]/u.test(value)
  return looksLikeJson ? 'a string that is not JSON' : 'a string'
}
