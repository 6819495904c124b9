/** What a suite needs of a harness. */
export interface HarnessRules {
  /** The functions it must have, each with what it is there for. */
  readonly members: Readonly<Record<string, string>>
  /** What `lacks` may name. Absent: nothing. */
  readonly abilities?: readonly string[] | undefined
}

/** Throws a `TypeError` that names what is wrong with a harness, and says what it is to be. For the authors of suites. */
export function checkHarness(
  suite: string,
  harness: unknown,
  { members, abilities = [] }: HarnessRules,
): void {
  checkMembers(`${suite}: the harness`, harness, members)
  const { lacks = {}, withinMs } = harness as { lacks?: unknown; withinMs?: unknown }
  if (withinMs !== undefined && !(typeof withinMs === 'number' && withinMs > 0))
    throw new TypeError(
      `${suite}: harness.withinMs is to be a number of milliseconds, it is ${named(withinMs)}`,
    )
  if (typeof lacks !== 'object' || lacks === null)
    throw new TypeError(
      `${suite}: harness.lacks is to be an object from ability to reason, it is ${named(lacks)}`,
    )
  for (const [ability, reason] of Object.entries(lacks)) {
    if (!abilities.includes(ability))
      throw new TypeError(
        `${suite}: harness.lacks names ${JSON.stringify(ability)}, which is none of ${abilities.join(', ') || 'its abilities: there are none'}`,
      )
    if (reason !== undefined && (typeof reason !== 'string' || reason.trim() === ''))
      throw new TypeError(
        `${suite}: harness.lacks.${ability} is to be the reason as a text, it is ${named(reason)}`,
      )
  }
}

/** Throws a `TypeError` that names the first function of `members` that `value` does not have. */
export function checkMembers(what: string, value: unknown, members: Readonly<Record<string, string>>): void {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function'
  if (!isObject || value instanceof Promise) {
    const names = Object.keys(members).join(', ')
    throw new TypeError(`${what} is to be an object with ${names}, it is ${named(value)}`)
  }
  for (const [member, purpose] of Object.entries(members)) {
    const found = (value as Readonly<Record<string, unknown>>)[member]
    if (typeof found !== 'function')
      throw new TypeError(`${what} has no function ${member}, which ${purpose}; there it has ${named(found)}`)
  }
}

function named(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (value instanceof Promise) return 'a promise that nobody awaited'
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}
