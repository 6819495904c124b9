import type { Issue } from '@handraise/user-questions/types'

/** The faults that keep a request from being kept: texts that no database holds, or a payload that is no plain data. */
export function checkOpen(options: {
  readonly kind: string
  readonly payload: unknown
  readonly id?: string | undefined
  readonly session?: string | undefined
  readonly key?: string | undefined
  readonly agent?: string | undefined
  readonly deadlineAt?: number | undefined
}): Issue[] {
  const issues: Issue[] = []
  for (const path of ['id', 'kind', 'session', 'key', 'agent'] as const) {
    const text: unknown = options[path]
    if (text === undefined) continue
    if (typeof text !== 'string') issues.push({ path, message: `expected a string, got ${typeof text}` })
    else if (text.trim() === '' && path !== 'session') issues.push({ path, message: 'must not be blank' })
    // NUL ends a text in some databases, and half a surrogate pair is no character.
    else if (/\u0000|\p{Cs}/u.test(text))
      issues.push({ path, message: 'holds a character that cannot be kept' })
  }
  if (options.deadlineAt !== undefined && !Number.isFinite(options.deadlineAt)) {
    issues.push({
      path: 'deadlineAt',
      message: `expected milliseconds since the Unix epoch, got ${options.deadlineAt}`,
    })
  }
  try {
    if (JSON.stringify(options.payload) === undefined) issues.push({ path: 'payload', message: 'is no JSON' })
  } catch (error) {
    issues.push({ path: 'payload', message: `is no JSON: ${(error as Error).message}` })
  }
  return issues
}
