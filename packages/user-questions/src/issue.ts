import { z } from 'zod'

/** One fault in what was sent: where it is, and what is wrong with it. */
export interface Issue {
  /** Such as `questions[1].options[0].label`. */
  readonly path: string
  readonly message: string
}

/** Every fault zod found, in our form, with `root` put before each path. */
export function issuesOfZod(error: z.ZodError, root: readonly PropertyKey[] = []): Issue[] {
  return error.issues.map(issue => ({ path: pathOf([...root, ...issue.path]), message: issue.message }))
}

export function pathOf(path: readonly PropertyKey[]): string {
  return z.core.toDotPath([...path])
}

/** How much of the faults goes into one line: a model need not read more to mend what it sent. */
const MOST_ISSUES = 20
const MOST_CHARACTERS = 300

/** One line that names the faults: at most 20 of them, each cut at 300 UTF-16 units. */
export function describeIssues(issues: readonly Issue[]): string {
  const lines = issues
    .slice(0, MOST_ISSUES)
    .map(({ path, message }) => cut(path === '' ? message : `${path}: ${message}`))
  const more = issues.length - lines.length
  return [...lines, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
}

function cut(text: string): string {
  return text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS)}…`
}
