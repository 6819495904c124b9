import { pathOf, type Issue } from '@handraise/user-questions/types'

/** What one request or answer may hold. */
export const LIMITS = {
  /** Characters of any one text, names of members included. */
  textLength: 100_000,
  questions: 100,
  /** Entries of any list, such as the options of a question. */
  listLength: 1_000,
  /** Objects and lists within each other. */
  depth: 32,
  /** Characters of an id, a command id, a surface's name. */
  idLength: 200,
  /** Characters of a session or a key. */
  keyLength: 1_000,
} as const

/** Faults listed in one reply; the rest would say the same. */
export const MOST_ISSUES = 100

/** Where parsed JSON is longer or deeper than anything a person could be asked. */
export function findExcess(value: unknown): Issue[] {
  const issues: Issue[] = []
  const visit = (part: unknown, path: PropertyKey[]): void => {
    if (issues.length >= MOST_ISSUES) return
    const fault = (message: string): void => void issues.push({ path: pathOf(path), message })
    if (typeof part === 'string') {
      if (part.length > LIMITS.textLength) fault(tooLong(part.length, LIMITS.textLength, 'characters'))
    } else if (typeof part === 'object' && part !== null) {
      const members = Array.isArray(part) ? part.entries() : Object.entries(part)
      const count = Array.isArray(part) ? part.length : Object.keys(part).length
      // Told apart before any recursion: text that is only brackets nests deeper than the stack.
      if (path.length >= LIMITS.depth) fault(`nests deeper than ${LIMITS.depth}`)
      else if (count > LIMITS.listLength) fault(tooLong(count, LIMITS.listLength, 'entries'))
      else
        for (const [name, member] of members) {
          if (typeof name === 'string' && name.length > LIMITS.textLength)
            fault(`has a name that ${tooLong(name.length, LIMITS.textLength, 'characters')}`)
          else visit(member, [...path, name])
        }
    }
  }
  visit(value, [])
  return issues
}

function tooLong(length: number, limit: number, of: string): string {
  return `holds ${length} ${of}, at most ${limit} are taken`
}
