import type { RequestId } from './protocol/index.ts'

/** How far into an oversized frame it is looked for an id, in bytes. */
const HEAD_BYTES = 4096

/** Counts the bytes of UTF-8 of a text that comes in pieces, which may part a pair of surrogates. */
export class Utf8Counter {
  bytes = 0
  private afterHigh = false

  /** Counts at least until there are more than `enough`. */
  add(piece: string, enough = Infinity): void {
    for (let at = 0; at < piece.length && this.bytes <= enough; at += 1) {
      const unit = piece.charCodeAt(at)
      const isLow = unit >= 0xdc00 && unit <= 0xdfff
      // A pair has four bytes, of which the first half was counted as three; half a pair is written as U+FFFD.
      if (unit < 0x80) this.bytes += 1
      else if (unit < 0x800) this.bytes += 2
      else this.bytes += isLow && this.afterHigh ? 1 : 3
      this.afterHigh = unit >= 0xd800 && unit <= 0xdbff
    }
  }
}

/** Whether a text has more than so many bytes of UTF-8. */
export function isLongerThan(text: string, limitBytes: number): boolean {
  if (text.length * 3 <= limitBytes) return false
  if (text.length > limitBytes) return true
  const counter = new Utf8Counter()
  counter.add(text, limitBytes)
  return counter.bytes > limitBytes
}

/** What an oversized frame surely is, as far as its head tells. */
export interface OversizedFrame {
  readonly tooLong: true
  /** Of a request. */
  readonly id?: RequestId
  /** Of the request that it answers. */
  readonly answerTo?: RequestId
}

/**
 * Reads the id of a frame that is longer than `limitBytes` from its first 4,096 bytes, or from as many as the limit. An id
 * counts only as a member of the frame itself, there once, whole, and beside a member that tells a request from an answer.
 */
export function readOversized(text: string, limitBytes: number): OversizedFrame {
  const members = readMembers(firstBytes(text, Math.min(limitBytes, HEAD_BYTES)))
  const isRequest = members.has('method') || members.has('params')
  const isAnswer = members.has('result') || members.has('error')
  const id = members.get('id')
  if (!isRequestId(id) || isRequest === isAnswer) return { tooLong: true }
  return isRequest ? { tooLong: true, id } : { tooLong: true, answerTo: id }
}

// A fixed number of bytes, so that it does not depend on how much of the frame had come.
function firstBytes(text: string, count: number): string {
  const counter = new Utf8Counter()
  let end = 0
  while (end < text.length && counter.bytes < count) counter.add(text.charAt(end++))
  return text.slice(0, end)
}

function isRequestId(value: unknown): value is RequestId {
  return typeof value === 'string' || Number.isSafeInteger(value)
}

const SPACE = /[ \t\r\n]*/y
const STRING = /"(?:[^"\\\u0000-\u001f]|\\.)*"/y
// What ends with the text may go on behind it.
const SCALAR = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null)(?=[ \t\r\n,}\]])/y
const COLON = /:/y
const CLOSING = new Map([
  ['{', '}'],
  ['[', ']'],
])

/**
 * The members of the object that `text` begins, as far as they can be read: one that is an object or an array has the value
 * undefined, and so has one whose value is cut off. A name that is there twice makes all unsure, and none is told.
 */
function readMembers(text: string): Map<string, unknown> {
  const members = new Map<string, unknown>()
  let at = 0
  const take = (token: RegExp): string | undefined => {
    token.lastIndex = at
    const found = token.exec(text)?.[0]
    if (found !== undefined) at += found.length
    return found
  }
  const takeChar = (): string => {
    take(SPACE)
    return text.charAt(at++)
  }

  if (takeChar() !== '{') return members
  do {
    take(SPACE)
    const name = parse(take(STRING))
    take(SPACE)
    if (typeof name !== 'string' || take(COLON) === undefined) return members
    if (members.has(name)) return new Map()
    take(SPACE)
    const value = take(STRING) ?? take(SCALAR)
    members.set(name, parse(value))
    if (value === undefined && !skipNested()) return members
  } while (takeChar() === ',')
  return members

  function skipNested(): boolean {
    const open: string[] = []
    do {
      take(SPACE)
      if (take(STRING) !== undefined || take(SCALAR) !== undefined) continue
      const char = takeChar()
      const closing = CLOSING.get(char)
      if (closing !== undefined) open.push(closing)
      else if (char === open.at(-1)) open.pop()
      else if (open.length === 0 || (char !== ',' && char !== ':')) return false
    } while (open.length > 0)
    return true
  }
}

function parse(token: string | undefined): unknown {
  try {
    return token === undefined ? undefined : JSON.parse(token)
  } catch {
    return undefined
  }
}
