import { createHash } from 'node:crypto'
import { canonicalJson } from '@handraise/user-questions/types'

/** The method of a request that may be paused (MCP 2026-07-28: on these three alone). */
export type PausableMethod = 'tools/call' | 'prompts/get' | 'resources/read'

/** The SHA-256, in base64url, of what exactly was called. Another tool, other arguments or another scope have another one. */
export function digestOfCall(method: PausableMethod, name: string, args: unknown, scope?: string): string {
  return createHash('sha256')
    .update(
      canonicalJson([method, name, plainArguments(args, name), ...(scope === undefined ? [] : [scope])]),
    )
    .digest('base64url')
}

/**
 * The arguments as an input schema left them: plain data, and what schemas make of it. Each value that JSON does not tell
 * from another is written as a list that begins with a tag, and a list that begins so by itself gets one more.
 */
function plainArguments(value: unknown, name: string): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0)
        ? value
        : [TAG, 'number', Object.is(value, -0) ? '-0' : `${value}`]
    case 'bigint':
      return [TAG, 'bigint', `${value}`]
    case 'undefined':
      return [TAG, 'undefined']
    case 'object':
      break
    default:
      throw unbound(name, typeof value)
  }
  if (value === null) return value
  if (value instanceof Date) return [TAG, 'date', value.getTime()]
  if (value instanceof URL) return [TAG, 'url', value.href]
  if (Array.isArray(value)) {
    const members = value.map(member => plainArguments(member, name))
    return value[0] === TAG ? [TAG, ...members] : members
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) throw unbound(name, 'an instance of a class')
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(members.map(([key, member]) => [key, plainArguments(member, name)]))
}

const TAG = '\u0000'

function unbound(name: string, what: string): TypeError {
  return new TypeError(
    `the arguments of ${JSON.stringify(name)} hold ${what}, so a pause cannot be bound to them; let its input schema give plain data, dates or addresses`,
  )
}
