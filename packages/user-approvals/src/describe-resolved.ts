import { quoteWord } from './exact-text.ts'
import type { ResolvedSubject } from './resolve-subject.ts'

/** What a subject comes to, in lines, where that is not what it says, and what of it could not be found out. */
export function describeResolved(resolved: ResolvedSubject): string[] {
  return [
    ...whereItLeads(resolved),
    ...resolved.issues.map(({ path, message }) => `Note: ${path} ${message}`),
  ]
}

function whereItLeads(resolved: ResolvedSubject): string[] {
  const leads = (what: string, given: string | undefined, real: string | undefined): string[] =>
    real === undefined || real === given ? [] : [`${what}: ${quoteWord(real)}`]
  switch (resolved.kind) {
    case 'shell':
      return leads('The directory is', resolved.subject.cwd, resolved.cwd)
    case 'fileAccess':
      return leads('The path leads to', resolved.subject.path, resolved.path)
    case 'network':
      return leads('The host is', resolved.subject.host, resolved.host)
    case 'tool':
      return []
  }
}
