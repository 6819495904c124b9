/** How deep the objects and lists of a frame may be nested. What is kept is written out again, which takes a stack. */
export const MOST_NESTED = 500

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b])
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d])

/** True of JSON text that is nested deeper than `MOST_NESTED`. */
export function isTooDeep(json: string): boolean {
  let depth = 0
  let quoted = false
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at)
    if (code === QUOTE) quoted = !quoted
    else if (quoted) {
      if (code === BACKSLASH) at += 1
    } else if (OPENING.has(code)) {
      depth += 1
      if (depth > MOST_NESTED) return true
    } else if (CLOSING.has(code)) depth -= 1
  }
  return false
}
