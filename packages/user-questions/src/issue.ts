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

/** One line that names every fault. */
export function describeIssues(issues: readonly Issue[]): string {
  return issues
    .map(issue => (issue.path === '' ? issue.message : `${issue.path}: ${issue.message}`))
    .join('; ')
}
