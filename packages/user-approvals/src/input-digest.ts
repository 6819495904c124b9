import { createHash } from 'node:crypto'
import type { JsonValue } from '@handraise/inbox'
import { canonicalJson, pathOf } from '@handraise/user-questions/types'
import { findJsonFault } from './strict-json.ts'

// Above the bounds of a subject, so that what holds one has a digest as well.
const BOUNDS = { size: 2_000_000, depth: 100 }

/**
 * The SHA-256, in base64url, of a tool's name and its exact input: the same whatever the order of members, and another for
 * every other input. Throws `TypeError` for an input that is not JSON to the letter (`undefined`, `-0`, `NaN`, a date and
 * the like), which would be written like another one; and for one of more than 2,000,000 values and characters or
 * nested deeper than 100 levels.
 */
export function digestOfInput(toolName: string, input: JsonValue): string {
  const fault = findJsonFault(input, BOUNDS)
  if (fault !== undefined) {
    throw new TypeError(
      `the input of ${JSON.stringify(toolName)} has no digest: ${pathOf(['input', ...fault.path])} ${fault.message}`,
    )
  }
  return createHash('sha256')
    .update(canonicalJson([toolName, input]))
    .digest('base64url')
}
